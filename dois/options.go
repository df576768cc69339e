package dois

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/params"
	"github.com/datacite-go/datacite-go/query"
)

// ListOptions choose records, their order and their shape (specification §4.2).
// Zero values are not sent.
//
// Filters that are set must all hold, with one exception: the deployed service
// takes records that match at least one of ProviderID, ClientID, AffiliationID,
// FunderID, HasAffiliation, HasOrganization and HasFunder. A value that nothing
// has finds nothing and is no error. Where a comment says "comma list", one of
// the values has to match.
type ListOptions struct {
	Query  query.Expr   `url:"-"`              // nil finds everything
	Sort   query.Sort   `url:"sort,omitempty"` // "" leaves the order to the service, which puts the last updated first
	Page   query.Page   `url:"-"`              // which part; see package query for its rules
	Sample query.Sample `url:"-"`              // a random part instead

	ProviderID     string `url:"provider-id,omitempty"`      // of one provider: a member, a consortium or an organization of one; comma list
	ClientID       string `url:"client-id,omitempty"`        // of one client, that is, repository; comma list
	ConsortiumID   string `url:"consortium-id,omitempty"`    // of one consortium
	ResourceTypeID string `url:"resource-type-id,omitempty"` // one resourceTypeGeneral, such as "dataset"; comma list
	Prefix         string `url:"prefix,omitempty"`           // with one prefix, such as "10.5072"; comma list
	Registered     string `url:"registered,omitempty"`       // registered in a year, such as "2020", or in "2019,2021" and between
	Created        string `url:"created,omitempty"`          // created in the service in a year, as for Registered
	SchemaVersion  string `url:"schema-version,omitempty"`   // whose metadata use a version of the schema, such as "4"; the deployed service compares it with what the writer said, "4" or "4.5"

	// Further filters of the deployed service, which the specification mentions
	// without naming them.

	IDs            []string `url:"ids,comma,omitempty"`                           // these DOI names, at most 1,000; unknown ones are left out, and no other filter may be set
	States         []State  `url:"state,comma,omitempty"`                         // in one of these states; without credentials findable records only
	Published      string   `url:"published,omitempty"`                           // publicationYear, as for Registered
	ResourceType   string   `url:"resource-type,omitempty"`                       // free-text resourceType, whole, in lower case; comma list
	License        string   `url:"license,omitempty"`                             // rightsIdentifier in lower case, such as "cc-by-4.0"; comma list
	Subject        string   `url:"subject,omitempty"`                             // whole subject, with its case; comma list, so none with a comma
	FieldOfScience string   `url:"field-of-science,omitempty"`                    // id such as "computer_and_information_sciences"; comma list
	Source         string   `url:"source,omitempty"`                              // interface that the DOI was made through, such as "mds"
	OtherAgencies  bool     `url:"include_other_registration_agencies,omitempty"` // DOIs of other agencies too; see Record.Agency
	Enriched       bool     `url:"enriched,omitempty"`                            // search in the copies of records that the service has enriched

	UserID             string `url:"user-id,omitempty"`                            // ORCID iD of a person; finds only iDs stored as https://orcid.org/…, so a query for both forms finds more
	AffiliationID      string `url:"affiliation-id,omitempty"`                     // ROR id of a creator's or contributor's affiliation, in any form
	AffiliationCountry string `url:"affiliation-country,omitempty"`                // two-letter codes of affiliations' countries; comma list
	FunderID           string `url:"funder-id,omitempty"`                          // Crossref Funder id as "10.13039/501100000780"; a bare number finds other records; comma list
	FundedBy           string `url:"funded-by,omitempty"`                          // ROR id of a funder; finds its Crossref Funder ids too
	FunderChildren     bool   `url:"include-funder-child-organizations,omitempty"` // with FundedBy: its parts too

	Re3dataID   string `url:"re3data-id,omitempty"`  // of the repository
	OpendoarID  string `url:"opendoar-id,omitempty"` // of the repository
	Certificate string `url:"certificate,omitempty"` // of the repository; comma list
	ClientType  string `url:"client-type,omitempty"` // of the repository: repository, periodical, igsnCatalog (physical objects only), raidRegistry

	MinCitations  int `url:"has-citations,omitempty"` // at least so many, here and below
	MinReferences int `url:"has-references,omitempty"`
	MinParts      int `url:"has-parts,omitempty"`
	MinPartOf     int `url:"has-part-of,omitempty"`
	MinVersions   int `url:"has-versions,omitempty"`
	MinVersionOf  int `url:"has-version-of,omitempty"`
	MinViews      int `url:"has-views,omitempty"`
	MinDownloads  int `url:"has-downloads,omitempty"`

	HasPerson       bool `url:"has-person,omitempty"`       // an ORCID iD
	HasAffiliation  bool `url:"has-affiliation,omitempty"`  // an affiliation with an identifier
	HasOrganization bool `url:"has-organization,omitempty"` // an organization with an identifier
	HasFunder       bool `url:"has-funder,omitempty"`       // a funder with an identifier

	LinkStatus           string `url:"link-check-status,omitempty"`         // HTTP status of the landing page, such as "404"
	LinkHasSchemaOrg     string `url:"link-check-has-schema-org,omitempty"` // "true" or "false"
	LinkBodyHasPID       string `url:"link-check-body-has-pid,omitempty"`   // "true" or "false"
	LinkFoundSchemaOrgID bool   `url:"link-check-found-schema-org-id,omitempty"`
	LinkFoundDCID        bool   `url:"link-check-found-dc-identifier,omitempty"`
	LinkFoundCitationDOI bool   `url:"link-check-found-citation-doi,omitempty"`
	MinLinkRedirects     int    `url:"link-check-redirect-count-gte,omitempty"`

	Affiliation bool     `url:"affiliation"`                  // affiliations with their identifiers
	Publisher   bool     `url:"publisher"`                    // publisher with its identifier
	Detail      bool     `url:"detail,omitempty"`             // the extra attributes of specification §2.2
	Composite   bool     `url:"composite,omitempty"`          // without contributors, subjects, related identifiers, places and funding
	Fields      []string `url:"fields[dois],comma,omitempty"` // only these attributes, such as "doi" and "titles"; others stay zero. Record.Client needs "client".
	Include     []string `url:"include,comma,omitempty"`      // resources for Results.Included; the service knows "client"
	Facets      []string `url:"facets,comma,omitempty"`       // counts for Results.Facets, such as "published" and "resourceTypes"; they take the service seconds

	// Overflow is what a walk does when Sort is set and more records match than
	// page numbers reach.
	Overflow Overflow `url:"-"`
	From     Position `url:"-"` // where an earlier walk with the same options stopped; only for walks

	InBody bool       `url:"-"` // send the parameters as JSON in the body, for queries too long for a URL; some networks drop the body of a GET
	Extra  url.Values `url:"-"` // further parameters of the service, sent as they are; none that has a field above
}

// An Overflow is a way to read more records than page numbers reach, 10,000.
// Only a cursor reaches further, and its order is that of creation.
type Overflow string

// The ways.
const (
	OverflowFails     Overflow = ""          // an *OrderError before the first record
	OverflowUnordered Overflow = "unordered" // by cursor, in the order of creation
	OverflowByYear    Overflow = "by-year"   // year of creation by year of creation, each in the order of Sort
)

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

// values turns the options into parameters, after checking them. The flags
// affiliation and publisher are always among them, because the service has
// announced to change their defaults.
func (o *ListOptions) values() (url.Values, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	more := listParams{Page: pageParams(o.Page), Random: o.Sample.Random, Sample: o.Sample.Size, SampleGroup: o.Sample.Group}
	if o.Query != nil {
		more.Query = o.Query.String()
	}
	if len(o.Facets) > 0 {
		more.DisableFacets = "false"
	}
	if len(o.IDs) > 0 && o.Page.Size == 0 {
		more.Page.Size = len(o.IDs) // the default would cut the answer off
	}
	v, err := params.Values(o)
	if err != nil {
		return nil, err
	}
	others, err := params.Values(more)
	if err != nil {
		return nil, err
	}
	maps.Copy(v, others)
	if len(o.IDs) > 0 {
		names, _ := o.names() // checked
		v.Set("ids", strings.Join(names, ","))
	}
	return v, o.addExtra(v)
}

// addExtra adds the parameters of Extra. The service reads a hyphen and an
// underscore alike, so neither may say what a field says.
func (o *ListOptions) addExtra(v url.Values) error {
	for name, values := range o.Extra {
		if slices.Contains(fieldParams, underscored(name)) || strings.HasPrefix(name, "page[") {
			return &FieldError{Path: "ListOptions.Extra", Reason: fmt.Sprintf("has the parameter %s, for which there is a field", name)}
		}
		v[name] = values
	}
	return nil
}

func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

// years is one year, or several that the service takes as a range.
var years = regexp.MustCompile(`^\d{4}(,\d{4})*$`)

const maxIDs = 1000

func (o *ListOptions) check() error {
	if err := query.CheckList(o.Query, o.Sort, o.Page, o.Sample); err != nil {
		return &FieldError{Path: "ListOptions", Reason: "cannot be sent: " + err.Error(), err: err}
	}
	return errors.Join(o.checkYears(), o.checkValues(), o.checkNames(), o.checkCounts(), o.checkIDs(), o.checkOverflow())
}

// checkValues refuses a filter of which nothing can be found.
func (o *ListOptions) checkValues() error {
	for _, state := range o.States {
		if !slices.Contains([]State{StateDraft, StateRegistered, StateFindable}, state) {
			return &FieldError{Path: "ListOptions.States", Reason: fmt.Sprintf("%q is not a state: draft, registered or findable", string(state))}
		}
	}
	if o.Prefix == "" {
		return nil
	}
	for prefix := range strings.SplitSeq(o.Prefix, ",") {
		if !doi.IsPrefix(prefix) {
			return &FieldError{Path: "ListOptions.Prefix", Reason: fmt.Sprintf(`%q is not a prefix such as "10.5072"`, prefix)}
		}
	}
	return nil
}

// fieldParams are the parameters that the fields of ListOptions become.
var fieldParams = func() []string {
	var names []string
	for _, options := range []reflect.Type{reflect.TypeFor[ListOptions](), reflect.TypeFor[listParams]()} {
		for field := range options.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("url"), ",")
			if name != "-" {
				names = append(names, underscored(name))
			}
		}
	}
	return names
}()

func (o *ListOptions) checkYears() error {
	for _, f := range []struct{ name, value string }{
		{"Registered", o.Registered}, {"Created", o.Created}, {"Published", o.Published},
	} {
		if f.value != "" && !years.MatchString(f.value) {
			return &FieldError{Path: "ListOptions." + f.name, Reason: fmt.Sprintf(`%q is not a year such as "2020", or years such as "2019,2021"`, f.value)}
		}
	}
	return nil
}

// checkNames refuses a name that would split in two in the list that is sent.
func (o *ListOptions) checkNames() error {
	for _, list := range []struct {
		field string
		names []string
	}{{"Fields", o.Fields}, {"Include", o.Include}, {"Facets", o.Facets}} {
		for _, name := range list.names {
			if name == "" || strings.ContainsAny(name, ", ") {
				return &FieldError{Path: "ListOptions." + list.field, Reason: fmt.Sprintf("%q is not one name", name)}
			}
		}
	}
	return nil
}

// checkCounts refuses what the service takes for no filter at all.
func (o *ListOptions) checkCounts() error {
	for _, n := range []int{
		o.MinCitations, o.MinReferences, o.MinParts, o.MinPartOf, o.MinVersions, o.MinVersionOf, o.MinViews, o.MinDownloads, o.MinLinkRedirects,
	} {
		if n < 0 {
			return &FieldError{Path: "ListOptions", Reason: fmt.Sprintf("asks for at least %d of something, which the service ignores", n)}
		}
	}
	return nil
}

func (o *ListOptions) checkIDs() error {
	if len(o.IDs) == 0 {
		return nil
	}
	if len(o.IDs) > maxIDs {
		return &FieldError{Path: "ListOptions.IDs", Reason: fmt.Sprintf("has %d names; the service takes %d", len(o.IDs), maxIDs)}
	}
	if _, err := o.names(); err != nil {
		return err
	}
	if o.Query != nil || o.Page.Cursor != "" || o.filtered() {
		return &FieldError{Path: "ListOptions.IDs", Reason: "stands beside a query, a cursor or another filter, which the service would ignore"}
	}
	return nil
}

// names are IDs without what people put in front of a DOI name.
func (o *ListOptions) names() ([]string, error) {
	var names []string
	for i, id := range o.IDs {
		path := fmt.Sprintf("ListOptions.IDs[%d]", i)
		name, err := parseName(path, id)
		if err != nil {
			return nil, err
		}
		if strings.Contains(name, ",") {
			return nil, &FieldError{Path: path, Reason: fmt.Sprintf("%q has a comma, which the service takes as the end of a name; use Get", name), badDOI: true}
		}
		names = append(names, name)
	}
	return names, nil
}

// filtered reports whether a filter other than IDs is set.
func (o *ListOptions) filtered() bool {
	filters := *o
	filters.IDs, filters.Sort, filters.Include, filters.Facets, filters.Fields = nil, "", nil, nil, nil
	filters.Affiliation, filters.Publisher, filters.Detail, filters.Composite = false, false, false, false
	v, _ := params.Values(filters)
	delete(v, "affiliation")
	delete(v, "publisher")
	return len(v) > 0
}

func (o *ListOptions) checkOverflow() error {
	switch o.Overflow {
	case OverflowFails, OverflowUnordered, OverflowByYear:
		return nil
	}
	return &FieldError{Path: "ListOptions.Overflow", Reason: fmt.Sprintf("%q is not one of the ways", string(o.Overflow))}
}
