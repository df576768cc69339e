package shown

import (
	"encoding/json"
	"slices"

	"github.com/datacite-go/datacite-go/internal/usage"
)

// A holding has the reported counts and the listed record of one DOI.
type holding struct {
	doi    string
	listed *record // nil if it is in no list
	counts []month // in order
}

// A month has the reported counts of a DOI in one month.
type month struct {
	name    string
	tallies [len(metrics)]tally // by number of the metric
}

// A tally is the counts of one metric, by report: the oldest first.
type tally []part

// A part is the contribution of one report to a number.
type part struct {
	report int
	own    bool  // the report has a count for this DOI and month
	count        // of the report; Values are the possible sums
	cause  Cause // why the rules hide or change it; "" if they do not
	why    string
	events int  // counts that the service stores, including guests
	rival  bool // the event of a DOI with the same long beginning may have taken the place of its own

	guests []int64 // possible sums of counts that are reported for another DOI or month
	guest  Cause   // why they are shown here
	hint   string

	wide bool // only the least and the greatest of the sums are known

	name    string  // in the report, of the count being summed
	pending []int64 // its values
	other   bool    // it is a guest
}

// read adds a line. Lines come sorted.
func (h *holding) read(l *line) error {
	if l.report < 0 {
		h.listed = &record{}
		return json.Unmarshal(l.data, h.listed)
	}
	var e entry
	if err := json.Unmarshal(l.data, &e); err != nil {
		return err
	}
	if last := len(h.counts) - 1; last < 0 || h.counts[last].name != l.month {
		h.counts = append(h.counts, month{name: l.month})
	}
	m := &h.counts[len(h.counts)-1]
	for i, metric := range metrics {
		m.tallies[i].add(l.report, l.name, &e, e.count(metric))
	}
	return nil
}

func (t *tally) add(report int, name string, e *entry, n *count) {
	if last := len(*t) - 1; last < 0 || (*t)[last].report != report {
		*t = append(*t, part{report: report, count: count{Values: nothing}, guests: nothing, name: name})
	}
	p := &(*t)[len(*t)-1]
	if p.name != name {
		p.settle()
		p.name = name
	}
	if len(p.pending) > 0 && len(n.Values) > 0 && p.cause == "" {
		p.cause = SeveralCounts
	}
	switch { // a missing count changes no other (rule 8)
	case len(n.Values) == 0 || n.Missing && len(p.pending) > 0:
	case p.Missing:
		p.pending, p.Missing = n.Values, n.Missing
	default:
		p.pending, p.Missing = usage.Union(p.pending, n.Values), n.Missing
	}
	p.other = e.Other != ""
	if e.Other != "" {
		if len(n.Values) > 0 {
			p.guest, p.hint = e.Other, e.Detail
		}
		return
	}
	p.own = p.own || n.Reported != 0 || n.Total != 0 || len(n.Values) > 0
	p.Reported += n.Reported
	p.Total += n.Total
	p.Machine = p.Machine || n.Machine
	if p.cause == "" && e.Cause != "" {
		p.cause, p.why = e.Cause, e.Detail
	}
}

// settle ends a count, so that the next one is added to it.
func (p *part) settle() {
	if len(p.pending) == 0 {
		return
	}
	p.events++
	to := &p.Values
	if p.other {
		to = &p.guests
	}
	*to, p.wide = usage.Sums(*to, p.pending, p.wide)
	p.pending = nil
}

func (h *holding) settle() {
	for i := range h.counts {
		for m := range metrics {
			for j := range h.counts[i].tallies[m] {
				h.counts[i].tallies[m][j].settle()
			}
		}
	}
}

var nothing = []int64{0}

// latest is the newest report that has a count for this DOI and month; nil if none does. A
// count of 0 takes back another one, so that reports with a number precede it.
func (t tally) latest() (latest *part) {
	for i := range t {
		if p := &t[i]; p.own && (latest == nil || !p.zero() || latest.zero()) {
			latest = p
		}
	}
	return latest
}

// zero reports whether all counts of a report are 0.
func (p *part) zero() bool { return p.Reported == 0 && p.Total == 0 && !p.Missing }

// expected are the possible sums of all reports; if they are wide, only the least and the
// greatest. With rivals, a count may be missing because of another DOI.
func (t tally) expected(rivals bool) (all []int64, wide bool) {
	all = nothing
	for i := range t {
		own := t[i].Values
		if rivals && t[i].rival {
			own = usage.Union(nothing, own)
		}
		all, wide = usage.Sums(all, own, wide || t[i].wide)
		all, wide = usage.Sums(all, t[i].guests, wide)
	}
	return all, wide
}

// machines reports whether a report has counts by machines.
func (t tally) machines() bool { return slices.ContainsFunc(t, func(p part) bool { return p.Machine }) }

// only returns the parts that match.
func (t tally) only(match func(part) bool) (all tally) {
	for _, one := range t {
		if match(one) {
			all = append(all, one)
		}
	}
	return all
}

func (t tally) events() (n int) {
	for i := range t {
		n += t[i].events
	}
	return n
}
