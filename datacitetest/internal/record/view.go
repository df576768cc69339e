package record

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// GeneralType is the resourceTypeGeneral.
func (rec *Record) GeneralType() string { return rec.typeMember("resourceTypeGeneral") }

// SpecificType is the resourceType, the free-text type.
func (rec *Record) SpecificType() string { return rec.typeMember("resourceType") }

func (rec *Record) typeMember(name string) string {
	types, _ := rec.Attributes["types"].(object)
	return wire.String(types[name])
}

// Year is the publication year as a text.
func (rec *Record) Year() string { return YearText(rec.Attributes["publicationYear"]) }

// View says in which shape a record is shown (specification §2.2).
type View struct {
	Affiliation, Publisher bool // as objects
	Detail                 bool // with the extra attributes
	Single                 bool // one record rather than a list
	Deployed               bool // times in whole seconds, landing page checks only for the owner
	Owner                  bool
	Agency                 bool // with the registration agency
	Fields                 []string
	Known                  func(doi string) bool // a record has that name; nil for all
}

// Resource is the record as JSON: {id, type, attributes, relationships}.
func (rec *Record) Resource(v View) object {
	attributes, relationships := rec.shown(v), rec.relationships(v)
	if v.Fields != nil {
		unwanted := func(name string, _ any) bool { return !slices.Contains(v.Fields, name) }
		maps.DeleteFunc(attributes, unwanted)
		maps.DeleteFunc(relationships, unwanted)
	}
	return object{"id": rec.DOI, "type": "dois", "attributes": attributes, "relationships": relationships}
}

// detailMembers are the attributes that lists have only with detail=true.
var detailMembers = []string{
	"prefix", "suffix", "xml", "alternateIdentifiers", "viewsOverTime", "downloadsOverTime", "citationsOverTime",
}

func (rec *Record) shown(v View) object {
	o := blank()
	prefix, suffix := names.Split(rec.DOI)
	maps.Copy(o, object{
		"doi": rec.DOI, "prefix": prefix, "suffix": suffix, "state": rec.State, "isActive": rec.State == Findable,
		"source": orNull(rec.Source), "url": orNull(rec.URL), "metadataVersion": rec.Version, "xml": nil,
		"created": v.moment(rec.Created), "updated": v.moment(rec.Updated), "registered": v.moment(rec.Registered),
	})
	if rec.XML != nil {
		o["xml"] = base64.StdEncoding.EncodeToString(rec.XML)
	}
	for name, related := range rec.related() {
		o[strings.TrimSuffix(name, "s")+"Count"] = len(related)
	}
	if rec.CitationsOverTime != nil {
		o["citationsOverTime"] = rec.CitationsOverTime
	}
	maps.Copy(o, rec.Attributes)
	maps.Copy(o, rec.Usage)
	bothIdentifiers(o)
	for _, name := range []string{"creators", "contributors"} {
		o[name] = withAffiliations(o[name], v.Affiliation)
	}
	o["publisher"] = nameOrObject(o["publisher"], v.Publisher)
	if !v.Detail {
		maps.DeleteFunc(o, func(name string, _ any) bool { return slices.Contains(detailMembers, name) })
	}
	switch {
	case v.Deployed && !v.Owner:
		delete(o, "landingPage")
	case v.Deployed && o["landingPage"] == nil:
		o["landingPage"] = nil
	}
	switch {
	case v.Deployed && !v.Agency:
		delete(o, "agency")
	case v.Agency && o["agency"] == nil:
		o["agency"] = "datacite"
	}
	if v.Single && o["published"] == nil {
		o["published"] = YearText(o["publicationYear"])
	}
	return o
}

// blank are the attributes of a record without metadata.
func blank() object {
	o := maps.Clone(withoutMetadata())
	o["container"], o["types"] = object{}, object{}
	return o
}

var withoutMetadata = sync.OnceValue(func() object {
	o := object{"container": nil, "types": nil, "reason": nil, "published": nil}
	for _, p := range Properties() {
		switch {
		case p.List && p.InXML():
			o[p.Name] = []any{}
		case p.Name != "" && p.Name != "landingPage" && o[p.Name] == nil:
			o[p.Name] = nil
		}
	}
	for _, counted := range []string{"view", "download", "citation"} {
		o[counted+"Count"], o[counted+"sOverTime"] = 0, []any{}
	}
	return o
})

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// moment writes a time; lists leave fractions of a second out.
func (v View) moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	if v.Deployed {
		t = t.Truncate(time.Second)
	}
	if v.Single {
		return t.Format("2006-01-02T15:04:05.000Z")
	}
	return t.Format(time.RFC3339)
}

// YearText is a publicationYear of any type as a string.
func YearText(year any) string {
	if n, ok := year.(float64); ok {
		return strconv.Itoa(10000 + int(n))[1:]
	}
	return wire.String(year)
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
// names. Other values stay as they are.
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

func (rec *Record) relationships(v View) object {
	o := object{"client": Link(rec.Client, "clients")}
	if v.Detail {
		o["provider"] = Link(rec.Provider, "providers")
		for name, related := range rec.related() {
			o[name] = object{"data": rec.known(related, v.Known)}
		}
	}
	if v.Single && v.Detail {
		o["media"] = Link(rec.DOI, "media")
	}
	return o
}

// Link names a resource by its id and kind, as JSON:API does.
func Link(id, kind string) object {
	if id == "" {
		return object{"data": nil}
	}
	return object{"data": object{"id": strings.ToLower(id), "type": kind}}
}

// Related are the related identifiers.
func (rec *Record) Related() []any {
	list, _ := rec.Attributes["relatedIdentifiers"].([]any)
	return list
}

// related are the DOIs that the record is related to, by relationship.
func (rec *Record) related() map[string][]any {
	out := map[string][]any{
		"references": {}, "citations": {}, "parts": {}, "partOf": {}, "versions": {}, "versionOf": {},
	}
	if rec.Relationships != nil {
		for relationship, dois := range rec.Relationships {
			for _, doi := range dois {
				out[relationship] = append(out[relationship], object{"id": doi, "type": "dois"})
			}
		}
		return out
	}
	for _, item := range rec.Related() {
		o, _ := item.(object)
		relationship := usage.RelationOf(wire.String(o["relationType"]))
		name, ok := names.Read(wire.String(o["relatedIdentifier"]))
		if relationship != "" && ok {
			out[relationship] = append(out[relationship], object{"id": name, "type": "dois"})
		}
	}
	return out
}

// known are those of related DOIs that have a record, at most 25.
func (rec *Record) known(related []any, is func(doi string) bool) []any {
	if is == nil || rec.Relationships == nil {
		return related
	}
	known := slices.DeleteFunc(slices.Clone(related), func(v any) bool { return !is(v.(object)["id"].(string)) })
	return known[:min(len(known), 25)]
}
