package dois

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// facetLength is how many values of a facet are shown, the frequent ones first.
const facetLength = 10

// bucket is one value of a facet.
type bucket struct{ id, title string }

// facets are what a list counts with disable-facets=false. The deployed
// service has more.
var facets = map[string]func(rec *record.Record) []bucket{
	"states":        func(rec *record.Record) []bucket { return named(rec.State) },
	"clients":       func(rec *record.Record) []bucket { return named(strings.ToLower(rec.Client)) },
	"providers":     func(rec *record.Record) []bucket { return named(strings.ToLower(rec.Provider)) },
	"created":       func(rec *record.Record) []bucket { return year(yearOf(rec.Created)) },
	"registered":    func(rec *record.Record) []bucket { return year(yearOf(rec.Registered)) },
	"published":     func(rec *record.Record) []bucket { return named(rec.Year()) },
	"prefixes":      func(rec *record.Record) []bucket { prefix, _ := names.Split(rec.DOI); return named(prefix) },
	"resourceTypes": func(rec *record.Record) []bucket { return dashed(rec.GeneralType()) },
	"schemaVersions": func(rec *record.Record) []bucket {
		version, _ := strings.CutPrefix(wire.String(rec.Attributes["schemaVersion"]), "http://datacite.org/schema/kernel-")
		return titled(version, "Schema "+version)
	},
	"subjects": func(rec *record.Record) []bucket { return membersOf(rec, "subjects", "subject") },
	"licenses": func(rec *record.Record) []bucket { return membersOf(rec, "rightsList", "rightsIdentifier") },
	"affiliations": func(rec *record.Record) []bucket {
		var out []bucket
		for _, id := range rec.Identified("affiliation", "affiliationIdentifier") {
			out = append(out, titled(strings.TrimPrefix(id, "https://"), id)...)
		}
		return out
	},
}

func titled(id, title string) []bucket {
	if id == "" {
		return nil
	}
	return []bucket{{id, title}}
}

func named(id string) []bucket { return titled(id, id) }

func year(n int) []bucket {
	if n == 0 {
		return nil
	}
	return named(strconv.Itoa(n))
}

// dashed spells an id in the way of the filters, as in journal-article.
func dashed(name string) []bucket {
	var id strings.Builder
	for i, r := range name {
		if i > 0 && 'A' <= r && r <= 'Z' {
			id.WriteByte('-')
		}
		id.WriteRune(r)
	}
	return titled(strings.ToLower(id.String()), name)
}

func membersOf(rec *record.Record, list, member string) []bucket {
	var out []bucket
	items, _ := rec.Attributes[list].([]any)
	for _, item := range items {
		o, _ := item.(object)
		out = append(out, named(wire.String(o[member]))...)
	}
	return out
}

// addFacets counts what the parameters ask for. They are off by default, and
// an empty list has none.
func addFacets(meta object, p wire.Params, found []hit) {
	if off := p["disable_facets"]; off != "false" && off != "0" || len(found) == 0 {
		return
	}
	wanted, limited := p["facets"]
	for name, of := range facets {
		if !limited || wire.Listed(wire.Squeezed(wanted), name) {
			meta[name] = counted(found, of)
		}
	}
}

func counted(found []hit, of func(*record.Record) []bucket) []any {
	counts := map[bucket]int{}
	for _, h := range found {
		for _, b := range of(h.Record) {
			counts[b]++
		}
	}
	var all []bucket
	for b := range counts {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b bucket) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a.id, b.id)) })
	out := []any{}
	for _, b := range all[:min(len(all), facetLength)] {
		out = append(out, object{"id": b.id, "title": b.title, "count": counts[b]})
	}
	return out
}
