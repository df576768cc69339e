package sandbox_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// many is a service with n records.
func many(t *testing.T, n int) *sandbox.Service {
	t.Helper()
	service := newService()
	for i := range n {
		seed(t, service, fmt.Sprintf(`{"doi":"10.5072/%05d","created":"%d","titles":[{"title":"Number `+
			`%d"}],"client":"c%d","types":{"resourceTypeGeneral":"Text"}}`, i, 2000+i%7, i, i%3))
	}
	return service
}

// Specification §4.2: page[number] and page[size].
func TestPages(t *testing.T) {
	service := many(t, 60)
	for query, want := range map[string]struct {
		shown            int
		first            string
		totalPages, page any
		next             string // page number of the next link
	}{
		"":                             {25, "00000", 3.0, 1.0, "2"},
		"page[number]=3":               {10, "00050", 3.0, 3.0, ""},
		"page[number]=0":               {25, "00000", 3.0, 1.0, "2"},
		"page[size]=30&page[number]=2": {30, "00030", 2.0, 2.0, ""},
		"page[size]=5000":              {60, "00000", 1.0, 1.0, ""},
		"page[size]=0":                 {0, "", 0.0, 1.0, ""},
		"page=3":                       {25, "00000", 3.0, 1.0, "2"},
	} {
		t.Run(query, func(t *testing.T) {
			list := listed(t, service, "sort=name&"+query, "")
			names := found(list)
			require.Len(t, names, want.shown)
			if want.shown > 0 {
				assert.Equal(t, want.first, names[0])
			}
			assert.Equal(t, 60.0, at(list, "meta.total"))
			assert.Equal(t, want.totalPages, at(list, "meta.totalPages"))
			assert.Equal(t, want.page, at(list, "meta.page"))
			assert.Equal(t, base+"/dois?sort=name&"+query, at(list, "links.self"))
			assert.Equal(t, want.next, nextPage(t, list).Get("page[number]"))
		})
	}
	assert.Equal(t, 400, call{method: "GET", path: "/dois?page[size]=-1"}.do(t, service).status)
	empty := listed(t, newService(), "", "")
	assert.Equal(t, []any{}, empty["data"])
	assert.Equal(t, map[string]any{"total": 0.0, "totalPages": 0.0, "page": 1.0}, empty["meta"])
}

// nextPage is the parameters of the link to the next page, none at the end.
func nextPage(t testing.TB, list map[string]any) url.Values {
	t.Helper()
	next, ok := at(list, "links.next").(string)
	if !ok {
		assert.NotContains(t, list["links"], "next", "absent, not null")
		return nil
	}
	u, err := url.Parse(next)
	require.NoError(t, err)
	assert.Equal(t, base+"/dois", "https://"+u.Host+u.Path)
	return u.Query()
}

// Specification §4.2: page[cursor].
func TestCursor(t *testing.T) {
	service := many(t, 60)
	walk := func(query string, between func()) (names []string, answers int) {
		cursor := "1"
		for {
			list := listed(t, service, query+"&page[cursor]="+url.QueryEscape(cursor), "")
			answers++
			require.Less(t, answers, 100)
			names = append(names, found(list)...)
			assert.NotContains(t, list["meta"], "page")
			next := nextPage(t, list)
			if next == nil {
				return names, answers
			}
			cursor = next.Get("page[cursor]")
			between()
		}
	}
	names, answers := walk("page[size]=25&sort=-name", func() {})
	assert.Equal(t, 3, answers)
	assert.Len(t, names, 60)
	assert.Equal(t, []string{"00000", "00007", "00014"}, names[:3], "by creation, then by name, whatever sort says")
	slices.Sort(names)
	assert.Len(t, slices.Compact(names), 60, "each once")

	_, answers = walk("page[size]=30", func() {})
	assert.Equal(t, 3, answers, "after a last page that is full comes an empty one")
	_, answers = walk("page[size]=60", func() {})
	assert.Equal(t, 1, answers, "unless it is the only page")

	added := 0
	names, _ = walk("page[size]=25&query=number", func() {
		added++
		seed(t, service, fmt.Sprintf(`{"doi":"10.5072/late%d","created":"2030-01-0%d","titles":[{"title":"Number"}]}`, added,
			added))
	})
	assert.Equal(t, []string{"late1", "late2"}, names[60:], "what is created on the way comes at the end")

	list := listed(t, service, "page[cursor]=@@@&page[size]=2", "")
	assert.Equal(t, []string{"00000", "00007"}, found(list), "a cursor that cannot be read starts again")
	assert.Equal(t, 400, call{method: "GET", path: "/dois?page[cursor]=1&random=true"}.do(t, service).status)
}
