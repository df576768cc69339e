package audit

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A host has landing pages of the DOIs 10.5072/right, 10.5072/…, and tells what it was asked.
type host struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // with GET
	then  func()   // after each
}

func landingHost(t *testing.T) *host {
	h := &host{then: func() {}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Empty(t, r.Header.Get("Authorization"))
		assert.Empty(t, r.Header.Get("Cookie"))
		name := strings.TrimPrefix(r.URL.Path, "/")
		if r.Method == http.MethodGet && name != "robots.txt" {
			assert.Regexp(t, `\(mailto:ada@example\.org\)$`, r.Header.Get("User-Agent"))
			h.mu.Lock()
			h.asked = append(h.asked, name)
			h.then()
			h.mu.Unlock()
		}
		switch name {
		case "moved":
			http.Redirect(w, r, "/at/10.5072/moved", http.StatusMovedPermanently)
		case "gone", "robots.txt":
			http.Error(w, "gone", http.StatusGone)
		case "empty":
			fmt.Fprint(w, "<!doctype html>nothing")
		default:
			fmt.Fprint(w, "<!doctype html>10.5072/", strings.TrimPrefix(name, "at/10.5072/"))
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// register puts findable DOIs that lead to the host, a draft, and a table of all.
func (h *host) register(t *testing.T, srv *datacitetest.Server, names ...string) (source string) {
	source = "doi,url\n"
	for _, name := range names {
		state := datacite.StateFindable
		if name == "draft" {
			state = datacite.StateDraft
		}
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
			`{"doi":"10.5072/%s","url":"%[2]s/%[1]s","state":"%[3]s","titles":[{"title":"T"}],
			"creators":[{"name":"A"}],"publisher":{"name":"P"},"publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset"}}`, name, h.URL, state)))
		source += fmt.Sprintf("10.5072/%s,%s/%[1]s\n", name, h.URL)
	}
	return shelltest.File(t, "own.csv", source)
}

func askLinks(t *testing.T, ctx context.Context, srv *datacitetest.Server,
	args ...string) (out, notes string, code int) {
	run := shelltest.At(srv)
	run.Env["DATACITE_CONTACT"], run.Ctx = "ada@example.org", ctx
	code, out, notes = run.Do(t, Command,
		append([]string{"audit", "--prefix", "10.5072", "--links", "--links-rate", "1000000"}, args...)...)
	return out, notes, code
}

func TestLinks(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv, h := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour}), landingHost(t)
		source := h.register(t, srv, "right", "moved", "gone", "empty", "draft")
		folder := t.TempDir()
		html := filepath.Join(folder, "report.html")

		out, notes, code := askLinks(t, t.Context(), srv, source, "--allow-private")
		assert.Equal(t, shell.ExitRefused, code)
		assert.ElementsMatch(t, []string{
			"KIND\tDOI\tDIFFERENCE",
			"page-no-doi\t10.5072/empty\t" + h.URL + "/empty: the DOI is not on the page",
			"page-status\t10.5072/gone\t" + h.URL + "/gone: 410 Gone",
		}, strings.Split(strings.TrimSpace(out), "\n"))
		assert.Contains(t, notes, "5 of 5 DOIs right at "+of(srv)+"\n")
		assert.Contains(t, notes, "2 of 4 landing pages right\n      1 page-status\n      1 page-no-doi\n      1 "+
			"page-redirected\n")
		assert.True(t, strings.HasSuffix(notes, ": 0 differences; 2 landing pages are not right\n"), notes)

		for _, format := range []string{"csv", "jsonl", "xlsx"} {
			file := filepath.Join(folder, "differences."+format)
			_, notes, code = askLinks(t, t.Context(), srv, source, "--allow-private", "--output", file, "--html", html)
			assert.Equal(t, shell.ExitRefused, code, notes)
			switch text := string(shelltest.Read(t, file)); format {
			case "csv":
				assert.Contains(t, text, "\n10.5072/gone,"+h.URL+"/gone,findable,T,page-status,url,,,410 Gone,"+of(srv)+"\n")
				assert.Contains(t, text, "\n10.5072/moved,"+h.URL+"/moved,findable,T,page-redirected,url,,"+h.URL+
					"/at/10.5072/moved,,"+of(srv)+"\n")
				assert.Equal(t, 4, strings.Count(text, "\n"))
			case "jsonl":
				assert.Contains(t, text, `{"kind":"page-no-doi","doi":"10.5072/empty","path":"url","reason":"the DOI is not on `+
					`the page","title":"T","url":"`+h.URL+`/empty","state":"findable","service":"`+of(srv)+`"}`)
			}
		}
		page := string(shelltest.Read(t, html))
		for _, part := range []string{
			"<p>2 of 4 landing pages right: status 200, HTML, and the DOI on the page. 1 of them at another address.</p>",
			"<h2>Pages with an error: 1</h2>", "<h2>Redirected pages: 1</h2>",
			`10.5072/moved</th><td class="title">T</td><td class="url" data-label="URL">` + h.URL + "/moved → " + h.URL +
				"/at/10.5072/moved</td>", "410 Gone</td>",
		} {
			assert.Contains(t, page, part)
		}
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Len(t, files, 4, "no journal is left")

		h.asked = nil
		out, notes, code = askLinks(t, t.Context(), srv, source)
		assert.Equal(t, shell.ExitRefused, code)
		assert.Equal(t, 4, strings.Count(out, ": 127.0.0.1 is not a public address; --allow-private asks it\n"), out)
		assert.Contains(t, notes, "0 of 4 landing pages right\n      4 page-not-asked\n")
		assert.Empty(t, h.asked)
	}
}

func TestLinksAllRight(t *testing.T) {
	srv, h := shelltest.Serve(t, nil), landingHost(t)
	source := h.register(t, srv, "right", "moved")
	out, notes, code := askLinks(t, t.Context(), srv, source, "--allow-private")
	assert.Equal(t, shell.ExitDone, code)
	assert.Empty(t, out)
	assert.Contains(t, notes, "2 of 2 landing pages right\n      1 page-redirected\n")
	assert.Equal(t, "1", Command(&shell.Shell{}).Flags().Lookup("links-rate").DefValue)
	_, notes, code = askLinks(t, t.Context(), srv, source, "--allow-private", "--quiet")
	assert.Equal(t, shell.ExitDone, code)
	assert.Empty(t, notes)
	for _, args := range [][]string{{"--fix", "--yes"}, {"--links-rate", "0"}, {"--links-rate", "NaN"}} {
		_, notes, code = askLinks(t, t.Context(), srv, append([]string{source}, args...)...)
		assert.Equal(t, shell.ExitWrong, code, notes)
	}
	for _, args := range [][]string{{"--allow-private"}, {"--links-rate", "2"}} {
		_, notes, code = call(t, srv, append([]string{source}, args...)...)
		assert.Equal(t, shell.ExitWrong, code)
		assert.Contains(t, notes, "no effect without --links")
	}
	_, notes, _ = call(t, srv, source, "--links", "--links-rate", "1000", "--only", "url")
	assert.Contains(t, notes, "note: the hosts of landing pages are not told whom to ask")
}

// An interrupted run continues where it was: no page is asked twice, and the table has the results of both runs.
func TestLinksContinue(t *testing.T) {
	srv, h := shelltest.Serve(t, nil), landingHost(t)
	names := []string{"gone", "empty"}
	for i := range 50 {
		names = append(names, fmt.Sprint("n", i))
	}
	source, file := h.register(t, srv, names...), filepath.Join(t.TempDir(), "differences.csv")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	h.then = func() {
		if len(h.asked) == 30 {
			stop()
		}
	}
	_, notes, code := askLinks(t, ctx, srv, source, "--allow-private", "--output", file)
	assert.Equal(t, shell.ExitInterrupted, code)
	assert.Regexp(t, `interrupted; \d+ of 52 landing pages asked; the same command continues\n$`, notes)
	assert.NoFileExists(t, file)
	kept := strings.Count(string(shelltest.Read(t, file+".links")), "\n")
	assert.Greater(t, kept, 20)
	h.then = func() {}
	_, notes, code = askLinks(t, t.Context(), srv, source, "--allow-private", "--output", file)
	assert.Equal(t, shell.ExitRefused, code, notes)
	assert.Contains(t, notes, fmt.Sprintf("continues the run before, which asked %d landing pages\n", kept))
	assert.Contains(t, notes, "50 of 52 landing pages right\n")
	times := map[string]int{}
	for _, name := range h.asked {
		times[name]++
	}
	assert.Len(t, times, 52)
	assert.LessOrEqual(t, len(h.asked), 53, "the one that was being asked")
	assert.Equal(t, 3, strings.Count(string(shelltest.Read(t, file)), "\n"))
	assert.NoFileExists(t, file+".links")

	require.NoError(t, os.Mkdir(file+".links", 0o700))
	_, notes, code = askLinks(t, t.Context(), srv, source, "--allow-private", "--output", file)
	assert.Equal(t, shell.ExitWrong, code)
	assert.Contains(t, notes, file+".links")
	require.NoError(t, os.Remove(file+".links"))

	ctx, stop = context.WithCancel(t.Context())
	stop()
	_, _, code = askLinks(t, ctx, srv, source, "--allow-private", "--output", file)
	assert.Equal(t, shell.ExitInterrupted, code)
	assert.NoFileExists(t, file+".links", "nothing was asked")

	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	h.then = stop
	_, notes, code = askLinks(t, ctx, srv, source, "--allow-private", "--output", "-")
	assert.Equal(t, shell.ExitInterrupted, code)
	assert.NoFileExists(t, "-.links")
	assert.Contains(t, notes, "with --output, a run continues where it was interrupted\n")
}
