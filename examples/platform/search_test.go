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
)

// The words stay from one page to the next.
func TestLists(t *testing.T) {
	_, reader, c := repository(t)
	for i := range 45 {
		path := c.draft(fields(fmt.Sprint("Stones ", i)))
		status, page := c.decide(path+"/publish", nil)
		require.Equal(t, http.StatusOK, status, page)
	}
	_, page := reader.get("/?q=stones")
	next := regexp.MustCompile(`<a href="([^"]*)" rel="next">`).FindStringSubmatch(page)[1]
	address, err := url.Parse(html.UnescapeString(next))
	require.NoError(t, err)
	assert.Equal(t, url.Values{"q": {"stones"}, "page": {"2"}}, address.Query())
	_, page = reader.get("/" + address.String())
	assert.Contains(t, page, "Page 2 of 3")
	assert.Contains(t, page, `<a href="?page=1&amp;q=stones" rel="prev">`)
	assert.Contains(t, page, "45 datasets")
	assert.Equal(t, 20, strings.Count(page, `<span class="doi">`))

	_, page = c.get("/mine?page=3")
	assert.Contains(t, page, "45 datasets")
	assert.Contains(t, page, "Page 3 of 3")
	assert.Equal(t, 5, strings.Count(page, `class="state"`))
	for _, long := range []string{"stones+glacier+1+2+3+4+5+6+7+8+9+10+11", strings.Repeat("%22%C3%B6", 5<<10)} {
		status, page := reader.get("/?q=" + long)
		assert.Equal(t, http.StatusOK, status)
		assert.Contains(t, page, "The last ones are ignored.")
		assert.Less(t, len(page), 200_000)
	}
}

// Drafts, what was withdrawn, older versions and embargoed files are not found, whatever
// is searched for.
func TestNothingHiddenIsFound(t *testing.T) {
	_, reader, c := repository(t)
	form := func(title, word string) map[string]string {
		f := fields(title)
		f["description"], f["family0"], f["year"] = "About "+word+".", word, "19"+word[len(word)-2:]
		return f
	}
	c.draft(form("Draft", "alpha01"))
	withdrawn := c.draft(form("Withdrawn", "beta02"))
	c.decide(withdrawn+"/publish", nil)
	c.settled(withdrawn)
	c.decide(withdrawn+"/withdraw", map[string]string{"reason": "Named gamma03."})
	edited := c.draft(form("Edited", "delta04"))
	c.decide(edited+"/publish", nil)
	_, v := c.settled(edited)
	after := form("Edited", "epsilon05")
	after["revision"] = fmt.Sprint(v.Revision)
	c.post(edited+"/edit", after)
	_, second := c.post(edited+"/version", nil)
	_, v = c.now(second)
	draft := form("Edited", "zeta06")
	draft["revision"] = fmt.Sprint(v.Revision)
	c.post(second+"/edit", draft)
	embargoed := form("Embargoed", "eta07")
	embargoed["embargo"] = time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
	path := c.draft(embargoed)
	c.upload(path, "theta08.csv", "iota09")
	c.decide(path+"/publish", nil)

	for _, who := range []*person{reader, c} { // the owner's own list is another page
		for words, want := range map[string]string{
			"alpha01": "", "1901": "", "beta02": "", "1902": "", v.DOI: "", "gamma03": "", "delta04": "", "epsilon05": "Edited",
			"zeta06": "", "eta07": "Embargoed", "theta08": "", "iota09": "",
		} {
			_, page := who.get("/?q=" + url.QueryEscape(words))
			if want == "" {
				assert.Contains(t, page, "No dataset matches this search.", words)
			} else {
				assert.Regexp(t, `<a href="/datasets/[^"]*">`+want+`</a>`, page, words)
			}
		}
		for _, page := range []string{"/", "/?q=eta07"} {
			_, text := who.get(page)
			assert.Contains(t, text, "eta07, Ada", page)
			for _, hidden := range []string{"alpha01", "beta02", "gamma03", "delta04", "zeta06", "theta08", ">1901<", ">1902<",
				">1906<"} {
				assert.NotContains(t, text, hidden, page)
			}
		}
	}
}
