package shown_test

import (
	"context"
	"fmt"
	"log"

	"github.com/datacite-go/datacite-go/datacitetest"
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
