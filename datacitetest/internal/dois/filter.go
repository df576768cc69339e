package dois

import (
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// find returns the records of a list: those that the account may see and that match all
// filters and the query.
func (s *Service) find(ix *store.Index, p wire.Params, account *record.Account) (search.Found, error) {
	byName := false
	for _, name := range []string{"ids", "id"} {
		if p[name] != "" {
			p, byName = wire.Params{name: p[name]}, true // other filters and the query have no effect then
		}
	}
	query, err := s.parseQuery(p["query"])
	if err != nil {
		return search.Found{}, err
	}
	if account == nil {
		delete(p, "state") // anonymous readers see only findable records
	}
	keep, err := s.readFilters(p)
	if err != nil {
		return search.Found{}, err
	}
	found := query.Find(ix.Index)
	for _, f := range keep {
		found.And(f(ix))
	}
	if !byName && wire.IsBlank(p["include_other_registration_agencies"]) {
		found.Without(ix.With("agency", record.ForeignAgencies...))
	}
	found.And(s.listed(ix, account, byName))
	return found, nil
}

// listed are the records that a list shows to the account.
func (s *Service) listed(ix *store.Index, account *record.Account, byName bool) search.Set {
	if s.Deployed && (account != nil || byName) {
		return ix.Live()
	}
	listed := ix.With("aasm_state", record.Findable)
	if account != nil {
		others := ix.With("aasm_state", record.Draft, record.Registered)
		for n := range others.All() {
			if ix.Entry(n).Visible(account) {
				listed.Add(n)
			}
		}
	}
	return listed
}

// filter is the records that a filter keeps.
type filter func(ix *store.Index) search.Set

// condition makes a filter of a parameter's value.
type condition func(field, value string) (filter, error)

// filters are those of specification §4.2, and the further ones of the deployed service
// (lupo app/controllers/datacite_dois_controller.rb and app/models/doi.rb query). All must match;
// unknown values match nothing, empty ones everything.
var filters = []struct {
	name, fields string
	condition    condition
}{
	{"id", "uid", term(strings.ToLower)},
	{"ids", "doi", terms(strings.ToLower)},
	{"provider_id", "provider_id", terms(strings.ToLower)},
	{"client_id", "client_id", terms(strings.ToLower)},
	{"consortium_id", "consortium_id", term(strings.ToLower)},
	{"resource_type_id", "resource_type_id", terms(func(id string) string { return names.Dashed(strings.TrimSpace(id)) })},
	{"prefix", "prefix", terms(asIs)},
	{"registered", "registered", years},
	{"created", "created", years},
	{"schema_version", "schema_version", term(func(v string) string { return "http://datacite.org/schema/kernel-" + v })},

	{"state", "aasm_state", terms(asIs)},
	{"published", "publication_year", years},
	{"resource_type", "types.resourceType", terms(strings.ToLower)},
	{"source", "source", term(asIs)},
	{"subject", "subjects.subject.keyword", terms(asIs)},
	{"license", "rights_list.rightsIdentifier", terms(strings.ToLower)},
	{"field_of_science", "subjects.subjectScheme", always(record.FOSScheme)},
	{"field_of_science", "subjects.subject.keyword",
		terms(func(id string) string { return "FOS: " + names.Humanised(id) })},
	{"user_id", "creators.nameIdentifiers.nameIdentifier", term(record.ORCID)},
	{"affiliation_id", "affiliation_id", term(record.RORID)},
	{"funder_id", "funding_references.funderIdentifier",
		terms(func(id string) string { return "https://doi.org/" + doiFrom(id) })},
	{"funded_by", "funder_rors", term(record.RORURL)},

	{"has_citations", "citation_count", atLeast},
	{"has_references", "reference_count", atLeast},
	{"has_parts", "part_count", atLeast},
	{"has_part_of", "part_of_count", atLeast},
	{"has_versions", "version_count", atLeast},
	{"has_version_of", "version_of_count", atLeast},
	{"has_views", "view_count", atLeast},
	{"has_downloads", "download_count", atLeast},

	{"has_person", "creators.nameIdentifiers.nameIdentifierScheme", always("ORCID")},
	{"has_organization", "creators.nameIdentifiers.nameIdentifierScheme contributors.nameIdentifiers.nameIdentifierScheme",
		always("ROR")},
	{"has_affiliation", "creators.affiliation.affiliationIdentifierScheme " +
		"contributors.affiliation.affiliationIdentifierScheme", always("ROR")},
	{"has_funder", "funding_references.funderIdentifierType", always("Crossref Funder ID")},
}

// unsupportedParameters are the parameters of the deployed service that this one does not
// support, with the value that has an effect, "" for any.
var unsupportedParameters = map[string]string{
	"affiliation_country": "", "include_funder_child_organizations": "true", "enriched": "true", "page[scroll]": "",
	"callback":  "",
	"composite": "", "client_type": "", "re3data_id": "", "opendoar_id": "", "certificate": "",
}

// bracketed are the parameters with brackets that are read.
var bracketed = []string{"page[number]", "page[size]", "page[cursor]", "page[scroll]", "fields[dois]"}

func checkPlayable(p wire.Params) error {
	for name := range p {
		if strings.Contains(name, "[") && !slices.Contains(bracketed, name) || strings.HasPrefix(name, "link_check_") {
			return wire.Parameter.Refusal(name)
		}
	}
	for name, effective := range unsupportedParameters {
		if value, given := p[name]; given && (effective == "" || strings.EqualFold(value, effective)) {
			return wire.Parameter.Refusal(name)
		}
	}
	return nil
}

// alternatives are the filters of which one must match in the deployed service.
var alternatives = strings.Fields("provider_id client_id affiliation_id funder_id has_organization has_affiliation " +
	"has_funder")

func (s *Service) readFilters(p wire.Params) ([]filter, error) {
	var keep, either []filter
	for _, rule := range filters {
		value := p[rule.name]
		if wire.IsBlank(value) {
			continue
		}
		fields := rule.fields
		if rule.name == "provider_id" && !s.Deployed {
			fields += " consortium_id"
		}
		var some []filter
		for field := range strings.FieldsSeq(fields) {
			f, err := rule.condition(field, value)
			if err != nil {
				return nil, err
			}
			some = append(some, f)
		}
		if s.Deployed && slices.Contains(alternatives, rule.name) {
			either = append(either, some...)
		} else {
			keep = append(keep, anyOf(some))
		}
	}
	if len(either) > 0 {
		keep = append(keep, anyOf(either))
	}
	return keep, nil
}

// anyOf keeps what any of the filters does.
func anyOf(some []filter) filter {
	return func(ix *store.Index) search.Set {
		found := some[0](ix)
		for _, f := range some[1:] {
			found.Or(f(ix))
		}
		return found
	}
}

// holds matches records with such a value in the field.
func holds(field string, is func(value string) bool) filter {
	return func(ix *store.Index) search.Set { return ix.Where(field, is) }
}

// has matches records with one of the values in the field.
func has(field string, values ...string) filter {
	return func(ix *store.Index) search.Set { return ix.With(field, values...) }
}

func asIs(text string) string { return text }

// terms matches any of a comma list of values, spelled as in the index.
func terms(as func(string) string) condition {
	return func(field, value string) (filter, error) {
		var wanted []string
		for part := range strings.SplitSeq(value, ",") {
			wanted = append(wanted, as(part))
		}
		return has(field, wanted...), nil
	}
}

// term matches a single value, which may contain commas.
func term(as func(string) string) condition {
	return func(field, value string) (filter, error) {
		return has(field, as(value)), nil
	}
}

// always matches the same value, whatever the parameter's.
func always(wanted string) condition {
	return func(field, _ string) (filter, error) {
		return has(field, wanted), nil
	}
}

// years matches a year, or the span from the first to the last of several.
func years(field, value string) (filter, error) {
	all := strings.Split(value, ",")
	first, last := slices.Min(all), slices.Max(all)
	for _, year := range []string{first, last} {
		if !fourDigits().MatchString(year) {
			return nil, searchFault("failed to parse date field [" + year + "] with format [yyyy]")
		}
	}
	return holds(field, func(v string) bool { return len(v) >= 4 && first <= v[:4] && v[:4] <= last }), nil
}

var fourDigits = lazy.Regexp(`\A[0-9]{4}\z`)

// atLeast matches counts of at least the number at the start of a text, else 0, which every record has.
func atLeast(field, value string) (filter, error) {
	wanted := float64(wire.Leading(strings.TrimSpace(value)))
	return holds(field, func(v string) bool { n, err := strconv.ParseFloat(v, 64); return err == nil && n >= wanted }), nil
}

// doiFrom is the DOI in a text, "" if there is none.
func doiFrom(text string) string {
	name, _ := names.Validate(text)
	return name
}
