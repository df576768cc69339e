package usage

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

// TestAnOldMonthThatWasSentToday is not processed yet, and not lost. Sent again on another day, it is already there.
func TestAnOldMonthThatWasSentToday(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed, UsageLag: 48 * time.Hour})
	t.Cleanup(srv.Close)
	record := datacitetest.RandomRecord(1)
	_, err := srv.DOIs().Create(t.Context(),
		&dois.Draft{DOI: "10.5072/a", URL: "https://example.org/a", Event: dois.EventPublish, Record: *record})
	require.NoError(t, err)
	folder := t.TempDir()
	log, file := filepath.Join(folder, "events.log"), filepath.Join(folder, "report.json")
	require.NoError(t, os.WriteFile(log,
		[]byte(`{"doi":"10.5072/a","time":"2025-10-14T10:01:00Z","url":"/a","cookie":"c","agent":"Mozilla/5.0 (X11)"}`+
			"\n"), 0o600))
	run := func(args ...string) string {
		r := shelltest.At(srv)
		r.Env["DATACITE_TOKEN"] = srv.Token(srv.Now().Add(400 * 24 * time.Hour))
		_, out, notes := r.Do(t, Command, append([]string{"usage"}, args...)...)
		return out + notes
	}
	run("count", log, "--month", "2025-10", "--log-format", "json", "--gap", "0", "--creator", "Mine", "--publisher", "P",
		"--output", file)
	assert.Contains(t, run("send", file), "1 of 1 subset")
	assert.Contains(t, run("check", "example.repo"), "not-processed")
	assert.Contains(t, run("send", file), "sent now       0 of 1 subset")
}

// A command that is not there is no help page, and help knows the commands below.
func TestCommandsBelow(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"usage"}, 0, "\n  repair       Make DOI records show"},
		{[]string{"usage", "snd"}, 2, `datacite: there is no command or topic "snd"; did you mean send?`},
		{[]string{"usage", "dance"}, 2, `datacite: there is no command or topic "dance"; datacite help usage shows them`},
		{[]string{"help", "usage", "snd"}, 2, `did you mean send?`},
		{[]string{"help", "usage", "check"}, 0, "  datacite usage check ACCOUNT"},
	} {
		code, out, notes := shelltest.Run{}.Do(t, Command, tt.args...)
		assert.Equal(t, tt.code, code, tt.args)
		assert.Contains(t, out+notes, tt.says, tt.args)
	}
}
