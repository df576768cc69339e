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

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
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
	if err := checkPlayable(p); err != nil {
		return wire.Reply{}, err
	}
	var l listing
	s.Search(func(ix *store.Index) { l, err = s.list(ix, p, account) })
	if err != nil {
		return wire.Reply{}, err
	}
	return s.reply(q, l, p, s.listView(p))
}

func (s *Service) list(ix *store.Index, p wire.Params, account *record.Account) (listing, error) {
	found, err := s.find(ix, p, account)
	if err != nil {
		return listing{}, err
	}
	l, err := s.arrange(ix, found, p)
	if err != nil {
		return listing{}, err
	}
	return l, addFacets(l.meta, p, ix, found.Set, s.Now())
}

// listing is the page of a list that is shown.
type listing struct {
	records []*record.Record
	meta    object
	next    map[string]string // parameters of the next page; nil at the end
}

// add adds a record to the page.
func (l *listing) add(e *store.Entry) { l.records = append(l.records, e.Record) }

// arrange sorts what was found and selects the requested page.
func (s *Service) arrange(ix *store.Index, found search.Found, p wire.Params) (listing, error) {
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
		return byCursor(ix, found.Set, cursor, size), nil
	}
	if group := samplers[p["sample_group"]]; group != nil && s.Deployed {
		return listing{}, wire.Crashed("[503] No server available") // since July 2026
	} else if group != nil {
		return sampled(ix, found.Set, group, max(p.Number("sample", 1), 1)), nil
	}
	var order []int32
	if random {
		order = shuffled(found.Set)
	} else {
		order = s.sorted(ix, found, p["sort"])
	}
	return byNumber(ix, order, p.Number("page[number]", 1), size), nil
}

// shuffled are the records of a set in random order.
func shuffled(found search.Set) []int32 {
	var all []int32
	for n := range found.All() {
		all = append(all, int32(n))
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// pageSize is 25 by default and 1,000 at most.
func pageSize(p wire.Params) (int, error) {
	size := p.Number("page[size]", 25)
	if size < 0 {
		return 0, searchFault("[size] parameter cannot be negative, found [" + strconv.Itoa(size) + "]")
	}
	return min(size, wire.MaxPage), nil
}

// byNumber is a page of what was found.
func byNumber(ix *store.Index, found []int32, page, size int) listing {
	page = max(page, 1)
	all := len(found)
	total := wire.Pages(min(all, pageWindow), size)
	if size > 0 {
		page = min(page, pageWindow/size)
	}
	l := listing{meta: object{"total": all, "totalPages": total, "page": page}}
	from := min((page-1)*size, all)
	for _, n := range found[from:min(from+size, all)] {
		l.add(ix.Entry(int(n)))
	}
	if size > 0 && len(l.records) == size && page != total {
		l.next = map[string]string{"page[number]": strconv.Itoa(page + 1), "page[size]": strconv.Itoa(size)}
	}
	return l
}

// byCursor walks all records in the order of their creation, ignoring sort. A
// cursor that cannot be read starts from the beginning.
func byCursor(ix *store.Index, found search.Set, cursor string, size int) listing {
	order := ix.Sorted("cursor", byCreation)
	after := readCursor(cursor)
	start, _ := slices.BinarySearchFunc(order, after, func(n int32, after place) int {
		if placeOf(ix.Entry(int(n)).Record).compare(after) <= 0 {
			return -1
		}
		return 1
	})
	all := found.Len()
	total := wire.Pages(all, size)
	l := listing{meta: object{"total": all, "totalPages": total}}
	for _, n := range order[start:] {
		if len(l.records) == size {
			break
		}
		if found.Has(int(n)) {
			l.add(ix.Entry(int(n)))
		}
	}
	if size > 0 && len(l.records) == size && total > 1 {
		last := placeOf(l.records[size-1])
		l.next = map[string]string{"page[cursor]": last.cursor(), "page[size]": strconv.Itoa(size)}
	}
	return l
}

// place is the position of a record in the order of a cursor.
type place struct {
	created int64 // in ms since 1970
	doi     string
}

// placeOf is to the second, the precision of the index.
func placeOf(rec *record.Record) place { return place{rec.Created.Unix() * 1000, rec.DOI} }

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.created, other.created), cmp.Compare(p.doi, other.doi))
}

func byCreation(a, b *store.Entry) int { return placeOf(a.Record).compare(placeOf(b.Record)) }

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
var samplers = map[string]func(*store.Entry) string{
	"client":        func(e *store.Entry) string { return e.Client },
	"data-center":   func(e *store.Entry) string { return e.Client },
	"provider":      func(e *store.Entry) string { return e.Provider },
	"resource-type": func(e *store.Entry) string { return e.Type },
}

// sampled picks n records of each group at random.
func sampled(ix *store.Index, found search.Set, group func(*store.Entry) string, n int) listing {
	picked := map[string]int{}
	l := listing{}
	for _, number := range shuffled(found) {
		e := ix.Entry(int(number))
		if g := group(e); picked[g] < n {
			picked[g]++
			l.add(e)
		}
	}
	l.meta = object{"total": len(l.records), "totalPages": 1, "page": 1}
	return l
}

// orders are the sort options of specification §4.2.2, ascending.
var orders = map[string]func(a, b *store.Entry) int{
	"name":           func(a, b *store.Entry) int { return cmp.Compare(a.DOI, b.DOI) },
	"created":        func(a, b *store.Entry) int { return a.Created.Compare(b.Created) },
	"updated":        func(a, b *store.Entry) int { return a.Updated.Compare(b.Updated) },
	"published":      func(a, b *store.Entry) int { return cmp.Compare(a.Year, b.Year) },
	"view-count":     func(a, b *store.Entry) int { return cmp.Compare(a.Views, b.Views) },
	"download-count": func(a, b *store.Entry) int { return cmp.Compare(a.Downloads, b.Downloads) },
	"citation-count": func(a, b *store.Entry) int { return cmp.Compare(a.Citations, b.Citations) },
}

// byTitle sorts by the first title, without regard to case. A title with accents is sorted
// both with and without them: the smaller form counts, in descending order the larger.
// Records without a title come last in both orders.
func byTitle(descending bool) func(a, b *store.Entry) int {
	return func(a, b *store.Entry) int {
		switch {
		case a.Titled && !b.Titled:
			return -1
		case b.Titled && !a.Titled:
			return 1
		case descending:
			return cmp.Compare(b.TitleAbove, a.TitleAbove)
		}
		return cmp.Compare(a.Title, b.Title)
	}
}

// sorted are the records that were found, in the order of a sort option. An unknown option is the default: last updated
// first. Equal records are sorted by name.
func (s *Service) sorted(ix *store.Index, found search.Found, sort string) []int32 {
	name, descending := strings.CutPrefix(sort, "-")
	compare := orders[name]
	switch {
	case name == "published" && s.Deployed:
		sort, compare = "name", orders["name"]
	case name == "title":
		compare, descending = byTitle(descending), false
	case sort == "relevance":
		return byRelevance(ix, found)
	case compare == nil:
		sort, compare, descending = "-updated", orders["updated"], true
	}
	return ix.Selected(sort, found.Set, func() []int32 {
		return ix.Sorted(sort, func(a, b *store.Entry) int {
			c := compare(a, b)
			if descending {
				c = -c
			}
			return cmp.Or(c, cmp.Compare(a.DOI, b.DOI))
		})
	})
}

func byRelevance(ix *store.Index, found search.Found) []int32 {
	type scored struct {
		n     int32
		score float64
	}
	var all []scored
	for _, n := range ix.Sorted("name", orders["name"]) {
		if found.Has(int(n)) {
			all = append(all, scored{n, found.Score(int(n))})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	order := make([]int32, len(all))
	for i, s := range all {
		order[i] = s.n
	}
	return order
}

func (s *Service) reply(q *wire.Request, l listing, p wire.Params, v record.View) (wire.Reply, error) {
	data, err := wire.Encoded(l.records, func(rec *record.Record) any { return s.resource(rec.Unpacked(), v, p, nil) })
	if err != nil {
		return wire.Reply{}, err
	}
	body := object{"data": data, "meta": l.meta}
	s.include(body, p, l.records, false)
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
	return record.View{Affiliation: p["affiliation"] == "true", Publisher: p["publisher"] == "true", Detail: true,
		Single: true}
}

func (s *Service) listView(p wire.Params) record.View {
	v := record.View{Affiliation: p["affiliation"] == "true", Publisher: p["publisher"] == "true",
		Detail: p["detail"] == "true"}
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
