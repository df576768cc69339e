package counter_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// A log of Dataverse becomes the datasets of a report.
func Example() {
	file := strings.NewReader(header + line("event_time", "2026-10-14T10:01:00Z") + line("event_time", "2026-10-14T10:01:20Z") +
		line("event_time", "2026-10-14T10:05:00Z", "request_url", "/api/access/datafile/5"))
	var about counter.Descriptions
	defer about.Close()
	events := counter.ReadLog(file, &counter.LogOptions{Name: "counter_2026-10-14.log", Descriptions: &about})

	var sum counter.Summary
	rows := counter.Count(events, &counter.Options{Period: reports.Month(2026, time.October), Summary: &sum})
	for dataset, err := range about.Describe(reports.Group(rows, &reports.GroupOptions{Sorted: true})) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(dataset.DatasetID[0].Value, dataset.Title)
		for _, n := range dataset.Performance[0].Instance {
			fmt.Println(n.MetricType, n.AccessMethod, n.Count)
		}
	}
	fmt.Printf("%+v\n", sum)
	// Output:
	// 10.5072/FK2/ABC Rain in Spain
	// total-dataset-investigations regular 2
	// total-dataset-requests regular 1
	// unique-dataset-investigations regular 1
	// unique-dataset-requests regular 1
	// {Counted:2 DoubleClicks:1 Robots:0 OtherMonths:0 NoDataset:0}
}

// A platform stores the accesses that count while it serves them.
func ExampleFromRequest() {
	var store []counter.Event // a database
	page := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "Rain in Spain")
		if e, ok := counter.FromRequest(r, http.StatusOK, nil); ok {
			e.DOI = "10.5072/" + r.URL.Query().Get("id")
			store = append(store, e)
		}
	}
	for _, method := range []string{"GET", "HEAD"} {
		page(httptest.NewRecorder(), httptest.NewRequest(method, "https://data.example.org/dataset?id=abc", nil))
	}
	fmt.Println(len(store), store[0].DOI, store[0].URL)
	// Output: 1 10.5072/abc data.example.org/dataset?id=abc
}
