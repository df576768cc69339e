package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

func TestMain(m *testing.M) { shelltest.Main(m, append(commands, topics()...)...) }

// The password is not shown, and the terminal is as before whatever ends the question.
func TestThePasswordIsNotShown(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	for _, tt := range []struct {
		typed  string
		signal os.Signal
		code   int
		says   string
	}{
		{datacitetest.Password + "\n", nil, 0, " accepts the login of EXAMPLE.REPO; it is stored in "},
		{"wrong-one\n", nil, 2, " refuses the login of EXAMPLE.REPO: "},
		{"\n", nil, 2, "datacite: a login is a name and a password; nothing was stored"},
		{"sand\x03", nil, 130, "datacite: interrupted; nothing was done"},
		// without text, which may reach the terminal after the question has ended and given its echo back
		{"", syscall.SIGTERM, 130, "datacite: interrupted; nothing was done"},
		{"sandbox\x1a-password\n", nil, 2, " refuses the login of EXAMPLE.REPO: "}, // Ctrl-Z drops what was typed
	} {
		x := shelltest.Anonymous(srv).Terminal(t, 80, "login")
		x.Until("Repository account at ")
		x.Type(datacitetest.Username + "\n")
		x.Until("Password (not shown): ")
		require.Eventually(t, x.Hides, 5*time.Minute, time.Millisecond)
		x.Type(tt.typed)
		if tt.signal != nil {
			x.Signal(tt.signal)
		}
		code, printed := x.End()
		assert.Equal(t, tt.code, code, printed)
		assert.Contains(t, printed, tt.says)
		assert.NotContains(t, printed, "sand")
		assert.NotContains(t, printed, "wrong-one")
		assert.False(t, x.Hides(), "%q", tt.typed)
	}
}

// items is a table of so many rows without names.
func items(t *testing.T, rows int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("url,title,creators,publisher,year,type\n")
	for i := range rows {
		fmt.Fprintf(&text, "https://repository.example.org/%d,Item %[1]d,org: Ice,R,2026,Dataset\n", i)
	}
	name := shelltest.File(t, "items.csv", text.String())
	return name
}

// Whatever writes asks at production, and does nothing without a yes.
func TestQuestions(t *testing.T) {
	run := shelltest.Run{Env: map[string]string{}}
	for _, pair := range hosts(t) {
		name, value, _ := strings.Cut(pair, "=")
		run.Env[name] = value
	}
	run.Env["DATACITE_SERVICE"], run.Env["DATACITE_USERNAME"], run.Env["DATACITE_PASSWORD"] = "production", datacitetest.Username, datacitetest.Password
	seen := datacitetest.NewServer(nil)
	defer seen.Close()
	run.Env["DATACITE_TOKEN"] = seen.Token(seen.Now().AddDate(1, 0, 0))
	table := items(t, 2)
	wanted := shelltest.File(t, "wanted.csv", "doi,url\n10.5072/wanted,https://repository.example.org/\n")
	counts := shelltest.File(t, "counts.csv",
		"doi,metric,access,count,platform,publisher\n10.5072/a,unique-dataset-requests,regular,1,P,R\n")
	for _, command := range []struct {
		asks string
		args []string
	}{
		{"Write 1 DOI at production (api.datacite.org)? [y/N] ", []string{"audit", wanted, "--prefix", "10.5072", "--fix"}},
		{"Write 2 DOIs at production (api.datacite.org)? Registered and findable DOIs are permanent. [y/N] ",
			[]string{"register", table, "--prefix", "10.5072"}},
		{"to production (api.datacite.org)? [y/N] ",
			[]string{"usage", "send", counts, "--creator", "Ice", "--month", "2026-05"}},
	} {
		for _, tt := range []struct {
			typed string
			code  int
			says  string
		}{
			{"n\n", 1, "datacite: the answer was not yes; nothing was done"},
			{"\n", 1, "datacite: the answer was not yes; nothing was done"},
			{"\x04", 2, "there was no answer; nothing was done"},
			{"\x03", 130, "interrupted; nothing was "},
			{"y\n", 0, ""},
		} {
			x := run.Terminal(t, 200, command.args...)
			x.Until(command.asks)
			x.Type(tt.typed)
			code, printed := x.End()
			assert.Equal(t, tt.code, code, "%v: %s", command.args, printed)
			assert.Contains(t, printed, tt.says)
		}
		code, printed := run.Terminal(t, 200, append(command.args, "--yes")...).End()
		assert.Zero(t, code, printed)
		assert.NotContains(t, printed, "[y/N]")
	}
	code, printed := run.Terminal(t, 200, "usage", "send", counts, "--creator", "Ice", "--month", "2026-05",
		"--dry-run").End()
	assert.Zero(t, code, printed)
	assert.Contains(t, printed, "Dry run: nothing sent. production (api.datacite.org) would hold exactly this report.")
}

// The progress is redrawn in one line, which fits, and goes away.
func TestProgress(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	for _, tt := range []struct {
		columns, resized int
		env, flag        string
		shows            string
	}{
		{columns: 100, shows: `\r\d+ of 250 records · 0 failed · [\d.]+ records/s · \d+s left\x1b\[K`},
		{columns: 40, shows: `\r\d+ of 250 records · \d+s left\x1b\[K`},
		{columns: 100, resized: 30, shows: `\r\d+ of 250 records · \d+s left\x1b\[K`},
		{columns: 100, env: "NO_COLOR=1", shows: `\r\d+ of 250 records · 0 failed · [\d.]+ records/s · \d+s left\x1b\[K`},
		{columns: 100, env: "TERM=dumb"},
		{columns: 100, flag: "--quiet"},
	} {
		t.Run(fmt.Sprint(tt.columns, tt.resized, tt.env, tt.flag), func(t *testing.T) {
			t.Parallel()
			run := shelltest.At(srv)
			if name, value, found := strings.Cut(tt.env, "="); found {
				run.Env[name] = value
			}
			args := []string{"register", items(t, 250), "--prefix", "10.5072", "--rate", "100"} // it takes two seconds
			if tt.flag != "" {
				args = append(args, tt.flag)
			}
			x := run.Terminal(t, tt.columns, args...)
			if tt.resized > 0 {
				x.Until("records/s")
				x.Resize(tt.resized)
			}
			code, printed := x.End()
			assert.Zero(t, code, printed)
			screen, _ := shelltest.Screen(printed)
			if tt.shows == "" {
				assert.NotContains(t, printed, "\x1b")
				return
			}
			assert.Regexp(t, tt.shows, printed)
			assert.Regexp(t, `^\S+items\.registered\.csv: 250 records at \S+: 250 created\n$`, screen, "nothing else is left")
			drawn, _, _ := strings.Cut(printed, "items.registered.csv")
			_, widest := shelltest.Screen(drawn)
			assert.Less(t, widest, tt.columns)
		})
	}
}

// An interrupt takes the progress away.
func TestProgressIsInterrupted(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	x := shelltest.At(srv).Terminal(t, 100, "register", items(t, 250), "--prefix", "10.5072", "--rate", "100")
	x.Until("records/s")
	x.Type("\x03")
	code, printed := x.End()
	assert.Equal(t, 130, code)
	screen, _ := shelltest.Screen(printed)
	assert.Regexp(t, `^(\^C)?\S+items\.registered\.csv: 250 records at \S+: \d+ created\ndatacite: interrupted; \d+ `+
		`records left; run the same command again to continue\n$`, screen)
}

// What anybody has written into a record does not control the terminal, in no format.
func TestTextsDoNotControlTheTerminal(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/a","state":"findable","url":"https://a.example/","publisher":"P","publicationYear":2020,"creators":[{"name":"C\u009b31m"}],
		"titles":[{"title":"A\u001b]0;owned\u0007 \u202eevil\u001b[31m 中文 and more"}],"types":{"resourceTypeGeneral":"Dataset"}}`)))
	other := shelltest.File(t, "other.csv", "doi,title,creators,publisher,year,type\n10.5072/a,B,org: C,P,2020,Dataset\n")
	for _, line := range []string{
		"search", "search --format csv", "search --json", "harvest --output -", "get 10.5072/a", "get 10.5072/a --json",
		"get 10.5072/a --format citation", "get 10.5072/a --format " +
			"bibtex", "audit FILE --prefix 10.5072", "audit FILE --prefix 10.5072 --format csv",
		"audit FILE --prefix 10.5072 --json", "audit FILE --prefix 10.5072 --fix --yes --json",
	} {
		run := shelltest.At(srv)
		run.Env["TERM"] = "dumb"
		_, printed := run.Terminal(t, 400, strings.Fields(strings.ReplaceAll(line, "FILE", other))...).End()
		if !strings.HasSuffix(line, "10.5072") {
			assert.Contains(t, printed, "中文", line)
		}
		for _, r := range strings.ReplaceAll(printed, "\r\n", "\n") {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%s prints %U: %q", line, r, printed)
				break
			}
		}
	}
}

// Colours are for terminals that show them, and for people who want them.
func TestColours(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	require.NoError(t, srv.PutRecordJSON(
		[]byte(`{"doi":"10.5072/a","state":"findable","url":"https://a.example/","titles":[{"title":"A title that is `+
			`longer than forty columns are wide"}]}`)))
	coloured := regexp.MustCompile("\x1b\\[[0-9;]+m")
	for _, args := range [][]string{{"get", "10.5072/a"}, {"search"}, {"help"}} {
		for env, want := range map[string]bool{"A=b": true, "NO_COLOR=1": false, "TERM=dumb": false, "NO_COLOR=": true} {
			run := shelltest.Anonymous(srv)
			name, value, _ := strings.Cut(env, "=")
			run.Env[name] = value
			code, printed := run.Terminal(t, 40, args...).End()
			assert.Zero(t, code, printed)
			assert.Equal(t, want, coloured.MatchString(printed), "%v %s: %q", args, env, printed)
			if _, widest := shelltest.Screen(printed); args[0] == "search" {
				assert.LessOrEqual(t, widest, 40, printed)
			}
		}
	}
}
