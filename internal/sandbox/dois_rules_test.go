package sandbox_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/sandbox"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

const doisTables = "deployed-dois.md"

// doisLibrary is a Deployed service with the records of the tables.
func doisLibrary(t testing.TB) *sandbox.Service {
	service := deployed()
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

// Each query, filter and order finds what its table says.
func TestDOILists(t *testing.T) {
	service := doisLibrary(t)
	for table, before := range map[string]string{"Queries": "sort=name&query=", "Filters": "sort=name&", "Orders": ""} {
		for _, row := range testkit.Table(t, doisTables, table) {
			t.Run(row[0], func(t *testing.T) {
				parameters, want := row[0], strings.Fields(strings.TrimPrefix(row[1], "-"))
				if table == "Queries" {
					parameters = url.QueryEscape(parameters)
				}
				got := found(listOf(t, service, before+parameters))
				if table != "Orders" {
					slices.Sort(got)
				}
				assert.Equal(t, want, got)
			})
		}
	}
}

// Each facet counts what the table says.
func TestDOIFacets(t *testing.T) {
	service := doisLibrary(t)
	for _, row := range testkit.Table(t, doisTables, "Facets") {
		t.Run(row[0]+" "+row[1], func(t *testing.T) {
			parameters := row[0]
			if !strings.Contains(parameters, "disable-facets") {
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
