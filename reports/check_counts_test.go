package reports_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// TestInconsistentCountsDoNotPass: the service stores them, and shows them. Group and
// Submit name the dataset and the numbers.
func TestInconsistentCountsDoNotPass(t *testing.T) {
	type counts map[reports.MetricType]int64
	const (
		totalInvestigations  = reports.TotalDatasetInvestigations
		uniqueInvestigations = reports.UniqueDatasetInvestigations
		totalRequests        = reports.TotalDatasetRequests
		uniqueRequests       = reports.UniqueDatasetRequests
	)
	for _, tt := range []struct {
		name             string
		regular, machine counts
		want             string // of the reason; "" if all is well
	}{
		{"all alike", counts{totalInvestigations: 3, uniqueInvestigations: 3, totalRequests: 3, uniqueRequests: 3}, nil, ""},
		{"more unique than total", counts{totalInvestigations: 3, uniqueInvestigations: 4}, nil, "are inconsistent: unique-dataset-investigations (regular) is 4, more than total-dataset-investigations, which is 3"},
		{"more unique than total requests", nil, counts{totalRequests: 3, uniqueRequests: 4}, "are inconsistent: unique-dataset-requests (machine) is 4, more than total-dataset-requests, which is 3"},
		{"more requests than investigations", counts{totalInvestigations: 3, totalRequests: 5}, nil, "are inconsistent: total-dataset-requests (regular) is 5, more than total-dataset-investigations, which is 3"},
		{"in sessions, too", counts{uniqueInvestigations: 3, uniqueRequests: 5}, nil, "are inconsistent: unique-dataset-requests (regular) is 5, more than unique-dataset-investigations, which is 3"},
		{"each access method by itself", counts{totalInvestigations: 3}, counts{uniqueInvestigations: 5}, ""},
		{"a metric that is not there bounds nothing", counts{uniqueRequests: 5}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rows []reports.Row
			dataset := dataset(1)
			dataset.DatasetID[0].Value = "10.5072/a"
			dataset.Performance[0].Instance = nil
			for access, counts := range map[reports.AccessMethod]counts{reports.Regular: tt.regular, reports.Machine: tt.machine} {
				for metric, n := range counts {
					rows = append(rows, reports.Row{DOI: "10.5072/a", Date: "2026-10-01", Metric: metric, Access: access, Count: n})
					dataset.Performance[0].Instance = append(dataset.Performance[0].Instance, reports.Instance{MetricType: metric, AccessMethod: access, Count: n})
				}
			}
			group := func(opts *reports.GroupOptions) (n int, err error) {
				for _, err := range reports.Group(rowsOf(rows...), opts) {
					if err != nil {
						return n, err
					}
					n++
				}
				return n, nil
			}
			srv := server(t)
			submit := func(opts *reports.SubmitOptions) error {
				_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), reports.Source([]reports.Dataset{dataset}), opts)
				return err
			}
			n, err := group(nil)
			if tt.want == "" {
				require.NoError(t, err)
				assert.Equal(t, 1, n)
				require.NoError(t, submit(nil))
				return
			}
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, "10.5072/a, 2026-10-01: "+tt.want)
			assert.Zero(t, n)
			err = submit(nil)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, "report-datasets[0].performance[0].instance: of \"10.5072/a\" "+tt.want)

			left := map[string]int{}
			n, err = group(&reports.GroupOptions{LeaveOut: func(err error) bool {
				left[err.Error()] += len(datacite.Findings(err))
				return true
			}})
			require.NoError(t, err)
			assert.Zero(t, n)
			require.Len(t, left, 1)
			for text, faults := range left {
				assert.Contains(t, text, "dataset 10.5072/a: ")
				assert.Equal(t, 1, faults)
			}

			n, err = group(&reports.GroupOptions{AllowInconsistent: true})
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			var findings []datacite.Finding
			require.NoError(t, submit(&reports.SubmitOptions{AllowInconsistent: true, Warn: func(f datacite.Finding) { findings = append(findings, f) }}))
			assert.Contains(t, findings, datacite.Finding{Path: "report-datasets[0].performance[0].instance", Code: "inconsistent", Reason: `of "10.5072/a" ` + tt.want, Warning: true})
		})
	}
}

func TestMoreByCountriesThanInAllDoesNotPass(t *testing.T) {
	dataset := dataset(1)
	dataset.Performance[0].Instance[0].Count = 3
	dataset.Performance[0].Instance[0].CountryCounts = reports.CountryCounts{{Country: "de", Count: 2}, {Country: "fr", Count: 2}}
	srv := server(t)
	_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), reports.Source([]reports.Dataset{dataset}), nil)
	assert.ErrorContains(t, err, "report-datasets[0].performance[0].instance[0].country-counts: are inconsistent: they add up to 4, and the count is 3")
	_, err = srv.Reports().Submit(t.Context(), header("Example", time.October), reports.Source([]reports.Dataset{dataset}), &reports.SubmitOptions{AllowInconsistent: true})
	assert.NoError(t, err)
}
