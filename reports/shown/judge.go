package shown

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/internal/display"
)

// judge compares the numbers of a DOI, and looks it up if they seem to differ. It returns the
// differences that are looked for.
func (c *comparison) judge(ctx context.Context, h *holding) ([]*Difference, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.progress.Compared++
	c.told(c.progress.Compared)
	_, invalid := doi.Parse(h.doi)
	p := pair{comparison: c, holding: h, record: h.listed, name: invalid == nil}
	all := p.differences()
	listed := h.listed != nil || invalid != nil
	seems := slices.ContainsFunc(all, p.wanted) || len(all) > 0 && !listed || p.unlike()
	if seems && p.name {
		var err error
		if p.record, err = c.look(ctx, h.doi); err != nil {
			return nil, err
		}
		all = p.differences()
	}
	all = slices.DeleteFunc(all, func(d *Difference) bool { return !p.wanted(d) })
	p.count(all)
	return all, nil
}

// look reads the current record, nil for an unknown DOI.
func (c *comparison) look(ctx context.Context, name string) (*record, error) {
	r, err := c.dois.Get(ctx, name, nil)
	switch {
	case errors.Is(err, datacite.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return c.recordOf(r), nil
}

// A pair has the reported counts of a DOI, and its record.
type pair struct {
	*comparison
	*holding
	record *record // nil if there is none
	name   bool    // the reported name is a DOI
	all    []number
}

func (p *pair) wanted(d *Difference) bool { return p.looksFor(d.Cause) }

// A number is a metric of one month.
type number struct {
	month    string
	metric   Metric
	parts    []part         // by report, the oldest first
	events   int            // that the service stores for it
	expected display.Values // by the rules
	shown    int64
	entries  int // of the record: one for each event
}

// A part is what one report has of a number.
type part struct {
	report  int
	own     bool           // the report has a count for this DOI and month
	counts  display.Number // reported for them; Values are what the rules make of it
	cause   Cause          // why they hide or change it; "" if they do not
	why     string
	guests  []*display.Event // of counts that are reported for another DOI or month
	events  int              // including guests
	missing bool             // one of them has no count
}

// numbers are the numbers to compare, in order, except months of reports that were left
// out.
func (p *pair) numbers() (all []number) {
	months := map[string]bool{}
	for i := range p.entries {
		months[p.entries[i].month] = true
	}
	for _, m := range metrics {
		for _, n := range p.record.series(m) {
			months[n.YearMonth] = true
		}
	}
	maps.DeleteFunc(months, func(month string, _ bool) bool { return p.skipped[month] })
	for _, month := range slices.Sorted(maps.Keys(months)) {
		for m, metric := range metrics {
			n := number{month: month, metric: metric}
			p.report(&n, display.Metric(m))
			for _, shown := range p.record.series(metric) {
				if shown.YearMonth == month {
					n.shown += int64(shown.Total)
					n.entries++
				}
			}
			all = append(all, n)
		}
	}
	return all
}

// report adds what reports have of a number.
func (p *pair) report(n *number, m display.Metric) {
	of := func(report int) *part {
		if last := len(n.parts) - 1; last < 0 || n.parts[last].report != report {
			n.parts = append(n.parts, part{report: report, counts: display.Number{Values: []int64{0}}})
		}
		return &n.parts[len(n.parts)-1]
	}
	for i := range p.entries {
		e := &p.entries[i]
		if e.month != n.month {
			continue
		}
		to := of(e.report)
		if !e.Away && p.guest(e.report, e.Name, e.month) != "" {
			continue
		}
		counts := &e.Numbers[m]
		to.own = to.own || counts.Reported != 0 || counts.Total != 0 || !e.Away && len(counts.Values) > 0
		to.counts.Reported += counts.Reported
		to.counts.Total += counts.Total
		to.counts.Machine = to.counts.Machine || counts.Machine
		if to.cause == "" {
			to.cause, to.why = Cause(e.Code), e.Detail
		}
	}
	var events []*display.Event
	for _, e := range p.events {
		if e.Month != n.month || e.Metric != m {
			continue
		}
		events = append(events, e)
		at := slices.IndexFunc(n.parts, func(one part) bool { return one.report == e.Report })
		to := &n.parts[at]
		to.events++
		n.events++
		to.missing = to.missing || e.Missing
		if p.guest(e.Report, e.Name, e.Month) != "" {
			to.guests = append(to.guests, e)
			continue
		}
		to.counts.Values, to.counts.Missing = e.Values, e.Missing
		if to.cause == "" {
			to.cause, to.why = Cause(e.Code), e.Detail
		}
	}
	n.expected = display.Sum(events)
}

// guest is why a number that a report has under a name is shown by this DOI in a month, although
// it is reported for another DOI or month; "" if it is not.
func (p *pair) guest(report int, name, month string) Cause {
	switch {
	case name != p.doi:
		return OtherDOI
	case month != p.stored[report].month:
		return OtherMonth
	}
	return ""
}

// latest is the newest report that has a count for this DOI and month; nil if none does. A
// count of 0 takes back another one, so that reports with a number precede it.
func (n *number) latest() (latest *part) {
	zero := func(p *part) bool {
		return p.counts.Reported == 0 && !p.counts.Missing && (p.counts.Total == 0 || p.events > 0)
	}
	for i := range n.parts {
		if p := &n.parts[i]; p.own && (latest == nil || !zero(p) || zero(latest)) {
			latest = p
		}
	}
	return latest
}

// reported is the count of the latest report; its total if there are no unique counts.
func (n *number) reported() int64 {
	latest := n.latest()
	switch {
	case latest == nil:
		return 0
	case latest.counts.Reported == 0 && latest.events == 0:
		return latest.counts.Total
	}
	return latest.counts.Reported
}

// unlike reports whether by the rules a record cannot show the reported number, although
// the list may still show it.
func (p *pair) unlike() bool {
	return slices.ContainsFunc(p.all, func(n number) bool {
		return !n.expected.Wide && !n.expected.Has(n.reported())
	})
}

// differences compares the numbers with the record.
func (p *pair) differences() (all []*Difference) {
	p.all = p.numbers()
	for i := range p.all {
		n := &p.all[i]
		d := &Difference{DOI: p.doi, Month: n.month, Metric: n.metric, Reported: n.reported(), Expected: n.expected.All, Shown: n.shown}
		if d.Reported == d.Shown {
			continue
		}
		var causing []part
		d.Cause, d.Detail, causing = p.explain(n, d.Reported)
		for _, one := range causing {
			d.Reports = append(d.Reports, p.stored[one.report].id)
		}
		if d.Cause == Unreported {
			p.surplus(n, d)
		}
		all = append(all, d)
	}
	return all
}

// explain finds the cause of a difference, and the reports that are the cause.
func (p *pair) explain(n *number, reported int64) (cause Cause, detail string, causing []part) {
	latest, allowed := n.latest(), n.expected.Has(n.shown)
	all := n.parts
	if latest != nil {
		all = []part{*latest}
	}
	stored := n.only(func(one *part) bool { return one.events > 0 })
	missing := n.only(func(one *part) bool { return one.missing })
	hidden := latest != nil && latest.cause != "" && !slices.Equal(latest.counts.Values, []int64{reported})
	switch {
	case !p.name && latest != nil && (latest.cause == Spelling || latest.cause == LaterIdentifier):
		return NotADOI, latest.why, all
	case p.name && p.record == nil && (latest == nil || latest.cause != OtherDOI):
		return NoRecord, "", all
	case p.lacks(n) && !(hidden && latest.events == 0):
		return LongDOI, "", all
	case hidden && (allowed || latest.events == 0 || latest.counts.Missing && n.entries <= n.events):
		return latest.cause, latest.why, all
	case allowed:
		return p.added(n)
	case len(missing) > 0 && n.entries <= n.events:
		return NoCount, "", missing
	case n.events == 0 && slices.ContainsFunc(n.parts, func(one part) bool { return one.counts.Machine }):
		return NotRegular, "", all
	case n.shown > n.expected.All[len(n.expected.All)-1] && n.entries > n.events:
		return Unreported, "", nil
	case slices.ContainsFunc(n.parts, func(one part) bool { return p.young(&one) }):
		return NotProcessed, "", n.only(func(one *part) bool { return one.events > 0 && p.young(one) })
	case n.entries > n.events:
		return Unreported, "", nil
	}
	if begin, whole := display.IndexedName(p.doi); !whole {
		detail = fmt.Sprintf("or it is in the place of a DOI with the same first %d characters, which an earlier version of the report had", len(begin))
	}
	return Lost, detail, stored
}

// only returns the parts that match.
func (n *number) only(match func(*part) bool) (all []part) {
	for i := range n.parts {
		if match(&n.parts[i]) {
			all = append(all, n.parts[i])
		}
	}
	return all
}

// lacks reports whether a number is less than what all reports have, because counts of another
// DOI are in the place of some.
func (p *pair) lacks(n *number) bool {
	var least int64
	rivals := false
	for _, e := range p.events {
		if e.Month == n.month && metrics[e.Metric] == n.metric {
			least, rivals = least+e.Values[0], rivals || e.Kept
		}
	}
	return n.shown < least && rivals
}

// added explains a number that is right by the rules: counts of several reports, or of
// other DOIs or months, have been added.
func (p *pair) added(n *number) (cause Cause, detail string, causing []part) {
	counts := func(values []int64) bool { return !slices.Equal(values, []int64{0}) }
	if own := n.only(func(one *part) bool { return counts(one.counts.Values) }); len(own) > 1 {
		return ReportedTwice, "", own
	}
	guests := n.only(func(one *part) bool {
		return slices.ContainsFunc(one.guests, func(e *display.Event) bool { return counts(e.Values) })
	})
	if len(guests) == 0 {
		return Lost, "", n.parts
	}
	last := guests[0].guests[len(guests[0].guests)-1]
	return p.guest(last.Report, last.Name, last.Month), fmt.Sprintf("%.100q of %s", last.Name, p.stored[last.Report].month), guests
}

// surplus explains a number that no compared report has. If every report of the month has
// the count, no earlier version of them is the cause. Of one creator's reports that cannot
// be told, since another creator may have reported it.
func (p *pair) surplus(n *number, d *Difference) {
	if by := p.opts.CreatedBy; by != "" {
		d.Detail = fmt.Sprintf("only reports of %s are compared; another creator may have reported it, or an earlier version of one of these", by)
		return
	}
	for _, id := range p.of[n.month] {
		if !slices.ContainsFunc(n.parts, func(one part) bool { return one.events > 0 && p.stored[one.report].id == id }) {
			d.Cause = Left
			d.Reports = append(d.Reports, id)
		}
	}
}

// young reports whether the service may not have processed a report.
func (p *pair) young(one *part) bool {
	const day = 24 * time.Hour
	return p.opts.Now.Before(p.stored[one.report].created.Add(day + p.opts.Lag))
}

// count adds the numbers to the totals.
func (p *pair) count(all []*Difference) {
	total := func(month string, metric Metric) *Total {
		m := of(p.totalled, month)
		if m.Month = month; metric == Downloads {
			return &m.Downloads
		}
		return &m.Views
	}
	for _, n := range p.all {
		t := total(n.month, n.metric)
		t.Reported += n.reported()
		t.Shown += n.shown
	}
	for _, d := range all {
		total(d.Month, d.Metric).Differences++
	}
}

// totals are the totals of all months, in order.
func (c *comparison) totals() (all []Month) {
	for _, name := range slices.Sorted(maps.Keys(c.totalled)) {
		all = append(all, *c.totalled[name])
	}
	return all
}
