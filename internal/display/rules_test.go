package display_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/display"
)

// counted is a dataset with one performance and these counts.
func counted(id string, counts ...display.Count) display.Dataset {
	return display.Dataset{ID: id, IDs: 1, Performances: 1, Begin: "1999-10-01", Counts: counts}
}

func views(n int64) display.Count {
	return display.Count{Metric: "unique-dataset-investigations", Access: "regular", N: n}
}

func downloads(n int64) display.Count {
	return display.Count{Metric: "unique-dataset-requests", Access: "regular", N: n}
}

// number is what an event, or none, displays.
func number(e *display.Event) string {
	if e == nil {
		return "-"
	}
	words := strings.Split(strings.Trim(fmt.Sprint(e.Values), "[]"), " ")
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " or ")
}

// TestRules has the rules that one report obeys, by their numbers: what its records display, and
// what is said of its datasets.
func TestRules(t *testing.T) {
	machine := views(9)
	machine.Access = "machine"
	total := display.Count{Metric: "total-dataset-investigations", Access: "regular", N: 9}
	zero := total
	zero.N = 0
	seven := slices.Repeat([]display.Count{total}, 7)
	another := func(d display.Dataset) display.Dataset {
		later := downloads(4)
		later.Performance = 1
		d.Performances, d.Counts = 2, append(d.Counts, later)
		return d
	}
	missing := views(0)
	missing.Missing = true
	november := counted("10.5072/a", views(3))
	november.Begin = "1999-11-01"
	second := counted("https://example.org/a", views(3))
	second.IDs = 2
	for _, tt := range []struct {
		name     string
		datasets []display.Dataset
		want     string
	}{
		{"as reported", []display.Dataset{counted("10.5072/A", views(3), downloads(2), machine, total)}, "10.5072/a 3 2"},
		{"1: a second performance", []display.Dataset{another(counted("10.5072/a", views(3)))},
			"10.5072/a 3 -, later-performance"},
		{"1: the first is empty", []display.Dataset{another(counted("10.5072/a"))}, "10.5072/a - -, later-performance"},
		{"2: eight counts", []display.Dataset{counted("10.5072/a", append(seven, views(3))...)}, "10.5072/a 3 -"},
		{"2: nine counts", []display.Dataset{counted("10.5072/a", append(seven, views(3), downloads(2))...)},
			"10.5072/a - -, too-many-instances"},
		{"3: the DOI in second place", []display.Dataset{second}, " - -, later-identifier"},
		{"4: nothing that is shown", []display.Dataset{counted("10.5072/a", total)}, "10.5072/a - -, not-unique"},
		{"4: zeros of what is not shown", []display.Dataset{counted("10.5072/a", zero)}, "10.5072/a - -"},
		{"4: machines alone", []display.Dataset{counted("10.5072/a", machine)}, "10.5072/a - -"},
		{"5: another month", []display.Dataset{november}, "10.5072/a 3 -, other-month"},
		{"8: a missing count", []display.Dataset{counted("10.5072/a", missing)}, "10.5072/a 1 -, no-count"},
		{"8: a missing count beside another", []display.Dataset{counted("10.5072/a", missing, views(4))},
			"10.5072/a 4 -, no-count, several-counts"},
		{"8: a missing count, and the DOI again",
			[]display.Dataset{counted("10.5072/a", views(4)), counted("10.5072/a", missing)}, "10.5072/a 4 -, no-count"},
		{"8: twice", []display.Dataset{counted("10.5072/a", missing), counted("10.5072/a", missing)},
			"10.5072/a 1 -, no-count, no-count"},
		{"10: two counts of one metric", []display.Dataset{counted("10.5072/a", views(3), views(4))},
			"10.5072/a 3 or 4 -, several-counts"},
		{"10: of one value", []display.Dataset{counted("10.5072/a", views(3), views(3))}, "10.5072/a 3 -, several-counts"},
		{"11: listed twice", []display.Dataset{counted("10.5072/a", views(3)),
			counted("https://doi.org/10.5072/A", views(5))}, "10.5072/a 3 or 5 -"},
		{"11: its halves", []display.Dataset{counted("10.5072/a", views(3)), counted("10.5072/a", downloads(5))},
			"10.5072/a 3 5"},
		{"13: capital letters", []display.Dataset{counted("DOI:10.5072/a", views(3))}, " - -, spelling"},
		{"13: an old prefix", []display.Dataset{counted("10.1000.10/a", views(3))}, " - -, spelling"},
		{"14: an angle bracket", []display.Dataset{counted("10.5072/a<b>c", views(3))}, " - -, characters"},
		{"15: a number sign", []display.Dataset{counted("10.5072/a#b", views(3))}, "10.5072/a 3 -, other-doi"},
		{"15: the Kelvin sign", []display.Dataset{counted("10.5072/\u212a", views(3))}, "10.5072/k 3 -, other-doi"},
		{"16: too many", []display.Dataset{counted("10.5072/a", views(math.MaxInt32+1))}, "10.5072/a - -, too-large"},
		{"16: a negative count is stored", []display.Dataset{counted("10.5072/a", views(-3))}, "10.5072/a -3 -"},
		{"16: too few", []display.Dataset{counted("10.5072/a", views(math.MinInt32-1))}, "10.5072/a - -, too-large"},
	} {
		var d display.Display
		var read []display.Reading
		var said strings.Builder
		for i := range tt.datasets {
			for _, h := range tt.datasets[i].Check("1999-10") {
				said.WriteString(", " + string(h.Code))
			}
			read = append(read, tt.datasets[i].Read("1999-10"))
		}
		d.Store(0, read)
		var got []string
		for _, r := range display.Merge(read) {
			of := [2]*display.Event{}
			for _, e := range d.Events() {
				if e.Name == r.Name {
					of[e.Metric] = e
					assert.Equal(t, "1999-10", e.Month, tt.name)
				}
			}
			got = append(got, fmt.Sprintf("%s %s %s", r.DOI, number(of[display.Views]), number(of[display.Downloads])))
		}
		assert.Equal(t, tt.want, strings.Join(got, "; ")+said.String(), tt.name)
	}
}

// TestResolve has the DOI that the service reads, and that of the record.
func TestResolve(t *testing.T) {
	for id, want := range map[string][2]string{
		"10.5072/a?b<": {"10.5072/a?b%3c", "10.5072/a"}, "10.5072/a<#": {"10.5072/a%3c#", ""},
		"10.5072/a<?": {"10.5072/a%3c?", ""},
		"10.5072/#":   {"10.5072/#", ""}, "10.5072/a/#": {"10.5072/a/#",
			"10.5072/a/"}, "10.5072/": {}, "10.5072/a/": {"10.5072/a/", "10.5072/a/"},
		"https://abc.org/10.5072/a": {}, "https://doi.org": {}, "https://doi-org/10.5072/a": {"10.5072/a",
			"10.5072/a"}, "": {},
	} {
		name, record := display.Resolve(id)
		assert.Equal(t, want, [2]string{name, record}, id)
	}
	none, some := views(0), views(2)
	none.Access, some.Access = "machine", "machine"
	for counts, machine := range map[*[]display.Count]bool{{none}: false, {some, none}: true, {none, some}: true} {
		d := counted("10.5072/a", *counts...)
		assert.Equal(t, machine, d.Read("1999-10").Numbers[display.Views].Machine)
	}
}

// Most datasets have nothing to be warned of, and reports have many.
func TestCheckingTakesNoMemory(t *testing.T) {
	d := counted("10.5072/a", views(3), downloads(2))
	assert.Zero(t, testing.AllocsPerRun(100, func() { assert.Nil(t, d.Check("1999-10")) }))
}

// TestMonth: rule 5 has the month of the begin date in UTC, in any form that the service reads.
// The server says which.
func TestMonth(t *testing.T) {
	for begin, month := range map[string]string{
		"1999-10-01":                "1999-10",
		"1999-10-1":                 "1999-10",
		"1999-1-1":                  "1999-01",
		"1999-10-01T00:00:00Z":      "1999-10",
		"1999-10-01T00:00:00+02:00": "1999-09",
		"1999-9-30T23:00:00-02:00":  "1999-10",
		"1999-10-1T00:00:00+02:00":  "1999-09",
		"1999-10-1 and more":        "1999-10",
	} {
		assert.Equal(t, month, display.Month(begin), begin)
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
		r := report("0148536f-bfbc-4775-b93c-524e91d0b9f0", 10, counted("10.5072/a", views(1)))
		r.Header.ReportingPeriod.BeginDate = reportDate(begin)
		_, err := srv.PutReport(r)
		require.NoError(t, err)
		assert.Equal(t, month, srv.UsageEvents()[0].Month, begin)
	}
	assert.Empty(t, display.Month("1999-10"), "no day")
	assert.Equal(t, "1999-10", display.WrittenMonth("1999-10-01T00:00:00+02:00"))
}

// TestSum: many uncertain counts stay bounded.
func TestSum(t *testing.T) {
	of := []*display.Event{{Values: []int64{2}}}
	assert.Equal(t, display.Values{All: []int64{2}}, display.Sum(of))
	for i := range 10 {
		of = append(of, &display.Event{Values: []int64{1 << i, 3 << i}})
	}
	sum := display.Sum(of)
	assert.Equal(t, display.Values{All: []int64{2 + 1023, 2 + 3*1023}, Wide: true}, sum)
	assert.True(t, sum.Has(2000))
	assert.False(t, sum.Has(2+3*1023+1))
}
