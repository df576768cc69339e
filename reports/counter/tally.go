package counter

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/reports"
)

// A tally counts clicks that come in the order of their records.
type tally struct {
	*rules
	key  []byte // of the clicks that come
	user byte   // kind of user in it

	// Clicks that a later one may replace: those of the last 30 seconds, in the order
	// of time.
	open openClicks
	most int       // of them; 0 means any number
	over *overflow // has the clicks of a key that has more; nil without
	room func() *overflow
	last session // of the last click

	visit  visit          // of the last click that was counted
	flags  byte           // of what was counted in it
	seen   map[visit]byte // flags of other visits of the key
	counts counts         // of the dataset
	span   span           // of the last click

	summary Tally
}

func newTally(r *rules) *tally { return &tally{rules: r, seen: map[visit]byte{}} }

// A session is a day or an hour in the zone of the platform.
type session struct {
	start  int64 // in units of its length
	offset int   // of the zone, since an hour is repeated when summer time ends
}

// A visit is what unique counts count: a session with an access method.
type visit struct {
	session
	machine byte
}

// A cell has the counts of a dataset that differ in their metric alone.
type cell struct {
	begin   int32 // of the month, or of the day: days since 1970
	machine byte
	country [2]byte
}

// A cellCounts has the counts in a cell, by metric.
type cellCounts struct {
	cell
	sum [len(metrics)]int64
}

// counts are those of a dataset, in any order of cells.
type counts struct {
	list  []cellCounts
	index map[cell]int // in list, if it has many
}

// few things are searched for one by one, which is faster than a map.
const few = 8

// of returns the counts in a cell.
func (c *counts) of(at cell) *[len(metrics)]int64 {
	i, known := -1, false
	if len(c.list) < few {
		i = slices.IndexFunc(c.list, func(one cellCounts) bool { return one.cell == at })
		known = i >= 0
	} else {
		i, known = c.index[at]
	}
	if known {
		return &c.list[i].sum
	}
	c.list = append(c.list, cellCounts{cell: at})
	if len(c.list) >= few {
		c.reindex()
	}
	return &c.list[len(c.list)-1].sum
}

// reindex adds the cells to the index that are not in it.
func (c *counts) reindex() {
	if c.index == nil {
		c.index = map[cell]int{}
	}
	for i := len(c.index); i < len(c.list); i++ {
		c.index[c.list[i].cell] = i
	}
}

// take returns the counts, which are those of a new dataset then.
func (c *counts) take() []cellCounts {
	list := c.list
	c.list = nil
	clear(c.index)
	return list
}

// A span is a month, or a day, as the clocks of the platform show it.
type span struct{ begin, end int64 }

// spanOf is the span of which the counts are those of one row.
func (r *rules) spanOf(local int64) span {
	if r.only != nil {
		day := floor(local, secondsOfDay) * secondsOfDay
		return span{day, day + secondsOfDay}
	}
	year, m, _ := time.Unix(local, 0).UTC().Date()
	first := func(m time.Month) int64 { return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC).Unix() }
	return span{first(m), first(m + 1)}
}

// A metric is an index of metrics.
type metric byte

const (
	totalInvestigations metric = iota
	totalRequests
	uniqueInvestigations
	uniqueRequests
)

// metrics are in the alphabetical order of their names, as rows are.
var metrics = [...]reports.MetricType{
	totalInvestigations: reports.MetricTotalDatasetInvestigations, totalRequests: reports.MetricTotalDatasetRequests,
	uniqueInvestigations: reports.MetricUniqueDatasetInvestigations, uniqueRequests: reports.MetricUniqueDatasetRequests,
}

// add takes the next click. It lies in a record that the caller may reuse.
func (t *tally) add(c click) error {
	if !bytes.Equal(t.key, c.key) {
		if err := t.finish(); err != nil {
			return err
		}
		t.key, t.user = append(t.key[:0], c.key...), c.user
	}
	if t.over != nil {
		return t.over.add(&c)
	}
	now := t.sessionOf(&c)
	if c.user == byAddress && now != t.last {
		t.closeAll() // a double click lies within a session, which for these users is an hour
	}
	t.last = now
	for first := t.open.first(); first != nil && !first.near(&c); first = t.open.first() {
		t.close(first)
	}
	if t.open.put(&c) {
		t.summary.DoubleClicks++
	}
	if t.most == 0 || len(t.open.queue) <= t.most {
		return nil
	}
	t.over = t.room()
	for first := t.open.first(); first != nil; first = t.open.first() {
		if err := t.over.add(first); err != nil {
			return err
		}
		t.open.remove()
	}
	return nil
}

// finish counts the last clicks of a key.
func (t *tally) finish() (err error) {
	t.closeAll()
	if t.over != nil {
		err = t.over.count(t)
		t.over = nil
	}
	clear(t.seen)
	t.flags = 0
	return err
}

func (t *tally) closeAll() {
	for first := t.open.first(); first != nil; first = t.open.first() {
		t.close(first)
	}
}

// close counts the first of the open clicks: no later one can replace it.
func (t *tally) close(c *click) {
	t.count(c)
	t.open.remove()
}

// count counts a click that is kept.
func (t *tally) count(c *click) {
	if !t.inPeriod(c.sec) {
		t.summary.OtherMonths++
		return
	}
	t.summary.Counted++
	if local := t.local(c.sec); local < t.span.begin || local >= t.span.end {
		t.span = t.spanOf(local)
	}
	machine := c.flags & machineFlag
	count := t.counts.of(cell{int32(t.span.begin / secondsOfDay), machine, c.country})
	if v := (visit{t.sessionOf(c), machine}); v != t.visit {
		if t.flags != 0 {
			t.seen[t.visit] = t.flags
		}
		t.visit, t.flags = v, t.seen[v]
	}
	count[totalInvestigations]++
	if t.flags == 0 {
		count[uniqueInvestigations]++
	}
	if c.flags&requestFlag != 0 {
		count[totalRequests]++
		if t.flags&requestFlag == 0 {
			count[uniqueRequests]++
		}
	}
	t.flags |= c.flags | visitedFlag
}

// visitedFlag says that a visit has an investigation: a request is one, too.
const visitedFlag = 1 << 7

// openClicks are clicks in the order of time, of which the last one of each URL counts.
type openClicks struct {
	queue  []openClick // those before head are gone
	head   int
	gone   int                    // how many have been cut off the queue
	latest map[[hashSize]byte]int // number of the last click of each URL, of all that came, while there are many
}

type openClick struct {
	click
	replaced bool
}

// first returns the earliest click that no later one has replaced, which is valid until the next
// call; nil if there is none.
func (o *openClicks) first() *click {
	for o.head < len(o.queue) {
		if c := &o.queue[o.head]; !c.replaced {
			return &c.click
		}
		o.skip()
	}
	return nil
}

// put puts a click at the end, in the place of one of its URL if there is one.
func (o *openClicks) put(c *click) (replaced bool) {
	before := o.find(c)
	if before >= 0 {
		o.queue[before].replaced = true
	}
	o.queue = append(o.queue, openClick{click: *c})
	return before >= 0
}

// find returns the place in the queue of the click that one to come replaces; -1 if there is none.
func (o *openClicks) find(c *click) int {
	open := o.queue[o.head:]
	if len(open) < few && len(o.latest) == 0 {
		for i := range open {
			if one := &open[i]; !one.replaced && one.url == c.url {
				return o.head + i
			}
		}
		return -1
	}
	if o.latest == nil {
		o.latest = map[[hashSize]byte]int{}
	}
	if len(o.latest) == 0 {
		for i := range open {
			o.latest[open[i].url] = o.gone + o.head + i
		}
	}
	before, known := o.latest[c.url]
	o.latest[c.url] = o.gone + len(o.queue)
	if !known {
		return -1
	}
	return before - o.gone
}

// remove removes the first click.
func (o *openClicks) remove() {
	if len(o.latest) > 0 {
		delete(o.latest, o.queue[o.head].url)
	}
	o.skip()
}

func (o *openClicks) skip() {
	if o.head++; 2*o.head >= len(o.queue) { // so that it does not grow
		o.gone += o.head
		o.queue = slices.Delete(o.queue, 0, o.head)
		o.head = 0
	}
}

// sessionOf returns the session of a click: the day for a session cookie, else the hour.
func (t *tally) sessionOf(c *click) session {
	local := t.local(c.sec)
	if c.user == bySession {
		return session{start: floor(local, secondsOfDay)}
	}
	return session{floor(local, 60*60), int(local - c.sec)}
}

// floor is a/b, rounded down.
func floor(a, b int64) int64 {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// appendRows appends the counts of a dataset, and sorts them.
func appendRows(dst []reports.Row, doi string, list []cellCounts) []reports.Row {
	slices.SortFunc(list, compareCells)
	for len(list) > 0 {
		begin := list[0].begin
		later := 1
		for later < len(list) && list[later].begin == begin {
			later++
		}
		row := reports.Row{DOI: doi, Date: dateOf(int64(begin))}
		for m, name := range metrics {
			row.Metric = name
			for i := range list[:later] {
				at := &list[i]
				if row.Count = at.sum[m]; row.Count == 0 {
					continue
				}
				row.Access = reports.AccessRegular
				if at.machine != 0 {
					row.Access = reports.AccessMachine
				}
				row.Country, _ = country.Code(at.country[:]) // "" if it is not known
				dst = append(dst, row)
			}
		}
		list = list[later:]
	}
	return dst
}

// compareCells sorts by month or day, access method and country.
func compareCells(a, b cellCounts) int {
	return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.machine, a.machine),
		bytes.Compare(a.country[:], b.country[:]))
}
