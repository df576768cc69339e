package display

import (
	"cmp"
	"maps"
	"slices"

	"github.com/datacite-go/datacite-go"
)

// A Display is what DOI records display after a history of reports: the zero value displays
// nothing.
type Display struct {
	events map[key]*Event
}

// A key identifies an event to the service (rule 6): the report, the DOI as it was read, and the
// metric.
type key struct {
	report int
	name   string
	metric Metric
}

// An Event is a number that a report gave to a DOI record.
type Event struct {
	Report     int
	Name       string // the DOI as the service read it in the report
	DOI, Month string // of the record
	Metric     Metric
	Values     []int64       // what it may be, ascending
	Missing    bool          // the report has no count
	Code       datacite.Code // the rule that changes the number; "" if none does
	Detail     string
}

// Merge makes one reading of those of a report that have the same name, in the order in which
// the names occur. Readings without a name stay as they are.
func Merge(readings []Reading) (merged []Reading) {
	at := map[string]int{}
	for _, r := range readings {
		first, again := at[r.Name]
		if r.Name == "" || !again {
			at[r.Name] = len(merged)
			merged = append(merged, r)
			continue
		}
		to := &merged[first]
		for m := range to.Numbers {
			if len(to.Numbers[m].Values) > 0 && len(r.Numbers[m].Values) > 0 && to.Code == "" {
				to.Code = SeveralCounts
			}
			to.Numbers[m].add(&r.Numbers[m])
		}
		if to.Code == "" {
			to.Code, to.Detail = r.Code, r.Detail
		}
	}
	return merged
}

// Store tells the display that a report was stored, in place of its earlier version. Numbers
// that it no longer has stay (rule 6).
func (d *Display) Store(report int, readings []Reading) {
	if d.events == nil {
		d.events = map[key]*Event{}
	}
	for _, r := range Merge(readings) {
		for _, m := range Metrics {
			if r.DOI != "" && len(r.Numbers[m].Values) > 0 {
				d.store(report, &r, m)
			}
		}
	}
}

func (d *Display) store(report int, r *Reading, m Metric) {
	at, n := key{report, r.Name, m}, r.Numbers[m]
	e := d.events[at]
	if e == nil {
		e = &Event{Report: report, Name: r.Name, DOI: r.DOI, Metric: m}
		d.events[at] = e
	}
	e.Month, e.Missing, e.Code, e.Detail = r.Month, n.Missing, r.Code, r.Detail
	if !n.Missing || len(e.Values) == 0 { // rule 8
		e.Values = n.Values
	}
}

// Events returns the events of all records, by DOI, report and name.
func (d *Display) Events() []*Event {
	return slices.SortedFunc(maps.Values(d.events), func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.DOI, b.DOI), cmp.Compare(a.Report, b.Report), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Metric, b.Metric))
	})
}

// Values are what a number may be, in ascending order.
type Values struct {
	All  []int64
	Wide bool // All are the least and the greatest, and what lies between them is possible, too
}

// Has reports whether a number is one of the values.
func (v Values) Has(n int64) bool {
	return slices.Contains(v.All, n) || v.Wide && n > v.All[0] && n < v.All[1]
}

// mostValues is the limit of possible sums.
const mostValues = 64

// Sum returns what a record displays for events of one month and metric, which it adds up
// (rule 7). Of more than 64 values it has the least and the greatest.
func Sum(events []*Event) Values {
	sum := Values{All: []int64{0}}
	for _, e := range events {
		var all []int64
		for _, x := range sum.All {
			for _, y := range e.Values {
				all = append(all, x+y)
			}
		}
		slices.Sort(all)
		all = slices.Compact(all)
		if last := len(all) - 1; last > 0 && (sum.Wide || last >= mostValues) {
			sum.Wide, all = true, []int64{all[0], all[last]}
		}
		sum.All = all
	}
	return sum
}
