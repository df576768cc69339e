package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

var narrowing = regexp.MustCompile(`<a href="([^"]*)" rel="nofollow">([^<]*)</a> \((\d+)\)`)

// A facet leads to as many datasets as it says, and can be taken back; words, order and
// facets stay from one page to the next.
func TestFacets(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	reader := open(t, srv)
	c := reader.as("ada")
	for i := range 45 {
		f := fields(fmt.Sprint("Stones ", i))
		f["year"], f["family0"] = fmt.Sprint(2020+i%3), fmt.Sprint("O'Neil & <Söhne> ", i%4)
		if i%2 == 0 {
			f["license"] = "CC0-1.0"
		}
		path := c.draft(f)
		status, page := c.decide(path+"/publish", nil)
		require.Equal(t, http.StatusOK, status, page)
	}
	followed := 0
	var follow func(page string, depth int)
	follow = func(page string, depth int) {
		links := narrowing.FindAllStringSubmatch(page, -1)
		for _, link := range links {
			_, narrowed := reader.get("/" + html.UnescapeString(link[1]))
			thing := map[bool]string{true: " dataset<", false: " datasets<"}[link[3] == "1"]
			require.Contains(t, narrowed, `id="hits">`+link[3]+thing, link[2])
			require.Contains(t, narrowed, "<strong>"+link[2]+"</strong>")
			if followed++; depth < 2 && followed%3 == 0 {
				follow(narrowed, depth+1)
			}
		}
	}
	_, page := reader.get("/?q=stones")
	assert.Len(t, narrowing.FindAllString(page, -1), 3+2+5, "years, licences, creators")
	follow(page, 0)
	assert.Greater(t, followed, 20)

	_, page = reader.get("/?q=stones&sort=title&license=CC0-1.0")
	next := regexp.MustCompile(`<a href="([^"]*)" rel="next">`).FindStringSubmatch(page)[1]
	address, err := url.Parse(html.UnescapeString(next))
	require.NoError(t, err)
	assert.Equal(t, url.Values{"q": {"stones"}, "sort": {"title"}, "license": {"CC0-1.0"}, "page": {"2"}}, address.Query())
	_, page = reader.get("/" + address.String())
	assert.Contains(t, page, "Page 2 of 2")
	assert.Equal(t, 3, strings.Count(page, `<span class="doi">`))
	assert.Contains(t, page, `<a href="?q=stones&amp;sort=title" rel="nofollow">Remove`)
	assert.Contains(t, page, `<input type="hidden" name="license" value="CC0-1.0">`)

	_, page = c.get("/mine?page=3")
	assert.Contains(t, page, "45 datasets")
	assert.Contains(t, page, "Page 3 of 3")
	assert.Equal(t, 5, strings.Count(page, `class="state"`))
	for _, long := range []string{strings.Repeat("stones+", 60), strings.Repeat("%22%C3%B6", 5<<10)} {
		status, page := reader.get("/?q=" + long)
		assert.Equal(t, http.StatusOK, status)
		assert.Contains(t, page, "The last ones are ignored.")
		assert.Less(t, len(page), 200_000)
	}
}

// Drafts, what was withdrawn, older versions and embargoed files are not found, whatever
// is searched for.
func TestNothingHiddenIsFound(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	reader := open(t, srv)
	c := reader.as("ada")
	form := func(title, word string) map[string]string {
		f := fields(title)
		f["description"], f["family0"], f["year"] = "About "+word+".", word, "19"+word[len(word)-2:]
		return f
	}
	c.draft(form("Draft", "alpha01"))
	withdrawn := c.draft(form("Withdrawn", "beta02"))
	c.decide(withdrawn+"/publish", nil)
	_, v := c.settled(withdrawn)
	c.decide(withdrawn+"/withdraw", map[string]string{"reason": "Named gamma03."})
	edited := c.draft(form("Edited", "delta04"))
	c.decide(edited+"/publish", nil)
	d, _ := c.settled(edited)
	after := form("Edited", "epsilon05")
	after["revision"] = fmt.Sprint(d.Revision)
	c.post(edited+"/edit", after)
	_, second := c.post(edited+"/version", nil)
	d, _ = c.now(second)
	draft := form("Edited", "zeta06")
	draft["revision"] = fmt.Sprint(d.Revision)
	c.post(second+"/edit", draft)
	embargoed := form("Embargoed", "eta07")
	embargoed["embargo"] = time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
	path := c.draft(embargoed)
	c.upload(path, "theta08.csv", "iota09")
	c.decide(path+"/publish", nil)

	for _, who := range []*person{reader, c} { // the owner's own list is another page
		for words, want := range map[string]string{
			"alpha01": "", "1901": "", "beta02": "", "1902": "", v.DOI: "", "gamma03": "", "delta04": "", "epsilon05": "Edited", "zeta06": "", "eta07": "Embargoed", "theta08": "", "iota09": "",
		} {
			_, page := who.get("/?q=" + url.QueryEscape(words))
			if want == "" {
				assert.Contains(t, page, "No dataset matches this search.", words)
			} else {
				assert.Regexp(t, `<a href="/datasets/[^"]*">`+want+`</a>`, page, words)
			}
		}
		for _, page := range []string{"/?year=1901", "/?year=1902", "/?creator=alpha01%2C+Ada", "/?creator=beta02%2C+Ada", "/?creator=zeta06%2C+Ada"} {
			_, text := who.get(page)
			assert.Contains(t, text, "No dataset matches this search.", page)
		}
		for _, page := range []string{"/", "/?sort=title", "/?q=-edited"} {
			_, text := who.get(page)
			assert.Contains(t, text, "eta07, Ada", page)
			for _, hidden := range []string{"alpha01", "beta02", "gamma03", "delta04", "zeta06", "theta08", ">1901<", ">1902<", ">1906<"} {
				assert.NotContains(t, text, hidden, page)
			}
		}
	}
}
