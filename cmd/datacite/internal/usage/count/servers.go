package count

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// A logServer is the writer of logs whose names differ only in dates, numbers and compression:
// web1/access.log, web1/access.log-20261014.gz and web1/access.log.2.
type logServer struct {
	Name string // common part of the names, such as web1/access.log
	Logs []logs.FileStats
}

var (
	dateInName     = lazy.Regexp(`[-_./]?(?:19|20)\d\d[-_./]?[01]\d(?:[-_./]?[0-3]\d(?:[-_.T]?[0-2]\d(?:[0-5]\d){0,2})?)?`)
	numberInName   = lazy.Regexp(`\d+`)
	rotationInName = lazy.Regexp(`(?:\.\d{1,10})?(?:\.(?:gz|bz2|zst))?$`)
)

// serversOf groups logs by server, in the order of their names, which may have dates and numbers. Logs with the
// same names count as one server's, so keep the logs of each server in a folder of its own. Logs whose names
// differ only in numbers, such as access-01.log and access-02.log, belong to one server if there are at least
// three and none of them begins before the previous one ends. A number in the name of a folder is part of the
// server's name.
func serversOf(files []logs.FileStats) (list []logServer) {
	for _, f := range files {
		name := rotationInName().ReplaceAllString(f.Name, "")
		name = rotationInName().ReplaceAllString(withoutDates(name), "")
		i, known := slices.BinarySearchFunc(list, name, func(s logServer, name string) int {
			return cmp.Compare(s.Name, name)
		})
		if !known {
			list = slices.Insert(list, i, logServer{Name: name})
		}
		list[i].Logs = append(list[i].Logs, f)
	}
	return joinNumbered(list)
}

// joinNumbered joins servers whose names differ in numbers alone, and whose logs follow one another.
func joinNumbered(servers []logServer) (list []logServer) {
	type numbered struct {
		logServer
		names int
	}
	joined := map[string]numbered{}
	anyNumber := func(name string) string {
		file := strings.LastIndexAny(name, `/\\`) + 1
		return name[:file] + numberInName().ReplaceAllString(name[file:], "*")
	}
	for _, s := range servers {
		name := anyNumber(s.Name)
		all := joined[name]
		joined[name] = numbered{logServer{name, slices.Concat(all.Logs, s.Logs)}, all.names + 1}
	}
	for _, s := range servers {
		all := joined[anyNumber(s.Name)]
		switch {
		case all.names < 3 || !all.inTurn():
			list = append(list, s)
		case !slices.ContainsFunc(list, func(known logServer) bool { return known.Name == all.Name }):
			list = append(list, all.logServer)
		}
	}
	return list
}

// inTurn tells whether no log begins before the one before it ends. An hour does not count: servers
// end a request, and rotate, some time after it began.
func (s *logServer) inTurn() bool {
	inTime := slices.DeleteFunc(slices.Clone(s.Logs), func(f logs.FileStats) bool { return f.First.IsZero() })
	slices.SortFunc(inTime, func(a, b logs.FileStats) int { return a.First.Compare(b.First) })
	for i := range inTime[min(1, len(inTime)):] {
		if inTime[i+1].First.Before(inTime[i].Last.Add(-time.Hour)) {
			return false
		}
	}
	return true
}

// withoutDates removes dates from a name, but not from longer numbers.
func withoutDates(name string) string {
	digit := func(i int) bool { return i >= 0 && i < len(name) && name[i] >= '0' && name[i] <= '9' }
	var b strings.Builder
	from := 0
	for _, at := range dateInName().FindAllStringIndex(name, -1) {
		if digit(at[1]) || digit(at[0]) && digit(at[0]-1) {
			continue
		}
		b.WriteString(name[from:at[0]])
		from = at[1]
	}
	return b.String() + name[from:]
}

// span returns the times of the first and the last access, or zero times if there is none.
func (s *logServer) span() (first, last time.Time) {
	for _, f := range s.Logs {
		if first.IsZero() || !f.First.IsZero() && f.First.Before(first) {
			first = f.First
		}
		if f.Last.After(last) {
			last = f.Last
		}
	}
	return first, last
}

// A coverage says for how much of the period the logs of a server have lines.
type coverage struct {
	Days, Hours           int // of the period
	EmptyDays, EmptyHours int // without a line; an empty day is 24 hours from midnight
	Gaps                  []logs.Gap
}

const (
	// of a day with accesses have some, on average, from which on a whole day without any is no chance
	busyHours = 6
	quietGap  = 7 * 24 * time.Hour // nor is this, if half of the other days have accesses
	fewDays   = 5                  // say nothing about the others
)

// coverageOf looks for times for which the logs of a server are missing. For a busy server, Gaps are the times
// without a line of at least atLeast. A server is busy if its days with lines have them in six or more hours,
// on average. A quiet server may have no visitor for days: its Gaps are those of a week or longer, and only if
// half of the other days, and at least five, have lines.
func coverageOf(o *logs.Options, atLeast time.Duration, s *logServer) (c coverage) {
	first, err := o.Period.BeginDate.Time()
	last, err2 := o.Period.EndDate.Time()
	if err != nil || err2 != nil {
		return c // logs.Read returned the error
	}
	midnight := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, o.Location)
	}
	until := midnight(last.AddDate(0, 0, 1))
	gaps := o.Gaps(0, s.Logs...)
	emptyDays := make([]int, len(gaps))
	for day := midnight(first); day.Before(until); day = day.AddDate(0, 0, 1) {
		next := day.AddDate(0, 0, 1)
		c.Days++
		c.Hours += int(next.Sub(day) / time.Hour)
		if i := slices.IndexFunc(gaps, func(g logs.Gap) bool { return !g.From.After(day) && !g.Until.Before(next) }); i >= 0 {
			c.EmptyDays++
			emptyDays[i]++
		}
	}
	for _, g := range gaps {
		c.EmptyHours += int(g.Until.Sub(g.From) / time.Hour)
	}
	used := c.Days - c.EmptyDays
	busy := c.Hours-c.EmptyHours >= busyHours*used
	for i, g := range gaps {
		length := g.Until.Sub(g.From)
		often := length >= quietGap && used >= fewDays && 2*used >= c.Days-emptyDays[i]
		if used > 0 && length >= atLeast && (busy || often) {
			c.Gaps = append(c.Gaps, g)
		}
	}
	return c
}
