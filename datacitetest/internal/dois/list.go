package dois

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// pageWindow is how far page numbers reach: a page beyond record 10,000 gets
// the last one before it.
const pageWindow = 10_000

// listDOIs is GET /dois in a format.
func (s *Service) listDOIs(q *wire.Request, f string) (wire.Reply, error) {
	account, p, err := s.callerAndParams(q)
	if err != nil {
		return wire.Reply{}, err
	}
	switch {
	case f != "json" && record.Writers[f] == nil:
		return wire.Reply{}, errType
	case f != "json":
		return wire.Reply{}, wire.OutputFormat.Refusal("in a list")
	}
	if err := playable(p); err != nil {
		return wire.Reply{}, err
	}
	found, err := s.hits(p, account)
	if err != nil {
		return wire.Reply{}, err
	}
	l, err := s.arrange(found, p)
	if err != nil {
		return wire.Reply{}, err
	}
	if err := addFacets(l.meta, p, found, s.Now()); err != nil {
		return wire.Reply{}, err
	}
	return s.reply(q, l, p, s.listView(p))
}

// listing is the page of a list that is shown.
type listing struct {
	hits []hit
	meta object
	next map[string]string // parameters of the next page; nil at the end
}

func (l listing) records() (all []*record.Record) {
	for _, h := range l.hits {
		all = append(all, h.Record)
	}
	return all
}

// arrange sorts the hits and selects the requested page.
func (s *Service) arrange(found []hit, p wire.Params) (listing, error) {
	size, err := pageSize(p)
	if err != nil {
		return listing{}, err
	}
	random := strings.EqualFold(p["random"], "true")
	if cursor, given := p["page[cursor]"]; given {
		if random {
			return listing{}, wire.Fail(http.StatusBadRequest,
				"Cursor-based pagination and random sampling are mutually exclusive, please choose one or the other.")
		}
		return byCursor(found, cursor, size), nil
	}
	if group := samplers[p["sample_group"]]; group != nil && s.Deployed {
		return listing{}, wire.Crashed("[503] No server available") // since July 2026
	} else if group != nil {
		return sampled(found, group, max(p.Number("sample", 1), 1)), nil
	}
	if random {
		rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	} else {
		slices.SortStableFunc(found, s.order(p["sort"]))
	}
	return byNumber(found, p.Number("page[number]", 1), size), nil
}

// pageSize is 25 by default and 1,000 at most.
func pageSize(p wire.Params) (int, error) {
	size := p.Number("page[size]", 25)
	if size < 0 {
		return 0, searchFault("[size] parameter cannot be negative, found [" + strconv.Itoa(size) + "]")
	}
	return min(size, wire.MaxPage), nil
}

func byNumber(found []hit, page, size int) listing {
	page = max(page, 1)
	total := wire.Pages(min(len(found), pageWindow), size)
	if size > 0 {
		page = min(page, pageWindow/size)
	}
	l := listing{
		hits: wire.Window(found, page, size),
		meta: object{"total": len(found), "totalPages": total, "page": page},
	}
	if size > 0 && len(l.hits) == size && page != total {
		l.next = map[string]string{"page[number]": strconv.Itoa(page + 1), "page[size]": strconv.Itoa(size)}
	}
	return l
}

// byCursor walks all records in the order of their creation, ignoring sort. A
// cursor that cannot be read starts from the beginning.
func byCursor(found []hit, cursor string, size int) listing {
	slices.SortFunc(found, byCreation)
	after := readCursor(cursor)
	start, _ := slices.BinarySearchFunc(found, after, func(h hit, after place) int {
		if h.place().compare(after) <= 0 {
			return -1
		}
		return 1
	})
	total := wire.Pages(len(found), size)
	l := listing{
		hits: found[start:min(start+size, len(found))],
		meta: object{"total": len(found), "totalPages": total},
	}
	if size > 0 && len(l.hits) == size && total > 1 {
		last := l.hits[size-1].place()
		l.next = map[string]string{"page[cursor]": last.cursor(), "page[size]": strconv.Itoa(size)}
	}
	return l
}

// place is the position of a record in the order of a cursor.
type place struct {
	created int64 // in ms since 1970
	doi     string
}

// place is to the second, the precision of the index.
func (h hit) place() place { return place{h.Created.Unix() * 1000, h.DOI} }

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.created, other.created), cmp.Compare(p.doi, other.doi))
}

func byCreation(a, b hit) int { return a.place().compare(b.place()) }

func (p place) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d,%s", p.created, p.doi))
}

// beginning is the place before all records.
var beginning = place{created: -1 << 63}

func readCursor(cursor string) place {
	plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(cursor, "="))
	ms, doi, ok := strings.Cut(string(plain), ",")
	if err != nil || !ok {
		return beginning
	}
	created, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return beginning
	}
	return place{created, doi}
}

// samplers name the groups of sample-group.
var samplers = map[string]func(hit) string{
	"client":        func(h hit) string { return h.Client },
	"data-center":   func(h hit) string { return h.Client },
	"provider":      func(h hit) string { return h.Provider },
	"resource-type": func(h hit) string { return h.GeneralType() },
}

// sampled picks n records of each group at random.
func sampled(found []hit, group func(hit) string, n int) listing {
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	picked := map[string]int{}
	l := listing{}
	for _, h := range found {
		if g := group(h); picked[g] < n {
			picked[g]++
			l.hits = append(l.hits, h)
		}
	}
	l.meta = object{"total": len(l.hits), "totalPages": 1, "page": 1}
	return l
}

// orders are the sort options of specification §4.2.2, ascending.
var orders = map[string]func(a, b hit) int{
	"name":           func(a, b hit) int { return cmp.Compare(a.DOI, b.DOI) },
	"created":        func(a, b hit) int { return a.Created.Compare(b.Created) },
	"updated":        func(a, b hit) int { return a.Updated.Compare(b.Updated) },
	"published":      func(a, b hit) int { return cmp.Compare(a.Year(), b.Year()) },
	"view-count":     byCount("view_count"),
	"download-count": byCount("download_count"),
	"citation-count": byCount("citation_count"),
}

func byCount(counter string) func(a, b hit) int {
	return func(a, b hit) int {
		x, _ := a.Search()[counter].(float64)
		y, _ := b.Search()[counter].(float64)
		return cmp.Compare(x, y)
	}
}

// byTitle sorts by the first title, without regard to case. A title with accents is sorted
// both with and without them: the smaller form counts, in descending order the larger.
// Records without a title come last in both orders.
func byTitle(descending bool) func(a, b hit) int {
	known := map[*record.Record][]string{}
	titles := func(h hit) []string {
		if _, ok := known[h.Record]; !ok {
			known[h.Record] = h.titles()
		}
		return known[h.Record]
	}
	return func(a, b hit) int {
		x, y := titles(a), titles(b)
		switch {
		case len(x) != len(y):
			return cmp.Compare(len(y), len(x))
		case len(x) == 0:
			return 0
		case descending:
			return cmp.Compare(slices.Max(y), slices.Max(x))
		}
		return cmp.Compare(slices.Min(x), slices.Min(y))
	}
}

func (h hit) titles() []string {
	title := h.values("primary_title.title.raw")
	if len(title) == 0 {
		return nil
	}
	return []string{title[0], names.Collate(title[0])}
}

// order is the comparison for a sort option. An unknown option is the default: last
// updated first. Equal records are sorted by name.
func (s *Service) order(sort string) func(a, b hit) int {
	name, descending := strings.CutPrefix(sort, "-")
	compare := orders[name]
	switch {
	case name == "published" && s.Deployed:
		compare = func(hit, hit) int { return 0 }
	case name == "title":
		compare, descending = byTitle(descending), false
	case sort == "relevance":
		compare, descending = func(a, b hit) int { return cmp.Compare(a.score, b.score) }, true
	case compare == nil:
		compare, descending = orders["updated"], true
	}
	return func(a, b hit) int {
		c := compare(a, b)
		if descending {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.DOI, b.DOI))
	}
}

func (s *Service) reply(q *wire.Request, l listing, p wire.Params, v record.View) (wire.Reply, error) {
	data, err := wire.Encoded(l.hits, func(h hit) any { return s.resource(h.Record, v, p, nil) })
	if err != nil {
		return wire.Reply{}, err
	}
	body := object{"data": data, "meta": l.meta}
	s.include(body, p, l.records(), false)
	links := object{"self": wire.Address(q) + q.URL.RequestURI()}
	if l.next != nil {
		links["next"] = wire.Address(q) + "/dois?" + nextQuery(p, l.next)
	}
	body["links"] = links
	return wire.JSON(http.StatusOK, body), nil
}

// carried are the parameters that the link to the next page keeps. All others
// are lost, sort and state among them.
var carried = []string{
	"query", "provider-id", "consortium-id", "client-id", "funder-id", "affiliation-id", "resource-type-id", "prefix",
	"published", "created", "registered", "has-citations", "has-references", "has-parts", "has-part-of",
	"has-versions", "has-version-of", "has-views", "has-downloads", "has-person", "has-affiliation", "has-funder",
	"facets", "detail", "affiliation", "publisher", "fields[dois]",
	"funded_by", "include_funder_child_organizations", "enriched",
}

func nextQuery(p wire.Params, page map[string]string) string {
	values := url.Values{}
	for _, name := range carried {
		if value, given := p[wire.Canonical(name)]; given {
			values.Set(name, value)
		}
	}
	if off := strings.ToLower(p["disable_facets"]); off != "" {
		values.Set("disable-facets", strconv.FormatBool(off == "true" || off == "1"))
	}
	for name, value := range page {
		values.Set(name, value)
	}
	return values.Encode()
}

func singleView(p wire.Params) record.View {
	return record.View{Affiliation: p["affiliation"] == "true", Publisher: p["publisher"] == "true", Detail: true, Single: true}
}

func (s *Service) listView(p wire.Params) record.View {
	v := record.View{Affiliation: p["affiliation"] == "true", Publisher: p["publisher"] == "true", Detail: p["detail"] == "true"}
	if _, given := p["detail"]; given && s.Deployed {
		v.Detail = true
	}
	switch names, given := p["fields[dois]"]; {
	case given && s.Deployed:
		v.Fields = strings.Split(names, ",")
	case names != "":
		v.Fields = strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return v
}
