package dois_test

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/query"
)

// library is a few records that differ in all that a list can be filtered by.
var library = []string{
	`{"doi":"10.5072/ada","client":"demo.alpha","provider":"demo","consortium":"union","created":"2018-02-01T00:00:00Z",
		"registered":"2019-05-01T00:00:00Z","types":{"resourceTypeGeneral":"Dataset","resourceType":"Table"},
		"schemaVersion":"http://datacite.org/schema/kernel-4","publicationYear":2019,"citationCount":3,"viewCount":10,
		"titles":[{"title":"Engine notes"}],"subjects":[{"subject":"Computing"}],"rightsList":[{"rightsIdentifier":"cc-by-4.0"}]}`,
	`{"doi":"10.5072/bob","client":"demo.beta","provider":"demo","consortium":"union","created":"2019-02-01T00:00:00Z",
		"registered":"2020-05-01T00:00:00Z","types":{"resourceTypeGeneral":"JournalArticle","resourceType":"Paper"},
		"schemaVersion":"http://datacite.org/schema/kernel-4.5","publicationYear":2020,"citationCount":1,"downloadCount":4,
		"titles":[{"title":"Engine repairs"}]}`,
	`{"doi":"10.5072/eve","client":"other.one","provider":"other","created":"2020-02-01T00:00:00Z",
		"registered":"2021-05-01T00:00:00Z","types":{"resourceTypeGeneral":"Dataset"},
		"schemaVersion":"http://datacite.org/schema/kernel-3","publicationYear":2021,
		"titles":[{"title":"Glaciers"}]}`,
	`{"doi":"10.82433/far","client":"other.one","provider":"other","created":"2021-02-01T00:00:00Z",
		"registered":"2021-06-01T00:00:00Z","types":{"resourceTypeGeneral":"Software"},
		"titles":[{"title":"Glacier viewer"}]}`,
	`{"doi":"10.5072/hid","state":"registered","created":"2018-03-01T00:00:00Z","titles":[{"title":"Withdrawn engine"}]}`,
	`{"doi":"10.5072/dra","state":"draft","created":"2018-04-01T00:00:00Z","titles":[{"title":"Draft engine"}]}`,
}

// further is what the filters of the deployed service find beside library.
var further = []string{
	`{"doi":"10.5072/gil","source":"mds","publisher":{"name":"Gil Press"},"client":{"id":"demo.alpha","clientType":"raidRegistry","certificate":["CoreTrustSeal"],
		"re3data":"https://doi.org/10.17616/r3","opendoar":"https://v2.sherpa.ac.uk/id/repository/7"},
		"creators":[{"name":"Gil","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-2345-6789","nameIdentifierScheme":"ORCID"},
			{"nameIdentifier":"https://ror.org/021nxhr62","nameIdentifierScheme":"ROR"}],
			"affiliation":[{"name":"DataCite","affiliationIdentifier":"https://ror.org/04wxnsj81","affiliationIdentifierScheme":"ROR"}]}],
		"subjects":[{"subject":"FOS: Biological sciences","subjectScheme":"Fields of Science and Technology (FOS)"}],
		"fundingReferences":[{"funderIdentifier":"https://doi.org/10.13039/501100000780","funderIdentifierType":"Crossref Funder ID"},
			{"funderIdentifier":"https://ror.org/00k4n6c32","funderIdentifierType":"ROR"}],
		"landingPage":{"status":404,"hasSchemaOrg":false,"bodyHasPid":true,"dcIdentifier":"x","citationDoi":"x","schemaOrgId":"x","redirectCount":3}}`,
	`{"doi":"10.5072/out","agency":"crossref","titles":[{"title":"Elsewhere"}]}`,
}

func february(year int) time.Time { return time.Date(year, 2, 1, 0, 0, 0, 0, time.UTC) }

// TestListFilters asks for the records that each filter of specification §4.2
// selects, once with the parameters in the URL and once in the body.
func TestListFilters(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts dois.ListOptions
		want string
	}{
		{"no filter", dois.ListOptions{}, "10.82433/far ada bob eve"},
		{"provider-id", dois.ListOptions{ProviderID: []string{"demo"}}, "ada bob"},
		{"provider-id in capitals", dois.ListOptions{ProviderID: []string{"DEMO"}}, "ada bob"},
		{"client-id", dois.ListOptions{ClientID: []string{"demo.beta"}}, "bob"},
		{"client-id several", dois.ListOptions{ClientID: []string{"demo.beta", "demo.alpha"}}, "ada bob"},
		{"consortium-id", dois.ListOptions{ConsortiumID: "union"}, "ada bob"},
		{"resource-type-id", dois.ListOptions{ResourceTypeID: []string{"dataset"}}, "ada eve"},
		{"resource-type-id as the schema writes it", dois.ListOptions{ResourceTypeID: []string{"JournalArticle"}}, "bob"},
		{"resource-type-id with a hyphen", dois.ListOptions{ResourceTypeID: []string{"journal-article"}}, "bob"},
		{"prefix", dois.ListOptions{Prefix: []string{"10.82433"}}, "10.82433/far"},
		{"registered", dois.ListOptions{Registered: "2021"}, "10.82433/far eve"},
		{"registered in a span of years", dois.ListOptions{Registered: "2019,2020"}, "ada bob"},
		{"created", dois.ListOptions{Created: "2019"}, "bob"},
		{"created in a span of years", dois.ListOptions{Created: "2018,2020"}, "ada bob eve"},
		{"created from a time to another", dois.ListOptions{Query: query.FieldCreated.BetweenTimes(february(2019), february(2020))}, "bob eve"},
		{"created since", dois.ListOptions{Query: query.FieldCreated.BetweenTimes(february(2019).Add(1), time.Time{})}, "10.82433/far eve"},
		{"created before", dois.ListOptions{Query: query.FieldCreated.BetweenTimes(time.Time{}, february(2019).Add(-1))}, "ada"},
		{"schema-version", dois.ListOptions{SchemaVersion: "4"}, "ada"},
		{"schema-version with a minor one", dois.ListOptions{SchemaVersion: "4.5"}, "bob"},
		{"value nobody has", dois.ListOptions{ClientID: []string{"nobody.here"}}, ""},
		{"two filters together", dois.ListOptions{ResourceTypeID: []string{"dataset"}, Created: "2020"}, "eve"},
		{"filter and query", dois.ListOptions{Query: query.Term("engine"), ResourceTypeID: []string{"dataset"}}, "ada"},
		{"further parameter", dois.ListOptions{Published: "2020", Extra: url.Values{"mailto": {"me@example.org"}}}, "bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				seed(t, srv, library...)
				client := anonymous(t, srv)
				for _, inBody := range []bool{false, true} {
					opts := tt.opts
					opts.InBody = inBody
					found, err := client.List(t.Context(), &opts)
					require.NoError(t, err)
					assert.Equal(t, words(tt.want), sorted(found.Records), "in body: %v", inBody)
					assert.Equal(t, len(words(tt.want)), found.Total)

					sent := last(t, srv)
					assert.Equal(t, inBody, sent.URL.RawQuery == "", "parameters stand in one place: %q", sent.URL.RawQuery)
					assert.Equal(t, inBody, sent.Bytes > 0)
				}
			})
		})
	}
}

// optionValues are values of options that are not given as just any text, number or flag.
var optionValues = map[string]any{
	"Sort": query.ByName.Desc(), "Prefix": []string{"10.99999"}, "SchemaVersion": "9",
	"Registered": "1000", "Created": "1000", "Published": "1000",
	"IDs": []string{"10.5072/ada"}, "States": []dois.State{dois.StateDraft}, "Fields": []string{"doi"}, "Include": []string{"client"}, "Facets": []string{"states"},
}

// Every option that becomes a parameter of its own changes what the embedded service
// returns, and its parameter is among those for which there is evidence. A parameter that is
// misspelled, or that the service does not know, changes nothing.
func TestEveryOptionCounts(t *testing.T) {
	var known strings.Builder
	for _, row := range testkit.Table(t, "deployed-dois.md", "Parameters") {
		known.WriteString(" " + row[0] + " ")
	}
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, append(library, further...)...)
		ask := func(opts dois.ListOptions) (shown []string, err error) {
			opts.Page.Size = 100
			found, err := srv.DOIs().List(t.Context(), &opts)
			if err != nil {
				return nil, err
			}
			for _, r := range found.Records {
				shown = append(shown, string(r.Raw))
			}
			return append(shown, fmt.Sprint(found.Meta, found.Included)), nil
		}
		plain, err := ask(dois.ListOptions{})
		require.NoError(t, err)
		for field := range reflect.TypeFor[dois.ListOptions]().Fields() {
			if field.Tag.Get("url") == "-" {
				continue // not a parameter of its own
			}
			t.Run(field.Name, func(t *testing.T) {
				name, _, _ := strings.Cut(field.Tag.Get("url"), ",")
				assert.Contains(t, known.String(), " "+strings.ReplaceAll(name, "_", "-")+" ", "it has no row in datacitetest/deployed-dois.md")
				var opts dois.ListOptions
				value := reflect.ValueOf(&opts).Elem().FieldByIndex(field.Index)
				switch given := optionValues[field.Name]; {
				case given != nil:
					value.Set(reflect.ValueOf(given))
				case value.Kind() == reflect.String:
					value.SetString("nonsense")
				case value.CanInt():
					value.SetInt(1_000_000)
				case value.Kind() == reflect.Bool:
					value.SetBool(true)
				case value.Kind() == reflect.Slice:
					value.Set(reflect.ValueOf([]string{"nonsense"}))
				case value.Kind() == reflect.Pointer:
					value.Set(reflect.ValueOf(new(true)))
				default:
					t.Fatal("give it a value in optionValues")
				}
				shown, err := ask(opts)
				if e, refused := errors.AsType[*datacite.Error](err); refused && e.StatusCode != 0 {
					return // the service knows the parameter, and not this value
				}
				require.NoError(t, err)
				assert.False(t, slices.Equal(plain, shown), "the service ignores the parameter")
			})
		}
	})
}

// The service in operation does not take a consortium for a provider, as the
// specification does. ConsortiumID works with both.
func TestProviderOfAConsortium(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, library...)
		want := words("ada bob")
		found, err := anonymous(t, srv).List(t.Context(), &dois.ListOptions{ConsortiumID: "union"})
		require.NoError(t, err)
		assert.Equal(t, want, sorted(found.Records))
		if deployed(t) {
			want = words("")
		}
		found, err = anonymous(t, srv).List(t.Context(), &dois.ListOptions{ProviderID: []string{"union"}})
		require.NoError(t, err)
		assert.Equal(t, want, sorted(found.Records))
	})
}

// TestWhoSeesWhichRecords reads with and without credentials (specification §5).
func TestWhoSeesWhichRecords(t *testing.T) {
	scene := func(name string, tell func(t *testing.T, srv *datacitetest.Server)) { story(t, name, library, tell) }
	scene("without credentials a list has public records only", func(t *testing.T, srv *datacitetest.Server) {
		found, err := anonymous(t, srv).List(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, words("10.82433/far ada bob eve"), sorted(found.Records))
	})
	scene("without credentials a draft is not found", func(t *testing.T, srv *datacitetest.Server) {
		for _, name := range []string{"10.5072/dra", "10.5072/hid"} {
			_, err := anonymous(t, srv).Get(t.Context(), name, nil)
			assert.ErrorIs(t, err, datacite.ErrNotFound)
		}
	})
	scene("the owner sees every record", func(t *testing.T, srv *datacitetest.Server) {
		found, err := srv.DOIs().List(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, words("10.82433/far ada bob dra eve hid"), sorted(found.Records))
		draft, err := srv.DOIs().Get(t.Context(), "10.5072/dra", nil)
		require.NoError(t, err)
		assert.Equal(t, dois.StateDraft, draft.State)
	})
	scene("a state can be asked for", func(t *testing.T, srv *datacitetest.Server) {
		found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{States: []dois.State{dois.StateDraft, dois.StateRegistered}})
		require.NoError(t, err)
		assert.Equal(t, words("dra hid"), sorted(found.Records))
	})
}

// TestParametersOnTheWire compares the requests with specification §4.2 and
// §4.2.1(7), letter by letter.
func TestParametersOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts *dois.ListOptions
		want string
	}{
		{"flags are always sent", nil, "affiliation=false&publisher=false"},
		{"flags that are set", &dois.ListOptions{Affiliation: true, Publisher: true, Detail: true}, "affiliation=true&detail=true&publisher=true"},
		{"a blank is %20", &dois.ListOptions{Query: query.Phrase("ice core")}, "affiliation=false&publisher=false&query=%22ice%20core%22~0"},
		{"a plus is %2B", &dois.ListOptions{Query: query.Raw("+ice")}, "affiliation=false&publisher=false&query=%2Bice"},
		{"all filters", &dois.ListOptions{
			ProviderID: []string{"p"}, ClientID: []string{"c.d"}, ConsortiumID: "k", ResourceTypeID: []string{"dataset"}, Prefix: []string{"10.5072"},
			Registered: "2020", Created: "2019,2021", SchemaVersion: "4",
		}, "affiliation=false&client-id=c.d&consortium-id=k&created=2019%2C2021&prefix=10.5072&provider-id=p" +
			"&publisher=false&registered=2020&resource-type-id=dataset&schema-version=4"},
		{"page by number", &dois.ListOptions{Page: query.Page{Number: 2, Size: 10}},
			"affiliation=false&page%5Bnumber%5D=2&page%5Bsize%5D=10&publisher=false"},
		{"page by cursor", &dois.ListOptions{Page: query.Page{Cursor: "1", Size: 10}},
			"affiliation=false&page%5Bcursor%5D=1&page%5Bsize%5D=10&publisher=false"},
		{"fields", &dois.ListOptions{Fields: []string{"doi", "titles"}}, "affiliation=false&fields%5Bdois%5D=doi%2Ctitles&publisher=false"},
		{"sort", &dois.ListOptions{Sort: query.ByCreated.Desc()}, "affiliation=false&publisher=false&sort=-created"},
		{"random", &dois.ListOptions{Sample: query.Sample{Random: true}}, "affiliation=false&publisher=false&random=true"},
		{"sample of groups", &dois.ListOptions{Sample: query.Sample{Group: query.GroupClient, Size: 2}},
			"affiliation=false&publisher=false&sample=2&sample-group=client"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
				_, err := anonymous(t, srv).List(t.Context(), tt.opts)
				if !deployed(t) || tt.opts == nil || tt.opts.Sample.Group == "" { // which it does not support
					require.NoError(t, err)
				}
				sent := last(t, srv)
				assert.Equal(t, tt.want, sent.URL.RawQuery)
				assert.Equal(t, "/dois", sent.URL.EscapedPath())
				assert.Equal(t, "application/json", sent.Header.Get("Accept"))
			})
		})
	}
}

// TestParametersInTheBody asks for the same thing both ways (specification §4.2).
func TestParametersInTheBody(t *testing.T) {
	for name, opts := range map[string]dois.ListOptions{
		"sort":   {Sort: query.ByName.Desc()},
		"page":   {Sort: query.ByName, Page: query.Page{Number: 2, Size: 7}},
		"cursor": {Page: query.Page{Cursor: "1", Size: 7}},
		"fields": {Sort: query.ByName, Fields: []string{"created", "types"}},
		"flags":  {Sort: query.ByName, Affiliation: true, Publisher: true, Detail: true},
		"query":  {Sort: query.ByName, Query: query.FieldResourceTypeGeneral.Is("Software")},
		"facets": {Sort: query.ByName, Facets: []string{"published"}},
	} {
		story(t, name, series(60), func(t *testing.T, srv *datacitetest.Server) {
			inURL, err := srv.DOIs().List(t.Context(), &opts)
			require.NoError(t, err)
			opts.InBody = true
			inBody, err := srv.DOIs().List(t.Context(), &opts)
			require.NoError(t, err)
			assert.Empty(t, last(t, srv).URL.RawQuery)
			assert.Equal(t, inURL, inBody)
			assert.NotEmpty(t, inBody.Records)
		})
	}
}
