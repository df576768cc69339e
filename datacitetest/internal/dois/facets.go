package dois

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// facets are the counts of a list that are supported (lupo app/models/doi.rb DOI_AGGREGATION_DEFINITIONS and
// app/controllers/concerns/facetable.rb).
var facets = map[string]facet{
	"states": top("aasm_state", 3, func(v string) bucket { return bucket{v, names.Titled(v)} }),
	"resourceTypes": top("resource_type_id_and_name", 34, func(v string) bucket {
		id, title, _ := strings.Cut(v, ":")
		return bucket{id, title}
	}),
	"published": published,
}

// unsupportedFacets are those that the deployed service has besides.
var unsupportedFacets = strings.Fields(
	`created registered providers clients affiliations prefixes schemaVersions linkChecksStatus subjects
	fieldsOfScience licenses certificates views downloads citations clientTypes viewCount downloadCount citationCount languages
	registrationAgencies authors creatorsAndContributors personToWorkTypesMultilevel funders licensesWithMissing openLicenses contentUrlCount`)

// facet counts something in all records of a list.
type facet func(ix *store.Index, found search.Set, now time.Time) any

// bucket is one value of a facet; without an id it is not shown.
type bucket struct{ id, title string }

func (b bucket) counted(n int) object { return object{"id": b.id, "title": b.title, "count": n} }

// addFacets adds the facets that the parameters name. Without a name they are off by
// default, and an empty list has none.
func addFacets(meta object, p wire.Params, ix *store.Index, found search.Set, now time.Time) error {
	off, said := p["disable_facets"]
	list, limited := p["facets"]
	if off = strings.ToLower(off); found.Len() == 0 || p["id"] != "" || !said && !limited || off == "true" || off == "1" {
		return nil
	}
	if !limited {
		return wire.Facet.Refusal("all of them")
	}
	asked := func(name string) bool {
		return slices.ContainsFunc(strings.Split(list, ","), func(w string) bool {
			return names.Underscored(strings.TrimSpace(w)) == names.Underscored(name)
		})
	}
	for _, name := range unsupportedFacets {
		if asked(name) {
			return wire.Facet.Refusal(name)
		}
	}
	for name, count := range facets {
		if asked(name) {
			meta[name] = count(ix, found, now)
		}
	}
	return nil
}

// tally counts the records of each value of a field, most frequent first.
func tally(ix *store.Index, found search.Set, field string) (keys []string, counts map[string]int) {
	counts = ix.Count(field, found)
	keys = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	return keys, counts
}

// top are the most frequent values of a field.
func top(field string, size int, show func(string) bucket) facet {
	return func(ix *store.Index, found search.Set, _ time.Time) any {
		keys, counts := tally(ix, found, field)
		out := []object{}
		for _, key := range keys {
			if len(out) == size {
				break
			}
			if b := show(key); b.id != "" {
				out = append(out, b.counted(counts[key]))
			}
		}
		return out
	}
}

// published are the years of publication up to now, newest first: as many as have passed since 2010.
func published(ix *store.Index, found search.Set, now time.Time) any {
	keys, counts := tally(ix, found, "publication_year")
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(b, a) })
	out := []object{}
	for _, key := range keys {
		if year, err := strconv.Atoi(key); err == nil && year <= now.Year() && len(out) <= now.Year()-2010 {
			out = append(out, bucket{key, key}.counted(counts[key]))
		}
	}
	return out
}
