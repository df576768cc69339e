package logs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// TestLogsThatAreReadApart: what machines find out about a log each adds up to what one finds
// out about all.
func TestLogsThatAreReadApart(t *testing.T) {
	const bad = "not a line of the log\n"
	texts := []string{
		line("event_time", "2026-10-14T10:00:00-0400", "identifier", "doi:10.5072/a", "title", "Old") + bad + bad + bad,
		line("event_time", "2026-10-14T12:00:00-0400", "identifier", "doi:10.5072/A", "title",
			"New") + bad + line("event_time", "2026-10-14T11:00:00+0200", "identifier", "doi:10.5072/b", "title", "B"),
		"# empty\n",
	}
	source := func(i int) logs.Log { return logs.FromReader(fmt.Sprint("log ", i), strings.NewReader(texts[i])) }
	settings := func(sum *logs.Stats, about *logs.Descriptions) *logs.Options {
		return &logs.Options{Stats: sum, Descriptions: about, Tolerance: all, Period: reports.Month(2026, 10)}
	}
	var together, sum logs.Stats
	about, apart := &logs.Descriptions{}, &logs.Descriptions{}
	_, err := collect(logs.Read([]logs.Log{source(0), source(1), source(2)}, logs.Dataverse, settings(&together, about)))
	require.NoError(t, err)
	for i := range texts {
		var one logs.Stats
		found := &logs.Descriptions{}
		_, err := collect(logs.Read([]logs.Log{source(i)}, logs.Dataverse, settings(&one, found)))
		require.NoError(t, err)
		sum.Add(one)
		for d, err := range found.All() {
			require.NoError(t, err)
			require.NoError(t, apart.Add(d))
		}
	}
	assert.Equal(t, together, sum)
	assert.Equal(t, int64(4), sum.Faulty)
	require.ErrorIs(t, sum.Check(logs.Tolerance{Share: 0.1}), datacite.ErrInvalid)
	require.NoError(t, sum.Check(logs.Tolerance{Always: []datacite.Code{"syntax"}}))

	var want, got []logs.Description
	for d := range about.All() {
		want = append(want, d)
	}
	for d := range apart.All() {
		got = append(got, d)
	}
	assert.Equal(t, want, got)
	require.Len(t, got, 2)
	assert.Contains(t, got[0].Fields, "New")
	require.ErrorIs(t, apart.Add(logs.Description{DOI: "10.5072/a", Time: time.Now(), Fields: "a title"}),
		datacite.ErrInvalid)
	require.Len(t, sum.Offsets, 2)
	assert.Equal(t, "-04:00", sum.Offsets[0].String())
	assert.Equal(t, int64(2), sum.Offsets[0].Lines)
}
