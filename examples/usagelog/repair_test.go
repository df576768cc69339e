package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

// walk are the commands of a section of docs/counting.md, as lists of words.
func walk(t *testing.T, section string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/counting.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n## "+section+"\n")
	require.True(t, found)
	rest, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(strings.ReplaceAll(rest, "\\\n", "")) {
		if !strings.HasPrefix(line, "    usagelog ") {
			continue
		}
		var words []string
		for _, w := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1)[1:] {
			words = append(words, strings.Trim(w, `"`))
		}
		all = append(all, words)
	}
	return all
}

// printed is what docs/counting.md says that the first rehearsal prints.
func printed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/counting.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\nThe rehearsal prints, after the counts:\n")
	require.True(t, found)
	rest, _, _ = strings.Cut(rest, "\n**")
	return strings.TrimSpace(strings.ReplaceAll(rest, "\n    ", "\n"))
}

// TestTheWalkThroughRepairs runs the commands of docs/counting.md: a wrong name, a correction
// and a double report.
func TestTheWalkThroughRepairs(t *testing.T) {
	commands := walk(t, "When records show something else")
	require.Len(t, commands, 8)
	srv, folder, rehearsed := service(t, nil), t.TempDir(), printed(t)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/%s","titles":[{"title":"Glacier"}],"publisher":"Example Repository","publicationYear":2026,"url":"https://example.org/","creators":[{"name":"Lovelace, Ada"}],"state":"findable"}`, name)))
	}
	write(t, folder, "web1.log", view("2026-10-14T10:01:00Z", "s1", "10.5072/a"))
	write(t, folder, "web2.log", view("2026-10-14T10:04:00Z", "s2", "10.5072/a")+view("2026-10-15T10:04:00Z", "s2", "10.5072/b")+download("2026-10-15T10:05:00Z", "s2", "10.5072/b"))
	t.Chdir(folder)
	const rehearsal = "A rehearsal: nothing was sent; -yes sends it"
	for i, want := range []struct {
		says  []string
		code  int
		shows string // views, a and b, then downloads, b, once the service has read the reports
	}{
		{[]string{"stored as report"}, 0, "2 1 1"},
		{[]string{rehearsed}, 0, "2 1 1"},
		{[]string{"Example Repo, report", "Records show the numbers when"}, 0, "2 1 1"},
		{[]string{"10.5072/a: views, 2 becomes 1", "10.5072/b: views, 1 becomes 0", "10.5072/b: downloads, 1 becomes 0", rehearsal}, 0, "2 1 1"},
		{[]string{"10.5072/a: views, 2 becomes 1"}, 0, "1 0 0"},
		{[]string{"stored as report"}, 0, "2 0 0"},
		{[]string{`-replaces "Web Server 1" takes its numbers back`, "Nothing is to be sent, but differences remain"}, 1, "2 0 0"},
		{[]string{"Web Server 1, report", "views, 1 becomes 0"}, 0, "1 0 0"},
	} {
		before := writes(srv)
		for j, word := range commands[i] {
			commands[i][j] = strings.Replace(word, "http://localhost:8080", srv.URL, 1)
		}
		line := strings.Join(commands[i], " ")
		done := runs(t.Context(), srv, "", commands[i]...)
		require.Equal(t, want.code, done.code, "%s: %s", line, done.errors)
		for _, text := range want.says {
			assert.Contains(t, done.out, text, line)
		}
		switch {
		case strings.Contains(line, "-compare-others"):
			assert.Contains(t, done.errors, `such as one of 10.5072/a, that report`)
		case want.code == 1:
			assert.Contains(t, done.errors, "warning: remains: 10.5072/a: views of 2026-10: 1 reported, 2 shown: several reports have this count")
		default:
			assert.Empty(t, done.errors, line)
		}
		dry := strings.Contains(line, "-repair") && !strings.Contains(line, "-yes")
		assert.Equal(t, dry, writes(srv) == before, line)
		srv.ProcessUsage()
		assert.Equal(t, want.shows, viewsAndDownloads(t, srv), line)
	}
	last := writes(srv)
	again := runs(t.Context(), srv, "", commands[7]...)
	assert.Equal(t, 0, again.code, again.errors)
	assert.Contains(t, again.out, "nothing is to be sent")
	assert.Equal(t, last, writes(srv))
}

func viewsAndDownloads(t *testing.T, srv *datacitetest.Server) string {
	t.Helper()
	sum := map[string][2]int{}
	for _, name := range []string{"a", "b"} {
		r, err := srv.DOIs().Get(t.Context(), "10.5072/"+name, nil)
		require.NoError(t, err)
		sum[name] = [2]int{r.ViewCount, r.DownloadCount}
	}
	return fmt.Sprint(sum["a"][0], sum["b"][0], sum["b"][1])
}

// TestARepairThatTheServiceRefuses: what was not sent is told, and nothing else is changed.
func TestARepairThatTheServiceRefuses(t *testing.T) {
	srv := service(t, func(_ int, r *http.Request) *datacitetest.Fault {
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			return &datacitetest.Fault{Kind: datacitetest.Status, Status: http.StatusUnauthorized}
		}
		return nil
	})
	log := view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	done := runs(t.Context(), srv, log, args("-repair", "example.repo", "-yes", "-api", srv.URL, "-")...)
	assert.Equal(t, 2, done.code, done.errors)
	assert.Contains(t, done.errors, "My Repository, report ")
	assert.Contains(t, done.errors, "not sent: 1 dataset")
	assert.Empty(t, done.out)
	for says, more := range map[string][]string{
		`is "Renamed", which is neither the creator nor the id of another report`: {"-repair", "example.repo", "-replaces", "Renamed", "-api", srv.URL},
		"-repair and -send are both given":                                        {"-repair", "example.repo", "-send", "-api", srv.URL},
		"-yes and -replaces belong to -repair":                                    {"-yes"},
		"-compare-others has no effect without -send":                             {"-compare-others"},
	} {
		wrong := runs(t.Context(), srv, log, args(append(more, "-")...)...)
		assert.Equal(t, 2, wrong.code, says)
		assert.Contains(t, wrong.errors, says)
	}
}
