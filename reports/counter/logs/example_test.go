package logs_test

import (
	"fmt"
	"log"
	"regexp"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// A log of Dataverse becomes the datasets of a report.
func Example() {
	file := strings.NewReader(header + line("event_time", "2026-10-14T10:01:00Z") + line("event_time", "2026-10-14T10:01:20Z") +
		line("event_time", "2026-10-14T10:05:00Z", "request_url", "/api/access/datafile/5"))
	october := reports.Month(2026, time.October)
	var lines logs.Stats
	var about logs.Descriptions
	defer about.Close()
	events := logs.Read([]logs.Log{logs.FromReader("counter_2026-10-14.log", file)}, logs.Dataverse, &logs.Options{
		Period: october, Stats: &lines, Descriptions: &about,
	})

	var sum counter.Tally
	rows := counter.Count(events, &counter.Options{Period: october, Tally: &sum})
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
	// {Counted:2 DoubleClicks:1 Robots:0 OtherMonths:0 NoDataset:0 InvalidDOI:0}
}

// A log that is not in one of the built-in formats needs a function for its lines.
func ExampleFormat() {
	edge := logs.Format{
		Name:    "edge",
		Summary: "time, address, status, URL and user agent, separated by tabs",
		Parser: func(o *logs.Options) (func() logs.ParseLine, error) {
			return func() logs.ParseLine {
				find := o.Paths.Finder()
				return func(line string) (e counter.Event, ok bool, err error) {
					f := strings.Split(line, "\t")
					if len(f) != 5 {
						return e, false, datacite.Invalid(datacite.Finding{Code: "syntax", Reason: fmt.Sprintf("line has %d fields, not 5", len(f))})
					}
					if e.Time, err = time.Parse(time.RFC3339, f[0]); err != nil {
						return e, false, datacite.Invalid(datacite.Finding{Code: "date", Reason: fmt.Sprintf("time is %q", f[0])})
					}
					to, err := find(f[3])
					if err != nil || to == nil || f[2] != "200" {
						return e, false, err
					}
					e.DOI, e.Request, e.URL, e.Address, e.Agent = to.DOI, to.Request, f[3], f[1], f[4]
					return e, true, nil
				}
			}, nil
		},
	}

	file := strings.NewReader(`2026-10-14T10:00:00Z	192.0.2.1	200	https://repo.example/doi/10.5072/a	Mozilla/5.0
2026-10-14T10:01:00Z	192.0.2.1	200	/files/10.5072/a	Mozilla/5.0
2026-10-14T10:02:00Z	192.0.2.1	404	/doi/10.5072/b	Mozilla/5.0
yesterday	192.0.2.1	200	/doi/10.5072/a	Mozilla/5.0
`)
	var lines logs.Stats
	for event, err := range logs.Read([]logs.Log{logs.FromReader("edge.log", file)}, edge, &logs.Options{
		Paths: &logs.Paths{
			Investigations: []*regexp.Regexp{regexp.MustCompile(`^/doi/(.+)`)},
			Requests:       []*regexp.Regexp{regexp.MustCompile(`^/files/(.+)`)},
		},
		Tolerance: logs.Tolerance{Always: []datacite.Code{"date"}},
		Stats:     &lines,
	}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Time.Format(time.TimeOnly), event.DOI, event.Request)
	}
	fmt.Printf("%+v\n", lines.Counts)
	fmt.Println(lines.Faults[0].First[0])
	// Output:
	// 10:00:00 10.5072/a false
	// 10:01:00 10.5072/a true
	// {Events:2 Comments:0 Other:1 Faulty:1}
	// edge.log, line 4: time is "yesterday"
}
