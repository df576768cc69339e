package dois

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// anyFilter makes one filter of several.
func anyFilter(some []filter) filter {
	return func(rec *record.Record) bool {
		return slices.ContainsFunc(some, func(f filter) bool { return f(rec) })
	}
}

// hit is a record that a list has, and how well it matches the query.
type hit struct {
	*record.Record
	score float64
}

// hits returns the records a list is made of: those the account may see, that
// every filter lets through and that match the query.
func (s *Room) hits(p wire.Params, account *record.Account) ([]hit, error) {
	ids := p["ids"] != ""
	if ids {
		p = wire.Params{"ids": p["ids"]} // the service then heeds no other filter and no query
	}
	query, err := s.parseQuery(p["query"])
	if err != nil {
		return nil, err
	}
	if account == nil {
		delete(p, "state") // anonymous readers get findable ones, whatever they ask for
	}
	keep, err := s.readFilters(p)
	if err != nil {
		return nil, err
	}
	var found []hit
	for rec := range s.index() {
		if !s.lists(rec, account, ids) || slices.ContainsFunc(keep, func(f filter) bool { return !f(rec) }) {
			continue
		}
		if score, ok := query.Match(rec.Search()); ok {
			found = append(found, hit{rec, score})
		}
	}
	return found, nil
}

// index is every record as the search index has it now.
func (s *Room) index() iter.Seq[*record.Record] {
	now := s.Now()
	return func(yield func(*record.Record) bool) {
		for _, rec := range s.All() {
			if rec = rec.IndexedAt(now); rec != nil && !yield(rec) {
				return
			}
		}
	}
}

// lists says whether a list shows the record to the account.
func (s *Room) lists(rec *record.Record, account *record.Account, byName bool) bool {
	return rec.Visible(account) || s.SeesAll && (account != nil || byName)
}

type filter func(rec *record.Record) bool

// filters are the filters of specification §4.2, and the other ones of the
// deployed service that a record in memory can answer. They must all hold;
// unknown values match nothing, blank ones everything.
var filters = map[string]func(value string) (filter, error){
	"provider_id":   oneOf(func(rec *record.Record) []string { return []string{rec.Provider, rec.Consortium} }),
	"client_id":     oneOf(func(rec *record.Record) []string { return []string{rec.Client} }),
	"resource_type": oneOf(func(rec *record.Record) []string { return []string{rec.SpecificType()} }),
	"prefix":        oneOf(func(rec *record.Record) []string { prefix, _ := names.Split(rec.DOI); return []string{prefix} }),
	"state":         oneOf(func(rec *record.Record) []string { return []string{rec.State} }),
	"source":        oneOf(func(rec *record.Record) []string { return []string{rec.Source} }),
	"id":            oneOf(func(rec *record.Record) []string { return []string{rec.DOI} }),
	"ids":           oneOf(func(rec *record.Record) []string { return []string{rec.DOI} }),
	"resource_type_id": func(value string) (filter, error) {
		return func(rec *record.Record) bool {
			return wire.Listed(wire.Squeezed(value), wire.Squeezed(rec.GeneralType()))
		}, nil
	},
	"consortium_id": func(value string) (filter, error) {
		return func(rec *record.Record) bool { return strings.EqualFold(value, rec.Consortium) }, nil
	},
	"schema_version": func(value string) (filter, error) {
		wanted := "http://datacite.org/schema/kernel-" + value
		return func(rec *record.Record) bool { return wire.String(rec.Attributes["schemaVersion"]) == wanted }, nil
	},
	"registered":      yearFilter(func(rec *record.Record) int { return yearOf(rec.Registered) }),
	"created":         yearFilter(func(rec *record.Record) int { return yearOf(rec.Created) }),
	"published":       yearFilter(func(rec *record.Record) int { n, _ := strconv.Atoi(rec.Year()); return n }),
	"subject":         memberFilter("subjects", "subject"),
	"license":         memberFilter("rightsList", "rightsIdentifier"),
	"has_citations":   atLeast("citationCount"),
	"has_views":       atLeast("viewCount"),
	"has_downloads":   atLeast("downloadCount"),
	"has_references":  atLeast("referenceCount"),
	"has_parts":       atLeast("partCount"),
	"has_part_of":     atLeast("partOfCount"),
	"has_versions":    atLeast("versionCount"),
	"has_version_of":  atLeast("versionOfCount"),
	"has_funder":      present("fundingReferences"),
	"user_id":         insideFilter("nameIdentifiers", "nameIdentifier", "https://orcid.org/"),
	"affiliation_id":  insideFilter("affiliation", "affiliationIdentifier", "https://ror.org/"),
	"has_affiliation": insideFilter("affiliation", "affiliationIdentifier", ""),
	"has_person":      insideFilter("nameIdentifiers", "nameIdentifier", ""),
}

func (s *Room) readFilters(p wire.Params) ([]filter, error) {
	var keep, either []filter
	for name, read := range filters {
		value := strings.TrimSpace(p[name])
		if value == "" {
			continue
		}
		f, err := read(value)
		if err != nil {
			return nil, err
		}
		if slices.Contains(s.AnyOf, name) {
			either = append(either, f)
		} else {
			keep = append(keep, f)
		}
	}
	if len(either) > 0 {
		keep = append(keep, anyFilter(either))
	}
	return keep, nil
}

// oneOf takes a comma list of what the record may have.
func oneOf(values func(*record.Record) []string) func(string) (filter, error) {
	return func(wanted string) (filter, error) {
		return func(rec *record.Record) bool { return wire.Listed(wanted, values(rec)...) }, nil
	}
}

func yearOf(t time.Time) int {
	if t.IsZero() {
		return 0
	}
	return t.Year()
}

// yearFilter takes a year, or several as the span from first to last.
func yearFilter(year func(*record.Record) int) func(string) (filter, error) {
	return func(value string) (filter, error) {
		var years []int
		for part := range strings.SplitSeq(value, ",") {
			if !record.IsYear(part) {
				return nil, searchFault("failed to parse date field [" + value + "] with format [yyyy]")
			}
			n, _ := strconv.Atoi(strings.TrimSpace(part))
			years = append(years, n)
		}
		first, last := slices.Min(years), slices.Max(years)
		return func(rec *record.Record) bool { n := year(rec); return n != 0 && first <= n && n <= last }, nil
	}
}

// memberFilter takes a comma list of values that a member of a list may have.
func memberFilter(list, member string) func(string) (filter, error) {
	return func(value string) (filter, error) {
		wanted := strings.Split(value, ",")
		return func(rec *record.Record) bool {
			items, _ := rec.Attributes[list].([]any)
			return slices.ContainsFunc(items, func(item any) bool {
				o, _ := item.(object)
				return o[member] != nil && slices.Contains(wanted, wire.String(o[member]))
			})
		}, nil
	}
}

// insideFilter looks into the people of a record for an identifier; with no
// base, for any at all.
func insideFilter(list, member, base string) func(string) (filter, error) {
	return func(value string) (filter, error) {
		wanted := value[strings.LastIndex(value, "/")+1:]
		return func(rec *record.Record) bool {
			return slices.ContainsFunc(rec.Identified(list, member), func(id string) bool {
				return base == "" && id != "" || base != "" && strings.EqualFold(id, base+wanted)
			})
		}, nil
	}
}

// atLeast takes a count. What is no count above zero has no effect.
func atLeast(counter string) func(string) (filter, error) {
	return func(value string) (filter, error) {
		wanted, _ := strconv.ParseFloat(value, 64)
		return func(rec *record.Record) bool {
			n, _ := rec.Search()[counter].(float64)
			return n >= wanted
		}, nil
	}
}

func present(list string) func(string) (filter, error) {
	return func(string) (filter, error) {
		return func(rec *record.Record) bool {
			items, _ := rec.Attributes[list].([]any)
			return len(items) > 0
		}, nil
	}
}
