package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/store"
)

const (
	perPage  = 20
	maxQuery = 1000 // bytes of a search: the links of its page repeat it
)

// home shows the published datasets, or those that somebody searches for.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	words, cut := r.FormValue("q"), false
	if len(words) > maxQuery {
		words, cut = strings.ToValidUTF8(words[:maxQuery], ""), true
	}
	list, err := p.Store.Search(r.Context(), store.Query{Words: words, Page: page(r)})
	if err != nil {
		return err
	}
	list.Cut = list.Cut || cut
	public(w, r, time.Minute)
	return p.render(w, r, http.StatusOK, "home", "Datasets", map[string]any{"Words": words, "List": list, "Turn": turn(list, words)})
}

// mine shows the datasets of the curator who is logged in.
func (p *Pages) mine(w http.ResponseWriter, r *http.Request) error {
	if curator(r) == "" {
		return errLogin
	}
	list, err := p.Store.Of(r.Context(), curator(r), page(r))
	if err != nil {
		return err
	}
	return p.render(w, r, http.StatusOK, "mine", "Your datasets", map[string]any{"List": list, "Turn": turn(list, "")})
}

func page(r *http.Request) store.Page {
	number, _ := strconv.Atoi(r.FormValue("page"))
	return store.Page{Number: number, Size: perPage}
}

// turn returns the links to the pages before and after, as far as there are any.
func turn(list store.List, words string) map[string]string {
	links, n := map[string]string{}, list.Page.Number
	for name, number := range map[string]int{"Previous": n - 1, "Next": n + 1} {
		values := url.Values{"page": {strconv.Itoa(number)}}
		if words != "" {
			values.Set("q", words)
		}
		if number >= 1 && number <= list.Pages() {
			links[name] = "?" + values.Encode()
		}
	}
	return links
}
