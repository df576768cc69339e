package dois_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
)

// An archive is a service with n records, r0000000 and so on, that pages them as
// the deployed one does: 1,000 records a page at most, page numbers clamped at
// 10,000 records silently, a link to the next page that leaves out most
// parameters, a cursor that begins again when it cannot be read, and an empty
// page at the end when the number of records is a multiple of the page size.
//
// The records are spread over the years from 2000 to 2024. Sorting by name is
// the order of creation; everything else is ignored.
type archive struct {
	n      int
	trap   func(page *archivePage) // changes a page before it is sent
	fail   func() fault            // what goes wrong with a request
	asked  int
	params []url.Values
}

// A fault is something that goes wrong on the way.
type fault int

const (
	none fault = iota
	serverError
	badGateway
	htmlPage
	cutOff
	lostConnection
	faults
)

// often makes every twentieth request fail, each time in another way.
func often() func() fault {
	dice := rand.New(rand.NewPCG(1, 2))
	kind := 0
	return func() fault {
		if dice.IntN(20) != 0 {
			return none
		}
		kind++
		return fault(1 + kind%int(faults-1))
	}
}

// An archivePage is one page before it is written.
type archivePage struct {
	number     int // 0 by cursor
	first, end int // records from first, before end
	size       int
	total      int
	next       url.Values // nil at the end
	asked      url.Values
}

func recordYear(i, n int) int { return 2000 + i*25/n }

func recordName(i int) string { return "10.5072/r" + strconv.Itoa(10_000_000 + i)[1:] }

func (a *archive) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked++
	kind := none
	if a.fail != nil {
		kind = a.fail()
	}
	status, body, contentType := 200, io.Reader(nil), "application/json; charset=utf-8"
	switch kind {
	case lostConnection:
		return nil, io.ErrUnexpectedEOF
	case serverError:
		status, body = 500, strings.NewReader(`{"status":500,"title":"Internal Server Error"}`)
	case badGateway:
		status, body, contentType = 502, strings.NewReader("<html><title>502 Bad Gateway</title></html>"), "text/html"
	case htmlPage:
		body, contentType = strings.NewReader("<!doctype html><title>Maintenance</title>"), "text/html"
	default:
		text := a.page(r.URL.Query())
		body = strings.NewReader(text)
		if kind == cutOff {
			body = io.MultiReader(strings.NewReader(text[:len(text)*2/3]), broken{})
		}
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body),
	}, nil
}

func (a *archive) page(asked url.Values) string {
	a.params = append(a.params, asked)
	from, to := a.span(asked.Get("created"))
	p := &archivePage{size: 25, total: to - from, asked: asked}
	if size, err := strconv.Atoi(asked.Get("page[size]")); err == nil {
		p.size = min(size, 1000)
	}
	if cursor := asked.Get("page[cursor]"); cursor != "" {
		p.byCursor(from, to, cursor)
	} else {
		p.byNumber(from, to)
	}
	if asked.Get("sort") == "-created" && p.size == 1 { // asked for the newest record only
		p.first, p.end = to-1, to
	}
	if a.trap != nil {
		a.trap(p)
	}
	return p.text(a.n)
}

// span is the records of a year.
func (a *archive) span(year string) (from, to int) {
	if year == "" {
		return 0, a.n
	}
	wanted, _ := strconv.Atoi(year)
	before := func(year int) int { return sort.Search(a.n, func(i int) bool { return recordYear(i, a.n) >= year }) }
	return before(wanted), before(wanted + 1)
}

func (p *archivePage) byCursor(from, to int, cursor string) {
	p.first = from
	if plain, err := base64.RawURLEncoding.DecodeString(cursor); err == nil && cursor != "1" {
		if _, name, ok := strings.Cut(string(plain), ","); ok {
			last, _ := strconv.Atoi(strings.TrimPrefix(name, "10.5072/r"))
			p.first = last + 1
		}
	}
	p.end = min(p.first+p.size, to)
	if p.end-p.first == p.size && p.total > p.size {
		p.next = url.Values{"page[cursor]": {cursorAfter(p.end - 1)}, "page[size]": {strconv.Itoa(p.size)}}
	}
}

func cursorAfter(i int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d,%s", i, recordName(i)))
}

func (p *archivePage) byNumber(from, to int) {
	p.number, _ = strconv.Atoi(p.asked.Get("page[number]"))
	p.number = min(max(p.number, 1), 10_000/p.size)
	p.first = min(from+(p.number-1)*p.size, to)
	p.end = min(p.first+p.size, to)
	if p.end-p.first == p.size && p.number*p.size < min(p.total, 10_000) {
		p.next = url.Values{"page[number]": {strconv.Itoa(p.number + 1)}, "page[size]": {strconv.Itoa(p.size)}}
	}
}

func (p *archivePage) text(n int) string {
	var b strings.Builder
	b.WriteString(`{"data":[`)
	for i := p.first; i < p.end; i++ {
		if i > p.first {
			b.WriteByte(',')
		}
		name := recordName(i)
		b.WriteString(`{"id":"` + name + `","type":"dois","attributes":{"doi":"` + name + `","titles":[{"title":"Record"}],"created":"`)
		b.WriteString(strconv.Itoa(recordYear(i, n)) + `-01-01T00:00:00Z"},"relationships":{"client":{"data":{"id":"example.repo","type":"clients"}}}}`)
	}
	fmt.Fprintf(&b, `],"meta":{"total":%d,"totalPages":1`, p.total)
	if p.number > 0 {
		fmt.Fprintf(&b, `,"page":%d`, p.number)
	}
	b.WriteString(`},"links":{"self":"https://localhost/dois"`)
	if p.next != nil {
		fmt.Fprintf(&b, `,"next":"https://localhost/dois?%s"`, p.next.Encode())
	}
	b.WriteString(`}}`)
	return b.String()
}

// client is a client of the archive.
func (a *archive) client(t *testing.T) *dois.Client {
	t.Helper()
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"}, HTTPClient: &http.Client{Transport: a}})
	require.NoError(t, err)
	return client
}
