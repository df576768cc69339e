package reports_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// usage stands for a repository's database.
func usage(period reports.Period) iter.Seq2[reports.Dataset, error] {
	return reports.Source([]reports.Dataset{{
		Title: "Glacier length", YOP: "2024", Platform: "Example Repository", Publisher: "Example Repository",
		DataType:    reports.DataTypeDataset,
		PublisherID: []reports.TypedValue{{Type: "grid", Value: "grid.0000.0"}},
		DatasetID:   []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/glacier-1"}},
		Performance: []reports.Performance{{Period: period, Instance: []reports.Instance{{
			Count: 12, MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessRegular,
			CountryCounts: reports.CountryCounts{{Country: "ch", Count: 9}, {Country: "no", Count: 3}},
		}}}},
	}})
}

func october() reports.Header {
	return reports.NewHeader("Example Repository", "2025-11-01", reports.Month(2025, time.October))
}

// Submit sends a report of any size.
func ExampleClient_Submit() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	client := srv.Reports() // or reports.NewClient(datacite.Config{Service: datacite.Production, Token: token})

	header := october()
	receipt, err := client.Submit(context.Background(), header, usage(header.ReportingPeriod), &reports.SubmitOptions{
		Progress: func(p reports.Progress) { fmt.Println(p.Stage, p.Subsets, p.Datasets) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.Datasets, "dataset in report", receipt.ReportID)
	// Output:
	// building 1 1
	// sending 1 1
	// 1 dataset in report 0a76d796-a73f-5d08-abbb-2aa628a70a5a
}

// Open yields the datasets of a stored report one by one.
func ExampleClient_Open() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.Reports()
	receipt, err := client.Submit(ctx, october(), usage(reports.Month(2025, time.October)), nil)
	if err != nil {
		log.Fatal(err)
	}

	r, err := client.Open(ctx, receipt.ReportID)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.Header.CreatedBy, r.Header.ReportingPeriod)
	for dataset, err := range r.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(dataset.DatasetID[0].Value, dataset.Performance[0].Instance[0].Count)
	}
	// Output:
	// Example Repository {2025-10-01 2025-10-31}
	// 10.5072/glacier-1 12
}

// All walks through the headers of all reports.
func ExampleClient_All() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.Reports()
	for _, month := range []time.Month{time.September, time.October} {
		h := october()
		h.ReportingPeriod = reports.Month(2025, month)
		if _, err := client.Submit(ctx, h, usage(h.ReportingPeriod), nil); err != nil {
			log.Fatal(err)
		}
	}

	months := 0
	for _, err := range client.All(ctx, &reports.ListOptions{CreatedBy: "Example Repository"}) {
		if err != nil {
			log.Fatal(err)
		}
		months++
	}
	fmt.Println(months, "months reported")
	// Output: 2 months reported
}

// Errors say what was asked and match errors.Is.
func ExampleError() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()

	_, err := srv.Reports().Get(context.Background(), "0148536f-bfbc-4775-b93c-524e91d0b9f6")
	if errors.Is(err, datacite.ErrNotFound) {
		fmt.Println("there is no such report")
	}
	if e, ok := errors.AsType[*datacite.Error](err); ok {
		fmt.Println(e.Method, e.StatusCode)
	}
	// Output:
	// there is no such report
	// GET 404
}

// An expired token is noticed before the datasets are read.
func ExampleClient_Submit_expiredToken() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	expired := srv.Token(srv.Now().Add(-time.Hour))
	client, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: expired})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Submit(context.Background(), october(), usage(reports.Month(2025, time.October)), nil)
	if errors.Is(err, reports.ErrTokenExpired) {
		fmt.Println("ask the operator for a new token")
	}
	// Output:
	// ask the operator for a new token
}

// Validate finds every fault at once.
func ExampleReport_Validate() {
	r := reports.Report{Header: october()}
	r.Header.ReportingPeriod.EndDate = "2025-09-30"
	r.Datasets = []reports.Dataset{{DataType: "Dataset", DatasetID: []reports.TypedValue{{Type: "doi", Value: "10.5072/a"}}}}
	if v, ok := errors.AsType[*datacite.ValidationError](r.Validate()); ok {
		for _, fault := range v.Findings {
			fmt.Println(fault.Path, fault.Reason)
		}
	}
	// Output:
	// report-header.reporting-period.end-date 2025-09-30 is before begin-date 2025-10-01
	// report-datasets[0].data-type is "Dataset"; the service accepts "dataset"
}

// Group makes datasets of the rows of a table or a database, in any order.
func ExampleGroup() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()

	rows := func(yield func(reports.Row, error) bool) {
		for _, r := range []reports.Row{
			{DOI: "10.5072/glacier-2", Title: "Glacier area", Date: "2025-10-03", Metric: reports.MetricTotalDatasetRequests, Access: reports.AccessRegular, Country: "no", Count: 3},
			{DOI: "10.5072/glacier-1", Title: "Glacier length", Date: "2025-10-03", Metric: reports.MetricTotalDatasetRequests, Access: reports.AccessRegular, Country: "ch", Count: 5},
			{DOI: "https://doi.org/10.5072/GLACIER-1", Date: "2025-10-04", Metric: reports.MetricTotalDatasetRequests, Access: reports.AccessRegular, Country: "ch", Count: 4},
		} {
			r.Platform, r.Publisher = "Example Repository", "Example Repository"
			if !yield(r, nil) {
				return
			}
		}
	}
	for d, err := range reports.Group(rows, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Title, d.Performance[0].Instance[0].Count)
	}

	receipt, err := srv.Reports().Submit(context.Background(), october(), reports.Group(rows, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.Datasets, "datasets stored")
	// Output:
	// Glacier length 9
	// Glacier area 3
	// 2 datasets stored
}

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
				if n.MetricType == reports.MetricTotalDatasetRequests {
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

// A report of a month that is not over, as a file that ReadFile reads.
func ExampleWriteFile() {
	header := october()
	if err := header.EndOn("2025-10-14"); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := reports.WriteFile(&file, header, usage(header.ReportingPeriod)); err != nil {
		log.Fatal(err)
	}
	read, datasets, err := reports.ReadFile(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.CreatedBy, read.ReportingPeriod)
	for d, err := range datasets {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.DatasetID[0].Value)
	}
	// Output:
	// Example Repository {2025-10-01 2025-10-14}
	// 10.5072/glacier-1
}

// Create stores nothing if there is a report of the month already; Put replaces it.
func ExampleClient_Create() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.Reports()

	report := &reports.Report{Header: october()}
	for d, err := range usage(report.Header.ReportingPeriod) {
		if err != nil {
			log.Fatal(err)
		}
		report.Datasets = append(report.Datasets, d)
	}
	for _, title := range []string{"Glaciers", "Glaciers, corrected"} {
		report.Datasets[0].Title = title
		stored, err := client.Create(ctx, report)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(stored.Header.CreatedBy, stored.Existing)
	}
	list, err := client.List(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(list.Total, "report")
	// Output:
	// Example Repository false
	// Example Repository true
	// 1 report
}
