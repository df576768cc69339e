package counter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

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

// A platform stores accesses while it serves them, and counts a month.
func ExampleHandler() {
	var stored bytes.Buffer // a file, or a table with a column of texts
	mux := http.NewServeMux()
	mux.HandleFunc("GET /data/{id}", func(w http.ResponseWriter, r *http.Request) {
		counter.Accessed(r, func(e *counter.Event) { e.DOI, e.Request = "10.5072/"+r.PathValue("id"), true })
		fmt.Fprintln(w, "year,rain")
	})
	site := counter.Handler(mux, func(_ context.Context, e counter.Event) error {
		return json.NewEncoder(&stored).Encode(e)
	}, &counter.HandlerOptions{Pseudonyms: &counter.Pseudonyms{}})
	for range 2 { // a double click
		r := httptest.NewRequest(http.MethodGet, "https://data.example.org/data/abc", nil)
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0")
		site.ServeHTTP(httptest.NewRecorder(), r)
	}

	now := time.Now().UTC()
	events := logs.Read([]logs.Log{logs.FromReader("stored", &stored)}, logs.JSON, nil)
	for row, err := range counter.Count(events, &counter.Options{Period: reports.Month(now.Year(), now.Month())}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.DOI, row.Metric, row.Count)
	}
	// Output:
	// 10.5072/abc total-dataset-investigations 1
	// 10.5072/abc total-dataset-requests 1
	// 10.5072/abc unique-dataset-investigations 1
	// 10.5072/abc unique-dataset-requests 1
}

// Each night the log of the day is counted; a log that was counted before is not read again.
func ExampleDays() {
	folder, err := os.MkdirTemp("", "days")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	days, err := counter.OpenDays(folder, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer days.Close()

	for day := 1; day <= 2; day++ {
		access := counter.Event{DOI: "10.5072/rain", Time: time.Date(2026, 10, day, 9, 0, 0, 0, time.UTC), URL: "/rain", User: "ada"}
		events := func(yield func(counter.Event, error) bool) { yield(access, nil) }
		added, err := days.Add([]counter.EventLog{{Name: fmt.Sprint("access.log.", day), Version: "1", Events: events}}, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(added.Counted)
	}
	for row, err := range days.Rows(reports.Month(2026, time.October)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.DOI, row.Metric, row.Count)
	}
	// Output:
	// [2026-10-01]
	// [2026-10-02]
	// 10.5072/rain total-dataset-investigations 2
	// 10.5072/rain unique-dataset-investigations 2
}
