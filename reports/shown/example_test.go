package shown_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"maps"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

func ExampleCompare() {
	srv := datacitetest.NewServer(nil) // instead of the service
	defer srv.Close()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	must(srv.PutRecordJSON([]byte(`{"doi":"10.5072/glacier-1","viewsOverTime":[{"yearMonth":"2025-10","total":12},{"yearMonth":"2025-10","total":15}]}`)))
	_, err := srv.PutReportJSON([]byte(`{"id":"6d9c0a4e-6d3c-4c4b-9f6a-3b1f1f6c2a01","report-header":{"created-by":"Old Name","created":"2025-11-02","reporting-period":{"begin-date":"2025-10-01","end-date":"2025-10-31"}},
		"report-datasets":[{"dataset-id":[{"type":"doi","value":"10.5072/glacier-1"}],"performance":[{"instance":[{"count":12,"metric-type":"unique-dataset-investigations","access-method":"regular"}]}]}]}`))
	must(err)
	_, err = srv.PutReportJSON([]byte(`{"id":"6d9c0a4e-6d3c-4c4b-9f6a-3b1f1f6c2a02","report-header":{"created-by":"New Name","created":"2025-11-09","reporting-period":{"begin-date":"2025-10-01","end-date":"2025-10-31"}},
		"report-datasets":[{"dataset-id":[{"type":"doi","value":"10.5072/glacier-1"}],"performance":[{"instance":[{"count":15,"metric-type":"unique-dataset-investigations","access-method":"regular"}]}]}]}`))
	must(err)

	for d, err := range shown.Compare(context.Background(), srv.Reports(), srv.DOIs(), "example.repo", nil) {
		must(err)
		fmt.Println(d.DOI, d.Month, d.Metric, d.Reported, "reported,", d.Shown, "shown")
		fmt.Println(shown.Sentence(d.Cause))
	}
	// Output:
	// 10.5072/glacier-1 2025-10 views 15 reported, 27 shown
	// several reports have this count, and the service adds them up
}

// A second count of the month found no use of one dataset: its number becomes 0. Another run changes nothing.
func ExampleRepair() {
	srv := datacitetest.NewServer(nil) // instead of the service
	defer srv.Close()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx, header := context.Background(), reports.NewHeader("Ice Archive", "2025-11-02", reports.Month(2025, time.October))
	month := func(views map[string]int64) iter.Seq2[reports.Dataset, error] { // from logs, with package counter
		var datasets []reports.Dataset
		for _, name := range slices.Sorted(maps.Keys(views)) {
			datasets = append(datasets, reports.Dataset{
				Title: "Glacier", Platform: "ice", Publisher: "Ice Archive", DataType: reports.DataTypeDataset,
				DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: name}},
				Performance: []reports.Performance{{Period: header.ReportingPeriod, Instance: []reports.Instance{{
					Count: views[name], MetricType: reports.MetricUniqueDatasetInvestigations, AccessMethod: reports.AccessRegular,
				}}}},
			})
		}
		return reports.Source(datasets)
	}
	must(srv.PutRecordJSON([]byte(`{"doi":"10.5072/area"}`)))
	must(srv.PutRecordJSON([]byte(`{"doi":"10.5072/length"}`)))
	_, err := srv.Reports().Submit(ctx, header, month(map[string]int64{"10.5072/area": 7, "10.5072/length": 12}), nil)
	must(err)

	corrected := month(map[string]int64{"10.5072/length": 9})
	for range 2 {
		done, err := shown.Repair(ctx, srv.Reports(), srv.DOIs(), "example.repo", header, corrected, nil)
		must(err)
		fmt.Println(len(done.Reports[0].Changes), "changes,", len(done.Remain), "differences remain")
		for _, change := range done.Reports[0].Changes {
			fmt.Println(change.DOI, change.Metric, change.Was, "becomes", change.Now)
		}
	}
	// Output:
	// 2 changes, 0 differences remain
	// 10.5072/area views 7 becomes 0
	// 10.5072/length views 12 becomes 9
	// 0 changes, 0 differences remain
}
