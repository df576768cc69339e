package sandbox

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"
)

// view says in which shape a record is shown (specification §2.2).
type view struct {
	affiliation, publisher bool // as objects
	detail                 bool // with the extra attributes
	single                 bool // one record rather than a list
	fields                 []string
	without                []string // attributes to leave out
}

func singleView(p params) view {
	return view{affiliation: p["affiliation"] == "true", publisher: p["publisher"] == "true", detail: true, single: true}
}

func (s *doiRoom) listView(p params) view {
	v := view{affiliation: p["affiliation"] == "true", publisher: p["publisher"] == "true", detail: p["detail"] == "true"}
	if _, given := p["detail"]; given && s.Switches {
		v.detail = true
	}
	if p["composite"] != "" && s.Switches {
		v.without = compositeMembers
	}
	if names := p["fields[dois]"]; names != "" {
		v.fields = strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return v
}

// resource is the record as JSON: {id, type, attributes, relationships}.
func (rec *record) resource(v view) object {
	attributes, relationships := rec.shown(v), rec.relationships(v)
	maps.DeleteFunc(attributes, func(name string, _ any) bool { return slices.Contains(v.without, name) })
	if v.fields != nil {
		unwanted := func(name string, _ any) bool { return !slices.Contains(v.fields, name) }
		maps.DeleteFunc(attributes, unwanted)
		maps.DeleteFunc(relationships, unwanted)
	}
	return object{"id": rec.doi, "type": "dois", "attributes": attributes, "relationships": relationships}
}

// detailMembers are the attributes that lists have only with detail=true.
var detailMembers = []string{
	"prefix", "suffix", "xml", "alternateIdentifiers", "viewsOverTime", "downloadsOverTime", "citationsOverTime",
}

func (rec *record) shown(v view) object {
	o := blank()
	prefix, suffix := splitName(rec.doi)
	maps.Copy(o, object{
		"doi": rec.doi, "prefix": prefix, "suffix": suffix, "state": rec.state, "isActive": rec.state == findable,
		"source": orNull(rec.source), "url": orNull(rec.url), "metadataVersion": rec.version, "xml": nil,
		"created": v.moment(rec.created), "updated": v.moment(rec.updated), "registered": v.moment(rec.registered),
	})
	if rec.xml != nil {
		o["xml"] = base64.StdEncoding.EncodeToString(rec.xml)
	}
	for name, related := range rec.related() {
		o[strings.TrimSuffix(name, "s")+"Count"] = len(related)
	}
	maps.Copy(o, rec.attributes)
	bothIdentifiers(o)
	for _, name := range []string{"creators", "contributors"} {
		o[name] = withAffiliations(o[name], v.affiliation)
	}
	o["publisher"] = nameOrObject(o["publisher"], v.publisher)
	if !v.detail {
		maps.DeleteFunc(o, func(name string, _ any) bool { return slices.Contains(detailMembers, name) })
	}
	if v.single && o["published"] == nil {
		o["published"] = yearText(o["publicationYear"])
	}
	return o
}

// blank is the attributes of a record that has none.
func blank() object {
	o := object{"types": object{}, "container": object{}}
	for _, name := range []string{
		"identifiers", "creators", "titles", "subjects", "contributors", "dates", "relatedIdentifiers", "relatedItems",
		"sizes", "formats", "rightsList", "descriptions", "geoLocations", "fundingReferences",
		"viewsOverTime", "downloadsOverTime", "citationsOverTime",
	} {
		o[name] = []any{}
	}
	for _, name := range []string{
		"publisher", "publicationYear", "language", "version", "contentUrl", "schemaVersion", "reason", "published",
	} {
		o[name] = nil
	}
	for _, name := range []string{"viewCount", "downloadCount", "citationCount"} {
		o[name] = 0
	}
	return o
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// moment writes a time; lists leave fractions of a second out.
func (v view) moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	if v.single {
		return t.Format("2006-01-02T15:04:05.000Z")
	}
	return t.Format(time.RFC3339)
}

func yearText(year any) string {
	if n, ok := year.(float64); ok {
		return fmtYear(n)
	}
	return text(year)
}

// bothIdentifiers fills in whichever of the two lists of alternate identifiers
// is not there from the other.
func bothIdentifiers(o object) {
	if list, ok := o["alternateIdentifiers"].([]any); ok {
		if known, _ := o["identifiers"].([]any); len(known) == 0 {
			o["identifiers"] = renamed(list, "alternateIdentifier", "identifier")
		}
		return
	}
	if list, ok := o["identifiers"].([]any); ok {
		o["alternateIdentifiers"] = renamed(list, "identifier", "alternateIdentifier")
	}
}

func renamed(list []any, from, to string) []any {
	out := []any{}
	for _, item := range list {
		if o, ok := item.(object); ok {
			out = append(out, object{to: o[from], to + "Type": o[from+"Type"]})
		}
	}
	return out
}

// withAffiliations shows the affiliations of people as objects or as plain
// names. What is no list of people stays as it is.
func withAffiliations(people any, objects bool) any {
	list, ok := people.([]any)
	if !ok {
		return people
	}
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = item
		person, ok := item.(object)
		if !ok {
			continue
		}
		affiliations, ok := person["affiliation"].([]any)
		if !ok {
			continue
		}
		shown := []any{}
		for _, a := range affiliations {
			if a = nameOrObject(a, objects); a != nil {
				shown = append(shown, a)
			}
		}
		person = maps.Clone(person)
		person["affiliation"] = shown
		out[i] = person
	}
	return out
}

// nameOrObject turns a name into {name}, or an object into its name.
func nameOrObject(v any, objects bool) any {
	switch v := v.(type) {
	case string:
		if objects {
			return object{"name": v}
		}
	case object:
		if !objects {
			return v["name"]
		}
	}
	return v
}

func (rec *record) relationships(v view) object {
	o := object{"client": link(rec.client, "clients")}
	if v.detail {
		o["provider"] = link(rec.provider, "providers")
		for name, related := range rec.related() {
			o[name] = object{"data": related}
		}
	}
	if v.single {
		o["media"] = link(rec.doi, "media")
	}
	return o
}

// include adds the clients of the records, if the parameters ask for them. The
// service knows no more of a client than its id.
func include(body object, p params, records []*record) {
	wanted, asked := p["include"]
	if !asked {
		return
	}
	included, seen := []any{}, map[string]bool{}
	for _, rec := range records {
		id := strings.ToLower(rec.client)
		if !listed(wanted, "client") || id == "" || seen[id] {
			continue
		}
		seen[id] = true
		included = append(included, object{
			"id": id, "type": "clients",
			"attributes":    object{"name": rec.client, "symbol": upper(rec.client)},
			"relationships": object{"provider": link(rec.provider, "providers")},
		})
	}
	body["included"] = included
}

func link(id, kind string) object {
	if id == "" {
		return object{"data": nil}
	}
	return object{"data": object{"id": strings.ToLower(id), "type": kind}}
}

// relations names the relationship that a relation type belongs to.
var relations = map[string]string{
	"References": "references", "Cites": "references", "IsSupplementedBy": "references",
	"IsReferencedBy": "citations", "IsCitedBy": "citations", "IsSupplementTo": "citations",
	"HasPart": "parts", "IsPartOf": "partOf", "HasVersion": "versions", "IsVersionOf": "versionOf",
}

// related is the DOIs that the record names itself, by relationship.
func (rec *record) related() map[string][]any {
	out := map[string][]any{
		"references": {}, "citations": {}, "parts": {}, "partOf": {}, "versions": {}, "versionOf": {},
	}
	list, _ := rec.attributes["relatedIdentifiers"].([]any)
	for _, item := range list {
		o, _ := item.(object)
		relation := relations[text(o["relationType"])]
		name, ok := doiName(text(o["relatedIdentifier"]))
		if relation != "" && ok {
			out[relation] = append(out[relation], object{"id": name, "type": "dois"})
		}
	}
	return out
}

// searchable is the record as the query language sees it.
func (rec *record) searchable() object {
	o := rec.shown(view{affiliation: true, publisher: true, detail: true})
	delete(o, "xml")
	o["clientId"], o["providerId"], o["consortiumId"] = rec.client, rec.provider, rec.consortium
	for name, v := range o {
		if n, ok := v.(int); ok {
			o[name] = float64(n)
		}
	}
	return o
}
