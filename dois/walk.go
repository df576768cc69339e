package dois

import (
	"context"
	"fmt"
	"iter"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/query"
)

// Pages returns the pages of the records that match opts, from opts.Page on, as complete as
// [Client.All]. An error ends the sequence and comes with nil results. Ranging over it
// again starts from the beginning.
func (c *Client) Pages(ctx context.Context, opts *ListOptions) iter.Seq2[*Results, error] {
	return func(yield func(*Results, error) bool) { c.walk("dois.Pages", opts).Pages(ctx)(yield) }
}

// All returns the records that match opts, one by one, each as soon as it has arrived. It
// requests further pages as the loop goes on. An error ends the sequence and comes with
// a nil record. Ranging over it again starts from the beginning.
//
// Every listed record (see [Client.List]) is returned once, or the sequence ends with an
// [*IncompleteError]:
//
//   - Without a Sort, or by creation, the walk goes by cursor and reaches every
//     record.
//   - Any other Sort needs page numbers, which reach 10,000 records. If more
//     match, the walk ends before the first record.
//   - A record that occurs again, because records moved between two pages, is left out. If
//     the service counts more records than it has listed, starts over, or repeats a page,
//     the walk ends.
//
// A page that breaks off is requested again, and after 502 and 504 in smaller
// parts. Page.Size 0 means 100 here; by page number the size is rounded down to
// a divisor of 10,000.
func (c *Client) All(ctx context.Context, opts *ListOptions) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) { c.walk("dois.All", opts).All(ctx)(yield) }
}

// A Walk goes through all records that match some options, and can be stopped
// and continued. One goroutine may use it at a time.
type Walk struct {
	client *Client
	op     string
	opts   ListOptions
	pos    Position
	total  int
	err    error // bad options

	current, previous, first map[string]bool // records of these pages
	cursors                  map[string]bool // that were followed
	skipTo                   string          // a record of the current page that an earlier walk saw last
}

// A Position is where a walk stopped. It is small, and can be kept as JSON.
type Position struct {
	Page    query.Page `json:"page"`            // the page of the next record
	First   string     `json:"first,omitempty"` // the first record of the walk
	Last    string     `json:"last,omitempty"`  // the last record returned of Page; "" before the first
	Seen    int        `json:"seen"`            // records so far; -1 if the walk did not begin with the first
	Options string     `json:"options"`         // a hash of the walk's options
}

// Walk returns a walk through the records that match opts, from opts.From on.
// Nothing is sent yet.
func (c *Client) Walk(opts *ListOptions) *Walk { return c.walk("dois.Walk", opts) }

// Position returns the position after the last record that the walk returned. Put it into
// ListOptions.From to continue, also at another time and with another client. By cursor,
// the two walks together return each record once, and new records at the end. By page
// number this holds only if the results have not changed in between.
func (w *Walk) Position() Position { return w.pos }

// Total returns how many records match, by the service's last count; -1 until the first
// page is complete.
func (w *Walk) Total() int { return w.total }

// All returns the records from the Walk's position on, as [Client.All] does. Ranging over
// it again continues.
func (w *Walk) All(ctx context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		err := w.run(ctx, visitor{
			record: func(r *Record) bool { return yield(r, nil) },
			page:   func(*Results) bool { return true },
		})
		if err != nil && err != bulk.ErrLeft {
			yield(nil, err)
		}
	}
}

// Pages returns the pages from the Walk's position on, as [Client.Pages] does. Ranging
// over it again continues.
func (w *Walk) Pages(ctx context.Context) iter.Seq2[*Results, error] {
	return func(yield func(*Results, error) bool) {
		records := []Record{}
		err := w.run(ctx, visitor{
			record: func(r *Record) bool {
				records = append(records, *r)
				return true
			},
			page: func(results *Results) bool {
				results.Records, records = records, []Record{}
				return yield(results, nil)
			},
		})
		if err != nil && err != bulk.ErrLeft {
			yield(nil, err)
		}
	}
}

// An IncompleteError means that a walk cannot return every record once. It matches
// [datacite.ErrIncomplete].
type IncompleteError struct {
	Op     string
	Total  int // records by the service's count; -1 if unknown
	Seen   int // records that the walk returned; -1 if it did not begin with the first
	Reason string
}

// Error returns how many records are missing, and why.
func (e *IncompleteError) Error() string {
	return fmt.Sprintf("%s: walk is incomplete: %s", e.Op, e.Reason)
}

// Is matches [datacite.ErrIncomplete].
func (e *IncompleteError) Is(target error) bool { return target == datacite.ErrIncomplete }
