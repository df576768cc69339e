package sandbox

import (
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/sandbox/search"
)

// hit is a record that a list has, and how well it matches the query.
type hit struct {
	*record
	score float64
}

// hits returns the records a list is made of: those the account may see, that
// every filter lets through and that match the query.
func (s *doiRoom) hits(p params, account *Account) ([]hit, error) {
	ids := p["ids"] != ""
	if ids {
		p = params{"ids": p["ids"]} // the service then heeds no other filter and no query
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
		if score, ok := query.Match(rec.search()); ok {
			found = append(found, hit{rec, score})
		}
	}
	return found, nil
}

// index is every record as the search index has it now.
func (s *doiRoom) index() iter.Seq[*record] {
	now := s.Now()
	return func(yield func(*record) bool) {
		for _, rec := range s.all() {
			if rec = rec.indexedAt(now); rec != nil && !yield(rec) {
				return
			}
		}
	}
}

// lists says whether a list shows the record to the account.
func (s *doiRoom) lists(rec *record, account *Account, byName bool) bool {
	return rec.visible(account) || s.SeesAll && (account != nil || byName)
}

func (s *doiRoom) parseQuery(text string) (*search.Query, error) {
	if s.IndexNames {
		text = rewritten(text)
	}
	query, err := search.Parse(text, search.Options{And: s.AllWords, Now: s.Now()})
	switch {
	case err == nil:
		return query, nil
	case s.AsBuilt && strings.HasPrefix(err.Error(), "Lexical error"):
		return nil, searchFault("token_mgr_error: " + err.Error())
	}
	return nil, searchFault("parse_exception: " + err.Error())
}

// searchFault is an error of the search engine, whose "errors" is an object.
func searchFault(title string) *fault {
	f := fail(http.StatusBadRequest, "%s", title)
	f.body = object{"errors": object{"title": title}}
	return f
}

type filter func(rec *record) bool

// filters are the filters of specification §4.2, and the other ones of the
// deployed service that a record in memory can answer. They must all hold;
// unknown values match nothing, blank ones everything.
var filters = map[string]func(value string) (filter, error){
	"provider_id": func(value string) (filter, error) {
		return func(rec *record) bool { return listed(value, rec.provider, rec.consortium) }, nil
	},
	"client_id": func(value string) (filter, error) {
		return func(rec *record) bool { return listed(value, rec.client) }, nil
	},
	"consortium_id": func(value string) (filter, error) {
		return func(rec *record) bool { return strings.EqualFold(value, rec.consortium) }, nil
	},
	"resource_type_id": func(value string) (filter, error) {
		return func(rec *record) bool {
			types, _ := rec.attributes["types"].(object)
			return listed(squeezed(value), squeezed(text(types["resourceTypeGeneral"])))
		}, nil
	},
	"resource_type": func(value string) (filter, error) {
		return func(rec *record) bool {
			types, _ := rec.attributes["types"].(object)
			return listed(value, text(types["resourceType"]))
		}, nil
	},
	"prefix": func(value string) (filter, error) {
		return func(rec *record) bool { prefix, _ := splitName(rec.doi); return listed(value, prefix) }, nil
	},
	"registered": yearFilter(func(rec *record) int { return yearOf(rec.registered) }),
	"created":    yearFilter(func(rec *record) int { return yearOf(rec.created) }),
	"published": yearFilter(func(rec *record) int {
		year, _ := strconv.Atoi(yearText(rec.attributes["publicationYear"]))
		return year
	}),
	"schema_version": func(value string) (filter, error) {
		wanted := "http://datacite.org/schema/kernel-" + value
		return func(rec *record) bool { return text(rec.attributes["schemaVersion"]) == wanted }, nil
	},
	"state": func(value string) (filter, error) {
		return func(rec *record) bool { return listed(value, rec.state) }, nil
	},
	"id":  nameFilter,
	"ids": nameFilter,
	"source": func(value string) (filter, error) {
		return func(rec *record) bool { return listed(value, rec.source) }, nil
	},
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

func (s *doiRoom) readFilters(p params) ([]filter, error) {
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

// listed says whether the comma list has one of the values, in any case.
func listed(list string, values ...string) bool {
	for wanted := range strings.SplitSeq(list, ",") {
		wanted = strings.TrimSpace(wanted)
		if wanted != "" && slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, wanted) }) {
			return true
		}
	}
	return false
}

// squeezed makes journal-article, journal_article and JournalArticle alike.
func squeezed(text string) string { return strings.NewReplacer("-", "", "_", "").Replace(text) }

func nameFilter(value string) (filter, error) {
	return func(rec *record) bool { return listed(value, rec.doi) }, nil
}

func yearOf(t time.Time) int {
	if t.IsZero() {
		return 0
	}
	return t.Year()
}

// yearFilter takes a year, or several as the span from first to last.
func yearFilter(year func(*record) int) func(string) (filter, error) {
	return func(value string) (filter, error) {
		var years []int
		for part := range strings.SplitSeq(value, ",") {
			if !yearForm.MatchString(strings.TrimSpace(part)) {
				return nil, searchFault("failed to parse date field [" + value + "] with format [yyyy]")
			}
			n, _ := strconv.Atoi(strings.TrimSpace(part))
			years = append(years, n)
		}
		first, last := slices.Min(years), slices.Max(years)
		return func(rec *record) bool { n := year(rec); return n != 0 && first <= n && n <= last }, nil
	}
}

// memberFilter takes a comma list of values that a member of a list may have.
func memberFilter(list, member string) func(string) (filter, error) {
	return func(value string) (filter, error) {
		wanted := strings.Split(value, ",")
		return func(rec *record) bool {
			items, _ := rec.attributes[list].([]any)
			return slices.ContainsFunc(items, func(item any) bool {
				o, _ := item.(object)
				return o[member] != nil && slices.Contains(wanted, text(o[member]))
			})
		}, nil
	}
}

// insideFilter looks into the people of a record for an identifier; with no
// base, for any at all.
func insideFilter(list, member, base string) func(string) (filter, error) {
	return func(value string) (filter, error) {
		wanted := value[strings.LastIndex(value, "/")+1:]
		return func(rec *record) bool {
			return slices.ContainsFunc(rec.identified(list, member), func(id string) bool {
				return base == "" && id != "" || base != "" && strings.EqualFold(id, base+wanted)
			})
		}, nil
	}
}

// identified lists the identifiers of all people of a record.
func (rec *record) identified(list, member string) []string {
	var out []string
	for _, name := range []string{"creators", "contributors"} {
		people, _ := rec.attributes[name].([]any)
		for _, p := range people {
			person, _ := p.(object)
			items, _ := person[list].([]any)
			for _, item := range items {
				o, _ := item.(object)
				out = append(out, text(o[member]))
			}
		}
	}
	return out
}

// atLeast takes a count. What is no count above zero has no effect.
func atLeast(counter string) func(string) (filter, error) {
	return func(value string) (filter, error) {
		wanted, _ := strconv.ParseFloat(value, 64)
		return func(rec *record) bool {
			n, _ := rec.search()[counter].(float64)
			return n >= wanted
		}, nil
	}
}

func present(list string) func(string) (filter, error) {
	return func(string) (filter, error) {
		return func(rec *record) bool {
			items, _ := rec.attributes[list].([]any)
			return len(items) > 0
		}, nil
	}
}
