package shown_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

var histories = flag.Int("histories", 1, "random histories of reports that are compared")

// anything is a dataset with everything that goes wrong in reports.
func anything(random *rand.Rand, id string) reports.Dataset {
	d := dataset(id)
	for range 1 + random.IntN(3)*random.IntN(3)*random.IntN(3) {
		n := views(random.Int64N(4) * random.Int64N(1<<random.IntN(33)))
		n.MetricType = []reports.MetricType{reports.MetricUniqueDatasetInvestigations, reports.MetricUniqueDatasetRequests,
			reports.MetricTotalDatasetInvestigations}[random.IntN(3)]
		n.AccessMethod = []reports.AccessMethod{reports.AccessRegular, reports.AccessRegular,
			reports.AccessMachine}[random.IntN(3)]
		if random.IntN(8) == 0 {
			n.Count, n.NoCount = 0, true
		}
		d.Performance[0].Instance = append(d.Performance[0].Instance, n)
	}
	switch random.IntN(12) {
	case 0:
		d.Performance = append(d.Performance, d.Performance[0])
	case 1:
		d.Performance = nil
	case 2:
		d.DatasetID = append([]reports.TypedValue{{Type: "uri", Value: "https://example.org/"}}, d.DatasetID...)
	}
	return d
}

// TestEveryDifferenceIsExplained: whatever reports hold and however often they are replaced, the
// service shows what Compare expects of the reports that it holds, or the difference has the
// cause that an earlier version left. None is taken as lost. The service was written from the sources of
// the deployed one, and not from the rules of Compare.
func TestEveryDifferenceIsExplained(t *testing.T) {
	records := []string{"10.5072/a", "10.5072/b", "10.5072/c", "10.5072/k"}
	spellings := append([]string{"10.5072/A", "doi:10.5072/a", "DOI:10.5072/a", "https://doi.org/10.5072/b",
		"http://dx.doi.org/10.5072/B", "https://doi.org/doi:10.5072/c",
		"www.doi.org/10.5072/a", "10.5072/c#part", "10.5072/c?part", "10.5072/a<", "10.5072/b ", "10.5072/\u212a", "10.5072/a\u200b", "10.5072/unregistered", "hdl:10.5072/a"}, records...)
	differences, left := 0, 0
	for seed := range uint64(8 * *histories) {
		random := rand.New(rand.NewPCG(seed, 3))
		corrected := seed%2 == 0
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		for _, name := range records {
			put(t, srv, name, nil, nil)
		}
		for i := range 1 + random.IntN(8) {
			id := i
			if corrected {
				id = random.IntN(4)
			}
			h := header(fmt.Sprint("Repository ", id), 9+random.IntN(2))
			if begin := h.ReportingPeriod.BeginDate; random.IntN(8) == 0 {
				h.ReportingPeriod.BeginDate = begin + "T00:00:00+02:00"
			}
			var datasets []reports.Dataset
			for range random.IntN(6) {
				datasets = append(datasets, anything(random, spellings[random.IntN(len(spellings))]))
			}
			store(t, srv, id, h, datasets...)
			srv.ProcessUsage()
		}
		srv.Advance(25 * time.Hour) // for the lists
		for _, d := range compare(t, srv, nil) {
			differences++
			what := fmt.Sprintf("seed %d: %s, %v expected", seed, d, d.Expected)
			assert.NotEqual(t, datacite.CodeNotProcessed, d.Cause, what)
			assert.NotEqual(t, datacite.CodeLost, d.Cause, what)
			switch {
			case !slices.Contains(records, d.DOI): // nobody has registered it
			case slices.Contains(d.Expected, d.Shown):
				assert.NotContains(t, []datacite.Code{datacite.CodeLeft, datacite.CodeUnreported, datacite.CodeNoRecord}, d.Cause,
					what)
			default: // no report that was stored once alone is a surprise
				left++
				assert.True(t, corrected, what)
				assert.NotEqual(t, datacite.CodeNoRecord, d.Cause, what)
			}
		}
		require.False(t, t.Failed(), "seed %d", seed)
	}
	assert.Positive(t, left)
	assert.Greater(t, differences, 2*left)
}
