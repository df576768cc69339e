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

// An order in which the list can be sorted.
type order struct{ Value, Label string }

var (
	orders        = []order{{store.ByRelevance, "Relevance"}, {store.ByNewest, "Newest first"}, {store.ByTitle, "Title"}}
	ordersOfWhole = []order{{store.ByRelevance, "Newest first"}, {store.ByTitle, "Title"}} // without words, nothing is more relevant
)

// home shows the published datasets, or those that somebody searches for.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	words, cut := r.FormValue("q"), false
	if len(words) > maxQuery {
		words, cut = strings.ToValidUTF8(words[:maxQuery], ""), true
	}
	q := store.Query{Words: words, Order: r.FormValue("sort"), Page: page(r)}
	chosen := url.Values{"q": {q.Words}, "sort": {q.Order}}
	list, err := p.Store.Search(r.Context(), q)
	if err != nil {
		return err
	}
	list.Cut = list.Cut || cut
	sorted := orders
	if q.Words == "" {
		sorted = ordersOfWhole
	}
	public(w, r, time.Minute)
	return p.render(w, r, http.StatusOK, "home", "Datasets", map[string]any{
		"Query": q, "Orders": sorted, "List": list, "Turn": turn(list, chosen),
	})
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
	return p.render(w, r, http.StatusOK, "mine", "Your datasets", map[string]any{"List": list, "Turn": turn(list, url.Values{})})
}

func page(r *http.Request) store.Page {
	number, _ := strconv.Atoi(r.FormValue("page"))
	return store.Page{Number: number, Size: perPage}
}

// turn returns the links to the pages before and after, as far as there are any.
func turn(list store.List, chosen url.Values) map[string]string {
	links := map[string]string{}
	if n := list.Page.Number; n > 1 {
		links["Previous"] = link(chosen, "page", strconv.Itoa(n-1))
	}
	if n := list.Page.Number; n < list.Pages() {
		links["Next"] = link(chosen, "page", strconv.Itoa(n+1))
	}
	return links
}

// link is the address of a list with another choice, "" if there is none any more.
func link(chosen url.Values, name, value string) string {
	values := url.Values{}
	for other := range chosen {
		if v := chosen.Get(other); v != "" {
			values.Set(other, v)
		}
	}
	if values.Del(name); value != "" {
		values.Set(name, value)
	}
	return "?" + values.Encode()
}
