package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
)

// A walk by page number reads the order once, and not up to each of its pages; what changes is in the next page.
func TestPagesOfAListAreSelectedOnce(t *testing.T) {
	s := store.New(store.Settings{Clock: time.Now, Accounts: []record.Account{{ClientID: "ice.archive"}}})
	put := func(n int) {
		require.NoError(t, s.PutRecordOf("ice.archive", fmt.Appendf(nil, `{"doi":"10.5072/%d"}`, n)))
	}
	read := 0
	page := func(name string, of func(found search.Set)) (names []string) {
		s.Search(func(ix *store.Index) {
			found := ix.Live()
			of(found)
			for _, n := range ix.Selected(name, found, func() []int32 {
				read++
				return ix.Sorted("name", func(a, b *store.Entry) int { return len(a.DOI) - len(b.DOI) })
			}) {
				names = append(names, ix.Entry(int(n)).DOI)
			}
		})
		return names
	}
	all, second := func(search.Set) {}, func(found search.Set) { found.Without(search.Set{1}) }
	put(33)
	put(2)
	for range 5 {
		assert.Equal(t, []string{"10.5072/2", "10.5072/33"}, page("name", all))
	}
	assert.Equal(t, 1, read)
	assert.Equal(t, []string{"10.5072/2"}, page("name", second))
	assert.Equal(t, []string{"10.5072/2"}, page("other", second))
	assert.Equal(t, 3, read)
	put(111)
	assert.Equal(t, []string{"10.5072/2", "10.5072/33", "10.5072/111"}, page("other", all))
	put(2)
	assert.Len(t, page("other", all), 3, "the record is another one")
	assert.Equal(t, 5, read)
}
