package reports_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// TestInconsistentCountsDoNotPass: the service stores them, and shows them. Group and
// Submit name the dataset and the numbers.
func TestInconsistentCountsDoNotPass(t *testing.T) {
	type counts map[reports.MetricType]int64
	const (
		totalInvestigations  = reports.MetricTotalDatasetInvestigations
		uniqueInvestigations = reports.MetricUniqueDatasetInvestigations
		totalRequests        = reports.MetricTotalDatasetRequests
		uniqueRequests       = reports.MetricUniqueDatasetRequests
	)
	for _, tt := range []struct {
		name             string
		regular, machine counts
		want             string // of the reason; "" if all is well
	}{
		{"all alike", counts{totalInvestigations: 3, uniqueInvestigations: 3, totalRequests: 3, uniqueRequests: 3}, nil, ""},
		{"more unique than total", counts{totalInvestigations: 3, uniqueInvestigations: 4}, nil,
			"are inconsistent: unique-dataset-investigations (regular) is 4, more than total-dataset-investigations, which is " +
				"3"},
		{"more unique than total requests", nil, counts{totalRequests: 3, uniqueRequests: 4},
			"are inconsistent: unique-dataset-requests (machine) is 4, more than total-dataset-requests, which is 3"},
		{"more requests than investigations", counts{totalInvestigations: 3, totalRequests: 5}, nil,
			"are inconsistent: total-dataset-requests (regular) is 5, more than total-dataset-investigations, which is 3"},
		{"in sessions, too", counts{uniqueInvestigations: 3, uniqueRequests: 5}, nil,
			"are inconsistent: unique-dataset-requests (regular) is 5, more than unique-dataset-investigations, which is 3"},
		{"each access method by itself", counts{totalInvestigations: 3}, counts{uniqueInvestigations: 5}, ""},
		{"a metric that is not there bounds nothing", counts{uniqueRequests: 5}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rows []reports.Row
			dataset := dataset(1)
			dataset.DatasetID[0].Value = "10.5072/a"
			dataset.Performance[0].Instance = nil
			for access, counts := range map[reports.AccessMethod]counts{reports.AccessRegular: tt.regular,
				reports.AccessMachine: tt.machine} {
				for metric, n := range counts {
					rows = append(rows, reports.Row{DOI: "10.5072/a", Date: "2026-10-01", Metric: metric, Access: access, Count: n})
					dataset.Performance[0].Instance = append(dataset.Performance[0].Instance,
						reports.Instance{MetricType: metric, AccessMethod: access, Count: n})
				}
			}
			srv := server(t)
			submit := func(opts *reports.SubmitOptions) error {
				_, err := srv.Reports().Submit(t.Context(), header("Example", time.October),
					reports.Source([]reports.Dataset{dataset}), opts)
				return err
			}
			list, err := grouped(rowsOf(rows...), nil)
			if tt.want == "" {
				require.NoError(t, err)
				assert.Len(t, list, 1)
				require.NoError(t, submit(nil))
				return
			}
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, "10.5072/a, 2026-10-01: "+tt.want)
			assert.Empty(t, list)
			err = submit(nil)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, "report-datasets[0].performance[0].instance: of \"10.5072/a\" "+tt.want)

			var left []error
			list, err = grouped(rowsOf(rows...), &reports.GroupOptions{LeaveOut: func(err error) bool {
				left = append(left, err)
				return true
			}})
			require.NoError(t, err)
			assert.Empty(t, list)
			require.Len(t, left, 1)
			require.ErrorContains(t, left[0], "dataset 10.5072/a: ")
			assert.Len(t, datacite.Findings(left[0]), 1)

			list, err = grouped(rowsOf(rows...), &reports.GroupOptions{AllowInconsistent: true})
			require.NoError(t, err)
			assert.Len(t, list, 1)
			var findings []datacite.Finding
			require.NoError(t, submit(&reports.SubmitOptions{AllowInconsistent: true, Warn: func(f datacite.Finding) {
				findings = append(findings, f)
			}}))
			assert.Contains(t, findings, datacite.Finding{Path: "report-datasets[0].performance[0].instance",
				Code: "inconsistent", Reason: `of "10.5072/a" ` + tt.want, Warning: true})
		})
	}
}

func TestCountsThatAreNotShown(t *testing.T) {
	r := report("Example", 1)
	require.Empty(t, r.Findings())
	r.Datasets[0].Performance[0].Period = reports.Month(1999, time.September)
	require.NotEmpty(t, r.Findings(), "another month")
	assert.True(t, r.Findings()[0].Warning)

	nameless := counted("", views(1), downloads(2))
	nameless.DatasetID = nil
	_, err := server(t).Reports().Submit(t.Context(), r.Header, reports.Source([]reports.Dataset{nameless}), nil)
	require.ErrorContains(t, err, `of "" are inconsistent`)
}

func TestMoreByCountriesThanInAllDoesNotPass(t *testing.T) {
	dataset := dataset(1)
	dataset.Performance[0].Instance[0].Count = 3
	dataset.Performance[0].Instance[0].CountryCounts = reports.CountryCounts{{Country: "de", Count: 2},
		{Country: "fr", Count: 2}}
	srv := server(t)
	_, err := srv.Reports().Submit(t.Context(), header("Example", time.October),
		reports.Source([]reports.Dataset{dataset}), nil)
	assert.ErrorContains(t, err, "report-datasets[0].performance[0].instance[0].country-counts: are inconsistent: they "+
		"add up to 4, and the count is 3")
	var warned []string
	_, err = srv.Reports().Submit(t.Context(), header("Example", time.October), reports.Source([]reports.Dataset{dataset}),
		&reports.SubmitOptions{
			AllowInconsistent: true, Warn: func(f datacite.Finding) { warned = append(warned, fmt.Sprint(f.Path, " ", f.Code)) },
		})
	require.NoError(t, err)
	assert.Equal(t, []string{"report-datasets[0].performance[0].instance[0].country-counts inconsistent",
		"report-datasets[0].performance[0].instance inconsistent"}, warned)
}

// counted is a dataset with one month and these counts, in the order of the list.
func counted(name string, counts ...reports.Instance) reports.Dataset {
	d := dataset(0)
	d.DatasetID = []reports.TypedValue{{Type: reports.TypeDOI, Value: name}}
	d.Performance = []reports.Performance{{Period: reports.Month(1999, time.October), Instance: counts}}
	return d
}

func views(n int64) reports.Instance {
	return reports.Instance{MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular,
		Count: n}
}

func downloads(n int64) reports.Instance {
	return reports.Instance{MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessRegular, Count: n}
}

// TestReportsWithoutWarningsAreShown: every regular unique count of a report that Submit
// sends without a warning is shown as it is.
func TestReportsWithoutWarningsAreShown(t *testing.T) {
	names := []string{"10.5072/%d", "doi:10.5072/%d", "DOI:10.5072/%d", " 10.5072/%d", "https://doi.org/10.5072%%2F%d",
		"info:doi/10.5072/%d",
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
				n.MetricType = []reports.MetricType{reports.MetricUniqueDatasetInvestigations, reports.MetricUniqueDatasetRequests,
					reports.MetricTotalDatasetInvestigations}[random.IntN(3)]
				n.AccessMethod = []reports.AccessMethod{reports.AccessRegular, reports.AccessRegular,
					reports.AccessMachine}[random.IntN(3)]
				d.Performance[0].Instance = append(d.Performance[0].Instance, n)
				if n.AccessMethod == reports.AccessRegular && n.MetricType != reports.MetricTotalDatasetInvestigations {
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
		receipt, err := srv.Reports().Submit(t.Context(), header("Example", time.October), reports.Source(sent),
			&reports.SubmitOptions{
				AllowInconsistent: true, LockDir: t.TempDir(), Warn: func(f datacite.Finding) {
					if f.Code != "corrected" && f.Code != "zero" {
						hints++
					}
				},
			})
		if err != nil {
			continue // such as an identifier that is no DOI
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

// A missing count is no 0, which records would show: it is read, kept, written and refused as
// what it is.
func TestAMissingCountIsNotZero(t *testing.T) {
	for text, none := range map[string]bool{
		``: true, `"count":null,`: true, `"count":"",`: true, `"count":5,"count":null,`: true,
		`"count":0,`: false, `"count":"0",`: false, `"count":null,"count":0,`: false,
	} {
		entry := `{"dataset-id":[{"type":"doi","value":"10.5072/a"}],"performance":[{"instance":[{` + text +
			`"metric-type":"unique-dataset-requests","access-method":"regular"}]}]}`
		r, err := reports.NewReader(strings.NewReader(`{"report-datasets":[` + entry + `,` + entry + `]}`))
		require.NoError(t, err)
		var read []reports.Dataset
		for d, err := range r.All() {
			require.NoError(t, err)
			assert.Equal(t, none, d.Performance[0].Instance[0].NoCount, text)
			read = append(read, d)
		}
		written, err := json.Marshal(read)
		require.NoError(t, err)
		assert.Equal(t, none, strings.Contains(string(written), `"count":null`), "%s", written)
		var again []reports.Dataset
		require.NoError(t, json.Unmarshal(written, &again))
		assert.Equal(t, none, again[0].Performance[0].Instance[0].NoCount, text)
	}
	missing := views(0)
	missing.NoCount = true
	report := reports.Report{Header: header("Example", time.October),
		Datasets: []reports.Dataset{counted("10.5072/a", missing)}}
	err := report.Validate()
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.ErrorContains(t, err, "report-datasets[0].performance[0].instance[0].count: is missing")
	assert.Len(t, report.Findings(), 1, fmt.Sprint(report.Findings()))
	srv := deployedServer(t)
	_, err = srv.Reports().Submit(t.Context(), report.Header, reports.Source(report.Datasets),
		&reports.SubmitOptions{LockDir: t.TempDir()})
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.Empty(t, srv.StoredReports())
}
