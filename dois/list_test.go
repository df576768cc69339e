package dois_test

import (
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
		{"created from a time to another",
			dois.ListOptions{Query: query.FieldCreated.BetweenTimes(february(2019), february(2020))}, "bob eve"},
		{"created since", dois.ListOptions{Query: query.FieldCreated.BetweenTimes(february(2019).Add(1), time.Time{})},
			"10.82433/far eve"},
		{"created before", dois.ListOptions{Query: query.FieldCreated.BetweenTimes(time.Time{}, february(2019).Add(-1))},
			"ada"},
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
					found := must(client.List(t.Context(), &opts))(t)
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
		plain := must(ask(dois.ListOptions{}))(t)
		for field := range reflect.TypeFor[dois.ListOptions]().Fields() {
			if field.Tag.Get("url") == "-" {
				continue // not a parameter of its own
			}
			t.Run(field.Name, func(t *testing.T) {
				name, _, _ := strings.Cut(field.Tag.Get("url"), ",")
				assert.Contains(t, known.String(), " "+strings.ReplaceAll(name, "_", "-")+" ",
					"it has no row in datacitetest/evidence/deployed-dois.md")
				var opts dois.ListOptions
				value := reflect.ValueOf(&opts).Elem().FieldByIndex(field.Index)
				switch value.Kind() {
				case reflect.String:
					value.SetString(goodValues[field.Name][0])
				case reflect.Bool:
					value.SetBool(true)
				case reflect.Slice:
					value.Set(reflect.MakeSlice(value.Type(), 1, 1))
					value.Index(0).SetString(goodValues[field.Name][0])
				default:
					t.Fatal("a kind of field without a value")
				}
				shown := must(ask(opts))(t)
				assert.False(t, slices.Equal(plain, shown), "the service ignores the parameter")
			})
		}
	})
}

// TestWhoSeesWhichRecords reads with and without credentials (specification §5).
func TestWhoSeesWhichRecords(t *testing.T) {
	scene := func(name string, tell func(t *testing.T, srv *datacitetest.Server)) { story(t, name, library, tell) }
	scene("without credentials a list has public records only", func(t *testing.T, srv *datacitetest.Server) {
		found := must(anonymous(t, srv).List(t.Context(), nil))(t)
		assert.Equal(t, words("10.82433/far ada bob eve"), sorted(found.Records))
	})
	scene("without credentials a draft is not found", func(t *testing.T, srv *datacitetest.Server) {
		for _, name := range []string{"10.5072/dra", "10.5072/hid"} {
			assert.ErrorIs(t, failure(anonymous(t, srv).Get(t.Context(), name, nil)), datacite.ErrNotFound)
		}
	})
	scene("the owner sees every record", func(t *testing.T, srv *datacitetest.Server) {
		found := must(srv.DOIs().List(t.Context(), nil))(t)
		assert.Equal(t, words("10.82433/far ada bob dra eve hid"), sorted(found.Records))
		draft := must(srv.DOIs().Get(t.Context(), "10.5072/dra", nil))(t)
		assert.Equal(t, datacite.StateDraft, draft.State)
	})
	scene("a state can be asked for", func(t *testing.T, srv *datacitetest.Server) {
		found := must(srv.DOIs().List(t.Context(),
			&dois.ListOptions{States: []datacite.State{datacite.StateDraft, datacite.StateRegistered}}))(t)
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
		{"flags that are set", &dois.ListOptions{Affiliation: true, Publisher: true, Detail: true},
			"affiliation=true&detail=true&publisher=true"},
		{"a blank is %20", &dois.ListOptions{Query: query.Phrase("ice core")},
			"affiliation=false&publisher=false&query=%22ice%20core%22~0"},
		{"a plus is %2B", &dois.ListOptions{Query: query.Raw("+ice")}, "affiliation=false&publisher=false&query=%2Bice"},
		{"all filters", &dois.ListOptions{
			ProviderID: []string{"p"}, ClientID: []string{"c.d"}, ConsortiumID: "k", ResourceTypeID: []string{"dataset"},
			Prefix:     []string{"10.5072"},
			Registered: "2020", Created: "2019,2021", SchemaVersion: "4",
		}, "affiliation=false&client-id=c.d&consortium-id=k&created=2019%2C2021&prefix=10.5072&provider-id=p" +
			"&publisher=false&registered=2020&resource-type-id=dataset&schema-version=4"},
		{"page by number", &dois.ListOptions{Page: query.Page{Number: 2, Size: 10}},
			"affiliation=false&page%5Bnumber%5D=2&page%5Bsize%5D=10&publisher=false"},
		{"page by cursor", &dois.ListOptions{Page: query.Page{Cursor: "1", Size: 10}},
			"affiliation=false&page%5Bcursor%5D=1&page%5Bsize%5D=10&publisher=false"},
		{"fields", &dois.ListOptions{Fields: []string{"doi", "titles"}},
			"affiliation=false&fields%5Bdois%5D=doi%2Ctitles&publisher=false"},
		{"names that may be new", &dois.ListOptions{Extra: url.Values{"facets": {"new"}, "fields[dois]": {"doi,new"},
			"include": {"new"}}}, "affiliation=false&disable-facets=false&facets=new&fields%5Bdois%5D=doi%2Cnew" +
			"&include=new&publisher=false"},
		{"facets", &dois.ListOptions{Facets: []string{"states"}},
			"affiliation=false&disable-facets=false&facets=states&publisher=false"},
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

// goodValues are two values of each field of ListOptions that takes text, each of which
// finds something or changes something.
var goodValues = map[string][2]string{
	"Sort":       {"name", "-created"},
	"ProviderID": {"demo", "other"}, "ClientID": {"demo.alpha", "other.one"}, "ConsortiumID": {"union", "guild"},
	"ResourceTypeID": {"journal-article", "software"}, "Prefix": {"10.5072", "10.82433"},
	"Registered": {"2020", "2021"}, "Created": {"2019", "2020"}, "Published": {"2020", "2021"},
	"SchemaVersion": {"4.5", "3"}, "IDs": {"10.5072/ada", "10.5072/bob"}, "States": {"draft", "registered"},
	"Fields": {"doi", "titles"}, "Include": {"client", "client"}, "Facets": {"states", "published"},
}

// guild is what the second values find.
const guild = `{"doi":"10.5072/gus","consortium":"guild","client":{"id":"other.two"},"titles":[{"title":"Gus"}],` +
	`"types":{"resourceTypeGeneral":"JournalArticle"}}`

// A value with a blank, other capitals or a comma too many, an empty one and a list finds
// just what its parts find, or is refused before anything is sent. So is a number that
// cannot be meant.
func TestAValueFindsNoLessThanItsParts(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, append(append(library, further...), guild)...)
		var sent int
		find := func(set func(reflect.Value), field string) ([]string, error) {
			opts := &dois.ListOptions{Page: query.Page{Size: 100}}
			set(reflect.ValueOf(opts).Elem().FieldByName(field))
			sent = len(srv.Requests())
			found, err := srv.DOIs().List(t.Context(), opts)
			if err != nil {
				return nil, err
			}
			return sorted(found.Records), nil
		}
		all := must(find(func(reflect.Value) {}, "Sort"))(t)

		for field := range reflect.TypeFor[dois.ListOptions]().Fields() {
			name := field.Name
			refusedOr := func(want []string, set func(reflect.Value), what string) {
				found, err := find(set, name)
				if err != nil {
					assert.ErrorIs(t, err, datacite.ErrInvalid, "%s %s", name, what)
					assert.Len(t, srv.Requests(), sent, "%s %s was sent", name, what)
					assert.Contains(t, strings.ToLower(err.Error()), strings.ToLower(name), what)
					return
				}
				assert.Equal(t, want, found, "%s %s", name, what)
			}
			switch field.Type.Kind() {
			case reflect.String, reflect.Slice:
				good, listed := goodValues[name]
				if !assert.True(t, listed, "%s: give two values", name) {
					continue
				}
				text := func(values ...string) func(reflect.Value) {
					return func(v reflect.Value) {
						if v.Kind() == reflect.String {
							v.SetString(values[0])
							return
						}
						v.Set(reflect.MakeSlice(v.Type(), len(values), len(values)))
						for i, value := range values {
							v.Index(i).SetString(value)
						}
					}
				}
				var parts [2][]string
				for i, value := range good {
					var err error
					parts[i], err = find(text(value), name)
					require.NoError(t, err, "%s %q", name, value)
					require.NotEmpty(t, parts[i], "%s %q", name, value)
				}
				both := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(parts[0]), parts[1]...))))
				for _, value := range []string{good[0] + " ", " " + good[0], good[0] + "\t", good[0] + ",", "," + good[0]} {
					refusedOr(parts[0], text(value), fmt.Sprintf("%q", value))
				}
				refusedOr(parts[0], text(strings.ToUpper(good[0])), "in capitals")
				refusedOr(parts[0], text(strings.ToLower(good[0])), "in small letters")
				for _, value := range []string{good[0] + "," + good[1], good[0] + ", " + good[1]} {
					refusedOr(both, text(value), fmt.Sprintf("%q", value))
				}
				refusedOr(nil, text(" "), "blank")
				if field.Type.Kind() == reflect.String {
					refusedOr(all, text(""), "not set")
					continue
				}
				refusedOr(nil, text(""), "an empty value")
				refusedOr(both, text(good[0], good[1]), "both values")
				refusedOr(parts[0], text(good[0], good[0]), "twice")
				refusedOr(parts[0], text(good[0], ""), "and an empty one")
				if !slices.Contains([]string{"Fields", "Include", "Facets"}, name) {
					refusedOr(nil, func(v reflect.Value) { v.Set(reflect.MakeSlice(v.Type(), 0, 0)) }, "an empty list")
				}
			case reflect.Bool, reflect.Interface, reflect.Map:
			case reflect.Struct: // Page, Sample and From have tests of their own
			default:
				t.Errorf("%s: a kind of field without a test", name)
			}
		}
	})
}

// shelf has one word in a different place of each record.
var shelf = []string{
	`{"doi":"10.5072/title","titles":[{"title":"The amber archive"}]}`,
	`{"doi":"10.5072/creator","creators":[{"name":"Amber, ` +
		`Ada","givenName":"Ada","familyName":"Amber"}],"titles":[{"title":"Ice core data"}]}`,
	`{"doi":"10.5072/orcid","creators":[{"name":"Noether, ` +
		`Emmy","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-2345-6789","nameIdentifierScheme":"ORCID"}` +
		`]}]}`,
	`{"doi":"10.5072/publisher","publisher":{"name":"Amber Press","publisherIdentifier":"https://ror.org/04z8jg394"}}`,
	`{"doi":"10.5072/description","descriptions":[{"description":"About amber and data","descriptionType":"Abstract"}]}`,
	`{"doi":"10.5072/subject","subjects":[{"subject":"amber"}],"types":{"resourceTypeGeneral":"Dataset"},` +
		`"publicationYear":2020}`,
	`{"doi":"10.5072/related","relatedIdentifiers":[{"relatedIdentifier":"10.5072/xyz","relatedIdentifierType":"DOI",` +
		`"relationType":"Cites"}]}`,
	`{"doi":"10.5072/url","url":"https://example.org/amber","titles":[{"title":"Core ice drilled"}],"citationCount":9}`,
}

// TestQuerySyntax sends each rule of specification §4.2.1, as text and as the
// builder writes it.
func TestQuerySyntax(t *testing.T) {
	for _, tt := range []struct {
		name    string
		expr    query.Expr
		want    string
		instead *string // on the deployed service
	}{
		{"1 field and value", query.Raw("titles.title:archive"), "title", nil},
		{"1 field and value, built", query.FieldTitle.Is("archive"), "title", nil},
		{"1 field of a nested object", query.Raw("creators.nameIdentifiers.nameIdentifierScheme:ORCID"), "orcid", nil},
		{"1 field of an object", query.Raw("types.resourceTypeGeneral:Dataset"), "subject", nil},
		{"1 field with a year", query.FieldPublicationYear.Is("2020"), "subject", nil},
		{"1 field with a count", query.FieldCitationCount.Between("5", ""), "url", nil},
		{"1 field with a DOI", query.FieldDOI.Is("10.5072/URL"), "url", nil},
		{"2 no field, in five of the common ones", query.Term("amber"), "creator description publisher subject title", nil},
		{"2 no field, in creator nameIdentifier", query.Term("https://orcid.org/0000-0001-2345-6789"), "orcid", new("")},
		{"2 no field, in relatedIdentifier", query.Term("10.5072/xyz"), "related", nil},
		{"3 wildcard for any characters", query.Raw("arch*"), "title", nil},
		{"3 wildcard for one character", query.Raw("a?ber"), "creator description publisher subject title", nil},
		{"3 wildcard for one character is not for two", query.Wildcard("a?er"), "", nil},
		{"3 wildcard in a field", query.FieldCreatorFamilyName.Like("Amb*"), "creator", nil},
		{"3 any value of a field", query.Raw("subjects.subject:*"), "subject", nil},
		{"3 any value of a field, built", query.FieldSubject.Exists(), "subject", nil},
		{"4 terms are optional", query.Raw("archive data"), "creator description title", new("")},
		{"4 a term that must match", query.Raw("+data archive"), "creator description", new("")},
		{"4 a term that must not match", query.Raw("amber -archive"), "creator description publisher subject", nil},
		{"4 must and must not, built", query.Bool(query.Must(query.Term("data")), query.MustNot(query.Term("amber"))), "",
			nil},
		{"5 AND", query.Raw("amber AND data"), "creator description", nil},
		{"5 AND, built", query.And(query.Term("amber"), query.Term("data")), "creator description", nil},
		{"5 OR", query.Raw("archive OR core"), "creator title url", nil},
		{"5 OR, built", query.Or(query.Term("archive"), query.Term("core")), "creator title url", nil},
		{"5 NOT", query.Raw("core NOT data"), "url", nil},
		{"5 NOT, built", query.And(query.Term("core"), query.Not(query.Term("data"))), "url", nil},
		{"5 parentheses", query.Raw("(archive OR core) AND (ice OR nothing)"), "creator url", nil},
		{"5 parentheses, built", query.And(query.Or(query.Term("archive"), query.Term("core")), query.Term("ice")),
			"creator url", nil},
		{"5 operators are case-sensitive", query.Raw("archive and core"), "creator description title url", new("")},
		{"6 exact phrase", query.Raw(`"ice core"`), "creator", nil},
		{"6 exact phrase, built", query.Phrase("core ice"), "url", nil},
		{"6 exact phrase in a field", query.FieldTitle.Match(query.Phrase("ice core")), "creator", nil},
		{"7 special characters", query.FieldCreatorNameIdentifier.Is("https://orcid.org/0000-0001-2345-6789"), "orcid", nil},
		{"7 special characters that nothing has", query.Term(`a+b&c=d#e/f?g%h;"i"`), "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				seed(t, srv, shelf...)
				want := words(tt.want)
				if deployed(t) && tt.instead != nil {
					want = words(*tt.instead) // terms without an operator must all match there, and nameIdentifiers are not searched
				}
				for _, inBody := range []bool{false, true} {
					found := must(srv.DOIs().List(t.Context(), &dois.ListOptions{Query: tt.expr, InBody: inBody}))(t)
					assert.Equal(t, want, sorted(found.Records), "query %s, in body: %v", tt.expr, inBody)
				}
			})
		})
	}
}

// TestSort asks for each order of specification §4.2.2, both ways.
func TestSort(t *testing.T) {
	records := []string{
		`{"doi":"10.5072/a","created":"2020-01-03T00:00:00Z","updated":"2022-01-02T00:00:00Z","publicationYear":2001,
			"viewCount":30,"downloadCount":1,"citationCount":20,"titles":[{"title":"middle"}],"descriptions":[{"description":"snow"}]}`,
		`{"doi":"10.5072/b","created":"2020-01-01T00:00:00Z","updated":"2022-01-03T00:00:00Z","publicationYear":2003,
			"viewCount":10,"downloadCount":2,"citationCount":30,"titles":[{"title":"Zebra"}]}`,
		`{"doi":"10.5072/c","created":"2020-01-02T00:00:00Z","updated":"2022-01-01T00:00:00Z","publicationYear":2002,
			"viewCount":20,"downloadCount":3,"citationCount":10,"titles":[{"title":"Alps and snow"}],"descriptions":[{"description":"snow"}]}`,
	}
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, records...)
		snow := query.Or(query.Term("snow"), query.Term("alps"))
		for _, tt := range []struct {
			order query.Sort
			want  string
		}{
			{query.ByName, "a b c"},
			{query.ByCreated, "b c a"},
			{query.ByUpdated, "c a b"},
			{query.ByPublished, "a c b"},
			{query.ByViewCount, "b c a"},
			{query.ByDownloadCount, "a b c"},
			{query.ByCitationCount, "c a b"},
			{query.ByTitle, "c a b"}, // whatever the case
			{query.ByRelevance, "c a"},
			{"", "b a c"}, // the last updated first
		} {
			for _, order := range []query.Sort{tt.order, tt.order.Desc()} {
				want, opts := words(tt.want), &dois.ListOptions{Sort: order}
				if order != tt.order {
					slices.Reverse(want)
				}
				switch {
				case tt.order == query.ByRelevance:
					opts.Query = snow
					fallthrough
				case tt.order == "":
					if order != tt.order {
						continue
					}
				case deployed(t) && tt.order == query.ByPublished:
					want = words("a b c") // it has nothing to sort by
				}
				found := must(srv.DOIs().List(t.Context(), opts))(t)
				assert.Equal(t, want, suffixes(found.Records), order)
			}
		}
	})
}

// series are n records, r000 and so on, made one second after the other.
func series(n int) []string {
	var records []string
	for i := range n {
		records = append(records, fmt.Sprintf(
			`{"doi":"10.5072/r%03d","created":"2020-01-01T00:%02d:%02dZ","client":"demo.c%d","provider":"p%d",`+
				`"types":{"resourceTypeGeneral":"%s"}}`,
			i, i/60, i%60, i%3, i%2, []string{"Dataset", "Software"}[i%2]))
	}
	return records
}

// TestPages reads pages in the ways of specification §4.2.
func TestPages(t *testing.T) {
	scene := func(name string, tell func(t *testing.T, client *dois.Client)) {
		story(t, name, series(60), func(t *testing.T, srv *datacitetest.Server) { tell(t, srv.DOIs()) })
	}
	for name, tt := range map[string]struct {
		opts *dois.ListOptions
		want string // "" for 25 in any order
		next query.Page
	}{
		"25 records without further word": {nil, "", query.Page{Number: 2}},
		"page number and size": {&dois.ListOptions{Sort: query.ByName, Page: query.Page{Number: 3, Size: 7}},
			"r014 r015 r016 r017 r018 r019 r020", query.Page{Number: 4, Size: 7}},
		"last page by number": {&dois.ListOptions{Sort: query.ByName, Page: query.Page{Number: 9, Size: 7}},
			"r056 r057 r058 r059", query.Page{}},
		"page after the last is empty": {&dois.ListOptions{Page: query.Page{Number: 10, Size: 7}}, " ", query.Page{}},
	} {
		scene(name, func(t *testing.T, client *dois.Client) {
			found := must(client.List(t.Context(), tt.opts))(t)
			if tt.want == "" {
				assert.Len(t, found.Records, 25)
			} else {
				assert.Equal(t, words(tt.want), suffixes(found.Records))
			}
			assert.Equal(t, 60, found.Total)
			assert.Equal(t, tt.next, found.Next)
			assert.Equal(t, tt.next != query.Page{}, found.More)
		})
	}
	scene("cursor", func(t *testing.T, client *dois.Client) {
		opts := &dois.ListOptions{Page: query.Page{Cursor: "1", Size: 4}}
		first := must(client.List(t.Context(), opts))(t)
		assert.Equal(t, words("r000 r001 r002 r003"), suffixes(first.Records), "in the order of creation")
		require.True(t, first.More)
		assert.NotEmpty(t, first.Next.Cursor)

		opts.Page = first.Next
		second := must(client.List(t.Context(), opts))(t)
		assert.Equal(t, words("r004 r005 r006 r007"), suffixes(second.Records))
	})
	scene("random", func(t *testing.T, client *dois.Client) {
		found := must(client.List(t.Context(),
			&dois.ListOptions{Sample: query.Sample{Random: true}, Page: query.Page{Size: 20}}))(t)
		different := map[string]bool{}
		for _, r := range found.Records {
			different[r.DOI] = true
		}
		assert.Len(t, different, 20, "each record once")
		assert.Equal(t, 60, found.Total, "the service counts what the sample is taken from")
		assert.False(t, found.More, "another page would be another sample")
	})
	for _, tt := range []struct {
		name   string
		sample query.Sample
		want   int
	}{
		{"sample-group by client", query.Sample{Group: query.GroupClient}, 3},
		{"sample-group by provider", query.Sample{Group: query.GroupProvider}, 2},
		{"sample-group by resource type", query.Sample{Group: query.GroupResourceType}, 2},
		{"sample of several from each group", query.Sample{Group: query.GroupClient, Size: 5}, 15},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
				seed(t, srv, series(60)...)
				found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Sample: tt.sample})
				if deployed(t) {
					require.ErrorIs(t, err, datacite.ErrServer, "it has not served these since July 2026")
					return
				}
				require.NoError(t, err)
				assert.Len(t, found.Records, tt.want)
				assert.False(t, found.More)
			})
		})
	}
}
