package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// Lists show drafts of others to accounts; one alone is hidden from them.
func TestDeployedDraftsOfOthers(t *testing.T) {
	service := doisLibrary(t, sandbox.Deployed)
	assert.Equal(t, []string{"draft"}, found(listed(t, service, "state=draft", "other")))
	assert.Equal(t, 404, call{method: "GET", path: "/dois/10.5072/draft", as: "other"}.do(t, service).status)
}

func TestDeployedFlags(t *testing.T) {
	service := doisLibrary(t, sandbox.Deployed)
	first := func(query string) map[string]any {
		return at(listed(t, service, "sort=name&"+query, ""), "data.0.attributes").(map[string]any)
	}
	assert.NotContains(t, first(""), "prefix")
	for _, on := range []string{"detail=true", "detail=false", "detail="} {
		assert.Contains(t, first(on), "prefix", on)
	}
	assert.Equal(t, "Zenodo", first("publisher=1")["publisher"])
	assert.Equal(t, "Zenodo", at(first("publisher=true"), "publisher.name"))
	a := call{method: "GET", path: "/dois/10.5072/alps?fields[dois]=doi"}.do(t, service)
	assert.Contains(t, at(a.read(t), "data.attributes"), "titles", "one record comes whole")
}

// Pages that do not divide the window never end.
func TestDeployedEndlessPages(t *testing.T) {
	service := deployed()
	for i := range 10_001 {
		require.NoError(t, service.PutRecord(fmt.Appendf(nil, `{"doi":"10.5072/%05d"}`, i)))
	}
	list := listed(t, service, "sort=name&fields[dois]=doi&page[size]=300&page[number]=33", "")
	for range 3 {
		next := nextPage(t, list)
		assert.Equal(t, "34", next.Get("page[number]"))
		assert.Empty(t, next.Get("sort"), "lost on the way")
		list = listed(t, service, "sort=name&"+next.Encode(), "")
		assert.Equal(t, 33.0, at(list, "meta.page"), "34 is shown as 33, for ever")
		assert.Equal(t, 34.0, at(list, "meta.totalPages"))
	}
	list = listed(t, service, "page[size]=100&page[number]=101&fields[dois]=doi", "")
	assert.Equal(t, 100.0, at(list, "meta.page"))
	assert.Nil(t, nextPage(t, list))
	for cursor, want := range map[string]string{"1": "00000", "garbage!": "00000", "MTIzNA": "00000"} {
		list := listed(t, service, "fields[dois]=doi&page[size]=1&page[cursor]="+cursor, "")
		_, hasPage := at(list, "meta").(map[string]any)["page"]
		assert.False(t, hasPage)
		assert.NotEmpty(t, found(list), want)
	}
}

func TestDeployedNextLink(t *testing.T) {
	service := deployed()
	for i := range 3 {
		require.NoError(t, service.PutRecord(fmt.Appendf(nil, `{"doi":"10.5072/%05d"}`, i)))
	}
	kept := []string{"query", "affiliation", "publisher", "detail", "created", "prefix", "disable-facets"}
	empty := strings.Fields("provider-id consortium-id client-id funder-id affiliation-id resource-type-id published " +
		"registered " +
		"has-citations has-references has-parts has-part-of has-versions has-version-of has-views has-downloads has-person " +
		"has-affiliation has-funder facets fields[dois] funded_by include_funder_child_organizations enriched")
	lost := []string{"sort", "state", "schema-version", "mailto", "include", "source"}
	query := "page[size]=1&query=*:*&affiliation=true&publisher=true&detail=true&created=2000," +
		"2100&prefix=10.5072&disable-facets=true" +
		"&sort=name&state=findable&mailto=me&include=client&source=api&" + strings.Join(empty, "=&") + "="
	next := nextPage(t, listed(t, service, query, ""))
	for _, name := range append(kept, empty...) {
		assert.Contains(t, next, name)
	}
	for _, name := range lost {
		assert.NotContains(t, next, name)
	}
}

// Lists and searches show a write after a while, a single record at once.
func TestDeployedIndexLag(t *testing.T) {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, IndexLag: time.Minute, Now: func() time.Time {
		return start
	}})
	seed(t, service, `{"doi":"10.5072/old","state":"draft","titles":[{"title":"seeded"}]}`)
	titles := func(query string) []string {
		out := []string{}
		for _, r := range listed(t, service, "sort=name&query="+query, "repo")["data"].([]any) {
			out = append(out, at(r, "attributes.titles.0.title").(string))
		}
		slices.Sort(out)
		return out
	}
	assert.Equal(t, []string{"seeded"}, titles(""), "what is seeded is there at once")

	require.Equal(t, 201, create(`"doi":"10.5072/new","titles":[{"title":"created"}]`).do(t, service).status)
	require.Equal(t, 200, update("10.5072/old", `"titles":[{"title":"changed"}]`).do(t, service).status)
	assert.Equal(t, []string{"seeded"}, titles(""))
	assert.Empty(t, titles("changed"))
	one := call{method: "GET", path: "/dois/10.5072/old", as: "repo"}
	assert.Equal(t, "changed", at(one.do(t, service).read(t), "data.attributes.titles.0.title"),
		"a record by its name is up to date")

	service.Advance(40 * time.Second)
	require.Equal(t, 200, update("10.5072/old", `"titles":[{"title":"again"}]`).do(t, service).status)
	assert.Equal(t, []string{"seeded"}, titles(""))
	service.Advance(30 * time.Second)
	assert.Equal(t, []string{"changed", "created"}, titles(""), "the first changes, not yet the second")
	service.Advance(30 * time.Second)
	assert.Equal(t, []string{"again", "created"}, titles(""))

	require.Equal(t, 204, call{method: "DELETE", path: "/dois/10.5072/new", as: "repo"}.do(t, service).status)
	assert.Equal(t, []string{"again", "created"}, titles(""), "removed, but still in the index")
	assert.Equal(t, 404, call{method: "GET", path: "/dois/10.5072/new", as: "repo"}.do(t, service).status)
	service.Advance(time.Minute)
	assert.Equal(t, []string{"again"}, titles(""))
	assert.Equal(t, []string{"again"}, titles("again"))
}
