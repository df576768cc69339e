package shown

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/usage"
)

// compare goes through the sorted lines, DOI by DOI.
func (c *comparison) compare(ctx context.Context) error {
	var last *holding
	for sorted, err := range c.sorter.Keys() {
		if err != nil {
			return err
		}
		l := readLine(sorted)
		if l.report >= 0 && c.stored[l.report].dead {
			continue
		}
		if last == nil || last.doi != l.doi {
			if len(c.held) > holdings {
				if err := c.release(ctx, c.apart()); err != nil {
					return err
				}
			}
			next := &holding{doi: l.doi}
			c.held, last = append(c.held, next), next
		}
		if err := last.read(&l); err != nil {
			return err
		}
	}
	err := c.release(ctx, len(c.held))
	c.told(0)
	return err
}

// holdings is how many DOIs are held, so that unlisted ones are looked up together.
const holdings = 100

// release compares the first n DOIs that are held.
func (c *comparison) release(ctx context.Context, n int) error {
	if err := c.findUnlisted(ctx, c.held[:n]); err != nil {
		return err
	}
	for i, h := range c.held[:n] {
		h.settle()
		c.crowd(i)
		if err := c.judge(ctx, h); err != nil {
			return err
		}
	}
	c.held = slices.Delete(c.held, 0, n)
	return nil
}

// findUnlisted lists the records that are not among those of the account.
func (c *comparison) findUnlisted(ctx context.Context, held []*holding) error {
	const most = 8 << 10 // bytes of names in an address
	of, names, size := map[string]*holding{}, []string(nil), 0
	for _, h := range held {
		if _, err := doi.Parse(h.doi); err != nil || h.listed != nil || strings.Contains(h.doi, ",") || size+len(h.doi) > most {
			continue
		}
		of[h.doi], names, size = h, append(names, h.doi), size+len(h.doi)
	}
	if len(names) < 2 {
		return nil
	}
	found, err := c.dois.List(ctx, &dois.ListOptions{IDs: names, Detail: true, Fields: fields})
	if err != nil {
		return err
	}
	for i := range found.Records {
		if h := of[doi.Key(found.Records[i].DOI)]; h != nil {
			h.listed = c.recordOf(&found.Records[i])
		}
	}
	return nil
}

// apart is how many DOIs are held before those that are alike to the index of events. If all
// are, it is all but the last.
func (c *comparison) apart() int {
	last := len(c.held) - 1
	begin, whole := usage.IndexedName(c.held[last].doi)
	at := slices.IndexFunc(c.held, func(h *holding) bool { return !whole && strings.HasPrefix(h.doi, begin) })
	if at > 0 {
		return at
	}
	return last
}

// A claim is what one of several DOIs that are alike can have: an event of a report, for a
// metric. That of an earlier version, which no report explains, may be of any report: -1.
type claim struct {
	report int
	metric Metric
}

// A crowd has the claims of DOIs that are alike to the index of events.
type crowd struct {
	begin  string
	owners map[claim]string // DOIs; "" if there are several
}

// crowd marks the counts of a DOI whose events may have given way to those of another one that
// is alike, now or in an earlier version of the report (rule 24).
func (c *comparison) crowd(at int) {
	h := c.held[at]
	begin, whole := usage.IndexedName(h.doi)
	if whole {
		return
	}
	if c.crowded.begin != begin {
		c.crowded = crowd{begin, map[claim]string{}}
	}
	for _, other := range c.held[at:] {
		if !strings.HasPrefix(other.doi, begin) {
			break
		}
		other.settle()
		for claim := range other.claims() {
			if owner, taken := c.crowded.owners[claim]; taken && owner != other.doi {
				c.crowded.owners[claim] = ""
			} else {
				c.crowded.owners[claim] = other.doi
			}
		}
	}
	for i := range h.counts {
		for m, metric := range metrics {
			for j := range h.counts[i].tallies[m] {
				p := &h.counts[i].tallies[m][j]
				for _, claim := range [...]claim{{p.report, metric}, {-1, metric}} {
					owner, taken := c.crowded.owners[claim]
					p.rival = p.rival || taken && owner != h.doi
				}
			}
		}
	}
}

// claims are the events of a DOI.
func (h *holding) claims() iter.Seq[claim] {
	return func(yield func(claim) bool) {
		for m, metric := range metrics {
			left := len(h.listed.series(metric))
			for i := range h.counts {
				for _, p := range h.counts[i].tallies[m] {
					left -= p.events
					if p.events > 0 && !yield(claim{p.report, metric}) {
						return
					}
				}
			}
			if left > 0 && !yield(claim{-1, metric}) {
				return
			}
		}
	}
}

// judge compares the numbers of a DOI, and looks it up if they seem to differ.
func (c *comparison) judge(ctx context.Context, h *holding) error {
	if err := ctx.Err(); err != nil {
		return err
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
			return err
		}
		all = p.differences()
	}
	p.count(all)
	for _, d := range all {
		if !p.wanted(d) {
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

// look reads the current record, nil for an unknown DOI. A name that a path cannot contain
// is looked up in the list.
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
		return c.recordOf(&found.Records[0]), nil
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
}

func (p *pair) wanted(d *Difference) bool { return p.looksFor(d.Cause) }

// A number is a metric of one month.
type number struct {
	month   string
	metric  Metric
	tally   tally
	shown   int64
	entries int // of the record: one for each count that the service stores
}

// numbers are the numbers to compare, in order, except months of reports that were left
// out.
func (p *pair) numbers() (all []number) {
	names := map[string]bool{}
	for i := range p.counts {
		names[p.counts[i].name] = true
	}
	for _, m := range metrics {
		for _, n := range p.record.series(m).ByMonth() {
			names[n.YearMonth] = true
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return p.skipped[name] })
	at := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for at < len(p.counts) && p.counts[at].name < name {
			at++
		}
		for i, m := range metrics {
			n := number{month: name, metric: m}
			if at < len(p.counts) && p.counts[at].name == name {
				n.tally = p.counts[at].tallies[i]
			}
			for _, shown := range p.record.series(m) {
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

// unlike reports whether by the rules a record cannot show the reported number, although
// the list may still show it.
func (p *pair) unlike() bool {
	return slices.ContainsFunc(p.numbers(), func(n number) bool {
		expected, wide := n.tally.expected(true)
		return !wide && !slices.Contains(expected, n.reported())
	})
}

func (p *pair) differences() (all []*Difference) {
	for _, n := range p.numbers() {
		expected, wide := n.tally.expected(true)
		d := &Difference{DOI: p.doi, Month: n.month, Metric: n.metric, Reported: n.reported(), Expected: expected, Shown: n.shown}
		if d.Reported == d.Shown {
			continue
		}
		p.explain(&n, d, slices.Contains(expected, n.shown) || wide && n.shown > expected[0] && n.shown < expected[1])
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

// explain finds the cause of a difference. The rules may allow the shown number.
func (p *pair) explain(n *number, d *Difference, allowed bool) {
	latest, all := n.tally.latest(), d.Expected
	hidden := latest != nil && latest.cause != "" && !slices.Equal(latest.Values, []int64{d.Reported})
	switch {
	case !p.name && latest != nil && (latest.cause == Spelling || latest.cause == LaterIdentifier):
		d.Cause, d.Detail = NotADOI, latest.why
	case p.name && p.record == nil && (latest == nil || latest.cause != OtherDOI):
		d.Cause = NoRecord
	case n.lacks(d.Shown) && !(hidden && latest.events == 0):
		d.Cause = LongDOI
	case hidden && (allowed || latest.events == 0 || latest.Missing && n.entries <= n.tally.events()):
		d.Cause, d.Detail = latest.cause, latest.why
	case allowed:
		p.added(n, d)
		return
	case n.tally.events() == 0 && n.tally.machines():
		d.Cause = NotRegular
	case d.Shown > all[len(all)-1] && n.entries > n.tally.events():
		p.surplus(n, d)
		return
	case p.young(n.tally):
		d.Cause, d.Reports = NotProcessed, p.ids(n.tally.only(func(one part) bool { return one.events > 0 && p.young(tally{one}) }))
		return
	default:
		d.Cause, d.Reports = Lost, p.ids(n.tally.only(func(one part) bool { return one.events > 0 }))
		if begin, whole := usage.IndexedName(p.doi); !whole {
			d.Detail = fmt.Sprintf("or it is in the place of a DOI with the same first %d characters, which an earlier version of the report had", len(begin))
		}
		return
	}
	if latest != nil {
		d.Reports = p.ids(tally{*latest})
	} else {
		d.Reports = p.ids(n.tally)
	}
}

// lacks reports whether a number is less than what all reports have, because counts of another
// DOI are in the place of some.
func (n *number) lacks(shown int64) bool {
	whole, _ := n.tally.expected(false)
	return shown < whole[0] && slices.ContainsFunc(n.tally, func(one part) bool { return one.rival })
}

// added explains a number that is right by the rules: counts of several reports, or of
// other DOIs or months, have been added.
func (p *pair) added(n *number, d *Difference) {
	own := n.tally.only(func(one part) bool { return !slices.Equal(one.Values, nothing) })
	guests := n.tally.only(func(one part) bool { return !slices.Equal(one.guests, nothing) })
	switch {
	case len(own) > 1:
		d.Cause, d.Reports = ReportedTwice, p.ids(own)
	case len(guests) > 0:
		d.Cause, d.Detail, d.Reports = guests[0].guest, guests[0].hint, p.ids(guests)
	default:
		d.Cause, d.Reports = Lost, p.ids(n.tally)
	}
}

// surplus explains a number that no compared report has. If every report of the month has
// the count, no earlier version of them is the cause. Of one creator's reports that cannot
// be told, since another creator may have reported it.
func (p *pair) surplus(n *number, d *Difference) {
	d.Cause = Unreported
	if by := p.opts.CreatedBy; by != "" {
		d.Detail = fmt.Sprintf("only reports of %s are compared; another creator may have reported it, or an earlier version of one of these", by)
		return
	}
	have := p.ids(n.tally.only(func(one part) bool { return one.events > 0 }))
	for _, id := range p.of[n.month] {
		if !slices.Contains(have, id) {
			d.Cause = Left
			d.Reports = append(d.Reports, id)
		}
	}
}

// ids are those of the reports.
func (p *pair) ids(t tally) (ids []string) {
	for _, one := range t {
		ids = append(ids, p.stored[one.report].id)
	}
	return ids
}

// young reports whether the service may not have processed one of the reports.
func (p *pair) young(t tally) bool {
	const day = 24 * time.Hour
	return slices.ContainsFunc(t, func(one part) bool {
		return p.opts.Now.Before(p.stored[one.report].created.Add(day + p.opts.Lag))
	})
}

// count adds the numbers to the totals.
func (p *pair) count(all []*Difference) {
	for _, n := range p.numbers() {
		m := p.totalled[n.month]
		if m == nil {
			m = &Month{Month: n.month}
			p.totalled[n.month] = m
		}
		total := &m.Views
		if n.metric == Downloads {
			total = &m.Downloads
		}
		total.Reported += n.reported()
		total.Shown += n.shown
	}
	for _, d := range all {
		if !p.wanted(d) {
			continue
		}
		if m := p.totalled[d.Month]; d.Metric == Downloads {
			m.Downloads.Differences++
		} else {
			m.Views.Differences++
		}
	}
}

// totals are the totals of all months, in order.
func (c *comparison) totals() (all []Month) {
	for _, name := range slices.Sorted(maps.Keys(c.totalled)) {
		all = append(all, *c.totalled[name])
	}
	return all
}
