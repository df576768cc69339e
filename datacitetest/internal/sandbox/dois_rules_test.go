package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

const doisTables = "deployed-dois.md"

// doisLibrary is a service with the records of the tables.
func doisLibrary(t testing.TB, behaviour sandbox.Behaviour) *sandbox.Service {
	service := newServiceAs(behaviour)
	for _, row := range testkit.Table(t, doisTables, "Records") {
		require.NoError(t, service.PutRecord([]byte(row[1])), row[0])
	}
	return service
}

// listOf is the list for parameters as the tables write them, with blanks.
func listOf(t testing.TB, service *sandbox.Service, parameters string) map[string]any {
	t.Helper()
	return listed(t, service, strings.ReplaceAll(parameters, " ", "%20"), "")
}

// Each query, filter and order finds what its table says, with both behaviours or the one that it names.
func TestDOILists(t *testing.T) {
	services := map[sandbox.Behaviour]*sandbox.Service{}
	for _, behaviour := range []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed} {
		services[behaviour] = doisLibrary(t, behaviour)
	}
	for table, before := range map[string]string{"Queries": "sort=name&query=", "Filters": "sort=name&", "Orders": ""} {
		for _, row := range testkit.Table(t, doisTables, table) {
			t.Run(row[0], func(t *testing.T) {
				want, behaviours := supportedBy(row[1])
				for _, behaviour := range behaviours {
					parameters := row[0]
					if table == "Queries" {
						parameters = url.QueryEscape(parameters)
					}
					got := found(listOf(t, services[behaviour], before+parameters))
					if table != "Orders" {
						slices.Sort(got)
					}
					assert.Equal(t, strings.Fields(strings.TrimPrefix(want, "-")), got, behaviour)
				}
			})
		}
	}
}

// Each facet counts what the table says.
func TestDOIFacets(t *testing.T) {
	service := doisLibrary(t, sandbox.Deployed)
	for _, row := range testkit.Table(t, doisTables, "Facets") {
		t.Run(row[0]+" "+row[1], func(t *testing.T) {
			parameters, unset := strings.CutSuffix(row[0], "&disable-facets=-")
			if !unset && !strings.Contains(parameters, "disable-facets") {
				parameters += "&disable-facets=false"
			}
			got, there := listOf(t, service, parameters)["meta"].(map[string]any)[row[1]]
			if row[2] == "-" {
				assert.False(t, there, "%v", got)
				return
			}
			data, err := json.Marshal(got)
			require.NoError(t, err)
			assert.JSONEq(t, row[2], string(data))
		})
	}
}

// Each request gets the answer that the table says.
func TestDOIExchanges(t *testing.T) {
	service := doisLibrary(t, sandbox.Deployed)
	for _, row := range testkit.Table(t, doisTables, "Exchanges") {
		t.Run(row[0]+" "+row[1], func(t *testing.T) {
			kind := ""
			if row[1] != "" {
				kind = "application/vnd.api+json"
			}
			assertAnswer(t, row[2], requestOf(row[0], kind, row[1]).do(t, service))
		})
	}
}

// A script on another page may read answers, errors too, and asks first.
func TestDeployedForScripts(t *testing.T) {
	service := doisLibrary(t, sandbox.Deployed)
	for request, status := range map[string]int{"GET /dois": 200, "GET /dois/10.5072/nothing": 404, "OPTIONS /dois": 204} {
		c := requestOf(request+" as nobody", "", "")
		c.header["Origin"] = "https://example.org"
		a := c.do(t, service)
		assert.Equal(t, status, a.status, request)
		assert.Equal(t, "https://example.org", a.header.Get("Access-Control-Allow-Origin"), request)
		assert.Equal(t, "true", a.header.Get("Access-Control-Allow-Credentials"), request)
		assert.Contains(t, a.header.Get("Access-Control-Allow-Methods"), "PATCH", request)
		assert.Equal(t, request != "OPTIONS /dois", a.header.Get("Access-Control-Expose-Headers") == "Authorization", request)
		assert.Equal(t, request == "OPTIONS /dois", a.header.Get("Access-Control-Max-Age") != "", request)
	}
}

// A cursor knows whole seconds; within one, records are in the order of their names.
func TestDeployedCursors(t *testing.T) {
	service := deployed()
	seed(t, service,
		`{"doi":"10.5072/b","created":"2020-01-01T00:00:00.100Z"}`, `{"doi":"10.5072/a","created":"2020-01-01T00:00:00.900Z"}`,
		`{"doi":"10.5072/c","created":"2019-01-01T00:00:00Z"}`)
	list := listed(t, service, "page[cursor]=1&page[size]=2", "")
	assert.Equal(t, []string{"c", "a"}, found(list))
	cursor := nextPage(t, list).Get("page[cursor]")
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	require.NoError(t, err)
	assert.Equal(t, "1577836800000,10.5072/a", string(plain))
	assert.Equal(t, []string{"b"}, found(listed(t, service, "page[size]=2&page[cursor]="+cursor, "")))
}

func TestAPIKeyMayNotListNames(t *testing.T) {
	service := doisLibrary(t, sandbox.Deployed)
	c := call{method: "GET", path: "/dois/get-dois",
		header: map[string]string{"Authorization": "Bearer " + service.IssueKey()}}
	assert.Equal(t, 403, c.do(t, service).status)
}

// Each parameter that the service reads is supported, or said not to be.
func TestDOIParameters(t *testing.T) {
	var requests strings.Builder
	for table, before := range map[string]string{"Filters": "&", "Orders": "&", "Facets": "&", "Exchanges": ""} {
		for _, row := range testkit.Table(t, doisTables, table) {
			requests.WriteString(strings.ReplaceAll(before+row[0], "?", "&") + "\n")
		}
	}
	for _, row := range testkit.Table(t, gapTables, "Not supported") {
		requests.WriteString(strings.ReplaceAll(row[1], "?", "&") + "\n")
	}
	for _, row := range testkit.Table(t, doisTables, "Parameters") {
		if strings.HasPrefix(row[1], "Test") {
			checkRule(t, testSources(t), row[0], "controller", "`"+row[1]+"`")
		}
		for name := range strings.FieldsSeq(row[0]) {
			assert.Equal(t, strings.HasPrefix(row[1], "rows"), strings.Contains(requests.String(), "&"+name+"="), name)
		}
	}
}

func TestDeployedCountsOfRelations(t *testing.T) {
	service := deployed()
	seed(t, service, `{"doi":"10.5072/typeless","relatedIdentifiers":[{"relatedIdentifier":"10.5072/a",`+
		`"relationType":"HasPart"}]}`)
	for relation, filter := range map[string]string{"HasPart": "has-parts", "IsPartOf": "has-part-of",
		"HasVersion": "has-versions", "IsVersionOf": "has-version-of"} {
		seed(t, service, `{"doi":"10.5072/`+relation+
			`","relatedIdentifiers":[{"relatedIdentifier":"10.5072/a","relatedIdentifierType":"DOI","relationType":"`+relation+
			`"}]}`)
		assert.Equal(t, []string{strings.ToLower(relation)}, found(listed(t, service, filter+"=1", "")))
		assert.Empty(t, found(listed(t, service, filter+"=2", "")))
	}
}
