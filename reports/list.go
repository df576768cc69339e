package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/query"
)

// maxPageSize is the most reports that the service puts on one page.
const maxPageSize = 1000

// ListOptions select reports. The service applies only one of the filters CreatedBy, Year
// and ClientID; setting two of them is an error.
type ListOptions struct {
	CreatedBy string     // reports of one creator; the deployed service ignores case and accents
	Year      int        // reports that begin in this year
	ClientID  string     // reports sent by one account
	Page      query.Page // Number and Size, at most 1000; 0 means page 1 of 25 reports. There is no cursor here.
}

// Results is one page of the list of reports.
type Results struct {
	Reports []Summary
	Total   int        // reports on all pages; -1 if unknown
	Next    query.Page // the page after this one, if More is true
	More    bool
}

// A Summary is a report without its datasets.
type Summary struct {
	ID     string `json:"id"`
	Header Header `json:"report-header"`
}

type listParams struct {
	CreatedBy string     `url:"created-by,omitempty"`
	Year      int        `url:"year,omitempty"`
	ClientID  string     `url:"client-id,omitempty"`
	Page      pageParams `url:"page"`
}

type pageParams struct {
	Number int `url:"number,omitempty"`
	Size   int `url:"size,omitempty"`
}

func (o *ListOptions) check() error {
	filters := 0
	for _, set := range []bool{o.CreatedBy != "", o.Year != 0, o.ClientID != ""} {
		if set {
			filters++
		}
	}
	var faults []datacite.Finding
	for _, f := range []struct {
		is     bool
		path   string
		code   datacite.Code
		reason string
	}{
		{filters > 1, "", datacite.CodeConflict,
			"has more than one of CreatedBy, Year and ClientID; the service would drop all but one"},
		{strings.TrimRightFunc(o.CreatedBy, unicode.IsSpace) != o.CreatedBy, ".CreatedBy", datacite.CodeValue,
			"is blank, which the service would ignore, or ends with white space, which no creator does"},
		{strings.TrimSpace(o.ClientID) != o.ClientID, ".ClientID", datacite.CodeValue,
			"is blank, which the service would ignore, or has white space around it"},
		{strings.Contains(o.ClientID, ","), ".ClientID", datacite.CodeValue, "has a comma; the service takes one account"},
		{o.Year != 0 && (o.Year < 1000 || o.Year > 9999), ".Year", datacite.CodeYear, "is not a year of four digits"},
		{o.Page.Cursor != "", ".Page.Cursor", datacite.CodeConflict, "is set; reports are listed by page number"},
		{o.Page.Number < 0, ".Page.Number", datacite.CodeLimit, "is negative"},
		{o.Page.Size < 0 || o.Page.Size > maxPageSize, ".Page.Size", datacite.CodeLimit,
			fmt.Sprintf("is not between 1 and %d", maxPageSize)},
	} {
		if f.is {
			faults = append(faults, datacite.Finding{Path: "ListOptions" + f.path, Code: f.code, Reason: f.reason})
		}
	}
	return datacite.Invalid(faults...)
}

// List returns one page of the reports that the service holds, in the order of
// their ids. No credentials are needed.
//
// List sends GET /reports (specification §4.1).
func (c *Client) List(ctx context.Context, opts *ListOptions) (*Results, error) {
	return c.list(ctx, "reports.List", opts)
}

func (c *Client) list(ctx context.Context, op string, opts *ListOptions) (*Results, error) {
	if opts == nil {
		opts = &ListOptions{}
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	values, err := transport.Params(listParams{
		CreatedBy: opts.CreatedBy, Year: opts.Year, ClientID: opts.ClientID,
		Page: pageParams{Number: opts.Page.Number, Size: opts.Page.Size},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var found Results
	_, err = c.core.Do(ctx, transport.Request{
		Op: op, Method: "GET", Path: "/reports", Query: transport.EncodeParams(values), Accept: transport.JSONType,
		Read: func(d *jsonlex.Decoder) error {
			found = Results{Total: -1}
			pageJSON.Read(d, &found)
			most := cmp.Or(opts.Page.Size, defaultSize)
			switch {
			case d.Err() != nil:
				return d.Err()
			case found.Reports == nil:
				return errors.New("it has no list named reports")
			case len(found.Reports) > most:
				return fmt.Errorf("%w: it has %d reports, and %d were asked for", datacite.ErrTooLarge, len(found.Reports), most)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	found.turn(opts.Page)
	return &found, nil
}

const defaultSize = 25

var pageJSON = jsonlex.NewObject(
	jsonlex.Field("reports", func(d *decoder, r *Results) { r.Reports = readSummaries(d) }),
	jsonlex.Field("meta", metaJSON.Read),
)

var readSummaries = jsonlex.List[[]Summary](jsonlex.NewObject(
	jsonlex.Field("id", func(d *decoder, s *Summary) { s.ID = d.Text() }),
	jsonlex.Field("report-header", func(d *decoder, s *Summary) {
		var h storedHeader
		readHeader(d, &h)
		s.Header = h.Header
	}),
).Item)

var metaJSON = jsonlex.NewObject(jsonlex.Field("total", func(d *decoder, r *Results) {
	if !d.Null() {
		r.Total = d.Int()
	}
}))

// turn sets the page that follows this one.
func (r *Results) turn(page query.Page) {
	number, size := cmp.Or(page.Number, 1), cmp.Or(page.Size, defaultSize)
	if r.Total >= 0 {
		r.More = len(r.Reports) > 0 && number*size < r.Total
	} else {
		r.More = page.Size != 0 && len(r.Reports) == size
	}
	if r.More {
		r.Next = query.Page{Number: number + 1, Size: page.Size}
	}
}

// All returns an iterator over the reports that match opts, each once. It requests
// pages of opts.Page.Size reports as needed; 0 means the largest size. An error ends the
// sequence. Ranging over the result again starts from the first page.
//
// The service lists reports by id, and ids are random: a report that is stored meanwhile
// may appear on a page that was already read. If fewer reports appeared than the service
// counts, or a page shows nothing new although more should follow, the last error matches
// [datacite.ErrIncomplete].
func (c *Client) All(ctx context.Context, opts *ListOptions) iter.Seq2[*Summary, error] {
	var o ListOptions
	if opts != nil {
		o = *opts
	}
	o.Page.Size = cmp.Or(o.Page.Size, maxPageSize)
	first := o.Page.Number
	return func(yield func(*Summary, error) bool) {
		seen := map[string]bool{} // ids
		for o, more := o, true; more; {
			page, err := c.list(ctx, "reports.All", &o)
			if err != nil {
				yield(nil, err)
				return
			}
			before := len(seen)
			for _, s := range page.Reports {
				if seen[s.ID] {
					continue
				}
				if seen[s.ID] = true; !yield(&s, nil) {
					return
				}
			}
			missing := page.Total - len(seen)
			switch {
			case page.More && len(seen) == before:
				err = fmt.Errorf("reports.All: %w: page %d shows only reports of earlier pages, and the service says there are "+
					"more", datacite.ErrIncomplete, o.Page.Number)
			case !page.More && first <= 1 && missing > 0:
				err = fmt.Errorf("reports.All: %w: %d of %d reports did not appear on any page", datacite.ErrIncomplete, missing,
					page.Total)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			more, o.Page = page.More, page.Next
		}
	}
}
