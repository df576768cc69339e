package dois

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// facets are the counts that a list can have (lupo app/models/doi.rb DOI_AGGREGATION_DEFINITIONS and
// app/controllers/concerns/facetable.rb).
var facets = map[string]facet{
	"states":         top("aasm_state", 3, func(v string) bucket { return bucket{v, names.Titled(v)} }),
	"resourceTypes":  top("resource_type_id_and_name", 34, combined),
	"created":        newest("created", 4),
	"published":      published,
	"registered":     newest("registered", 4),
	"providers":      top("provider_id_and_name", 10, combined),
	"clients":        top("client_id_and_name", 10, combined),
	"affiliations":   top("affiliation_id_and_name", 10, combined),
	"prefixes":       top("prefix", 10, same),
	"schemaVersions": top("schema_version", 10, func(v string) bucket { v = v[strings.LastIndex(v, "-")+1:]; return bucket{v, "Schema " + v} }),
	"fieldsOfScience": among(isFieldOfScience, top("subjects.subject.keyword", 10, func(v string) bucket {
		label, is := strings.CutPrefix(v, "FOS:")
		if !is {
			return bucket{}
		}
		label = strings.TrimPrefix(label, " ")
		return bucket{names.Slug(label), label}
	})),
	"subjects":         top("subjects.subject.keyword", 10, titleised),
	"certificates":     top("client.certificate", 10, titleised),
	"licenses":         top("rights_list.rightsIdentifier", 10, named(licences)),
	"linkChecksStatus": top("landing_page.status", 10, same),
	"views":            byYear("view_count"),
	"downloads":        byYear("download_count"),
	"citations":        byYear("citation_count"),

	// Only by name.
	"clientTypes":   top("client.client_type", 4, named(clientTypes)),
	"viewCount":     sum("view_count"),
	"downloadCount": sum("download_count"),
	"citationCount": sum("citation_count"),
}

// usual are the default facets of a list.
var usual = strings.Fields(`resourceTypes states published created registered providers clients affiliations prefixes schemaVersions
	linkChecksStatus subjects fieldsOfScience licenses certificates views downloads citations`)

// unplayedFacets are those that the deployed service has besides, only by name.
var unplayedFacets = strings.Fields(`languages registrationAgencies authors creatorsAndContributors personToWorkTypesMultilevel funders
	licensesWithMissing openLicenses contentUrlCount`)

// The titles of ids.
var (
	clientTypes = map[string]string{"repository": "Repository", "periodical": "Periodical", igsnCatalog: "IGSN ID Catalog", "raidRegistry": "RAiD Registry"}
	licences    = func() map[string]string {
		titles := map[string]string{}
		for title := range strings.FieldsSeq(`AFL-1.1 Apache-2.0 BSD-2-clause BSD-3-clause CC-BY-1.0 CC-BY-2.0 CC-BY-2.5 CC-BY-3.0 CC-BY-4.0
			CC-BY-NC-2.0 CC-BY-NC-2.5 CC-BY-NC-3.0 CC-BY-NC-4.0 CC-BY-NC-ND-3.0 CC-BY-NC-ND-4.0 CC-BY-NC-SA-3.0 CC-BY-NC-SA-4.0
			CC-BY-ND-2.0 CC-BY-ND-3.0 CC-BY-ND-4.0 CC-BY-SA-4.0 CC-PDDC CC0-1.0 EUPL-1.1 GPL-2.0+ GPL-3.0 ISC MIT MPL-2.0 OGL-Canada-2.0`) {
			titles[strings.ToLower(title)] = title
		}
		return titles
	}()
)

// facet counts something in all hits of a list.
type facet func(found []hit, now time.Time) any

// bucket is one value of a facet; without an id it is not shown.
type bucket struct{ id, title string }

func (b bucket) counted(n int) object { return object{"id": b.id, "title": b.title, "count": n} }

func same(v string) bucket { return bucket{v, v} }

func titleised(v string) bucket { return bucket{v, names.Titleised(v)} }

// combined is an id and a name joined in one value.
func combined(v string) bucket {
	id, title, _ := strings.Cut(v, ":")
	return bucket{id, title}
}

func named(titles map[string]string) func(string) bucket {
	return func(v string) bucket { return bucket{v, cmp.Or(titles[v], v)} }
}

// addFacets adds the facets that the parameters request. Without a name they are off by
// default, and an empty list has none.
func addFacets(meta object, p wire.Params, found []hit, now time.Time) error {
	if len(found) == 0 || p["id"] != "" {
		return nil
	}
	if p["client_type"] == igsnCatalog && p["ids"] == "" {
		meta["createdByMonth"] = newest("created", 7)(found, now) // always included
	}
	off, said := p["disable_facets"]
	list, limited := p["facets"]
	if off = strings.ToLower(off); !said && !limited || off == "true" || off == "1" {
		return nil
	}
	wanted := usual
	if limited {
		wanted = strings.Split(list, ",")
	}
	asked := func(name string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return names.Underscored(strings.TrimSpace(w)) == names.Underscored(name) })
	}
	for _, name := range unplayedFacets {
		if asked(name) {
			return wire.Facet.Refusal(name)
		}
	}
	for name, count := range facets {
		if asked(name) {
			meta[name] = count(found, now)
		}
	}
	return nil
}

// tally counts the records of each value, most frequent first.
func tally(found []hit, values func(hit) []string) (keys []string, counts map[string]int) {
	counts = map[string]int{}
	for _, h := range found {
		for _, v := range values(h) {
			counts[v]++
		}
	}
	keys = slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	return keys, counts
}

func in(field string) func(hit) []string { return func(h hit) []string { return h.values(field) } }

// top are the most frequent values of a field.
func top(field string, size int, show func(string) bucket) facet {
	return func(found []hit, _ time.Time) any {
		keys, counts := tally(found, in(field))
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

// among counts in a part of the records.
func among(some func(hit) bool, f facet) facet {
	return func(found []hit, now time.Time) any { return f(slices.DeleteFunc(slices.Clone(found), not(some)), now) }
}

func not(is func(hit) bool) func(hit) bool { return func(h hit) bool { return !is(h) } }

func isFieldOfScience(h hit) bool {
	return slices.Contains(h.values("subjects.subjectScheme"), record.FOSScheme)
}

// spans counts records by the beginning of a date, newest first.
func spans(found []hit, field string, letters int) (keys []string, counts map[string]int) {
	keys, counts = tally(found, func(h hit) (values []string) {
		for _, v := range h.values(field) {
			if len(v) >= letters {
				values = append(values, v[:letters])
			}
		}
		return values
	})
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(b, a) })
	return keys, counts
}

// newest are the last ten years, or months, with any record.
func newest(field string, letters int) facet {
	return func(found []hit, _ time.Time) any {
		keys, counts := spans(found, field, letters)
		out := []object{}
		for _, key := range keys[:min(len(keys), 10)] {
			out = append(out, same(key).counted(counts[key]))
		}
		return out
	}
}

// published are the years of publication up to now: as many as have passed since 2010.
func published(found []hit, now time.Time) any {
	keys, counts := spans(found, "publication_year", 4)
	out := []object{}
	for _, key := range keys {
		if year, _ := strconv.Atoi(key); year <= now.Year() && len(out) <= now.Year()-2010 {
			out = append(out, same(key).counted(counts[key]))
		}
	}
	return out
}

// byYear sums a count by year of publication, for those of the last ten years with a
// sum above zero.
func byYear(field string) facet {
	return func(found []hit, _ time.Time) any {
		keys, _ := spans(found, "publication_year", 4)
		out := []object{}
		for _, key := range keys[:min(len(keys), 10)] {
			of := func(h hit) bool { return h.has("publication_year", func(year string) bool { return year == key }) }
			if n := among(of, sum(field))(found, time.Time{}).(int); n > 0 {
				out = append(out, same(key).counted(n))
			}
		}
		return out
	}
}

func sum(field string) facet {
	return func(found []hit, _ time.Time) any {
		total := 0.0
		for _, h := range found {
			for _, v := range h.values(field) {
				n, _ := strconv.ParseFloat(v, 64)
				total += n
			}
		}
		return int(total)
	}
}
