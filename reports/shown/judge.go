package shown

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/display"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// judge compares the numbers of a DOI, and looks it up if they seem to differ. It returns the
// differences that are looked for.
func (c *comparison) judge(ctx context.Context, h *holding) ([]*Difference, error) {
	if err := call.Ended(ctx); err != nil {
		return nil, err
	}
	c.progress.Compared++
	c.reportProgress(c.progress.Compared)
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
	if c.even != nil {
		p.evens()
	}
	p.count(all)
	return all, nil
}

// look reads the current record, nil for an unknown DOI.
func (c *comparison) look(ctx context.Context, name string) (*record, error) {
	r, err := c.dois.Get(ctx, name, nil)
	switch {
	case transport.NotFound(err):
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
	parts    []part           // by report, the oldest first
	events   []*display.Event // that the service stores for it
	expected display.Values   // by the rules
	shown    int64
	entries  []int64 // of the record: one for each event
}

// A part is what one report has of a number.
type part struct {
	report        int
	counts        display.Number // reported for them; Values are what the rules make of it
	cause         datacite.Code  // why they hide or change it; "" if they do not
	why           string
	misattributed []*display.Event // of counts that are reported for another DOI or month
	events        int              // including misattributed
	missing       bool             // one of them has no count
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
					n.entries = append(n.entries, int64(shown.Total))
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
		if !e.Elsewhere && p.misattribution(e.report, e.Name, e.month) != "" {
			continue
		}
		counts := &e.Numbers[m]
		to.counts.Reported += counts.Reported
		to.counts.Total += counts.Total
		to.counts.Machine = to.counts.Machine || counts.Machine
		if to.cause == "" {
			to.cause, to.why = e.Code, e.Detail
		}
	}
	for _, e := range p.events {
		if e.Month != n.month || e.Metric != m {
			continue
		}
		n.events = append(n.events, e)
		at := slices.IndexFunc(n.parts, func(one part) bool { return one.report == e.Report })
		to := &n.parts[at]
		to.events++
		to.missing = to.missing || e.Missing
		if p.misattribution(e.Report, e.Name, e.Month) != "" {
			to.misattributed = append(to.misattributed, e)
			continue
		}
		to.counts.Values, to.counts.Missing = e.Values, e.Missing
		if to.cause == "" {
			to.cause, to.why = e.Code, e.Detail
		}
	}
	n.expected = display.Sum(n.events)
}

// misattribution is why a number that a report has under a name is shown by this DOI in a month, although
// it is reported for another DOI or month; "" if it is not.
func (p *pair) misattribution(report int, name, month string) datacite.Code {
	switch {
	case name != p.doi:
		return datacite.CodeOtherDOI
	case month != p.stored[report].month:
		return datacite.CodeOtherMonth
	}
	return ""
}

// latest is the newest report that has a count for this DOI and month; nil if none does. Counts
// that records show precede totals, which other reports may have beside them. A 0 is no count: it takes back that of
// another report.
func (n *number) latest() (latest *part) {
	rank := func(p *part) int {
		switch {
		case p.counts.Reported != 0 || p.counts.Missing:
			return 2
		case p.counts.Total != 0 && p.events == 0:
			return 1
		}
		return 0
	}
	for i := range n.parts {
		if p := &n.parts[i]; rank(p) > 0 && (latest == nil || rank(p) >= rank(latest)) {
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
		d := &Difference{DOI: p.doi, Month: n.month, Metric: n.metric, Reported: n.reported(), Expected: n.expected.All,
			Shown: n.shown}
		if d.Reported == d.Shown {
			continue
		}
		var causing []part
		d.Cause, d.Detail, causing = p.explain(n, d.Reported)
		for _, one := range causing {
			d.Reports = append(d.Reports, p.stored[one.report].id)
		}
		p.own(n, d)
		all = append(all, d)
	}
	return all
}

// explain finds the cause of a difference, and the reports that are the cause.
func (p *pair) explain(n *number, reported int64) (cause datacite.Code, detail string, causing []part) {
	latest, allowed := n.latest(), n.expected.Has(n.shown)
	all := n.parts
	if latest != nil {
		all = []part{*latest}
	}
	stored := n.only(func(one *part) bool { return one.events > 0 })
	missing := n.only(func(one *part) bool { return one.missing })
	hidden := latest != nil && latest.cause != "" && !slices.Equal(latest.counts.Values, []int64{reported})
	switch {
	case !p.name && latest != nil && (latest.cause == datacite.CodeSpelling ||
		latest.cause == datacite.CodeLaterIdentifier):
		return datacite.CodeNotADOI, latest.why, all
	case p.name && p.record == nil && latest.cause != datacite.CodeOtherDOI: // it shows 0, so something is reported
		return datacite.CodeNoRecord, "", all
	case hidden && (allowed || latest.events == 0 || latest.counts.Missing && !n.exceeds()):
		return latest.cause, latest.why, all
	case allowed:
		return p.added(n)
	case len(missing) > 0 && !n.exceeds():
		return datacite.CodeNoCount, "", missing
	case len(n.events) == 0 && slices.ContainsFunc(n.parts, func(one part) bool { return one.counts.Machine }):
		return datacite.CodeNotRegular, "", all
	case n.shown > n.expected.All[len(n.expected.All)-1] && n.exceeds():
		return datacite.CodeUnreported, "", nil
	case slices.ContainsFunc(n.parts, func(one part) bool { return p.young(&one) }):
		return datacite.CodeNotProcessed, "", n.only(func(one *part) bool { return one.events > 0 && p.young(one) })
	case n.exceeds():
		return datacite.CodeUnreported, "", nil
	}
	return datacite.CodeLost, "", stored
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

// added explains a number that is right by the rules: counts of several reports, or of
// other DOIs or months, have been added.
func (p *pair) added(n *number) (cause datacite.Code, detail string, causing []part) {
	if own := n.only(func(one *part) bool { return !onlyZero(one.counts.Values) }); len(own) > 1 {
		return datacite.CodeReportedTwice, "", own
	}
	misattributed := n.only((*part).misattributes)
	if len(misattributed) == 0 {
		return datacite.CodeLost, "", n.parts
	}
	last := misattributed[0].misattributed[len(misattributed[0].misattributed)-1]
	return p.misattribution(last.Report, last.Name,
		last.Month), fmt.Sprintf("%.100q of %s", last.Name, p.stored[last.Report].month), misattributed
}

// misattributes reports whether the DOI shows numbers that are reported for another DOI or month.
func (p *part) misattributes() bool {
	return slices.ContainsFunc(p.misattributed, func(e *display.Event) bool { return !onlyZero(e.Values) })
}

func onlyZero(values []int64) bool { return slices.Equal(values, []int64{0}) }

// exceeds reports whether the record has entries other than 0 that no stored report makes.
func (n *number) exceeds() bool {
	surplus, _ := n.surplus()
	return len(surplus) > 0 && surplus[0] != 0
}

// surplus are the entries of the record that no stored report makes, the greatest first. Further
// ones have the number of no report, either: old is how many. They are of an earlier version of a
// report that the service has not read again, or of one that has no number any more.
func (n *number) surplus() (entries []int64, old int) {
	entries = slices.Clone(n.entries)
	for _, e := range n.events {
		if at := slices.IndexFunc(entries, func(shown int64) bool { return slices.Contains(e.Values, shown) }); at >= 0 {
			entries = slices.Delete(entries, at, at+1)
		}
	}
	slices.Sort(entries)
	slices.Reverse(entries)
	certain := min(len(entries), max(0, len(n.entries)-len(n.events)))
	for _, shown := range entries[certain:] {
		if shown != 0 {
			old++
		}
	}
	return entries[:certain], old
}

// own finds out to which reports a difference belongs: those that have a number now, and, for
// entries that no stored report makes, those that may have had one in an earlier version. The
// service has one entry for each report, name and metric, so these are the reports of the month
// that have none under the name of the DOI.
func (p *pair) own(n *number, d *Difference) {
	for i := range n.parts {
		one := &n.parts[i]
		s := share{report: p.stored[one.report].id, hidden: one.cause != "" || one.misattributes()}
		s.counts = one.counts.Reported != 0 || one.counts.Total != 0 || !onlyZero(one.counts.Values) || one.misattributes()
		for _, e := range one.misattributed {
			s.misattributed = append(s.misattributed, e.Name)
		}
		d.shares = append(d.shares, s)
	}
	if d.surplus, d.old = n.surplus(); len(d.surplus)+d.old == 0 && d.Cause != datacite.CodeUnreported {
		return
	}
	if by := p.opts.CreatedBy; by != "" {
		if d.Cause == datacite.CodeUnreported {
			d.Detail = fmt.Sprintf("only reports of %s are compared; another creator may have reported it, or an earlier "+
				"version of one of these", by)
		}
		return
	}
	for _, id := range p.of[n.month] {
		if !slices.ContainsFunc(p.events, func(e *display.Event) bool {
			return e.Name == p.doi && metrics[e.Metric] == n.metric && p.stored[e.Report].id == id
		}) {
			d.owners = append(d.owners, id)
		}
	}
	switch {
	case d.Cause == datacite.CodeUnreported && len(d.owners) > 0:
		d.Cause, d.Reports = datacite.CodeLeft, d.owners
	case d.Cause != datacite.CodeUnreported && d.Cause != datacite.CodeNotRegular && d.Shown != 0 && len(n.events) == 0:
		d.Detail = strings.TrimPrefix(d.Detail+"; the number shown is that of an earlier version", "; ")
	}
}

// evens calls even.
func (p *pair) evens() {
	for i := range p.all {
		n := &p.all[i]
		if n.reported() == n.shown && len(n.entries) > len(n.events) {
			d := &Difference{DOI: p.doi, Month: n.month, Metric: n.metric, Reported: n.shown, Expected: n.expected.All,
				Shown: n.shown, Cause: datacite.CodeUnreported}
			p.own(n, d)
			p.even(d)
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
		if m.Month = month; metric == MetricDownloads {
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

// of returns the value of a key, which it adds if it is missing.
func of[V any](all map[string]*V, key string) *V {
	if all[key] == nil {
		all[key] = new(V)
	}
	return all[key]
}

// totals are the totals of all months, in order.
func (c *comparison) totals() (all []Month) {
	for _, name := range slices.Sorted(maps.Keys(c.totalled)) {
		all = append(all, *c.totalled[name])
	}
	return all
}
