package dois

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// ListOptions select records, their order and their properties (specification §4.2). Zero values
// are not sent.
//
// A record must match all filters that are set; it matches a list if it matches one of its values.
// One exception: of ProviderID, ClientID, and affiliation-id, funder-id, has-affiliation, has-organization
// and has-funder in Extra, the deployed service requires only one to match. A value
// that no record has is not an error: the results are empty. A value that can never match, or that
// the service would ignore, is a [*datacite.ValidationError]. So is a value with white space around it
// or with a comma, which separates values for the service.
type ListOptions struct {
	Query  query.Expr   `url:"-"`              // nil finds everything
	Sort   query.Sort   `url:"sort,omitempty"` // "" leaves the order to the service: the last updated first
	Page   query.Page   `url:"-"`              // the page; see package query for its rules
	Sample query.Sample `url:"-"`              // a random selection instead of a page

	// ProviderID: DOIs of one of these providers: members or organizations of a consortium; for a
	// consortium itself use ConsortiumID
	ProviderID     []string `url:"provider-id,comma,omitempty"`
	ClientID       []string `url:"client-id,comma,omitempty"`        // of one of these clients, that is, repositories
	ConsortiumID   string   `url:"consortium-id,omitempty"`          // of one consortium
	ResourceTypeID []string `url:"resource-type-id,comma,omitempty"` // resourceTypeGeneral, such as "dataset"
	Prefix         []string `url:"prefix,comma,omitempty"`           // such as "10.5072"
	// Registered: registered in a year, such as "2020", or from one to another, such as "2019,2021"
	Registered string `url:"registered,omitempty"`
	// Created: created in the service in a year, as for Registered; for times of day see
	// query.Field.BetweenTimes
	Created string `url:"created,omitempty"`
	// SchemaVersion: version of the metadata schema as the writer gave it, such as "4" or "4.5"
	SchemaVersion string `url:"schema-version,omitempty"`

	// Filters of the deployed service that the specification does not name.

	// IDs: these DOI names, at most 1,000; unknown names are left out; no other filter may be set
	IDs       []string         `url:"ids,comma,omitempty"`
	States    []datacite.State `url:"state,comma,omitempty"` // one of these; without credentials findable records only
	Published string           `url:"published,omitempty"`   // publicationYear, as for Registered

	Affiliation bool `url:"affiliation"`      // affiliations with their identifiers
	Publisher   bool `url:"publisher"`        // publisher with its identifier
	Detail      bool `url:"detail,omitempty"` // the extra attributes of specification §2.2
	// Fields: only these attributes, such as "doi" and "titles"; other fields stay zero. Record.Client
	// needs "client".
	Fields  []string `url:"fields[dois],comma,omitempty"`
	Include []string `url:"include,comma,omitempty"` // resources for Results.Included; the service knows "client"
	// Facets: counts for Results.Facets, such as "published" and "resourceTypes"; the service needs
	// seconds for them
	Facets []string `url:"facets,comma,omitempty"`

	From Position `url:"-"` // position of an earlier walk with the same options; only for walks

	// InBody: send the parameters as JSON in the body, for queries too long for a URL; some networks
	// drop the body of a GET
	InBody bool `url:"-"`

	// Extra has further parameters, which are sent unchanged. The service ignores unknown names and values.
	// The deployed service knows these filters, among others:
	//
	//   - resource-type (free-text resourceType, whole), license (rightsIdentifier, such as cc-by-4.0), subject
	//     (whole, with its case), field-of-science (such as computer_and_information_sciences), source (mds, …)
	//   - user-id (ORCID iD of a creator; query.Field.IsORCID finds more), affiliation-id (ROR id),
	//     affiliation-country (DE), funder-id (10.13039/501100000780), funded-by (ROR id; with
	//     include-funder-child-organizations=true, also by its parts)
	//   - of the repository: client-type (repository, periodical, igsnCatalog, raidRegistry), re3data-id,
	//     opendoar-id, certificate (CoreTrustSeal)
	//   - has-citations, has-references, has-parts, has-versions, has-views, has-downloads (a minimum),
	//     has-person, has-affiliation, has-organization, has-funder (true), link-check-status
	//   - include_other_registration_agencies, enriched, composite
	//
	// Of the parameters with a field above, Extra accepts only fields[dois], include and facets, for names
	// that this package does not know.
	Extra url.Values `url:"-"`
}

// listParams are the parameters that have another shape in ListOptions.
type listParams struct {
	Query         string     `url:"query,omitempty"`
	Page          pageParams `url:"page"`
	Random        bool       `url:"random,omitempty"`
	Sample        int        `url:"sample,omitempty"`
	SampleGroup   string     `url:"sample-group,omitempty"`
	DisableFacets string     `url:"disable-facets,omitempty"`
}

type pageParams struct {
	Number int    `url:"number,omitempty"`
	Size   int    `url:"size,omitempty"`
	Cursor string `url:"cursor,omitempty"`
}

// values checks the options and turns them into parameters. The flags affiliation and
// publisher are always sent, because their defaults will change (specification §9).
func (o *ListOptions) values() (url.Values, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	more := listParams{Page: pageParams(o.Page), Random: o.Sample.Random, Sample: o.Sample.Size,
		SampleGroup: o.Sample.Group}
	if o.Query != nil {
		more.Query = o.Query.String()
	}
	if len(o.Facets) > 0 {
		more.DisableFacets = "false"
	}
	more.Page.Size = cmp.Or(o.Page.Size, len(o.IDs)) // the default would cut the list off
	v, _ := transport.Params(o)                      // of texts, flags, numbers and lists, as those of more
	others, _ := transport.Params(more)
	maps.Copy(v, others)
	if len(o.IDs) > 0 {
		names, _ := o.names() // checked
		v.Set("ids", strings.Join(names, ","))
	}
	return v, o.addExtra(v)
}

// addExtra adds the parameters of Extra, but none that has a field, in any spelling: the
// service reads a hyphen and an underscore alike, and ignores others. Lists of names may stand there
// instead of in their fields, because the service may know more names than this package.
func (o *ListOptions) addExtra(v url.Values) error {
	var faults faults
	for _, name := range slices.Sorted(maps.Keys(o.Extra)) { // so that the same faults make the same text
		_, set := v[name]
		if slices.Contains(fieldParams, letters(name)) && (set || !slices.Contains(extraLists, name)) ||
			strings.HasPrefix(name, "page[") {
			faults.add("ListOptions.Extra", datacite.CodeConflict, "has the parameter %s, which has a field", name)
			continue
		}
		v[name] = o.Extra[name]
		if name == "facets" {
			v.Set("disable-facets", "false")
		}
	}
	return datacite.Invalid(faults...)
}

// extraLists are lists of names that may stand in Extra instead of in their fields.
var extraLists = []string{"fields[dois]", "facets", "include"}

// letters is what the spellings of a parameter have in common. The service ignores those that
// it does not know, such as clientId.
func letters(name string) string { return joined.Replace(strings.ToLower(strings.TrimSpace(name))) }

// years is one year, or several, which the service reads as a range.
var years = lazy.Regexp(`^\d{4}(,\d{4})*$`)

const maxIDs = 1000

// faults are all that is wrong with options.
type faults []datacite.Finding

func (f *faults) add(path string, code datacite.Code, reason string, args ...any) {
	*f = append(*f, datacite.Finding{Path: path, Code: code, Reason: fmt.Sprintf(reason, args...)})
}

// take adds the faults of an error.
func (f *faults) take(err error) { *f = append(*f, datacite.Findings(err)...) }

// checked returns the options as they are sent.
func (o *ListOptions) checked() (*ListOptions, error) {
	var f faults
	f.take(query.CheckList(o.Query, o.Sort, o.Page, o.Sample))
	o.checkValues(&f)
	o.checkNames(&f)
	o.checkIDs(&f)
	return o.spelled(&f), datacite.Invalid(f...)
}

// checkValues refuses filters that can find nothing and those that the service ignores.
func (o *ListOptions) checkValues(f *faults) {
	if o.States != nil && len(o.States) == 0 {
		f.add("ListOptions.States", datacite.CodeValue, emptyList)
	}
	if o.IDs != nil && len(o.IDs) == 0 {
		f.add("ListOptions.IDs", datacite.CodeValue, emptyList)
	}
	for _, state := range o.States {
		if !slices.Contains([]datacite.State{datacite.StateDraft, datacite.StateRegistered, datacite.StateFindable}, state) {
			f.add("ListOptions.States", datacite.CodeVocabulary, "%q is not a state: draft, registered or findable",
				string(state))
		}
	}
	for _, year := range [][2]string{{"Created", o.Created}, {"Published", o.Published}, {"Registered", o.Registered}} {
		if year[1] != "" && !years().MatchString(year[1]) {
			f.add("ListOptions."+year[0], "year", `%q is not a year such as "2020", or years such as "2019,2021"`, year[1])
		}
	}
}

// knownFields are the names that the service knows; it ignores others.
var knownFields = sync.OnceValue(func() []string {
	return append(recordJSON().Names(), "landingPage", "media", "enrichments")
})

// knownFacets are those that the service knows. It sends openLicensesCount and createdByMonth by itself.
var knownFacets = []string{
	"states", "resourceTypes", "created", "published", "registered", "providers", "clients", "clientTypes",
	"affiliations", "prefixes", "certificates", "licenses", "licensesWithMissing", "openLicenses", "schemaVersions",
	"linkChecksStatus", "authors", "creatorsAndContributors", "subjects", "fieldsOfScience", "languages", "registrationAgencies",
	"citations", "views", "downloads", "funders", "personToWorkTypesMultilevel",
	"citationCount", "viewCount", "downloadCount", "contentUrlCount",
}

func (o *ListOptions) checkNames(f *faults) {
	f.names("ListOptions.Fields", o.Fields, knownFields())
	f.names("ListOptions.Include", o.Include, []string{"client"})
	f.names("ListOptions.Facets", o.Facets, knownFacets)
}

// names refuses names that are not known, in either spelling that the service accepts.
func (f *faults) names(path string, given, known []string) {
	for _, name := range given {
		if !slices.ContainsFunc(known, func(known string) bool { return known == name || snake(known) == name }) {
			f.add(path, datacite.CodeVocabulary, "%q is not a name that the service knows", name)
		}
	}
}

// snake is the other spelling of a name that the service accepts.
func snake(camel string) string {
	return capitals().ReplaceAllStringFunc(camel, func(c string) string { return "_" + strings.ToLower(c) })
}

var capitals = lazy.Regexp(`[A-Z]`)

// fieldParams are the parameters that the fields of ListOptions become.
var fieldParams = func() []string {
	var names []string
	for _, options := range []reflect.Type{reflect.TypeFor[ListOptions](), reflect.TypeFor[listParams]()} {
		for field := range options.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("url"), ",")
			if name != "-" {
				names = append(names, letters(name))
			}
		}
	}
	return names
}()

func (o *ListOptions) checkIDs(f *faults) {
	if len(o.IDs) == 0 {
		return
	}
	if len(o.IDs) > maxIDs {
		f.add("ListOptions.IDs", datacite.CodeLimit, "has %d names; the service accepts %d", len(o.IDs), maxIDs)
	} else if _, err := o.names(); err != nil {
		f.take(err)
	}
	if o.Query != nil || o.Page.Cursor != "" || o.filtered() {
		f.add("ListOptions.IDs", datacite.CodeConflict,
			"cannot be combined with a query, a cursor or another filter, which the service would ignore")
	}
}

// names are the bare DOI names of IDs.
func (o *ListOptions) names() ([]string, error) {
	var names []string
	var faults faults
	for i, id := range o.IDs {
		path := fmt.Sprintf("ListOptions.IDs[%d]", i)
		name, err := parseName(path, id)
		if err == nil && strings.Contains(name, ",") {
			err = datacite.Invalid(datacite.Finding{Path: path, Code: datacite.CodeDOI,
				Reason: fmt.Sprintf("%q has a comma, which the service reads as the end of a name; use Get",
					name), Err: datacite.ErrInvalidDOI})
		}
		faults.take(err)
		names = append(names, name)
	}
	return names, datacite.Invalid(faults...)
}

// filtered reports whether a filter other than IDs is set.
func (o *ListOptions) filtered() bool {
	filters := *o
	filters.IDs, filters.Sort, filters.Include, filters.Facets, filters.Fields = nil, "", nil, nil, nil
	filters.Affiliation, filters.Publisher, filters.Detail = false, false, false
	v, _ := transport.Params(filters)
	delete(v, "affiliation")
	delete(v, "publisher")
	for name := range o.Extra {
		if !slices.Contains(extraLists, name) && name != "mailto" {
			return true
		}
	}
	return len(v) > 0
}

// A spelling turns a value of a filter into the form that the service compares, or says
// what is wrong with it. The service itself ignores what it cannot read, or finds nothing.
type spelling func(value string) (sent, fault string)

// spelled returns the options with the values of all filters as they are sent. A value that
// would find less than it says is a fault.
func (o *ListOptions) spelled(f *faults) *ListOptions {
	out := *o
	for _, list := range []struct {
		name   string
		values *[]string
		spell  spelling
	}{
		{"ProviderID", &out.ProviderID, asGiven},
		{"ClientID", &out.ClientID, asGiven},
		{"ResourceTypeID", &out.ResourceTypeID, typeID},
		{"Prefix", &out.Prefix, prefix},
	} {
		if *list.values != nil && len(*list.values) == 0 {
			f.add("ListOptions."+list.name, datacite.CodeValue, emptyList)
		}
		*list.values = slices.Clone(*list.values)
		for i, value := range *list.values {
			(*list.values)[i] = f.spell(fmt.Sprintf("ListOptions.%s[%d]", list.name, i), value, list.spell)
		}
	}
	for _, text := range []struct {
		name  string
		value *string
		spell spelling
	}{
		{"ConsortiumID", &out.ConsortiumID, asGiven},
		{"SchemaVersion", &out.SchemaVersion, schemaVersion},
	} {
		if *text.value != "" {
			*text.value = f.spell("ListOptions."+text.name, *text.value, text.spell)
		}
	}
	return &out
}

const emptyList = "is an empty list, which would not filter; leave it nil to find all"

// spell refuses what no value has: the service would ignore a blank filter, read a comma as
// the end of a value, and compare white space.
func (f *faults) spell(path, value string, spell spelling) string {
	switch {
	case strings.TrimSpace(value) == "":
		f.add(path, datacite.CodeMissing, "is empty; the service would ignore it")
	case strings.TrimSpace(value) != value:
		f.add(path, datacite.CodeValue, "is %q; the service would look for the white space around it, too", value)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		f.add(path, datacite.CodeEncoding, "is %q; the service has no value with such a character", value)
	case strings.Contains(value, ","):
		f.add(path, datacite.CodeValue, "is %q; the service reads a comma as the end of a value, so give each value an "+
			"item of a list, or use Query", value)
	default:
		sent, fault := spell(value)
		if fault != "" {
			f.add(path, datacite.CodeValue, "%q is not %s", value, fault)
		}
		return sent
	}
	return value
}

func asGiven(value string) (string, string) { return value, "" }

var schemaPattern = lazy.Regexp(`^\d(\.\d+)?$`)

func schemaVersion(value string) (string, string) {
	if schemaPattern().MatchString(value) {
		return value, ""
	}
	return value, `a version of the schema such as "4" or "4.5"`
}

func prefix(value string) (string, string) {
	if doi.IsPrefix(value) {
		return value, ""
	}
	return value, `a prefix such as "10.5072"`
}

// typeID is the id of a resourceTypeGeneral, however its words are joined. An unknown one
// may be newer than this package.
func typeID(value string) (string, string) {
	for _, term := range metadata.Values[metadata.ResourceTypeGeneral]() {
		id := strings.TrimPrefix(strings.ReplaceAll(snake(string(term)), "_", "-"), "-")
		if joined.Replace(strings.ToLower(value)) == joined.Replace(id) {
			return id, ""
		}
	}
	return value, ""
}

var joined = strings.NewReplacer("-", "", "_", "", " ", "")
