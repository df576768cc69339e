package testkit_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// TestAllFaultsOfOptionsAtOnce makes every option wrong that can be, and wants each
// named in one error.
func TestAllFaultsOfOptionsAtOnce(t *testing.T) {
	negative := func(options any) (names []string) {
		v := reflect.ValueOf(options).Elem()
		for field, value := range v.Fields() {
			if value.CanInt() && value.Kind() != reflect.Bool && field.Name != "Level" {
				value.SetInt(-1)
				names = append(names, field.Name)
			}
		}
		return names
	}
	cfg := &datacite.Config{UserAgent: "\n", Username: "a", Token: "no token"}
	wrong := append(negative(cfg), "UserAgent", "Config.Service")
	_, ofDois := dois.NewClient(*cfg)
	_, ofReconcile := reconcile.NewClient(*cfg)
	_, ofMDS := mds.NewClient(*cfg)
	_, ofReports := reports.NewClient(*cfg)
	for name, err := range map[string]error{"dois": ofDois, "mds": ofMDS, "reports": ofReports, "reconcile": ofReconcile} {
		require.ErrorIs(t, err, datacite.ErrInvalid, name)
		for _, option := range wrong {
			assert.ErrorContains(t, err, option, name)
		}
	}
	assert.ErrorContains(t, ofDois, "Config.Password")
	assert.ErrorContains(t, ofMDS, "Config.Password")
	assert.ErrorContains(t, ofDois, "Config.Token")
	assert.ErrorContains(t, ofReports, "Config.Token")

	list := &dois.ListOptions{
		States: []dois.State{"nonsense", "other"}, Prefix: []string{"5072", "10."}, Created: "now", Published: "then",
		Fields: []string{"titel", "doi", "two,names"}, Facets: []string{"publishd", "resourceTypes", "resource_types"}, Include: []string{"clients"},
		IDs: []string{"a", "b"}, Page: query.Page{Number: -1},
	}
	wrong = append(negative(list), `"nonsense"`, `"other"`, `"5072"`, `"10."`, `"now"`, `"then"`, `"titel"`, `"two,names"`, `"publishd"`, `"clients"`, "IDs[0]", "IDs[1]", "IDs: cannot be combined", "page")
	c := must(dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost:1"}}))(t)
	_, err := c.List(t.Context(), list)
	require.ErrorIs(t, err, datacite.ErrInvalid)
	for _, option := range wrong {
		assert.ErrorContains(t, err, option)
	}
	_, again := c.List(t.Context(), list)
	assert.EqualError(t, again, err.Error(), "in the same words each time")
	assert.NotContains(t, err.Error(), `"doi"`)
	assert.NotContains(t, err.Error(), `"resource_types"`)

	submission := &reports.SubmitOptions{ID: "no id"}
	wrong = append(negative(submission), "ID")
	rc := must(reports.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost:1"}, Token: "a.b.c"}))(t)
	_, err = rc.Submit(t.Context(), reports.Header{}, reports.Source(nil), submission)
	for _, option := range wrong {
		assert.ErrorContains(t, err, option)
	}
	_, err = rc.List(t.Context(), &reports.ListOptions{CreatedBy: "a", Year: 1, Page: query.Page{Cursor: "1", Number: -1, Size: -1}})
	for _, option := range []string{"ListOptions: has", "Cursor", "Number", "Size"} {
		assert.ErrorContains(t, err, option)
	}
}
