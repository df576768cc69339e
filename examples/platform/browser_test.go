package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

var shots = flag.String("shots", "", "`folder` for the screenshots of TestAccessibility")

// A browser is a headless Chromium.
type browser struct {
	*testing.T
	ctx context.Context
	url string
}

// browse opens a Chromium on a site, and skips the test where there is none.
func browse(t *testing.T, url string) *browser {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.Flag("disable-back-forward-cache", true))
		allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
		t.Cleanup(stop)
		ctx, stop := chromedp.NewContext(allocated)
		t.Cleanup(stop)
		require.NoError(t, chromedp.Do(ctx)) // what follows has limits, the browser has none
		return &browser{t, ctx, url}
	}
	t.Skip("needs Chromium")
	return nil
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b, chromedp.Do(ctx, steps...))
}

func (b *browser) text(of chromedp.CSS) string {
	b.Helper()
	found, err := chromedp.Run(b.ctx, chromedp.Text(of))
	require.NoError(b, err)
	return found
}

func (b *browser) goTo(path string) { b.Helper(); b.do(chromedp.Navigate(b.url + path)) }
func (b *browser) click(id string)  { b.Helper(); b.do(chromedp.Click(chromedp.CSS("#" + id))) }
func (b *browser) see(id string)    { b.Helper(); b.do(chromedp.WaitVisible(chromedp.CSS("#" + id))) }
func (b *browser) write(id, value string) {
	b.Helper()
	b.do(chromedp.SetValue(chromedp.CSS("#"+id), value))
}
func (b *browser) choose(id, file string) {
	b.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#"+id), []string{file}))
}
func (b *browser) becomes(state string) {
	b.Helper()
	for end := time.Now().Add(patience); b.text("#state") != state; b.do(chromedp.Reload()) {
		require.True(b, time.Now().Before(end), "it never is %s", state)
	}
}

func (b *browser) login(name string) {
	b.Helper()
	b.goTo("/login")
	b.write("name", name)
	b.write("password", password)
	b.click("login")
	b.see("logout")
}

// A sight is a page that people see.
type sight struct {
	name, path string
	curator    bool
}

// sights are all kinds of pages, with what makes pages break: long titles, many
// creators, tables, faults.
func sights(t *testing.T, c *person) []sight {
	ada := c.as("ada")
	published := func(fields map[string]string) string {
		path := ada.draft(fields)
		status, page := ada.decide(path+"/publish", nil)
		require.Equal(t, 200, status, page)
		ada.settled(path)
		return path
	}
	plain := published(fields("Lengths of the Äletsch glacier by month, 1871 to 2025"))
	_, second := ada.post(plain+"/version", nil)
	ada.decide(second+"/publish", nil)
	ada.settled(second)
	long := fields(strings.Repeat("Sedimentationsgeschwindigkeitsmessungen",
		5) + strings.Repeat(" on the glacier of the valley", 7))
	long["description"] = strings.Repeat(strings.Repeat("A sentence about ice and stones. ", 12)+"\n\n", 3)
	long["family0"] = strings.Repeat("Featherstonehaugh", 5)
	longPath := published(long)
	embargoed := fields("Ages of stones on the moraine")
	embargoed["embargo"] = time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
	embargoPath := published(embargoed)
	withdrawn := published(fields("Temperatures of 2019, first edition"))
	ada.decide(withdrawn+"/withdraw", map[string]string{"reason": "The thermometer was in the sun."})
	ada.settled(withdrawn)
	full := published(filled())
	draft := ada.draft(filled())
	ada.upload(draft, strings.Repeat("a-file-with-a-long-name-", 6)+".csv", "x", "readme.txt", strings.Repeat("x", 12345))
	ada.visit(visit{"GET", plain, "203.0.113.1", "", firefox, ""})
	ada.background(ada.platform.reportSoFar)
	ada.background(ada.platform.outbox.Check)
	return []sight{
		{"home", "/", false},
		{"nothing-found", "/?q=volcano", false},
		{"found", "/?q=glacier", false},
		{"landing", plain, false},
		{"landing-long", longPath, false},
		{"landing-full", full, false},
		{"embargo", embargoPath, false},
		{"tombstone", withdrawn, false},
		{"login", "/login", false},
		{"not-found", "/datasets/9999-9999", false},
		{"own-landing", second, true},
		{"own-tombstone", withdrawn, true},
		{"draft", draft, true},
		{"mine", "/mine", true},
		{"form", "/new", true},
		{"edit", longPath + "/edit", true},
		{"edit-full", full + "/edit", true},
		{"publish", draft + "/publish", true},
		{"withdraw", plain + "/withdraw", true},
		{"discard", draft + "/discard", true},
		{"status", "/status?asked=1", true},
		{"password", "/password", true},
	}
}

// each looks at all pages, and at a form with faults.
func (b *browser) each(all []sight, look func(name string)) {
	b.Helper()
	loggedIn := false
	for _, s := range all {
		if s.curator && !loggedIn {
			b.login("ada")
			loggedIn = true
		}
		b.goTo(s.path)
		look(s.name)
	}
	b.goTo("/new")
	b.write("family0", "Lovelace")
	b.write("orcid0", "0000-0001-5727-2428")
	b.write("license", "CC-BY-5.0")
	for _, row := range [][3]string{
		{"subject", "term0", "glaciers"}, {"contributor", "coorcid0", "0000-0001-5727-2428"},
		{"work", "related0", "volume 3"}, {"funder", "funderror0", "04wxnsj82"},
	} {
		b.click("more-" + row[0])
		b.see(row[1])
		b.write(row[1], row[2])
	}
	b.click("save")
	b.see("faults")
	look("faults")
}

// axe returns the source of axe-core (MPL-2.0), which npm fetches once, and skips the
// test where it cannot.
func axe(t *testing.T) string {
	t.Helper()
	const version = "4.14.1"
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	path := filepath.Join(cache, "datacite-go", "axe-core-"+version+".js")
	if source, err := os.ReadFile(path); err == nil {
		return string(source)
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
	return string(source)
}

// No page is wider than the screen, on a telephone or a desk, and people who do not see, or see
// little, can use each.
func TestAccessibility(t *testing.T) {
	c := open(t, serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed}))
	b := browse(t, c.url)
	source := axe(t)
	b.each(sights(t, c), func(name string) {
		for _, width := range []int64{400, 1400} {
			b.do(chromedp.EmulateViewport(width, 900), chromedp.Evaluate[chromedp.Void](source))
			wide, err := chromedp.Run(b.ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
			require.NoError(t, err)
			assert.LessOrEqual(t, wide, width, name)
			if *shots != "" {
				picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(*shots, fmt.Sprintf("%s-%d.png", name, width)), picture, 0o600))
			}
			report, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](
				`axe.run().then(r => JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => v.id + ": " + `+
					`v.nodes.map(n => n.html).join(" "))}))`, chromedp.EvalAwaitPromise))
			require.NoError(t, err)
			var found struct {
				Passes     int
				Violations []string
			}
			require.NoError(t, json.Unmarshal([]byte(report), &found))
			assert.Empty(t, found.Violations, "%s at %d", name, width)
			assert.NotZero(t, found.Passes)
		}
	})
}

// Everything can be done with the keyboard alone.
func TestKeyboardOnly(t *testing.T) {
	srv := serve(t, nil)
	c, _ := curated(t, srv)
	b := browse(t, c.url)
	focused := func() string {
		id, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](
			`document.activeElement?.id || document.activeElement?.getAttribute("href") || ""`))
		require.NoError(t, err)
		return id
	}
	tabTo := func(id string) {
		t.Helper()
		for range 80 {
			b.do(chromedp.KeyEvent(kb.Tab))
			if focused() == id {
				return
			}
		}
		require.Fail(t, "Tab does not lead there", id)
	}
	press := func() { // as a keyboard does: what moves the focus gets no character
		t.Helper()
		for _, kind := range []input.DispatchKeyEventType{"keyDown", "keyUp"} {
			key := input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13}
			if kind == "keyDown" {
				key.Text = "\r"
			}
			_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, key)
			require.NoError(t, err)
		}
	}
	enter := func(id string) { t.Helper(); tabTo(id); press() }
	write := func(id, text string) { t.Helper(); tabTo(id); b.do(chromedp.KeyEvent(text)) }

	b.goTo("/")
	b.do(chromedp.KeyEvent(kb.Tab))
	assert.Equal(t, "#main", focused(), "the first key skips the navigation")
	enter("/login")
	b.see("login")
	write("name", "ada")
	write("password", password)
	press()
	b.see("logout")
	enter("/new")
	b.see("save")
	write("title", "Glacier length")
	write("family0", "Lovelace")
	write("orcid0", "1")
	press()
	b.see("faults")
	require.Eventually(t, func() bool {
		return focused() == "faults"
	}, patience, time.Millisecond, "the faults are read first")
	enter("#orcid0")
	require.Eventually(t, func() bool {
		return focused() == "orcid0"
	}, patience, time.Millisecond, "a fault leads to its field")
	b.do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Backspace))
	enter("save")
	b.see("upload")
	upload := filepath.Join(t.TempDir(), "lengths.csv")
	require.NoError(t, os.WriteFile(upload, []byte("x"), 0o600))
	b.choose("file", upload) // the dialog for files is the system's
	enter("upload")
	b.see("zip") // the file has arrived
	enter("publish")
	b.see("confirm")
	enter("confirm")
	b.see("withdraw")
	b.becomes("published")
	assert.Regexp(t, `^Lovelace \(\d{4}\): Glacier length\. Version 1\. Test Repository\. https://doi\.org/10\.5072/`,
		b.text("#citation"))
	assert.Equal(t, []string{"findable", "findable"}, states(srv))
	enter("withdraw")
	b.see("reason")
	write("reason", "It was broken.")
	enter("confirm")
	b.see("restore")
	enter("restore")
	b.see("confirm")
	enter("confirm")
	b.see("withdraw")
}

// Whoever goes back, or whose session ends, loses nothing and does nothing twice.
func TestBackAndTheEndOfASession(t *testing.T) {
	srv := serve(t, nil)
	_, c := curated(t, srv)
	b := browse(t, c.url)
	b.login("ada")
	b.goTo("/")
	b.do(chromedp.Click(chromedp.CSS(`a[href="/new"]`)))
	back := func() { t.Helper(); b.do(chromedp.NavigateBack()) }
	save := func(title string) {
		t.Helper()
		b.see("save")
		b.write("title", title)
		b.write("family0", "Lovelace")
		b.click("save")
	}
	save("Glacier length")
	b.see("upload")
	back()
	save("Glacier length")
	b.see("upload")
	back()
	b.see("save")
	save("Glacier lengths")
	b.do(chromedp.WaitVisible(chromedp.CSS(".notice"))) // it asks, since something else was typed
	b.click("save")
	b.see("upload")
	list, err := c.platform.store.Of(t.Context(), "ada", everything)
	require.NoError(t, err)
	require.Equal(t, 1, list.Total, "one form makes one dataset")
	assert.Equal(t, "Glacier lengths", list.Datasets[0].Last().About.Title)
	path := list.Datasets[0].Last().Path()
	c.upload(path, "lengths.csv", "x")

	b.goTo(path + "/edit")
	sessions := func(step string) {
		db, err := sql.Open("sqlite", accountsFile(c.folder()))
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `UPDATE session SET expires = expires `+step)
		require.NoError(t, errors.Join(err, db.Close()))
	}
	sessions("- 43300")
	save("Typed in a session that ended")
	b.see("again")
	sessions("+ 43300") // as after logging in in another window
	b.do(chromedp.Reload())
	b.see("upload")
	assert.Equal(t, "Typed in a session that ended", b.text("main h1"))

	b.click("publish")
	b.click("confirm")
	b.see("withdraw")
	back()
	b.see("withdraw")
	assert.NotContains(t, b.text("main"), "another window")
	b.click("edit")
	assert.Contains(t, b.text("#public"), "public at once")
}
