package dois

import (
	"context"
	"fmt"
	"iter"

	"github.com/datacite-go/datacite-go/query"
)

// Pages returns the pages of the records that match opts, beginning at
// opts.Page, asking for the next one as the loop goes on. An error ends the
// sequence and comes with nil results. Ranging over it again starts afresh.
//
// Without a page number and with no order, or that of creation, the walk goes by
// cursor and reaches every record, in the order of creation; any other order
// needs page numbers, which reach 10,000 records, and a walk that comes to that
// limit ends with an error rather than early. A walk also ends with an error,
// matching [ErrIncomplete], if the service repeats a cursor, or counts more
// records than it showed.
func (c *Client) Pages(ctx context.Context, opts *ListOptions) iter.Seq2[*Results, error] {
	return c.pages(ctx, "dois.Pages", opts)
}

// All returns the records that match opts, one by one, in the way of
// [Client.Pages]. An error ends the sequence and comes with a nil record.
func (c *Client) All(ctx context.Context, opts *ListOptions) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for page, err := range c.pages(ctx, "dois.All", opts) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Records {
				if !yield(&page.Records[i], nil) {
					return
				}
			}
		}
	}
}

func (c *Client) pages(ctx context.Context, op string, opts *ListOptions) iter.Seq2[*Results, error] {
	var start ListOptions
	if opts != nil {
		start = *opts
	}
	if start.walksByCursor() {
		start.Page.Cursor = "1"
	}
	return func(yield func(*Results, error) bool) {
		o := start
		whole := o.Page.Number <= 1 && (o.Page.Cursor == "" || o.Page.Cursor == "1")
		seen := 0
		cursors := map[string]bool{o.Page.Cursor: true}
		for {
			page, err := c.list(ctx, op, &o)
			if err != nil {
				yield(nil, err)
				return
			}
			seen += len(page.Records)
			if !yield(page, nil) {
				return
			}
			if !page.More {
				if missing := page.Total - seen; whole && missing > 0 && o.Sample == (query.Sample{}) {
					yield(nil, fmt.Errorf("%s: %w: the service counts %d records and showed %d", op, ErrIncomplete, page.Total, seen))
				}
				return
			}
			o.Page = page.Next
			if o.Page.Cursor != "" && cursors[o.Page.Cursor] {
				yield(nil, fmt.Errorf("%s: %w: the service repeated a cursor after %d records", op, ErrIncomplete, seen))
				return
			}
			cursors[o.Page.Cursor] = true
		}
	}
}

// walksByCursor tells whether a walk may go by cursor: nothing was said that a
// cursor would ignore.
func (o *ListOptions) walksByCursor() bool {
	return o.Page.Number == 0 && o.Page.Cursor == "" && o.Sample == (query.Sample{}) &&
		(o.Sort == "" || o.Sort == query.ByCreated)
}
