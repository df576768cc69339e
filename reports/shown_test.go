package reports_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
)

// counted is a dataset with one month and these counts, in the order of the list.
func counted(name string, counts ...reports.Instance) reports.Dataset {
	d := dataset(0)
	d.DatasetID = []reports.TypedValue{{Type: reports.TypeDOI, Value: name}}
	d.Performance = []reports.Performance{{Period: reports.Month(1999, time.October), Instance: counts}}
	return d
}

func views(n int64) reports.Instance {
	return reports.Instance{MetricType: reports.UniqueDatasetInvestigations, AccessMethod: reports.Regular, Count: n}
}

func downloads(n int64) reports.Instance {
	return reports.Instance{MetricType: reports.UniqueDatasetRequests, AccessMethod: reports.Regular, Count: n}
}

// TestShownBy has the rules that one report obeys, by their numbers.
func TestShownBy(t *testing.T) {
	machine := views(9)
	machine.AccessMethod = reports.Machine
	total := reports.Instance{MetricType: reports.TotalDatasetInvestigations, AccessMethod: reports.Regular, Count: 9}
	nine := slices.Repeat([]reports.Instance{total}, 7)
	another := func(d reports.Dataset) reports.Dataset {
		d.Performance = append(d.Performance, reports.Performance{Period: d.Performance[0].Period, Instance: []reports.Instance{downloads(4)}})
		return d
	}
	missing := views(0)
	missing.NoCount = true
	november := counted("10.5072/a", views(3))
	november.Performance[0].Period = reports.Month(1999, time.November)
	second := counted("10.5072/a", views(3))
	second.DatasetID = []reports.TypedValue{{Type: "uri", Value: "https://example.org/a"}, {Type: "doi", Value: "10.5072/a"}}
	long := "10.5072/" + strings.Repeat("x", 175)
	for _, tt := range []struct {
		name     string
		datasets []reports.Dataset
		want     string
	}{
		{"as reported", []reports.Dataset{counted("10.5072/A", views(3), downloads(2), machine, total)}, "10.5072/a 3 2"},
		{"1: a second performance", []reports.Dataset{another(counted("10.5072/a", views(3)))}, "10.5072/a 3 unchanged, later-performance"},
		{"1: the first is empty", []reports.Dataset{another(counted("10.5072/a"))}, "10.5072/a unchanged unchanged, later-performance"},
		{"2: eight counts", []reports.Dataset{counted("10.5072/a", append(nine, views(3))...)}, "10.5072/a 3 unchanged"},
		{"2: nine counts", []reports.Dataset{counted("10.5072/a", append(nine, views(3), downloads(2))...)}, "10.5072/a unchanged unchanged, too-many-instances"},
		{"3: the DOI in second place", []reports.Dataset{second}, " unchanged unchanged, later-identifier"},
		{"4: nothing that is shown", []reports.Dataset{counted("10.5072/a", total)}, "10.5072/a unchanged unchanged, not-unique"},
		{"4: machines alone", []reports.Dataset{counted("10.5072/a", machine)}, "10.5072/a unchanged unchanged"},
		{"5: another month", []reports.Dataset{november}, "10.5072/a 3 unchanged, other-month"},
		{"8: a missing count", []reports.Dataset{counted("10.5072/a", missing)}, "10.5072/a 1 or unchanged unchanged, no-count"},
		{"8: a missing count beside another", []reports.Dataset{counted("10.5072/a", missing, views(4))}, "10.5072/a 4 unchanged, no-count, several-counts"},
		{"8: a missing count, and the DOI again", []reports.Dataset{counted("10.5072/a", views(4)), counted("10.5072/a", missing)}, "10.5072/a 4 unchanged, several-counts, no-count"},
		{"8: twice", []reports.Dataset{counted("10.5072/a", missing), counted("10.5072/a", missing)}, "10.5072/a 1 or unchanged unchanged, no-count, several-counts, no-count"},
		{"10: two counts of one metric", []reports.Dataset{counted("10.5072/a", views(3), views(4))}, "10.5072/a 3 or 4 unchanged, several-counts"},
		{"10: of one value", []reports.Dataset{counted("10.5072/a", views(3), views(3))}, "10.5072/a 3 unchanged, several-counts"},
		{"11: listed twice", []reports.Dataset{counted("10.5072/a", views(3)), counted("https://doi.org/10.5072/A", views(5))}, "10.5072/a 3 or 5 unchanged, several-counts"},
		{"11: its halves", []reports.Dataset{counted("10.5072/a", views(3)), counted("10.5072/a", downloads(5))}, "10.5072/a 3 5"},
		{"13: capital letters", []reports.Dataset{counted("DOI:10.5072/a", views(3))}, " unchanged unchanged, spelling"},
		{"13: an old prefix", []reports.Dataset{counted("10.1000.10/a", views(3))}, " unchanged unchanged, spelling"},
		{"14: an angle bracket", []reports.Dataset{counted("10.5072/a<b>c", views(3))}, " unchanged unchanged, characters"},
		{"15: a number sign", []reports.Dataset{counted("10.5072/a#b", views(3))}, "10.5072/a 3 unchanged, other-doi"},
		{"15: the Kelvin sign", []reports.Dataset{counted("10.5072/\u212a", views(3))}, "10.5072/k 3 unchanged, other-doi"},
		{"16: too many", []reports.Dataset{counted("10.5072/a", views(math.MaxInt32+1))}, "10.5072/a unchanged unchanged, too-large"},
		{"16: a negative count is stored", []reports.Dataset{counted("10.5072/a", views(-3))}, "10.5072/a -3 unchanged"},
		{"16: too few", []reports.Dataset{counted("10.5072/a", views(math.MinInt32-1))}, "10.5072/a unchanged unchanged, too-large"},
		{"24: alike in 175 characters", []reports.Dataset{counted(long+"1", views(3)), counted(long+"2", views(4))},
			long + "1 3 or unchanged unchanged, long-doi; " + long + "2 4 or unchanged unchanged, long-doi"},
	} {
		var got []string
		for _, s := range reports.ShownBy(header("Example", time.October), tt.datasets) {
			var text strings.Builder
			text.WriteString(fmt.Sprintf("%s %s %s", s.DOI, s.Views, s.Downloads))
			for _, f := range s.Why {
				text.WriteString(", " + string(f.Code))
			}
			got = append(got, text.String())
			if s.DOI != "" {
				assert.Equal(t, "1999-10", s.Month, tt.name)
			}
		}
		assert.Equal(t, tt.want, strings.Join(got, "; "), tt.name)
	}
}

// TestShownMonth: rule 5 has the month of the begin date in UTC, in any form that the service
// reads. The server says which.
func TestShownMonth(t *testing.T) {
	for begin, month := range map[reports.Date]string{
		"1999-10-01":                "1999-10",
		"1999-10-1":                 "1999-10",
		"1999-1-1":                  "1999-01",
		"1999-10-01T00:00:00Z":      "1999-10",
		"1999-10-01T00:00:00+02:00": "1999-09",
		"1999-9-30T23:00:00-02:00":  "1999-10",
		"1999-10-1T00:00:00+02:00":  "1999-09",
		"1999-10-1 and more":        "1999-10",
	} {
		h := header("Example", time.October)
		h.ReportingPeriod.BeginDate = begin
		d := counted("10.5072/a", views(1))
		assert.Equal(t, month, reports.ShownBy(h, []reports.Dataset{d})[0].Month, "%s", begin)
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		_, err := srv.PutReport(&reports.Report{Header: h, Datasets: []reports.Dataset{d}})
		require.NoError(t, err)
		assert.Equal(t, month, srv.UsageEvents()[0].Month, "%s", begin)
	}
	h := header("Example", time.October)
	h.ReportingPeriod.BeginDate = "1999-10"
	assert.Empty(t, reports.ShownBy(h, []reports.Dataset{counted("10.5072/a", views(1))})[0].Month, "no day")
}

// TestDisplay tells a year of a repository.
func TestDisplay(t *testing.T) {
	var d reports.Display
	shown := func() string {
		var list []string
		for s := range d.Shown() {
			list = append(list, fmt.Sprintf("%s %s %s %s", s.DOI, s.Month, s.Views, s.Downloads))
		}
		return strings.Join(list, "; ")
	}
	october := header("Example", time.October)
	assert.Empty(t, shown())

	d.Store("1", october, []reports.Dataset{counted("10.5072/a", views(3), downloads(2)), counted("10.5072/b", views(1))})
	assert.Equal(t, "10.5072/a 1999-10 3 2; 10.5072/b 1999-10 1 0", shown())

	// A correction without b, and without the downloads of a.
	d.Store("1", october, []reports.Dataset{counted("10.5072/a", views(4))})
	assert.Equal(t, "10.5072/a 1999-10 4 2; 10.5072/b 1999-10 1 0", shown())

	// The remedy.
	d.Store("1", october, []reports.Dataset{counted("10.5072/a", views(4)), counted("10.5072/a", downloads(0)), counted("10.5072/b", views(0))})
	assert.Equal(t, "10.5072/a 1999-10 4 0; 10.5072/b 1999-10 0 0", shown())

	// The same month under another id.
	d.Store("2", october, []reports.Dataset{counted("10.5072/a", views(5), views(6))})
	assert.Equal(t, "10.5072/a 1999-10 9 or 10 0; 10.5072/b 1999-10 0 0", shown())

	// A changed month moves what the report has.
	d.Store("2", header("Example", time.November), []reports.Dataset{counted("10.5072/a", views(5))})
	assert.Equal(t, "10.5072/a 1999-10 4 0; 10.5072/a 1999-11 5 0; 10.5072/b 1999-10 0 0", shown())

	// A missing count changes no number, and makes 1 of none.
	missing := []reports.Instance{{MetricType: reports.UniqueDatasetInvestigations, AccessMethod: reports.Regular, NoCount: true}}
	again := d.Store("2", header("Example", time.November), []reports.Dataset{counted("10.5072/a", missing...), counted("10.5072/b", missing...)})
	assert.Equal(t, "10.5072/a 1999-10 4 0; 10.5072/a 1999-11 5 0; 10.5072/b 1999-10 0 0; 10.5072/b 1999-11 1 0", shown())
	assert.Equal(t, "5, 1", again[0].Views.String()+", "+again[1].Views.String())

	// Ids are compared without regard to case; many uncertain counts stay bounded.
	d.Store("A", october, []reports.Dataset{counted("10.5072/c", views(1))})
	d.Store("a", october, []reports.Dataset{counted("10.5072/c", views(2))})
	assert.Contains(t, shown(), "10.5072/c 1999-10 2 0")
	for i := range int64(10) {
		d.Store(fmt.Sprint("many", i), october, []reports.Dataset{counted("10.5072/c", views(1<<i), views(3<<i))})
	}
	for s := range d.Shown() {
		if s.DOI == "10.5072/c" {
			assert.Equal(t, []int64{2 + 1023, 2 + 3*1023}, s.Views.Values)
		}
	}
}

// TestReportsWithoutWarningsAreShown: every regular unique count of a report that Submit
// sends without a warning is shown as it is.
func TestReportsWithoutWarningsAreShown(t *testing.T) {
	names := []string{"10.5072/%d", "doi:10.5072/%d", "DOI:10.5072/%d", " 10.5072/%d", "https://doi.org/10.5072%%2F%d", "info:doi/10.5072/%d",
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
				n.MetricType = []reports.MetricType{reports.UniqueDatasetInvestigations, reports.UniqueDatasetRequests, reports.TotalDatasetInvestigations}[random.IntN(3)]
				n.AccessMethod = []reports.AccessMethod{reports.Regular, reports.Regular, reports.Machine}[random.IntN(3)]
				d.Performance[0].Instance = append(d.Performance[0].Instance, n)
				if n.AccessMethod == reports.Regular && n.MetricType != reports.TotalDatasetInvestigations {
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
		receipt, err := srv.Reports().Submit(t.Context(), header("Example", time.October), reports.Source(sent), &reports.SubmitOptions{
			AllowImpossible: true, LockDir: t.TempDir(), Warn: func(f datacite.Finding) {
				if unseen(f) {
					hints++
				}
			},
		})
		if err != nil {
			continue // such as a DOI that is none
		}
		got := stored(t, srv.Reports(), receipt.ReportID)
		var sum int64
		certain := true
		for _, s := range reports.ShownBy(receipt.Header, got) {
			for _, n := range []reports.Number{s.Views, s.Downloads} {
				certain = certain && n.Certain()
				for _, v := range n.Values {
					sum += v
				}
			}
		}
		if hints == 0 {
			silent++
			require.True(t, certain, "seed %d: %+v", seed, sent)
			if !slices.ContainsFunc(sent, func(d reports.Dataset) bool { return len(d.Performance) > 1 }) {
				require.Equal(t, reported, sum, "seed %d", seed)
			}
		} else {
			warned++
		}
		srv.Close()
	}
	assert.Greater(t, silent, *schedules/8)
	assert.Greater(t, warned, *schedules/8)
}

// TestDisplayIsWhatTheServerShows: the prediction holds for random histories of several
// reports, corrections, renamed creators and everything that goes wrong in reports, on a
// server that was written from the services' source and not from the prediction.
func TestDisplayIsWhatTheServerShows(t *testing.T) {
	long := "10.5072/" + strings.Repeat("x", 175)
	records := []string{"10.5072/a", "10.5072/b", "10.5072/c", "10.5072/k", long + "1", long + "2"}
	spellings := append([]string{"10.5072/A", "doi:10.5072/a", "DOI:10.5072/a", "https://doi.org/10.5072/b", "http://dx.doi.org/10.5072/B", "https://doi.org/doi:10.5072/c",
		"www.doi.org/10.5072/a", "10.5072/c#part", "10.5072/c?part", "10.5072/a<", "10.5072/b ", "10.5072/\u212a", "10.5072/a\u200b", "10.5072/unregistered", "hdl:10.5072/a", "10.5072/#"}, records...)
	wide := 0
	for seed := range uint64(*schedules) {
		random := rand.New(rand.NewPCG(seed, 2))
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, NoPort: true})
		for _, name := range records {
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":%q,"state":"findable"}`, name)))
		}
		var display reports.Display
		for range 1 + random.IntN(12) {
			r := &reports.Report{ID: fmt.Sprintf("0148536f-bfbc-4775-b93c-524e91d0b9f%d", random.IntN(4)), Header: header("Example", time.October)}
			r.Header.ReportingPeriod = reports.Month(1999, time.Month(9+random.IntN(2)))
			for range random.IntN(6) {
				d := counted(spellings[random.IntN(len(spellings))])
				for range 1 + random.IntN(3)*random.IntN(3)*random.IntN(3) {
					n := views(random.Int64N(4) * random.Int64N(1<<random.IntN(33)))
					n.MetricType = []reports.MetricType{reports.UniqueDatasetInvestigations, reports.UniqueDatasetRequests, reports.TotalDatasetInvestigations}[random.IntN(3)]
					n.AccessMethod = []reports.AccessMethod{reports.Regular, reports.Regular, reports.Machine}[random.IntN(3)]
					if random.IntN(8) == 0 {
						n.Count, n.NoCount = 0, true
					}
					d.Performance[0].Instance = append(d.Performance[0].Instance, n)
				}
				switch random.IntN(12) {
				case 0:
					d.Performance = append(d.Performance, d.Performance[0])
				case 1:
					d.Performance = nil
				case 2:
					d.DatasetID = append([]reports.TypedValue{{Type: "uri", Value: "https://example.org/"}}, d.DatasetID...)
				}
				r.Datasets = append(r.Datasets, d)
			}
			_, err := srv.PutReport(r)
			require.NoError(t, err)
			srv.ProcessUsage()
			display.Store(r.ID, r.Header, r.Datasets)
		}
		predicted := map[string][2]reports.Number{}
		for s := range display.Shown() {
			predicted[s.DOI+" "+s.Month] = [2]reports.Number{s.Views, s.Downloads}
		}
		for _, name := range records {
			record, err := srv.DOIs().Get(t.Context(), name, nil)
			require.NoError(t, err)
			for _, month := range []string{"1999-09", "1999-10"} {
				want := predicted[name+" "+month]
				for i, series := range []dois.Series{record.ViewsOverTime, record.DownloadsOverTime} {
					var got int64
					for _, m := range series {
						if m.YearMonth == month {
							got += int64(m.Total)
						}
					}
					switch values := want[i].Values; {
					case len(values) > 1:
						wide++
						assert.True(t, slices.Contains(values, got) || len(values) == 2 && values[0] <= got && got <= values[1], "seed %d: %s %s: %d, not %v", seed, name, month, got, values)
					case len(values) == 1:
						assert.Equal(t, values[0], got, "seed %d: %s %s %d", seed, name, month, i)
					default:
						assert.Zero(t, got, "seed %d: %s %s %d", seed, name, month, i)
					}
				}
			}
		}
		srv.Close()
	}
	assert.Positive(t, wide)
}

// unseen reports whether a finding is about counts that records do not show as they are.
func unseen(f datacite.Finding) bool {
	return !slices.Contains([]datacite.Code{"corrected", "zero", "incomplete", "inconsistent", "vocabulary", "date"}, f.Code)
}
