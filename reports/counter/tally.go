package counter

import (
	"bytes"
	"cmp"
	"container/list"
	"maps"
	"slices"
	"time"

	"github.com/datacite-go/datacite-go/reports"
)

// A tally counts clicks that come in the order of their records.
type tally struct {
	*rules
	key []byte // of the clicks that come

	// Clicks that a later one may replace: those of the last 30 seconds, in the order
	// of time.
	open  list.List // of *click
	byURL map[string]*list.Element
	last  session // of the last click

	seen   map[visit]byte // what was counted in each session, by flags
	counts map[cell]int64 // of the dataset

	summary Summary
}

func newTally(r *rules) *tally {
	return &tally{rules: r, byURL: map[string]*list.Element{}, seen: map[visit]byte{}, counts: map[cell]int64{}}
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

// A cell is a count of a dataset.
type cell struct {
	month   int32 // 12 a year
	metric  metric
	machine byte
	country [2]byte
}

// A metric is an index of metrics.
type metric byte

const (
	totalInvestigations metric = iota
	totalRequests
	uniqueInvestigations
	uniqueRequests
)

// metrics are in the alphabetical order of their names, so that cells sort like rows.
var metrics = [...]reports.MetricType{
	totalInvestigations: reports.TotalDatasetInvestigations, totalRequests: reports.TotalDatasetRequests,
	uniqueInvestigations: reports.UniqueDatasetInvestigations, uniqueRequests: reports.UniqueDatasetRequests,
}

// add takes the next click. It lies in a record that the caller may reuse.
func (t *tally) add(c click) {
	if !bytes.Equal(t.key, c.key) {
		t.finish()
		t.key = append(t.key[:0], c.key...)
	}
	now := t.sessionOf(&c)
	if c.user == byAddress && now != t.last {
		t.closeAll() // a double click lies within a session, which for these users is an hour
	}
	t.last = now
	for first := t.open.Front(); first != nil && !first.Value.(*click).near(&c); first = t.open.Front() {
		t.close(first)
	}
	if earlier, ok := t.byURL[string(c.url)]; ok {
		t.summary.DoubleClicks++
		kept := earlier.Value.(*click)
		c.url = kept.url
		*kept = c
		t.open.MoveToBack(earlier)
		return
	}
	c.url = bytes.Clone(c.url)
	t.byURL[string(c.url)] = t.open.PushBack(&c)
}

// finish counts the last clicks of a key.
func (t *tally) finish() {
	t.closeAll()
	clear(t.seen)
}

func (t *tally) closeAll() {
	for first := t.open.Front(); first != nil; first = t.open.Front() {
		t.close(first)
	}
}

// close counts the first of the open clicks: no later one can replace it.
func (t *tally) close(first *list.Element) {
	c := t.open.Remove(first).(*click)
	delete(t.byURL, string(c.url))
	if !t.inPeriod(c.sec) {
		t.summary.OtherMonths++
		return
	}
	t.summary.Counted++
	year, month, _ := time.Unix(t.local(c.sec), 0).UTC().Date()
	at := cell{month: int32(year)*12 + int32(month) - 1, machine: c.flags & machineFlag, country: c.country}
	count := func(m metric) {
		at.metric = m
		t.counts[at]++
	}
	v := visit{t.sessionOf(c), at.machine}
	seen, visited := t.seen[v]
	count(totalInvestigations)
	if !visited {
		count(uniqueInvestigations)
	}
	if request := c.flags & requestFlag; request != 0 {
		count(totalRequests)
		if seen&requestFlag == 0 {
			count(uniqueRequests)
		}
		seen |= request
	}
	t.seen[v] = seen
}

// sessionOf returns the session of a click: the day for a session cookie, else the hour.
func (t *tally) sessionOf(c *click) session {
	local := t.local(c.sec)
	if c.user == bySession {
		return session{start: floor(local, 24*60*60)}
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
func rows(doi string, counts map[cell]int64) []reports.Row {
	list := make([]reports.Row, 0, len(counts))
	month, day := int32(-1), reports.Date("") // of the last cell
	for _, at := range slices.SortedFunc(maps.Keys(counts), compareCells) {
		if at.month != month {
			month, day = at.month, firstDay(at.month)
		}
		row := reports.Row{DOI: doi, Date: day, Metric: metrics[at.metric], Access: reports.Regular, Count: counts[at]}
		if at.machine != 0 {
			row.Access = reports.Machine
		}
		if at.country != [2]byte{} {
			row.Country = string(at.country[:])
		}
		list = append(list, row)
	}
	return list
}

func firstDay(month int32) reports.Date {
	return reports.Day(time.Date(int(month/12), time.Month(month%12+1), 1, 0, 0, 0, 0, time.UTC))
}

// compareCells sorts by month, metric, access method and country.
func compareCells(a, b cell) int {
	return cmp.Or(cmp.Compare(a.month, b.month), cmp.Compare(a.metric, b.metric),
		cmp.Compare(b.machine, a.machine), bytes.Compare(a.country[:], b.country[:]))
}
