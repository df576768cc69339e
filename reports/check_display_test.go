package reports_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// counted is a dataset with one month and these counts, in the order of the list.
func counted(name string, counts ...reports.Instance) reports.Dataset {
	d := dataset(0)
	d.DatasetID = []reports.TypedValue{{Type: reports.TypeDOI, Value: name}}
	d.Performance = []reports.Performance{{Period: reports.Month(1999, time.October), Instance: counts}}
	return d
}

func views(n int64) reports.Instance {
	return reports.Instance{MetricType: reports.UniqueDatasetInvestigations, AccessMethod: reports.Regular, Count: n}
}

func downloads(n int64) reports.Instance {
	return reports.Instance{MetricType: reports.UniqueDatasetRequests, AccessMethod: reports.Regular, Count: n}
}

// TestReportsWithoutWarningsAreShown: every regular unique count of a report that Submit
// sends without a warning is shown as it is.
func TestReportsWithoutWarningsAreShown(t *testing.T) {
	names := []string{"10.5072/%d", "doi:10.5072/%d", "DOI:10.5072/%d", " 10.5072/%d", "https://doi.org/10.5072%%2F%d", "info:doi/10.5072/%d",
		"10.5072/%d#x", "10.5072/%d<x>", "10.123456/%d", "www.doi.org/10.5072/%d", "10.5072/ü%d", "hdl:10.5072/%d", "10.5072/\u212a%d"}
	silent, warned := 0, 0
	for seed := range uint64(*schedules) {
		random := rand.New(rand.NewPCG(seed, 1))
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true})
		var sent []reports.Dataset
		var reported int64
		for i := range 1 + random.IntN(3) {
			d := counted(fmt.Sprintf(names[random.IntN(len(names))*random.IntN(2)], i))
			for range 1 + random.IntN(4)*random.IntN(4) {
				n := views(random.Int64N(3) * random.Int64N(1<<random.IntN(33)))
				n.MetricType = []reports.MetricType{reports.UniqueDatasetInvestigations, reports.UniqueDatasetRequests, reports.TotalDatasetInvestigations}[random.IntN(3)]
				n.AccessMethod = []reports.AccessMethod{reports.Regular, reports.Regular, reports.Machine}[random.IntN(3)]
				d.Performance[0].Instance = append(d.Performance[0].Instance, n)
				if n.AccessMethod == reports.Regular && n.MetricType != reports.TotalDatasetInvestigations {
					reported += n.Count
				}
			}
			if random.IntN(8) == 0 {
				d.Performance = append(d.Performance, d.Performance[0])
			}
			if random.IntN(8) == 0 {
				d.DatasetID = append([]reports.TypedValue{{Type: "uri", Value: "https://example.org/"}}, d.DatasetID...)
			}
			sent = append(sent, d)
		}
		hints := 0
		receipt, err := srv.Reports().Submit(t.Context(), header("Example", time.October), reports.Source(sent), &reports.SubmitOptions{
			AllowInconsistent: true, LockDir: t.TempDir(), Warn: func(f datacite.Finding) {
				if f.Code != "corrected" && f.Code != "zero" {
					hints++
				}
			},
		})
		if err != nil {
			continue // such as a DOI that is none
		}
		require.NotEmpty(t, stored(t, srv.Reports(), receipt.ReportID), "seed %d", seed)
		srv.ProcessUsage()
		var sum int64
		for _, e := range srv.UsageEvents() {
			sum += e.Count
		}
		if hints == 0 {
			silent++
			require.Equal(t, reported, sum, "seed %d: %+v", seed, sent)
		} else {
			warned++
		}
		srv.Close()
	}
	assert.Greater(t, silent, *schedules/8)
	assert.Greater(t, warned, *schedules/8)
}
