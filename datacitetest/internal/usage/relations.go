package usage

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// A Relation is the event of a related identifier.
type Relation struct {
	Subject, Object string // DOIs as URLs: the record that names the other one, and that
	Type            string // such as "IsVersionOf"
	At              time.Time
}

// A side is a relationship of the record that a relation begins with, and one of the record at
// its end.
type side struct {
	source, target string
	object         bool // it begins with the object
}

var sides = map[string]side{
	"References": {"references", "citations", false}, "Cites": {"references", "citations", false},
	"IsSupplementedBy": {"references", "citations", false},
	"IsReferencedBy": {"references", "citations",
		true}, "IsCitedBy": {"references", "citations", true}, "IsSupplementTo": {"references", "citations", true},
	"HasPart": {"parts", "partOf", false}, "IsPartOf": {"parts", "partOf", true},
	"HasVersion": {"versions", "versionOf", false}, "IsVersionOf": {"versions", "versionOf", true},
}

// RelationOf is the relationship of a record that names another one.
func RelationOf(relationType string) string {
	s := sides[relationType]
	if s.object {
		return s.target
	}
	return s.source
}

// ends are the DOIs that a relation begins and ends with, and its relationships.
func (r *Relation) ends() (source, target string, s side) {
	s = sides[r.Type]
	source, target = pathOf(r.Subject), pathOf(r.Object)
	if s.object {
		source, target = target, source
	}
	return source, target, s
}

// Relate makes events of the related identifiers of a record, and returns the DOIs whose
// relationships may have changed. An event stays when its related identifier goes.
func (e *Events) Relate(doi string, related []any, updated time.Time) []string {
	touched := map[string]bool{}
	for _, item := range related {
		o, _ := item.(object)
		r := Relation{doiURL(doi), doiURL(strings.ToLower(strings.TrimSpace(wire.String(o["relatedIdentifier"])))),
			wire.String(o["relationType"]), updated}
		if sides[r.Type].source == "" || o["relatedIdentifierType"] != "DOI" || r.Subject == "" || r.Object == "" {
			continue
		}
		e.relate(r)
		touched[pathOf(r.Subject)], touched[pathOf(r.Object)] = true, true
	}
	return slices.Sorted(maps.Keys(touched))
}

// relate adds an event, or changes the existing one.
func (e *Events) relate(r Relation) {
	key := [...]string{r.Subject, r.Object, r.Type}
	if old := e.known[key]; old != nil {
		old.At = r.At
		return
	}
	if e.related == nil {
		e.known, e.related = map[[3]string]*Relation{}, map[string][]*Relation{}
	}
	e.known[key], e.relations = &r, append(e.relations, &r)
	for _, doi := range slices.Compact([]string{names.Collate(pathOf(r.Subject)), names.Collate(pathOf(r.Object))}) {
		e.related[doi] = append(e.related[doi], &r)
	}
}

// Relationships are the DOIs that a DOI is related to, by relationship.
func (e *Events) Relationships(doi string) map[string][]string {
	all, seen := map[string][]string{}, map[[2]string]bool{}
	add := func(relationship, other string) {
		if key := [...]string{relationship, other}; !seen[key] {
			seen[key] = true
			all[relationship] = append(all[relationship], other)
		}
	}
	at := names.Collate(doi)
	for _, r := range e.related[at] {
		source, target, s := r.ends()
		if names.Collate(source) == at {
			add(s.source, target)
		}
		if names.Collate(target) == at {
			add(s.target, source)
		}
	}
	return all
}

// CitationsOverTime are the numbers of works that cite a DOI, by the year in which each was
// updated when it first did.
func (e *Events) CitationsOverTime(doi string) []any {
	overTime := []any{}
	at, first := names.Collate(doi), map[string]time.Time{}
	for _, r := range e.related[at] {
		source, target, s := r.ends()
		if old, known := first[source]; s.target == "citations" && names.Collate(target) == at && (!known ||
			r.At.Before(old)) {
			first[source] = r.At
		}
	}
	years := map[string]int{}
	for _, updated := range first {
		years[strconv.Itoa(updated.Year())]++
	}
	for _, year := range slices.Sorted(maps.Keys(years)) {
		overTime = append(overTime, object{"year": year, "total": float64(years[year])})
	}
	return overTime
}

// unrelate removes the relations of a DOI, and returns the DOIs at their other ends.
func (e *Events) unrelate(doi string) (others []string) {
	at := names.Collate(doi)
	gone := e.related[at]
	without := func(all []*Relation) []*Relation {
		return slices.DeleteFunc(all, func(r *Relation) bool { return slices.Contains(gone, r) })
	}
	for _, r := range gone {
		delete(e.known, [...]string{r.Subject, r.Object, r.Type})
		for _, other := range []string{pathOf(r.Subject), pathOf(r.Object)} {
			if key := names.Collate(other); key != at {
				e.related[key], others = without(e.related[key]), append(others, other)
			}
		}
	}
	if len(gone) > 0 {
		e.relations = without(e.relations)
	}
	delete(e.related, at)
	return others
}

// Relations are all relations, in the order of creation.
func (e *Events) Relations() (all []Relation) {
	for _, r := range e.relations {
		all = append(all, *r)
	}
	return all
}

// RestoreRelations adds relations.
func (e *Events) RestoreRelations(all []Relation) {
	for _, r := range all {
		e.relate(r)
	}
}

// pathOf is the DOI of a URL, without its query and fragment.
func pathOf(url string) string {
	doi := strings.TrimPrefix(url, doiOrg)
	if end := strings.IndexAny(doi, "?#"); end >= 0 {
		doi = doi[:end]
	}
	return doi
}
