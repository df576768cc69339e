package shown

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
)

// compare goes through what was sorted, DOI by DOI. To know whether a long DOI begins
// like its neighbours, it looks one ahead.
func (c *comparison) compare(ctx context.Context) error {
	var before, h, next *holding
	turn := func() error {
		if h == nil {
			return nil
		}
		crowded := alike(before, h) || alike(h, next)
		before = h
		return c.judge(ctx, h, crowded)
	}
	for sorted, err := range c.sorter.Keys() {
		if err != nil {
			return err
		}
		l := readLine(sorted)
		if l.report >= 0 && c.stored[l.report].dead {
			continue
		}
		if next == nil || next.doi != l.doi {
			if err := turn(); err != nil {
				return err
			}
			h, next = next, &holding{doi: l.doi}
		}
		if err := next.read(&l); err != nil {
			return err
		}
	}
	if err := turn(); err != nil {
		return err
	}
	h, next = next, nil
	err := turn()
	c.told(0)
	return err
}

// indexed is how many characters of a DOI the service's unique index of events has: 191
// with https://doi.org/ before it.
const indexed = 191 - len("https://doi.org/")

// alike reports whether two DOIs that were reported are one for the index of events.
func alike(a, b *holding) bool {
	return a != nil && b != nil && len(a.counts) > 0 && len(b.counts) > 0 &&
		len(a.doi) >= indexed && len(b.doi) >= indexed && a.doi[:indexed] == b.doi[:indexed]
}

// judge compares the numbers of a DOI, and looks it up if they seem to differ.
func (c *comparison) judge(ctx context.Context, h *holding, crowded bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.settle()
	c.progress.Compared++
	c.told(c.progress.Compared)
	_, invalid := doi.Parse(h.doi)
	f := finding{comparison: c, holding: h, record: h.listed, crowded: crowded, name: invalid == nil}
	all := f.differences()
	listed := h.listed != nil || invalid != nil
	seems := slices.ContainsFunc(all, f.wanted) || len(all) > 0 && !listed || f.unlike()
	if seems && f.name {
		var err error
		if f.record, err = c.look(ctx, h.doi); err != nil {
			return err
		}
		all = f.differences()
	}
	f.count(all)
	for _, d := range all {
		if !f.wanted(d) {
			continue
		}
		c.progress.Differences++
		c.told(0)
		if !c.yield(d, nil) {
			return errStopped
		}
	}
	return nil
}

// look reads a record as it is now, nil for an unknown DOI. A name that cannot stand in a
// path is looked up in the list.
func (c *comparison) look(ctx context.Context, name string) (*record, error) {
	r, err := c.dois.Get(ctx, name, nil)
	switch {
	case errors.Is(err, datacite.ErrNotFound):
		return nil, nil
	case errors.Is(err, datacite.ErrInvalidDOI):
		found, err := c.dois.List(ctx, &dois.ListOptions{IDs: []string{name}, Detail: true, Fields: fields})
		if err != nil || len(found.Records) == 0 {
			return nil, err
		}
		return recordOf(&found.Records[0]), nil
	case err != nil:
		return nil, err
	}
	return recordOf(r), nil
}

// A finding compares what reports have of a DOI with a record.
type finding struct {
	*comparison
	*holding
	record  *record // nil if there is none
	crowded bool    // another DOI begins like it
	name    bool    // what was reported is a DOI
}

func (f *finding) wanted(d *Difference) bool { return f.looksFor(d.Cause) }

// A number is a metric of one month.
type number struct {
	month   string
	metric  Metric
	tally   tally
	shown   int64
	entries int // of the record: one for each count that the service keeps apart
}

// numbers are what there is to compare, in order. Months of reports that were left out
// are not.
func (f *finding) numbers() (all []number) {
	names := map[string]bool{}
	for i := range f.counts {
		names[f.counts[i].name] = true
	}
	for _, m := range metrics {
		for _, n := range f.record.series(m).ByMonth() {
			names[n.YearMonth] = true
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return f.skipped[name] })
	at := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for at < len(f.counts) && f.counts[at].name < name {
			at++
		}
		for i, m := range metrics {
			n := number{month: name, metric: m}
			if at < len(f.counts) && f.counts[at].name == name {
				n.tally = f.counts[at].tallies[i]
			}
			for _, shown := range f.record.series(m) {
				if shown.YearMonth == name {
					n.shown += int64(shown.Total)
					n.entries++
				}
			}
			all = append(all, n)
		}
	}
	return all
}

// unlike reports whether a record cannot show what was reported, by the rules. The list may
// still show it.
func (f *finding) unlike() bool {
	return slices.ContainsFunc(f.numbers(), func(n number) bool {
		expected, wide := n.tally.expected()
		return !wide && !slices.Contains(expected, n.reported())
	})
}

func (f *finding) differences() (all []*Difference) {
	for _, n := range f.numbers() {
		expected, wide := n.tally.expected()
		d := &Difference{DOI: f.doi, Month: n.month, Metric: n.metric, Reported: n.reported(), Expected: expected, Shown: n.shown}
		if d.Reported == d.Shown {
			continue
		}
		f.explain(&n, d, slices.Contains(expected, n.shown) || wide && n.shown > expected[0] && n.shown < expected[1])
		all = append(all, d)
	}
	return all
}

// reported is the count of the latest report; its total if there are no unique counts.
func (n *number) reported() int64 {
	latest := n.tally.latest()
	switch {
	case latest == nil:
		return 0
	case latest.Reported == 0 && latest.events == 0:
		return latest.Total
	}
	return latest.Reported
}

// explain finds the cause of a difference. The rules may allow what is shown.
func (f *finding) explain(n *number, d *Difference, allowed bool) {
	latest, all := n.tally.latest(), d.Expected
	hidden := latest != nil && latest.cause != "" && !slices.Equal(latest.Values, []int64{d.Reported})
	switch {
	case !f.name && latest != nil && (latest.cause == Spelling || latest.cause == LaterIdentifier):
		d.Cause, d.Detail = NotADOI, latest.why
	case f.name && f.record == nil && (latest == nil || latest.cause != OtherDOI):
		d.Cause = NoRecord
	case hidden && (allowed || latest.events == 0):
		d.Cause, d.Detail = latest.cause, latest.why
	case allowed:
		f.added(n, d)
		return
	case f.crowded && d.Shown < all[0]:
		d.Cause = LongDOI
	case n.tally.events() == 0 && n.tally.machines():
		d.Cause = NotRegular
	case d.Shown > all[len(all)-1] && n.entries > n.tally.events():
		f.surplus(n, d)
		return
	case f.young(n.tally):
		d.Cause = NotProcessed
	default:
		d.Cause = Lost
	}
	if latest != nil {
		d.Reports = f.ids(tally{*latest})
	} else {
		d.Reports = f.ids(n.tally)
	}
}

// added explains a number that is right by the rules: counts of several reports, or of
// other DOIs or months, have been added.
func (f *finding) added(n *number, d *Difference) {
	var own, guests tally
	for _, p := range n.tally {
		if !slices.Equal(p.Values, nothing) {
			own = append(own, p)
		}
		if !slices.Equal(p.guests, nothing) {
			guests = append(guests, p)
		}
	}
	switch {
	case len(own) > 1:
		d.Cause, d.Reports = ReportedTwice, f.ids(own)
	case len(guests) > 0:
		d.Cause, d.Detail, d.Reports = guests[0].guest, guests[0].hint, f.ids(guests)
	default:
		d.Cause, d.Reports = Lost, f.ids(n.tally)
	}
}

// surplus explains a number that no stored report has. If each report of the month has
// the count, none of them had it before.
func (f *finding) surplus(n *number, d *Difference) {
	have := f.ids(slices.DeleteFunc(slices.Clone(n.tally), func(p part) bool { return p.events == 0 }))
	d.Cause = Unreported
	for _, id := range f.of[n.month] {
		if !slices.Contains(have, id) {
			d.Cause = Left
			d.Reports = append(d.Reports, id)
		}
	}
}

// ids are those of the reports.
func (f *finding) ids(t tally) (ids []string) {
	for _, p := range t {
		ids = append(ids, f.stored[p.report].id)
	}
	return ids
}

// young reports whether the service may not have processed one of the reports.
func (f *finding) young(t tally) bool {
	const day = 24 * time.Hour
	return slices.ContainsFunc(t, func(p part) bool {
		return f.opts.Now.Before(f.stored[p.report].created.Add(day + f.opts.Lag))
	})
}

// count adds the numbers to the totals.
func (f *finding) count(all []*Difference) {
	for _, n := range f.numbers() {
		m := f.totalled[n.month]
		if m == nil {
			m = &Month{Month: n.month}
			f.totalled[n.month] = m
		}
		total := &m.Views
		if n.metric == Downloads {
			total = &m.Downloads
		}
		total.Reported += n.reported()
		total.Shown += n.shown
	}
	for _, d := range all {
		if !f.wanted(d) {
			continue
		}
		if m := f.totalled[d.Month]; d.Metric == Downloads {
			m.Downloads.Differences++
		} else {
			m.Views.Differences++
		}
	}
}

// totals are those of all months, in order.
func (c *comparison) totals() (all []Month) {
	for _, name := range slices.Sorted(maps.Keys(c.totalled)) {
		all = append(all, *c.totalled[name])
	}
	return all
}
