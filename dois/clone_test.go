package dois_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// A program that keeps 30 of 3,000 records as clones keeps only these in memory.
func TestAFewClonesKeepNoPages(t *testing.T) {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	page := realisticPage(1000)
	c := canned(t, page)
	kept := func(keep func(*dois.Record) *dois.Record) (int, uint64) {
		var few []*dois.Record
		before := used()
		for range 3 {
			results, err := c.List(t.Context(), &dois.ListOptions{Page: query.Page{Size: 1000}})
			require.NoError(t, err)
			require.Len(t, results.Records, 1000)
			for i := 50; i < 1000; i += 100 {
				few = append(few, keep(&results.Records[i]))
			}
		}
		after := used()
		size := max(after, before) - before
		runtime.KeepAlive(few)
		return len(few), size
	}
	n, pinned := kept(func(r *dois.Record) *dois.Record { copied := *r; return &copied })
	_, cloned := kept((*dois.Record).Clone)
	t.Logf("%d records: copies %d bytes, clones %d bytes", n, pinned, cloned)
	assert.Equal(t, 30, n)
	assert.Less(t, cloned, uint64(512<<10))
	runtime.KeepAlive(page)
}
