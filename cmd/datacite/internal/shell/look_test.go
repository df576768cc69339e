package shell

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProgressHasRateAndTimeLeft(t *testing.T) {
	assert.Equal(t, "3,000 of 10,000 rows · 5 failed · 100 rows/s · 1m10s left",
		describe(3000, 10000, "rows", "5 failed", 3000, 30*time.Second, 80))
	assert.Equal(t, "3,000 of 10,000 rows · 100 rows/s · 1m10s left",
		describe(3000, 10000, "rows", "", 1000, 10*time.Second, 80), "of this run")
	assert.Equal(t, "9,000,000 lines · 202,123 lines/s",
		describe(9_000_000, 0, "lines", "", 2_021_230, 10*time.Second, 80))
	assert.Equal(t, "12 records · 0.5 records/s", describe(12, 0, "records", "", 5, 10*time.Second, 80))
	assert.Equal(t, "0 of 10 rows", describe(0, 10, "rows", "", 0, time.Minute, 80))
	for columns, want := range map[int]string{
		50: "3,000 of 10,000 rows · 100 rows/s · 1m10s left", 40: "3,000 of 10,000 rows · 1m10s left",
		20: "3,000 of 10,000 row…",
	} {
		assert.Equal(t, want, describe(3000, 10000, "rows", "5 failed", 3000, 30*time.Second, columns))
	}
}

// The last column, such as the title of a record, has a third of a narrow terminal.
func TestTheLastColumnHasRoom(t *testing.T) {
	for columns, least := range map[int]int{60: 13, 80: 26, 120: 40} { // of 60, the others need 47 at least
		table := (&Shell{}).Table(nil, "DOI", "YEAR", "TYPE", "CITED", "CREATORS", "TITLE")
		table.rows = append(table.rows, []string{"10.5072/a-name-that-is-long-enough", "2026", "JournalArticle", "0",
			"Lovelace, Ada; Noether, Emmy; Hopper, Grace", strings.Repeat("title ", 30)})
		line := table.align(columns)[1]
		at := strings.Index(line, "title ")
		assert.GreaterOrEqual(t, len([]rune(line[at:])), least, "%d: %s", columns, line)
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	table := (&Shell{}).Table(nil, "DOI", "TITLE")
	table.rows = append(table.rows, []string{"10.5072/a", "氷河"},
		[]string{"10.5072/abc", "A title that is too long for this"})
	assert.Equal(t, []string{
		"DOI         TITLE",
		"10.5072/a   氷河",
		"10.5072/a…  A title that is too…",
	}, table.align(32))
	table.Whole, table.rows = true, [][]string{{"10.5072/b", "A title that is too long for this"}}
	assert.Equal(t, []string{"10.5072/b   A title that is too long for this"}, table.align(32),
		"columns stay as wide as before")
}

// What a table makes bold stays so on each stream.
func TestStreamsKeepStyles(t *testing.T) {
	var out, notes strings.Builder
	s := &Shell{Stdout: &out, Stderr: &notes}
	for _, to := range []io.Writer{s.Data(), s.Results(), s.Notes()} {
		_, err := io.WriteString(to, "\x1b[1mKIND\x1b[0m\n")
		require.NoError(t, err)
	}
	assert.Equal(t, strings.Repeat("\x1b[1mKIND\x1b[0m\n", 2), out.String())
	assert.Equal(t, "\x1b[1mKIND\x1b[0m\n", notes.String())
}

// Ctrl-C counts as an answer: nothing is done.
func TestAQuestionIsInterrupted(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	s := &Shell{Stdin: in, Stderr: io.Discard, ctx: ctx}
	time.AfterFunc(10*time.Millisecond, interrupt)
	_, err := s.Ask("Write?")
	assert.True(t, IsInterrupted(err))
	assert.EqualError(t, err, "interrupted; nothing was done")
}
