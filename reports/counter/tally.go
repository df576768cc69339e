package counter

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

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

	seen   map[visit]byte // what was counted in each session, by flags
	counts counts         // of the dataset
	span   span           // of the last click

	summary Summary
}

func newTally(r *rules) *tally {
	return &tally{rules: r, open: newOpenClicks(), seen: map[visit]byte{}, counts: counts{}}
}

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

// counts are those of a dataset, by metric.
type counts map[cell]*[len(metrics)]int64

// of returns the counts in a cell.
func (c counts) of(at cell) *[len(metrics)]int64 {
	n := c[at]
	if n == nil {
		n = new([len(metrics)]int64)
		c[at] = n
	}
	return n
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
	totalInvestigations: reports.TotalDatasetInvestigations, totalRequests: reports.TotalDatasetRequests,
	uniqueInvestigations: reports.UniqueDatasetInvestigations, uniqueRequests: reports.UniqueDatasetRequests,
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
	v := visit{t.sessionOf(c), machine}
	seen, visited := t.seen[v]
	count[totalInvestigations]++
	if !visited {
		count[uniqueInvestigations]++
	}
	if request := c.flags & requestFlag; request != 0 {
		count[totalRequests]++
		if seen&requestFlag == 0 {
			count[uniqueRequests]++
		}
		seen |= request
	}
	t.seen[v] = seen
}

// openClicks are clicks in the order of time, of which the last one of each URL counts.
type openClicks struct {
	queue  []click // those before head are gone
	head   int
	gone   int                    // how many have been cut off the queue
	latest map[[hashSize]byte]int // number of the last click of each URL, of all that came
}

func newOpenClicks() openClicks { return openClicks{latest: map[[hashSize]byte]int{}} }

// first returns the earliest click that no later one has replaced, which is valid until the next
// call; nil if there is none.
func (o *openClicks) first() *click {
	for o.head < len(o.queue) {
		if c := &o.queue[o.head]; o.latest[c.url] == o.gone+o.head {
			return c
		}
		o.skip()
	}
	return nil
}

// put puts a click at the end, in the place of one of its URL if there is one.
func (o *openClicks) put(c *click) (replaced bool) {
	_, replaced = o.latest[c.url]
	o.latest[c.url] = o.gone + len(o.queue)
	o.queue = append(o.queue, *c)
	return replaced
}

// remove removes the first click.
func (o *openClicks) remove() {
	delete(o.latest, o.queue[o.head].url)
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

// rows are the counts of a dataset, in order.
func rows(doi string, all counts) []reports.Row {
	cells := slices.SortedFunc(maps.Keys(all), compareCells)
	var list []reports.Row
	for len(cells) > 0 {
		begin := cells[0].begin
		later := slices.IndexFunc(cells, func(at cell) bool { return at.begin != begin })
		if later < 0 {
			later = len(cells)
		}
		row := reports.Row{DOI: doi, Date: dateOf(int64(begin))}
		for m, name := range metrics {
			row.Metric = name
			for _, at := range cells[:later] {
				row.Access, row.Country, row.Count = reports.Regular, "", all[at][m]
				if at.machine != 0 {
					row.Access = reports.Machine
				}
				if at.country != [2]byte{} {
					row.Country = string(at.country[:])
				}
				if row.Count > 0 {
					list = append(list, row)
				}
			}
		}
		cells = cells[later:]
	}
	return list
}

// compareCells sorts by month or day, access method and country.
func compareCells(a, b cell) int {
	return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.machine, a.machine), bytes.Compare(a.country[:], b.country[:]))
}
