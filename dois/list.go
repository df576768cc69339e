package dois

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/datacite-go/datacite-go/internal/params"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/query"
)

// Results is one page of records.
type Results struct {
	Records  []Record
	Total    int        // records on all pages; -1 if the service does not say
	Next     query.Page // the page after this one, if More is true
	More     bool
	Facets   map[string]Facet           // what ListOptions.Facets asked for, by name
	Meta     map[string]json.RawMessage // all that the service says about the results
	Included []Resource                 // what ListOptions.Include asked for
}

// List returns one page of the records that match opts; nil asks for the first
// 25 of all. Options that the service would refuse, ignore or read as something
// else are a [*FieldError].
//
// List sends GET /dois (specification §4.2). To read on, put Results.Next into
// the options of the next call, or use [Client.All].
func (c *Client) List(ctx context.Context, opts *ListOptions) (*Results, error) {
	if opts == nil {
		opts = &ListOptions{}
	}
	if opts.From != (Position{}) {
		return nil, &FieldError{Path: "ListOptions.From", Reason: "is for walks; set Page to choose a page"}
	}
	request, err := opts.request("dois.List")
	if err != nil {
		return nil, err
	}
	request.Accept = transport.JSONType
	res, err := c.core.Do(ctx, request)
	if err != nil {
		return nil, wrap(err)
	}
	r := &Results{Records: make([]Record, 0, cmp.Or(opts.Page.Size, len(opts.IDs), defaultSize))}
	answer := listAnswer{stream: jsonStream{text: jsonText{data: res.Data}}, fields: opts.Fields}
	err = answer.read(func(record *Record) error {
		r.Records = append(r.Records, *record)
		return nil
	})
	if err == nil {
		err = answer.checkPage(opts.Page)
	}
	if err != nil {
		return nil, wrap(c.core.Unreadable(request, res, err))
	}
	r.fill(opts, &answer)
	return r, nil
}

// request is the request for one page.
func (o *ListOptions) request(op string) (transport.Request, error) {
	request := transport.Request{Op: op, Method: "GET", Path: "/dois", Access: transport.Optional}
	values, err := o.values()
	if err != nil {
		return request, err
	}
	if !o.InBody {
		request.Query = params.Encode(values)
		return request, nil
	}
	body, err := params.JSON(values)
	if err != nil {
		return request, &FieldError{Path: "ListOptions.Extra", Reason: err.Error()}
	}
	request.ContentType, request.Body = transport.JSONType, bytes.NewReader(body)
	return request, nil
}

func (r *Results) fill(o *ListOptions, a *listAnswer) {
	r.Total, r.Meta, r.Facets, r.Included = a.total(), a.meta, facets(a.meta), a.included
	r.Next, r.More = a.next(o, len(r.Records))
}

// A listAnswer is the answer to GET /dois while it is being read.
type listAnswer struct {
	stream   jsonStream
	fields   []string
	data     bool // the list of records was there
	meta     map[string]json.RawMessage
	link     string // to the next page
	included []Resource
}

var (
	errNoList       = errors.New("it has no list of records")
	errNoAttributes = errors.New("a record has no attributes")
)

// checkPage notices that the service shows another page than it was asked for:
// it does so, without a word, beyond the 10,000th record.
func (a *listAnswer) checkPage(asked query.Page) error {
	if shown := number(a.meta["page"]); asked.Number > 0 && shown > 0 && shown != asked.Number {
		return fmt.Errorf("it is page %d, and page %d was asked for", shown, asked.Number)
	}
	return nil
}

// read calls each for every record as soon as it is there, and keeps what stands
// beside the records. An error of each ends the reading.
func (a *listAnswer) read(each func(*Record) error) error {
	err := a.stream.object(func(name string) error {
		if name == "data" {
			return a.readRecords(each)
		}
		raw, err := a.stream.value()
		if err != nil {
			return err
		}
		a.keep(name, bytes.Clone(raw))
		return nil
	})
	if err != nil {
		return err
	}
	if c, err := a.stream.next(); err != nil || c != 0 {
		return cmp.Or(err, errSyntax)
	}
	if !a.data {
		return errNoList
	}
	return nil
}

func (a *listAnswer) readRecords(each func(*Record) error) error {
	c, err := a.stream.next()
	if err != nil {
		return err
	}
	if c != '[' {
		_, err := a.stream.value() // read as no list of records
		return err
	}
	a.data = true
	return a.stream.array(func() error {
		raw, err := a.stream.value()
		if err != nil {
			return err
		}
		record := &Record{Fields: a.fields}
		if err := record.readResource(bytes.Clone(raw)); err != nil {
			return err
		}
		return each(record)
	})
}

func (a *listAnswer) keep(name string, raw []byte) {
	switch name {
	case "meta":
		_ = json.Unmarshal(raw, &a.meta) // meta of another type says nothing
	case "links":
		var links struct{ Next string }
		_ = json.Unmarshal(raw, &links)
		a.link = links.Next
	case "included":
		_ = json.Unmarshal(raw, &a.included)
	}
}

func (a *listAnswer) total() int { return number(a.meta["total"]) }

// next works out the page that follows one of n records. The service's own link
// leaves out some of the parameters, so only the cursor is taken from it.
func (a *listAnswer) next(o *ListOptions, n int) (query.Page, bool) {
	switch {
	case o.Sample != (query.Sample{}):
		return query.Page{}, false
	case o.Page.Cursor != "":
		cursor := a.cursor()
		return query.Page{Size: o.Page.Size, Cursor: cursor}, cursor != ""
	}
	at, size := cmp.Or(o.Page.Number, 1), cmp.Or(o.Page.Size, len(o.IDs), defaultSize)
	more := n > 0 && at*size < a.total()
	if a.total() < 0 {
		more = n > 0 && a.link != ""
	}
	if !more {
		return query.Page{}, false
	}
	return query.Page{Number: at + 1, Size: o.Page.Size}, true
}

const defaultSize = 25

func (a *listAnswer) cursor() string {
	u, err := url.Parse(a.link)
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
