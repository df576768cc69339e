package store_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
)

// A walk by page number reads the order once, and not up to each of its pages; what changes is in the next page.
func TestPagesOfAListAreSelectedOnce(t *testing.T) {
	s := store.New(store.Settings{Clock: time.Now, Accounts: []record.Account{{ClientID: "ice.archive"}}})
	put := func(n int) {
		require.NoError(t, s.PutRecordOf("ice.archive", fmt.Appendf(nil, `{"doi":"10.5072/%d"}`, n)))
	}
	read := 0
	page := func(order, without string) (names []string) {
		s.Search(func(ix *store.Index) {
			found := ix.Live()
			found.Without(ix.With("uid", without))
			for _, n := range ix.Selected(order, found, func() []int32 {
				read++
				return ix.Sorted("length", func(a, b *store.Entry) int { return len(a.DOI) - len(b.DOI) })
			}) {
				names = append(names, ix.Entry(int(n)).DOI)
			}
		})
		return names
	}
	put(33)
	put(2)
	for range 5 {
		assert.Equal(t, []string{"10.5072/2", "10.5072/33"}, page("length", ""))
	}
	assert.Equal(t, 1, read)
	assert.Equal(t, []string{"10.5072/2"}, page("length", "10.5072/33"))
	assert.Equal(t, []string{"10.5072/2"}, page("another", "10.5072/33"))
	assert.Equal(t, 3, read)
	put(111)
	assert.Equal(t, []string{"10.5072/2", "10.5072/33", "10.5072/111"}, page("another", ""))
	put(2)
	assert.Len(t, page("another", ""), 3, "the record is another one")
	assert.Equal(t, 5, read)
}

// Records that are gone do not fill the index.
func TestTheIndexForgets(t *testing.T) {
	s := store.New(store.Settings{Clock: time.Now, Accounts: []record.Account{{ClientID: "ice.archive"}}})
	for n := range 400 {
		name := fmt.Sprint("10.5072/", n)
		require.NoError(t, s.PutRecordOf("ice.archive", fmt.Appendf(nil, `{"doi":%q}`, name)))
		s.Search(func(*store.Index) {})
		require.NoError(t, s.Change(name, func(*record.Record) (*record.Record, error) { return nil, nil }))
		s.Search(func(*store.Index) {})
	}
	s.Search(func(ix *store.Index) {
		assert.Less(t, len(ix.Sorted("name", func(a, b *store.Entry) int { return cmp.Compare(a.DOI, b.DOI) })), 101)
	})
}
