package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Indexed is the record as the deployed service's index has it, which queries, filters and
// facets use (lupo app/models/doi.rb as_indexed_json). A few members are also there under the
// names that the specification's queries use.
func (rec *Record) Indexed() object {
	shown := rec.shown(View{Affiliation: true, Publisher: true, Detail: true})
	o := make(object, 2*len(shown))
	for name, v := range shown {
		if n, ok := v.(int); ok {
			v = float64(n)
		}
		o[names.Underscored(name)] = v
	}
	delete(o, "xml")
	for _, name := range []string{"state", "version", "isActive", "metadataVersion", "alternateIdentifiers"} {
		o[name] = shown[name]
	}
	publisher, _ := shown["publisher"].(object)
	maps.Copy(o, object{
		"id": rec.DOI, "uid": rec.DOI, "identifier": "https://doi.org/" + rec.DOI, "aasm_state": rec.State,
		"version_info": shown["version"],
		"is_active":    "\x00", "agency": cmp.Or(wire.String(shown["agency"]), "datacite"),
		"publisher": publisher["name"], "publisher_obj": shown["publisher"],
	})
	if rec.State == Findable {
		o["is_active"] = "\x01"
	}
	if titles := objects(shown["titles"]); len(titles) > 0 {
		o["primary_title"] = titles[0]
	}
	if id := rec.resourceTypeID(); id != "" {
		o["resource_type_id"], o["resource_type_id_and_name"] = id, id+":"+resourceTypes()[id]
	}
	for name, related := range rec.related() {
		o[strings.TrimSuffix(names.Underscored(name), "s")+"_ids"] = texts(objects(related), "id", strings.ToLower)
	}
	indexPeople(o, publisher)
	rec.indexParents(o)
	return o
}

// resourceTypes are the general types of resources, by their id: "book-chapter" is Book Chapter.
var resourceTypes = sync.OnceValue(func() map[string]string {
	titles := map[string]string{}
	for _, name := range Vocabulary()["resourceTypeGeneral"] {
		titles[names.Dashed(name)] = names.Titled(name)
	}
	return titles
})

func (rec *Record) resourceTypeID() string {
	name := rec.GeneralType()
	if rec.SpecificType() == "Project" && (name == "Text" || name == "Other") {
		name = "Project"
	}
	if id := names.Dashed(name); resourceTypes()[id] != "" {
		return id
	}
	return ""
}

// indexPeople are the members of the index about people, organizations and funders.
func indexPeople(o, publisher object) {
	both := slices.Concat(listed(o["creators"]), listed(o["contributors"]))
	creators, all := objects(o["creators"]), objects(both)
	var names []any
	for _, c := range creators {
		names = append(names, naturalName(c))
	}
	maps.Copy(o, object{
		"creators_and_contributors": both, "creator_names": names,
		"person_id": texts(chosen(held(all, "nameIdentifiers"), "nameIdentifierScheme", "ORCID"), "nameIdentifier",
			ORCID),
		"affiliation_id": texts(chosen(held(all, "affiliation"), "affiliationIdentifierScheme", "ROR"),
			"affiliationIdentifier", RORID),
		"organization_id": slices.Concat(texts(chosen(held(all, "nameIdentifiers"), "nameIdentifierScheme", "ROR"),
			"nameIdentifier", RORID),
			texts(chosen([]object{publisher}, "publisherIdentifierScheme", "ROR"), "publisherIdentifier", RORID)),
		"funder_rors": texts(chosen(objects(o["funding_references"]), "funderIdentifierType", "ROR"), "funderIdentifier",
			RORURL),
	})
}

// naturalName is a creator's name with the given name first: "John Smith" for "Smith, John".
func naturalName(person object) string {
	name, family := wire.String(person["name"]), wire.String(person["familyName"])
	if !wire.IsBlank(family) {
		return wire.String(person["givenName"]) + " " + family
	}
	if last, first, ok := strings.Cut(name, ", "); ok {
		return first + " " + last
	}
	return name
}

// FOSScheme is the scheme of subjects that are fields of science.
const FOSScheme = "Fields of Science and Technology (FOS)"

// indexParents are the members of the index about the repository and its provider.
func (rec *Record) indexParents(o object) {
	for kind, parent := range map[string]struct {
		id   string
		said object
	}{"client": {rec.Client, rec.Repository}, "provider": {rec.Provider, rec.Member}} {
		if parent.id == "" {
			continue
		}
		about := Parent(parent.id, parent.said)
		indexed := object{"id": about["id"], "uid": about["id"], "is_active": "\x01"}
		for name, v := range about {
			indexed[names.Underscored(name)] = v
		}
		if kind == "client" {
			indexed["client_type"] = cmp.Or(wire.String(about["clientType"]), "repository")
		}
		o[kind] = indexed
		o[kind+"_id"] = about["id"]
	}
	if rec.Consortium != "" {
		o["consortium_id"] = strings.ToLower(rec.Consortium)
	}
}

// Parent is a repository or a member: its known members, or only its id.
func Parent(id string, said object) object {
	about := object{"id": strings.ToLower(id), "name": id, "symbol": names.Upper(id)}
	for name, v := range said {
		if name != "id" {
			about[name] = v
		}
	}
	return about
}

// RORID is a ROR id in the form of the index, "ror.org/04wxnsj81".
func RORID(text string) string { return atHost(text, "ror.org/") }

// RORURL is a ROR id as a URL.
func RORURL(text string) string { return inHTTPS(RORID(text)) }

// ORCID is an ORCID iD in the form of the index, "https://orcid.org/0000-0003-3484-6875".
func ORCID(text string) string { return inHTTPS(atHost(text, "orcid.org/")) }

func atHost(text, host string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "http://"), "https://")
	if text = strings.TrimPrefix(text, host); text == "" {
		return ""
	}
	return host + text
}

func inHTTPS(text string) string {
	if text == "" {
		return ""
	}
	return "https://" + text
}

// objects are the objects of a list, or a single object as a list.
func objects(v any) (out []object) {
	for _, item := range listed(v) {
		if o, ok := item.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

// held are the objects in the list name of each object.
func held(owners []object, list string) (out []object) {
	for _, o := range owners {
		out = append(out, objects(o[list])...)
	}
	return out
}

// chosen are the objects whose member has a value.
func chosen(all []object, member, value string) (out []object) {
	for _, o := range all {
		if o[member] == value {
			out = append(out, o)
		}
	}
	return out
}

// texts are the values of a member, transformed; empty ones are left out.
func texts(all []object, member string, form func(string) string) []any {
	out := []any{}
	for _, o := range all {
		if text := form(wire.String(o[member])); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// IndexedAt is the record as the search index has it at a moment: an older one,
// or nil, while the index lags behind.
func (rec *Record) IndexedAt(now time.Time) *Record {
	for rec != nil && rec.shows.After(now) {
		rec = rec.before
	}
	if rec == nil || rec.Gone {
		return nil
	}
	return rec
}

// Lags says whether the search index does not have the record yet at a moment.
func (rec *Record) Lags(now time.Time) bool { return rec.shows.After(now) }

// Lagging puts the record into the index after a while; the old one, which may
// be nil, is there until then.
func (rec *Record) Lagging(old *Record, now time.Time, lag time.Duration) *Record {
	rec.before, rec.shows = nil, time.Time{}
	if lag <= 0 {
		return rec
	}
	rec.before, rec.shows = old, now.Add(lag)
	if old != nil && !old.shows.After(now) {
		settled := *old
		settled.before = nil // the index has caught up
		rec.before = &settled
	}
	return rec
}
