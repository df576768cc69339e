package display

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

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
				to.Code = datacite.CodeSeveralCounts
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
		return cmp.Or(cmp.Compare(a.DOI, b.DOI), cmp.Compare(a.Report, b.Report), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Metric, b.Metric))
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

// A Metric is a number that records display by month.
type Metric int

// The metrics.
const (
	Views     Metric = iota // unique investigations by people
	Downloads               // unique requests by people
)

// Metrics are all of them.
var Metrics = [...]Metric{Views, Downloads}

// A Dataset is a dataset of a usage report, as far as the rules depend on it.
type Dataset struct {
	ID           string // the first identifier
	IDs          int    // how many there are
	Performances int
	Begin        string  // begin date of the first performance
	Counts       []Count // of all performances, in order
}

// A Count is an instance of a dataset.
type Count struct {
	Performance    int // that has it
	Metric, Access string
	N              int64
	Missing        bool // there is an instance, and no count
}

const (
	requests             = "total-dataset-requests"
	uniqueInvestigations = "unique-dataset-investigations"
	uniqueRequests       = "unique-dataset-requests"
	regular              = "regular"
	machine              = "machine"
)

// metric is the number to which a count belongs, and whether records display it if it is by
// people (rule 4).
func (c *Count) metric() (m Metric, unique bool) {
	unique = c.Metric == uniqueInvestigations || c.Metric == uniqueRequests
	if c.Metric == uniqueRequests || c.Metric == requests {
		return Downloads, unique
	}
	return Views, unique
}

func (c *Count) displayed() bool {
	_, unique := c.metric()
	return unique && c.Access == regular
}

// mostInstances is how many instances a performance may have: with more, the job that reads the
// dataset dies (rule 2).
const mostInstances = 8

// instances is how many there are in the first performance.
func (d *Dataset) instances() (n int) {
	for n < len(d.Counts) && d.Counts[n].Performance == 0 {
		n++
	}
	return n
}

// A Hint says that records do not display a count, or a dataset, as it is reported.
type Hint struct {
	Code   datacite.Code // name of the rule
	Path   string        // of the member of the dataset, such as "performance[0].instance[1].count"
	Reason string
}

// Check finds the counts that no record would display unchanged under a month; "" if the month
// is not known. It allocates only if there are any.
func (d *Dataset) Check(month string) (hints []Hint) {
	hint := func(code datacite.Code, path, format string, args ...any) {
		hints = append(hints, Hint{code, path, fmt.Sprintf(format, args...)})
	}
	if !slices.ContainsFunc(d.Counts, func(c Count) bool { return c.displayed() }) {
		if slices.ContainsFunc(d.Counts, func(c Count) bool { return c.Access == regular && c.N > 0 }) {
			hint(datacite.CodeNotUnique, "performance", "has no %s or %s (%s); records show no other counts",
				uniqueInvestigations, uniqueRequests, regular)
		}
		return hints
	}
	if d.IDs > 0 && !AsWritten(d.ID) {
		const first = "dataset-id[0].value"
		name, record := Resolve(d.ID)
		switch {
		case name == "" && d.IDs > 1:
			hint(datacite.CodeLaterIdentifier, first,
				"is %.100q, in which the service finds no DOI; it reads only the first one, so no record shows the counts", d.ID)
		case name == "":
			hint(datacite.CodeSpelling, first, "is %.100q, in which the service finds no DOI, so no record shows the counts",
				d.ID)
		case record == "":
			hint(datacite.CodeCharacters, first,
				"is %.100q; the service does not find the record of a DOI with such characters, so no record shows the "+
					"counts", d.ID)
		case record != name || strings.IndexFunc(d.ID, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0:
			hint(datacite.CodeOtherDOI, first, "is %.100q; the counts are added to those of %s", d.ID, record)
		}
	}
	if d.Performances > 1 {
		hint(datacite.CodeLaterPerformance, "performance", "has %d entries; records show the counts of the first only",
			d.Performances)
	}
	first := d.Counts[:d.instances()]
	if n := len(first); n > mostInstances {
		hint(datacite.CodeTooManyInstances, "performance[0].instance",
			"has %d entries; with more than %d, records show no count of the dataset, or keep an earlier "+
				"number", n, mostInstances)
		return hints
	}
	if d.Begin != "" && !strings.HasPrefix(d.Begin, month) && WrittenMonth(d.Begin) != month {
		hint(datacite.CodeOtherMonth, "performance[0].period.begin-date",
			"is %s; records show the counts under the month of the report, %s", d.Begin, month)
	}
	for i := range first {
		c := &first[i]
		if !c.displayed() {
			continue
		}
		path := func() string { return fmt.Sprintf("performance[0].instance[%d].count", i) }
		if c.Missing {
			hint(datacite.CodeNoCount, path(), "is missing; records show 1 for it, or keep an earlier number")
		}
		if c.N > math.MaxInt32 || c.N < math.MinInt32 {
			hint(datacite.CodeTooLarge, path(), "is %d; records show no count above %d or below %d", c.N, math.MaxInt32,
				math.MinInt32)
		}
		if slices.ContainsFunc(first[:i], func(b Count) bool { return b.Metric == c.Metric && b.Access == c.Access }) {
			hint(datacite.CodeSeveralCounts, path(), "is another one of %s (%s); records show one of the two, not their sum",
				c.Metric, c.Access)
		}
	}
	return hints
}

// A Reading is what the service reads of a dataset.
type Reading struct {
	Name string `json:"-"` // the DOI as it is read; "" if none is found
	// DOI: of the record that displays the numbers: Name up to "#" or "?"; "" if no record can
	DOI     string               `json:"-"`
	Month   string               `json:"-"` // under which it displays them
	Numbers [len(Metrics)]Number `json:"n"`
	// Code: the rule that hides or changes most of the numbers; "" if none does
	Code   datacite.Code `json:"c,omitempty"`
	Detail string        `json:"d,omitempty"` // its place in the dataset and the reason
}

// A Number is what a dataset, or a report, has of a metric.
type Number struct {
	Reported int64 `json:"r,omitempty"`
	// Values: what may be displayed, ascending; several if the order of the service's work decides;
	// empty if nothing of it is
	Values  []int64 `json:"v,omitempty"`
	Missing bool    `json:"m,omitempty"` // there is no count: 1 for a new event, and no change of another one
	Total   int64   `json:"t,omitempty"` // by people, if there are no unique counts
	Machine bool    `json:"a,omitempty"` // there are unique counts by machines
}

// Read reads a dataset alone.
func (d *Dataset) Read(month string) Reading {
	r := Reading{Month: month}
	r.Name, r.DOI = Resolve(d.ID)
	best := len(precedence)
	for _, h := range d.Check(month) {
		if at := slices.Index(precedence, h.Code); at >= 0 && at < best {
			best, r.Code, r.Detail = at, h.Code, h.Path+" "+h.Reason
		}
	}
	readable := r.DOI != "" && d.instances() <= mostInstances
	for i := range d.Counts {
		c := &d.Counts[i]
		metric, unique := c.metric()
		to := &r.Numbers[metric]
		switch {
		case !unique && c.Access == regular && r.Code == datacite.CodeNotUnique:
			to.Total += c.N
		case unique && c.Access == machine:
			to.Machine = to.Machine || c.N > 0
		case unique && c.Access == regular:
			one := Number{Reported: c.N}
			switch {
			case !readable || c.Performance > 0:
			case c.Missing:
				one.Values, one.Missing = []int64{1}, true
			case c.N >= math.MinInt32 && c.N <= math.MaxInt32:
				one.Values = []int64{c.N}
			}
			to.add(&one)
		}
	}
	return r
}

// add adds another count for the same event, of which the last one to be processed is displayed
// (rules 10 and 11). A missing one is 1 for a new event, and changes no other (rule 8).
func (n *Number) add(m *Number) {
	n.Reported, n.Total, n.Machine = n.Reported+m.Reported, n.Total+m.Total, n.Machine || m.Machine
	switch {
	case len(m.Values) == 0 || m.Missing && len(n.Values) > 0:
	case n.Missing:
		n.Values, n.Missing = m.Values, m.Missing
	default:
		n.Values, n.Missing = union(n.Values, m.Values), m.Missing
	}
}

// union returns the values of two ascending lists, ascending and each once.
func union(a, b []int64) []int64 {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
