package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

// browser returns the path of a Chromium, and skips where there is none.
func browser(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs Chromium")
	return ""
}

// A person publishes a dataset, and withdraws it.
func TestInABrowser(t *testing.T) {
	path := browser(t)
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Deployed})
	defer srv.Close()
	c := open(t, srv)
	upload := filepath.Join(t.TempDir(), "lengths.csv")
	require.NoError(t, os.WriteFile(upload, []byte("month,length\n"), 0o600))

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, stop := chromedp.NewContext(allocated)
	defer stop()

	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(ctx, steps...))
	}
	text := func(of chromedp.CSS) string {
		t.Helper()
		found, err := chromedp.Run(ctx, chromedp.Text(of))
		require.NoError(t, err)
		return found
	}
	click := func(id string) { t.Helper(); do(chromedp.Click(chromedp.CSS("#" + id))) }
	write := func(id, value string) { t.Helper(); do(chromedp.SetValue(chromedp.CSS("#"+id), value)) }
	file := func() { t.Helper(); do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{upload})) }

	do(chromedp.Navigate(c.url), chromedp.Click(chromedp.CSS(`a[href="/new"]`)), chromedp.WaitVisible(chromedp.CSS("#save")))
	write("title", "Glacier length")
	write("family0", "Lovelace")
	write("given0", "Ada")
	write("orcid0", "0000-0001-5727-2428")
	file()
	click("save")
	assert.Contains(t, text(".fault"), "check digit")

	write("orcid0", "0000-0001-5727-2427")
	file()
	click("save")
	click("publish")
	do(chromedp.WaitVisible(chromedp.CSS("#withdraw")))
	becomes := func(state string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); text("#state") != state; do(chromedp.Reload()) {
			require.True(t, time.Now().Before(end), "it never is %s", state)
		}
	}
	becomes("published")
	assert.Regexp(t, `^Lovelace, Ada \(\d{4}\): Glacier length\. Test Repository\. https://doi\.org/10\.5072/`, text("#citation"))
	require.Len(t, srv.Names(), 1)
	assert.Equal(t, datacitetest.StateFindable, srv.State(srv.Names()[0]))

	click("withdraw")
	do(chromedp.WaitNotPresent(chromedp.CSS("#withdraw")))
	becomes("withdrawn")
	assert.Equal(t, datacitetest.StateRegistered, srv.State(srv.Names()[0]))
}
