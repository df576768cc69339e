package dois_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

var sandboxRecords = flag.Int("records", 3_000, "records of the walk over the embedded service; 250000 takes minutes")

// A walk by cursor over the embedded service, deployed behaviour, with one
// request in twenty failing in any of the ways there are.
func TestWalkOverTheEmbeddedService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: datacitetest.Deployed, Faults: datacitetest.Schedule(1, 0.05)})
		defer srv.Close()
		start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range *sandboxRecords {
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/walk-%d","created":%q}`, i, start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))))
		}
		seen := map[string]bool{}
		for r, err := range srv.DOIs().All(t.Context(), &dois.ListOptions{Page: query.Page{Size: 100}}) {
			require.NoError(t, err)
			require.False(t, seen[r.DOI], "%s came twice", r.DOI)
			seen[r.DOI] = true
		}
		assert.Len(t, seen, *sandboxRecords)
	})
}
