package logs_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

var browsers = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.1 " +
		"Safari/605.1.15",
	"Mozilla/5.0 (X11; Linux x86_64; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0",
	"python-requests/2.%d.3",
	"Mozilla/5.0 (compatible; Googlebot/2.%d; +http://www.google.com/bot.html)",
}

// A monthLog is a log of Dataverse, made while it is read: events of one month in
// the order of time, a few datasets with most of them.
type monthLog struct {
	lines, n int
	random   *rand.Rand
	rest     bytes.Buffer
}

func newMonthLog(lines int) *monthLog {
	return &monthLog{lines: lines, random: rand.New(rand.NewPCG(1, 2))}
}

func (l *monthLog) Read(p []byte) (int, error) {
	for ; l.rest.Len() < len(p) && l.n < l.lines; l.n++ {
		r := l.random
		at := time.Date(2026, 10, 1, 0, 0, 0, 0,
			time.UTC).Add(time.Duration(float64(l.n) / float64(l.lines) * float64(31*24*time.Hour)))
		dataset := int(r.ExpFloat64() * 5000)
		if r.IntN(4) == 0 {
			dataset = l.n
		}
		url := fmt.Sprintf("https://dataverse.example.org/dataset.xhtml?persistentId=doi:10.5072/FK2/%06d", dataset)
		if r.IntN(3) == 0 {
			url = fmt.Sprintf("https://dataverse.example.org/api/access/datafile/%d", dataset*10+r.IntN(10))
		}
		fmt.Fprintf(&l.rest, "%s\t192.0.%d.%d\t%08x\t-\t:guest\t%s\tdoi:10.5072/FK2/%06d\t-\t-\t",
			at.Format("2006-01-02T15:04:05-0700"), r.IntN(100), r.IntN(256), r.IntN(1e6), url, dataset)
		fmt.Fprintf(&l.rest, browsers[r.IntN(len(browsers))], 90+r.IntN(40))
		fmt.Fprintf(&l.rest, "\tThe title of dataset %d, as long as titles are\tExample University\tgrid.4711.3\tDoe, "+
			"Jane|Roe, Richard\t2024-05-06T07:08:09Z\t1.0\t-\thttps://dataverse.example.org/dataset.xhtml?persistentId=doi:10.5072/FK2/%06[1]d\t2024\n", dataset)
	}
	return l.rest.Read(p)
}

// countMonth goes the way from a log to datasets.
func countMonth(tb testing.TB, log io.Reader, memory int) (sum counter.Tally) {
	dir := tb.TempDir()
	about := &logs.Descriptions{Memory: memory, TempDir: dir}
	events := read(logs.Dataverse, log, &logs.Options{Descriptions: about})
	opts := &counter.Options{Period: reports.Month(2026, time.October), Memory: memory, TempDir: dir, Tally: &sum}
	for _, err := range about.Describe(reports.Group(counter.Count(events, opts), &reports.GroupOptions{Sorted: true})) {
		require.NoError(tb, err)
	}
	require.NoError(tb, about.Close())
	return sum
}

// TestMemoryDoesNotGrowWithTheLog counts a log, and one that is five times as long.
func TestMemoryDoesNotGrowWithTheLog(t *testing.T) {
	const short, memory = 8_000, 1 << 20
	peak := func(lines int) (most uint64) {
		log := newMonthLog(lines)
		at := 0
		countMonth(t, readerFunc(func(p []byte) (int, error) {
			if log.n >= at {
				at += short / 5
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			return log.Read(p)
		}), memory)
		return most
	}
	a, b := peak(short), peak(5*short)
	assert.Less(t, b, a+4*memory, "%d KiB, then %d KiB", a>>10, b>>10)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
