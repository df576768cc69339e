package display

import (
	"cmp"
	"maps"
	"slices"
)

// A Display is what DOI records display after a history of reports: the zero value displays
// nothing.
type Display struct {
	events map[key]*Event
	slots  map[slot]string // the name whose event has a place in the unique index; "" if several may have it
}

// A key identifies an event to the service (rule 6): the report, the DOI as it was read, and the
// metric.
type key struct {
	report int
	name   string
	metric Metric
}

// A slot is a place in the unique index of events, which has only the beginnings of DOIs.
type slot key

// earlier is the report of events whose report is not known.
const earlier = -1

// An Event is a number that a report gave to a DOI record.
type Event struct {
	Report     int
	Name       string // the DOI as the service read it in the report
	DOI, Month string // of the record
	Metric     Metric
	Number            // Reported is that of the present version of the report
	Kept       bool   // an earlier number than Values, or none, may be displayed
	Code       string // the rule that changes the number; "" if none does
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
	d.begin()
	for _, e := range d.events {
		if e.Report == report {
			e.Reported, e.Code, e.Detail = 0, "", ""
		}
	}
	merged := Merge(readings)
	alike := map[slot]int{}
	for i := range merged {
		for _, m := range Metrics {
			if len(merged[i].Numbers[m].Values) > 0 {
				alike[slotOf(report, merged[i].Name, m)]++
			}
		}
	}
	for i := range merged {
		for _, m := range Metrics {
			d.store(report, &merged[i], m, alike)
		}
	}
}

func (d *Display) begin() {
	if d.events == nil {
		d.events, d.slots = map[key]*Event{}, map[slot]string{}
	}
}

func (d *Display) store(report int, r *Reading, m Metric, alike map[slot]int) {
	n := r.Numbers[m]
	if r.DOI == "" || len(n.Values) == 0 && n.Reported == 0 {
		return
	}
	at := key{report, r.Name, m}
	e := d.events[at]
	if e == nil {
		e = &Event{Report: report, Name: r.Name, DOI: r.DOI, Month: r.Month, Metric: m, Kept: true}
		d.events[at] = e
	}
	e.Reported, e.Missing, e.Code, e.Detail = n.Reported, n.Missing, r.Code, r.Detail
	values, kept := n.Values, false
	if n.Missing && len(e.Values) > 0 { // rule 8
		if values = e.Values; e.Kept {
			values = union(e.Values, n.Values)
		}
	}
	if len(values) > 0 {
		values, kept = d.place(r.Name, slotOf(report, r.Name, m), alike, values)
	}
	switch {
	case len(values) == 0:
		return
	case kept:
		e.Values = union(e.Values, values)
	default:
		e.Values, e.Kept = values, false
	}
	e.Month = r.Month
}

// slotOf is the place of an event in the unique index.
func slotOf(report int, name string, m Metric) slot {
	begin, _ := IndexedName(name)
	return slot{report, begin, m}
}

// place returns the values that are stored for a name, given what has its place in the unique
// index (rule 24): all, none, or perhaps.
func (d *Display) place(name string, at slot, alike map[slot]int, values []int64) (_ []int64, kept bool) {
	unknown := slot{earlier, at.name, at.metric}
	if before, claimed := d.slots[unknown]; claimed && before != name {
		return values, true
	}
	switch owner, taken := d.slots[at]; {
	case taken && owner == name:
		return values, false
	case taken && owner != "":
		return nil, true
	case taken || alike[at] > 1:
		d.slots[at] = ""
		return values, true
	}
	d.slots[at] = name
	return values, false
}

// Claim tells the display, before Store, that an unknown report gave a number to a name: an
// earlier version of one that is going to be stored, or another one.
func (d *Display) Claim(name string, m Metric) {
	d.begin()
	at := slotOf(earlier, name, m)
	if owner, taken := d.slots[at]; taken && owner != name {
		name = ""
	}
	d.slots[at] = name
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
		values := e.Values
		if e.Kept {
			values = union(values, []int64{0})
		}
		var all []int64
		for _, x := range sum.All {
			for _, y := range values {
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
