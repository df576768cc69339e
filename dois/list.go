package dois

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/query"
)

// Results is one page of records.
type Results struct {
	Records  []Record
	Total    int        // records on all pages; -1 if the service does not say
	Next     query.Page // the next page, if More is true
	More     bool
	Facets   map[string]Facet           // the facets of ListOptions.Facets, by name
	Meta     map[string]json.RawMessage // all members of the response's meta
	Included []Resource                 // the resources of ListOptions.Include
}

// List returns one page of the records that match opts; nil means the first 25 of all.
// Options that the service would refuse, ignore or misread are a [*datacite.ValidationError].
//
// A record with a title or another text of more than 32,766 bytes is missing from all lists:
// the service stores it but cannot index it. Get reads it, and [metadata.Record.Findings]
// warns of it.
//
// List sends GET /dois (specification §4.2). To read on, put Results.Next into
// the options of the next call, or use [Client.All].
func (c *Client) List(ctx context.Context, opts *ListOptions) (*Results, error) {
	if opts == nil {
		opts = &ListOptions{}
	}
	if opts.From != (Position{}) {
		return nil, datacite.Invalidf("ListOptions.From", datacite.CodeConflict,
			"is for walks; set Page to choose a page")
	}
	if cursor := opts.Page.Cursor; cursor != "" && cursor != "1" && !isCursor(cursor) {
		return nil, datacite.Invalid(datacite.Finding{Path: "ListOptions.Page", Code: datacite.CodeValue, Value: cursor,
			Reason: "has a cursor that the service did not return; it would start from the first record"})
	}
	request, err := opts.request("dois.List")
	if err != nil {
		return nil, err
	}
	var r *Results
	request.Accept = transport.JSONType
	request.Read = func(d *decoder) error {
		const room = 1000
		r = &Results{Records: make([]Record, 0, min(opts.maxRecords(), room))}
		p := page{fields: opts.Fields, limit: opts.maxRecords(), each: func(*Record) error {
			return nil
		}, place: func() *Record {
			n := len(r.Records)
			r.Records = slices.Grow(r.Records, 1)[:n+1] // without a copy of an empty Record
			return &r.Records[n]
		}}
		if err := cmp.Or(p.read(d), p.check(opts.Page)); err != nil {
			return err
		}
		r.fill(opts, &p)
		return nil
	}
	if _, err := c.core.Do(ctx, request); err != nil {
		return nil, err
	}
	return r, nil
}

// isCursor reports whether the service finds the place of a record in a cursor: its time of
// creation and its name.
func isCursor(cursor string) bool {
	place, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(cursor, "="))
	created, _, two := strings.Cut(string(place), ",")
	_, noTime := strconv.ParseInt(created, 10, 64)
	return err == nil && two && noTime == nil
}

// maxRecords is how many records a page may have; 0 if the service decides.
func (o *ListOptions) maxRecords() int {
	if o.Sample != (query.Sample{}) {
		return 0
	}
	return cmp.Or(o.Page.Size, len(o.IDs), defaultSize)
}

// request is the request for one page.
func (o *ListOptions) request(op string) (transport.Request, error) {
	request := transport.Request{Op: op, Method: "GET", Path: "/dois", Access: transport.Optional}
	values, err := o.values()
	if err != nil {
		return request, err
	}
	if !o.InBody {
		request.Query = transport.EncodeParams(values)
		return request, nil
	}
	body, err := transport.ParamsJSON(values)
	if err != nil {
		return request, datacite.Invalidf("ListOptions.Extra", datacite.CodeSyntax, "%v", err)
	}
	request.ContentType, request.Body = transport.JSONType, bytes.NewReader(body)
	return request, nil
}

func (r *Results) fill(o *ListOptions, p *page) {
	r.Total, r.Meta, r.Facets, r.Included = p.total(), p.meta, p.facets, p.included
	r.Next, r.More = p.next(o, len(r.Records))
}

// check refuses another page than the requested one: beyond the 10,000th record the
// service sends it silently.
func (p *page) check(asked query.Page) error {
	if shown := number(p.meta["page"]); asked.Number > 0 && shown > 0 && shown != asked.Number {
		return fmt.Errorf("it is page %d, not the requested page %d", shown, asked.Number)
	}
	return nil
}

func (p *page) total() int { return number(p.meta["total"]) }

// next is the page after one of n records. The service's own link lacks some of the
// parameters, so only the cursor is taken from it.
func (p *page) next(o *ListOptions, n int) (query.Page, bool) {
	switch {
	case o.Sample != (query.Sample{}):
		return query.Page{}, false
	case o.Page.Cursor != "":
		cursor := p.cursor()
		return query.Page{Size: o.Page.Size, Cursor: cursor}, cursor != ""
	}
	at, size := cmp.Or(o.Page.Number, 1), cmp.Or(o.Page.Size, len(o.IDs), defaultSize)
	more := n > 0 && at*size < p.total()
	if p.total() < 0 {
		more = n > 0 && p.links.next != ""
	}
	if !more {
		return query.Page{}, false
	}
	return query.Page{Number: at + 1, Size: o.Page.Size}, true
}

const defaultSize = 25

func (p *page) cursor() string {
	u, err := url.Parse(p.links.next)
	if err != nil {
		return ""
	}
	return u.Query().Get("page[cursor]")
}

// number reads a member of meta that is a number; -1 if it is not.
func number(raw json.RawMessage) int {
	var n int
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil {
		return -1
	}
	return n
}

// A Facet is a summary of all results by the service: the number of records for each value,
// or a single number.
type Facet struct {
	Counts []FacetCount
	Number int // such as the sum of citationCount; 0 if there are Counts
}

// A FacetCount is the number of records with one value. The same ID may occur
// more than once; see [Facet.Count].
type FacetCount struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Count int    `json:"count"`
}

// Count returns the number of records with a value: all its entries added up.
func (f Facet) Count(id string) int {
	sum := 0
	for _, c := range f.Counts {
		if c.ID == id {
			sum += c.Count
		}
	}
	return sum
}
