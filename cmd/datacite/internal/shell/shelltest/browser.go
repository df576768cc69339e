package shelltest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// harness shows the page in frames of two widths, and sends what axe-core finds there.
const harness = `<!doctype html><title>Check</title><script>
async function loaded(e) { await new Promise((yes, no) => { e.onload = yes; e.onerror = no }) }
async function check() {
	const all = []
	for (let n = 0; n < PAGES; n++) for (const width of [400, 1400]) {
		const frame = document.createElement("iframe")
		frame.style = "border: 0; height: 900px; width: " + width + "px"
		frame.src = "/page/" + n
		document.body.append(frame)
		await loaded(frame)
		const script = frame.contentDocument.createElement("script")
		script.src = "/axe.js"
		frame.contentDocument.head.append(script)
		await loaded(script)
		const found = await frame.contentWindow.axe.run()
		all.push({
			Page: n, Width: frame.contentWindow.innerWidth, Needs: frame.contentDocument.documentElement.scrollWidth, Passes: found.passes.length,
			Violations: found.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" ")),
		})
	}
	await fetch("/report", {method: "POST", body: JSON.stringify(all)})
}
onload = check
</script><body></body>`

// Accessible checks that axe-core finds no fault in pages, and that they fit into windows of 400 and 1400
// pixels. It skips the test where there is no Chromium, or npm cannot fetch axe-core.
func Accessible(t *testing.T, pages ...[]byte) {
	t.Helper()
	browser := chromium(t)
	source := axe(t)
	type view struct {
		Page, Width, Needs, Passes int
		Violations                 []string
	}
	reports := make(chan []view, 1)
	mux := http.NewServeMux()
	serve := func(path, kind string, data []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(data) // a browser that has left misses nothing
		})
	}
	serve("/{$}", "text/html; charset=utf-8", []byte(strings.ReplaceAll(harness, "PAGES", strconv.Itoa(len(pages)))))
	for n, page := range pages {
		serve("/page/"+strconv.Itoa(n), "text/html; charset=utf-8", page)
	}
	serve("/axe.js", "text/javascript", source)
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		var all []view
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&all))
		reports <- all
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--remote-debugging-port=0", "--user-data-dir="+profile(t), srv.URL)
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	select {
	case all := <-reports:
		require.Len(t, all, 2*len(pages))
		for _, v := range all {
			assert.Empty(t, v.Violations, "page %d at %d pixels", v.Page, v.Width)
			assert.NotZero(t, v.Passes)
			assert.LessOrEqual(t, v.Needs, v.Width, "page %d fits the window", v.Page)
		}
	case <-time.After(patience):
		require.Fail(t, "the browser reports nothing")
	}
}

// Picture takes a picture of a page, which is a file or at an address.
func Picture(t *testing.T, page, file string) {
	t.Helper()
	file, err := filepath.Abs(file)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), chromium(t), "--headless", "--no-sandbox", "--disable-gpu",
		"--hide-scrollbars",
		"--window-size=860,940", "--screenshot="+file, page).CombinedOutput()
	require.NoError(t, err, string(out))
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs Chromium")
	return ""
}

// axe returns the source of axe-core (MPL-2.0), which npm fetches once.
func axe(t *testing.T) []byte {
	t.Helper()
	const version = "4.14.1"
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	path := filepath.Join(cache, "datacite-go", "axe-core-"+version+".js")
	if source, err := os.ReadFile(path); err == nil {
		return source
	}
	folder := t.TempDir()
	npm := exec.CommandContext(t.Context(), "npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit",
		"--no-fund", "axe-core@"+version)
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("needs axe-core, which npm could not fetch: %v\n%s", err, out)
	}
	source, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, source, 0o600))
	return source
}

// profile is a folder for the browser. Processes of the browser may write to it for a moment after the
// first of them was killed, which t.TempDir would report as a failure.
func profile(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "chromium")
	require.NoError(t, err)
	t.Cleanup(func() {
		for range 100 {
			if os.RemoveAll(folder) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return folder
}
