package logs_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// A log of Dataverse becomes the datasets of a report.
func Example() {
	file := strings.NewReader(header + line("event_time", "2026-10-14T10:01:00Z") + line("event_time", "2026-10-14T10:01:20Z") +
		line("event_time", "2026-10-14T10:05:00Z", "request_url", "/api/access/datafile/5"))
	october := reports.Month(2026, time.October)
	var lines logs.Summary
	var about logs.Descriptions
	defer about.Close()
	events := logs.Read([]logs.Source{logs.FromReader("counter_2026-10-14.log", file)}, logs.Dataverse, &logs.Options{
		Period: october, Summary: &lines, Descriptions: &about,
	})

	var sum counter.Summary
	rows := counter.Count(events, &counter.Options{Period: october, Summary: &sum})
	for dataset, err := range about.Describe(reports.Group(rows, &reports.GroupOptions{Sorted: true})) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(dataset.DatasetID[0].Value, dataset.Title)
		for _, n := range dataset.Performance[0].Instance {
			fmt.Println(n.MetricType, n.AccessMethod, n.Count)
		}
	}
	fmt.Printf("%+v\n", lines.Counts)
	fmt.Printf("%+v\n", sum)
	// Output:
	// 10.5072/FK2/ABC Rain in Spain
	// total-dataset-investigations regular 2
	// total-dataset-requests regular 1
	// unique-dataset-investigations regular 1
	// unique-dataset-requests regular 1
	// {Events:3 Comments:1 Other:0 Faulty:0}
	// {Counted:2 DoubleClicks:1 Robots:0 OtherMonths:0 NoDataset:0}
}
