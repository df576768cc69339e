package reports_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// A stored report of any size, read in constant memory. Scan yields the same
// Dataset again and again, which is enough for adding up.
func ExampleReader_Scan() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	id, err := srv.PutReport(report("Example Repository", 1000))
	if err != nil {
		log.Fatal(err)
	}

	r, err := srv.Reports().Open(context.Background(), id)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var requests int64
	for d, err := range r.Scan() {
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range d.Performance {
			for _, n := range p.Instance {
				if n.MetricType == reports.TotalDatasetRequests {
					requests += n.Count
				}
			}
		}
	}
	fmt.Println(r.Header.CreatedBy, requests)
	// Output: Example Repository 3000
}

// What was submitted some time ago is looked at again.
func ExampleClient_Verify() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	client := srv.Reports()
	ctx := context.Background()
	r := report("Example Repository", 2)
	receipt, err := client.Submit(ctx, r.Header, reports.Source(r.Datasets), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Verify(ctx, receipt))

	// Somebody replaces the report.
	if _, err := client.Put(ctx, receipt.ReportID, report("Example Repository", 1)); err != nil {
		log.Fatal(err)
	}
	err = client.Verify(ctx, receipt)
	fmt.Println(errors.Is(err, datacite.ErrIncomplete))
	// Output:
	// <nil>
	// true
}

// A report saved to a file, in any shape in which the service shows it.
func ExampleNewReader() {
	const saved = `{"report":{"id":"0148536f-bfbc-4775-b93c-524e91d0b9f6","report-header":{"created-by":"Example"},
	  "report-datasets":[{"dataset-title":"Table 1","yop":2010},{"dataset-title":"Table 2","uri":null}]}}`
	r, err := reports.NewReader(strings.NewReader(saved))
	if err != nil {
		log.Fatal(err)
	}
	for d, err := range r.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Title, d.YOP)
	}
	// Output:
	// Table 1 2010
	// Table 2
}
