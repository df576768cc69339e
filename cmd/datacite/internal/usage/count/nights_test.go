package count

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// TestNightByNight: with -days, each night reads only what is new, and the report is the same as
// without, to the byte.
func TestNightByNight(t *testing.T) {
	folder, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	month := []string{"--month", "2026-10", "--creator", "Mine", "--output", "-", "--publisher", "P"}
	lines := strings.SplitAfter(strings.TrimSuffix(hourly(all, "10.5072/a", "10.5072/b"), "\n"), "\n")
	titled := func(day int, text string) string { // the last title is reported
		return strings.ReplaceAll(text, "Data of 10.5072/a", fmt.Sprint("Title of day ", day))
	}
	growing, files := "", []string{}
	for day := 1; day <= 8; day++ {
		today := strings.Join(lines[(day-1)*48:day*48], "")
		growing += today // web1 has one log that grows
		web1 := write(t, folder, "web1.log", growing)
		if day != 4 { // comes a night late
			files = append(files, write(t, folder, fmt.Sprintf("web2_2026-10-%02d.log", day),
				titled(day, strings.ReplaceAll(today, ":30:00Z\t192.0.2.1", ":40:00Z\t192.0.2.2"))))
		}
		if day == 5 {
			files = append(files, write(t, folder, "web2_2026-10-04.log",
				titled(4, view("2026-10-04T10:31:00Z", "late", "10.5072/c"))))
		}
		night := time.Date(2026, 10, day+1, 1, 0, 0, 0, time.UTC)
		given := append(append(slices.Clone(month), "--gap", "0", web1), files...)
		plain := runsAt(t.Context(), night, nil, "", given...)
		require.Equal(t, 0, plain.code, plain.errors)
		kept := runsAt(t.Context(), night, nil, "", append(given, "--days", state)...)
		require.Equal(t, 0, kept.code, kept.errors)
		require.Equal(t, plain.out, kept.out, day)
		assert.Equal(t, day != 4, strings.Contains(kept.out, fmt.Sprint("Title of day ", day)))
		_, table, _ := strings.Cut(plain.errors, "First access")
		assert.Contains(t, kept.errors, table, "what the logs have, and the counts")
		assert.Equal(t, day > 1, strings.Contains(kept.errors, "files were counted in earlier runs"), kept.errors)

		again := runsAt(t.Context(), night, nil, "", append(given, "--days", state)...)
		assert.Equal(t, plain.out, again.out)
		assert.Contains(t, again.errors, "0 lines in 0 files")
	}
	given := append(append(slices.Clone(month), "--days", state, filepath.Join(folder, "web1.log")), files...)
	december := runs(t.Context(), nil, "", given...)
	assert.Equal(t, 2, december.code, "the rest of the month is missing")
	assert.Contains(t, december.errors, "web1.log: none from 2026-10-09 00:00 to 2026-11-01 00:00")

	zone := runs(t.Context(), nil, "", append(given, "--gap", "0", "--zone", "+05:00")...)
	plain := runs(t.Context(), nil, "",
		append(append(slices.Clone(month), "--gap", "0", "--zone", "+05:00", filepath.Join(folder, "web1.log")), files...)...)
	assert.Equal(t, plain.out, zone.out, "other flags count anew")

	damaged, err := filepath.Glob(filepath.Join(state, "*", "descriptions.gz"))
	require.NoError(t, err)
	for _, name := range damaged {
		data := shelltest.Read(t, name)
		require.NoError(t, os.WriteFile(name, data[:len(data)-9], 0o600))
	}
	broken := runs(t.Context(), nil, "", append(given, "--gap", "0")...)
	assert.Equal(t, 2, broken.code)
	assert.Contains(t, broken.errors, "descriptions.gz is damaged")
	for _, name := range []string{"descriptions.gz", "logs.json"} {
		for _, state := range damaged {
			path := filepath.Join(filepath.Dir(state), name)
			require.NoError(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		}
		unread := runs(t.Context(), nil, "", append(given, "--gap", "0")...)
		assert.Equal(t, 2, unread.code)
		assert.Contains(t, unread.errors, name)
		assert.NotContains(t, unread.errors, "remove", "what cannot be read may be sound")
	}
	stdin := runs(t.Context(), nil, "", append(month, "--days", state, "-")...)
	assert.Contains(t, stdin.errors, "--days needs files")
	for name := range map[string]bool{"192.0.2": true, "Mozilla": true} {
		for _, file := range allFiles(t, state) {
			assert.NotContains(t, file, name, "nothing tells of visitors")
		}
	}
}

// allFiles are the texts of the files below a folder, unpacked.
func allFiles(t *testing.T, folder string) (texts []string) {
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if packed, wrong := gzip.NewReader(bytes.NewReader(data)); wrong == nil {
			data, _ = io.ReadAll(packed) // some were damaged
		}
		texts = append(texts, string(data))
		return err
	}))
	return texts
}

// TestKilled: a run that is killed at any time is repeated, and makes the report of a run that is not.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	web1 := write(t, folder, "web1.log", hourly(all, "10.5072/a", "10.5072/b", "10.5072/c"))
	web2 := write(t, folder, "web2.log",
		strings.ReplaceAll(hourly(all, "10.5072/a", "10.5072/d"), ":30:00Z\t192.0.2.1", ":40:00Z\t192.0.2.2"))
	given := args("--publisher", "P", web1, web2)
	whole := runs(t.Context(), nil, "", append(given, "--output", "-")...)
	require.Equal(t, 0, whole.code, whole.errors)
	for n := range *kills {
		state, report := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "report.json")
		more := append([]string{"count", "--days", state, "--output", report}, given...)
		for m := 0; ; m++ {
			cmd, _, notes := shelltest.Run{}.Process(t, more...)
			require.NoError(t, cmd.Start())
			if m < 4 { // each run comes further
				time.Sleep(time.Duration(rand.IntN(20*(m+1)*(n+1))) * time.Millisecond)
				_ = cmd.Process.Kill() // it may have ended
			}
			if err := cmd.Wait(); err != nil {
				require.Less(t, m, 4, "%v: %s", err, notes)
				continue
			}
			break
		}
		data := shelltest.Read(t, report)
		assert.Equal(t, whole.out, string(data))
		left, err := os.ReadDir(filepath.Dir(report))
		require.NoError(t, err)
		for _, file := range left { // of runs that were killed
			assert.True(t, file.Name() == "report.json" || strings.HasPrefix(file.Name(), ".report.json-"), file.Name())
		}
	}
}

// TestTwoRunsAtOnce: the second is refused, and says why.
func TestTwoRunsAtOnce(t *testing.T) {
	log, state := write(t, t.TempDir(), "web1.log", hourly(all, "10.5072/a")), filepath.Join(t.TempDir(), "state")
	given := args("--days", state, log)
	require.Equal(t, 0, runs(t.Context(), nil, "", given...).code)
	folders, err := filepath.Glob(filepath.Join(state, "2026-10-*"))
	require.NoError(t, err)
	require.Len(t, folders, 1)
	first, err := counter.OpenDays(folders[0], &counter.Options{Period: reports.Month(2026, time.October)})
	require.NoError(t, err)
	second := runs(t.Context(), nil, "", given...)
	require.NoError(t, first.Close())
	assert.Equal(t, 2, second.code)
	assert.Equal(t, "datacite: --days "+state+": "+folders[0]+" is in use by another run; wait until it has ended\n",
		second.errors)
}

// TestRotatedAway: of a server that keeps three logs, each night's run has all days, and names those
// whose log is gone. A log that was emptied is refused, as the error says what to do.
func TestRotatedAway(t *testing.T) {
	folder, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	lines := strings.SplitAfter(hourly(all, "10.5072/a"), "\n")
	names := []string{filepath.Join(folder, "access.log"), filepath.Join(folder, "access.log.1"),
		filepath.Join(folder, "access.log.2")}
	given := func(files ...string) []string {
		return args(append([]string{"--publisher", "P", "--days", state}, files...)...)
	}
	for day := 1; day <= 6; day++ {
		for i := min(2, day-1); i > 0; i-- {
			require.NoError(t, os.Rename(names[i-1], names[i]))
		}
		write(t, folder, "access.log", strings.Join(lines[(day-1)*24:day*24],
			"")+view("2026-11-05T10:00:00Z", "s", "10.5072/a"))
		got := runsAt(t.Context(), time.Date(2026, 10, day+1, 1, 0, 0, 0, time.UTC), nil, "",
			given(names[:min(day, 3)]...)...)
		require.Equal(t, 0, got.code, got.errors)
		assert.Contains(t, got.out, fmt.Sprintf("\n  %d total investigations\n", day*24))
		assert.Contains(t, got.out, fmt.Sprintf(" not from 2026-10-01 to 2026-10-%02d\n", day))
		assert.Equal(t, day > 3, strings.Contains(got.errors,
			"note: the counts of days stay whose logs are gone: 2026-10-01"), got.errors)
	}
	for name, log := range map[string]string{"emptied": "",
		"of another month": view("2026-11-05T10:00:00Z", "s", "10.5072/a")} {
		write(t, folder, "access.log", log)
		got := runs(t.Context(), nil, "", given("--gap", "0", names[0], names[1], names[2])...)
		assert.Equal(t, 2, got.code, name)
		assert.Contains(t, got.errors, "2026-10-06: was counted from "+names[0]+
			" (24 accesses), whose accesses are in none of the logs", name)
	}
	write(t, folder, "access.log", view("2026-11-05T10:00:00Z", "s", "10.5072/a"))
	got := runs(t.Context(), nil, "", args("--days", filepath.Join(folder, "new"), "--gap", "0", names[0])...)
	assert.Contains(t, got.errors, "of 1 accesses, 1 are not from 2026-10-01 to 2026-10-31")
}
