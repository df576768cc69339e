package display_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/reports"
)

var histories = flag.Int("histories", 40, "random histories of reports")

func reportDate(text string) reports.Date { return reports.Date(text) }

// report is a report of a month of 1999 for the server.
func report(id string, month int, datasets ...display.Dataset) *reports.Report {
	r := &reports.Report{ID: id, Header: reports.Header{
		ReportName: "Dataset Report", ReportID: "dsr", Release: reports.ReleaseRD1, CreatedBy: "Example",
		Created:         "1999-12-01",
		ReportingPeriod: reports.Month(1999, time.Month(month)),
	}}
	for _, d := range datasets {
		one := reports.Dataset{Title: "Glacier", Platform: "Example", Publisher: "Example", DataType: reports.DataTypeDataset,
			Performance: make([]reports.Performance, d.Performances)}
		for range d.IDs {
			one.DatasetID = append(one.DatasetID, reports.TypedValue{Type: reports.TypeDOI, Value: d.ID})
		}
		for _, c := range d.Counts {
			to := &one.Performance[c.Performance].Instance
			*to = append(*to, reports.Instance{MetricType: reports.MetricType(c.Metric),
				AccessMethod: reports.AccessMethod(c.Access), Count: c.N, NoCount: c.Missing})
		}
		r.Datasets = append(r.Datasets, one)
	}
	return r
}

// TestDisplayIsWhatTheServerShows: the prediction holds for random histories of several reports,
// corrections, renamed creators and everything that goes wrong in reports, on a server that was
// written from the services' source and not from the prediction.
func TestDisplayIsWhatTheServerShows(t *testing.T) {
	records := []string{"10.5072/a", "10.5072/b", "10.5072/c", "10.5072/k"}
	spellings := append([]string{"10.5072/A", "doi:10.5072/a", "DOI:10.5072/a", "https://doi.org/10.5072/b",
		"http://dx.doi.org/10.5072/B", "https://doi.org/doi:10.5072/c",
		"www.doi.org/10.5072/a", "10.5072/c#part", "10.5072/c?part", "10.5072/a<", "10.5072/b ", "10.5072/\u212a", "10.5072/a\u200b", "10.5072/unregistered", "hdl:10.5072/a", "10.5072/#"}, records...)
	several := 0
	for seed := range uint64(*histories) {
		random := rand.New(rand.NewPCG(seed, 2))
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true})
		for _, name := range records {
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":%q,"state":"findable"}`, name)))
		}
		var predicted display.Display
		for range 1 + random.IntN(12) {
			id, month := random.IntN(4), 9+random.IntN(2)
			var datasets []display.Dataset
			var read []display.Reading
			for range random.IntN(6) {
				d := counted(spellings[random.IntN(len(spellings))])
				for range 1 + random.IntN(3)*random.IntN(3)*random.IntN(3) {
					n := views(random.Int64N(4) * random.Int64N(1<<random.IntN(33)))
					n.Metric = []string{"unique-dataset-investigations", "unique-dataset-requests",
						"total-dataset-investigations"}[random.IntN(3)]
					n.Access = []string{"regular", "regular", "machine"}[random.IntN(3)]
					if random.IntN(8) == 0 {
						n.N, n.Missing = 0, true
					}
					d.Counts = append(d.Counts, n)
				}
				switch random.IntN(12) {
				case 0:
					for _, n := range d.Counts {
						n.Performance = 1
						d.Counts = append(d.Counts, n)
					}
					d.Performances = 2
				case 1:
					d.Performances, d.Counts = 0, nil
				case 2:
					d.ID = "https://example.org/"
				case 3:
					d.IDs = 2
				}
				datasets, read = append(datasets, d), append(read, d.Read(fmt.Sprintf("1999-%02d", month)))
			}
			_, err := srv.PutReport(report(fmt.Sprintf("0148536f-bfbc-4775-b93c-524e91d0b9f%d", id), month, datasets...))
			require.NoError(t, err)
			srv.ProcessUsage()
			predicted.Store(id, read)
		}
		events := map[string][]*display.Event{}
		for _, e := range predicted.Events() {
			at := fmt.Sprint(e.DOI, " ", e.Month, " ", e.Metric)
			events[at] = append(events[at], e)
		}
		for _, name := range records {
			record, err := srv.DOIs().Get(t.Context(), name, nil)
			require.NoError(t, err)
			for _, month := range []string{"1999-09", "1999-10"} {
				for i, series := range []dois.Series{record.ViewsOverTime, record.DownloadsOverTime} {
					var got int64
					for _, m := range series {
						if m.YearMonth == month {
							got += int64(m.Total)
						}
					}
					at := fmt.Sprint(name, " ", month, " ", i)
					sum := display.Sum(events[at])
					if len(sum.All) > 1 {
						several++
					}
					assert.True(t, sum.Has(got), "seed %d: %s: %d, not %v", seed, at, got, sum)
				}
			}
		}
		srv.Close()
	}
	assert.Positive(t, several)
}
