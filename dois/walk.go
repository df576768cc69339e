package dois

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/query"
)

const (
	pageWindow   = 10_000 // records that page numbers reach
	walkSize     = 100    // larger pages are often too much for the deployed service
	smallestSize = 10
	growAfter    = 10 // pages, before larger ones are tried again
)

// A visitor is called for the records and pages of a walk; false ends the walk.
type visitor struct {
	record func(*Record) bool
	page   func(*Results) bool // after the records of each page
}

// walk prepares a walk. Options are checked; run returns their faults.
func (c *Client) walk(op string, opts *ListOptions) *Walk {
	w := &Walk{client: c, op: op, total: -1, cursors: map[string]bool{}}
	if opts != nil {
		w.opts = *opts
	}
	from := w.opts.From
	of, err := w.opts.fingerprint()
	switch {
	case from == (Position{}):
		w.pos.Options, w.err = of, err
		w.begin()
	case err == nil && from.Options != of:
		w.pos = from
		w.err = datacite.Invalidf("ListOptions.From", datacite.CodeConflict,
			"is the position of a walk with other options")
	default:
		w.pos, w.skipTo, w.err = from, from.Last, err
	}
	return w
}

// begin decides whether the walk goes by cursor or by number.
func (w *Walk) begin() {
	o := &w.opts
	w.pos.Page = o.Page
	page := &w.pos.Page
	switch {
	case len(o.IDs) > 0 || o.Sample != (query.Sample{}):
		return
	case page.Cursor == "" && page.Number == 0 && (o.Sort == "" || o.Sort == query.ByCreated):
		page.Cursor = "1"
	}
	page.Size = cmp.Or(page.Size, walkSize)
	switch {
	case page.Cursor == "1":
	case page.Cursor != "":
		w.pos.Seen = -1
	case page.Number > 1:
		w.pos.Seen = (page.Number - 1) * page.Size
	default:
		page.Number = 1
		for pageWindow%page.Size != 0 {
			page.Size--
		}
	}
}

// fingerprint is different for options that select different records.
func (o *ListOptions) fingerprint() (string, error) {
	v, err := o.values()
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(v, func(name string, _ []string) bool { return strings.HasPrefix(name, "page[") })
	sum := sha256.Sum256([]byte(transport.EncodeParams(v)))
	return hex.EncodeToString(sum[:8]), nil
}

// run goes from the position to the end.
func (w *Walk) run(ctx context.Context, visit visitor) error {
	if w.client == nil {
		return datacite.Invalidf("walk", datacite.CodeMissing, "is the zero value; Client.Walk makes one")
	}
	if err := cmp.Or(w.err, w.client.core.Ready(ctx)); err != nil {
		return err
	}
	for {
		more, err := w.step(ctx, visit)
		if err != nil || !more {
			return err
		}
	}
}

// step reads one page.
func (w *Walk) step(ctx context.Context, visit visitor) (more bool, err error) {
	o := w.opts
	o.Page = w.pos.Page
	if o.Page.Cursor != "" {
		o.Sort = "" // a cursor goes by creation, whatever the order
	}
	give := func(r *Record) bool { return w.give(r, visit.record) }
	each := give
	var held []*Record // of the first page by number, until its total shows that all can be reached
	if w.pos.Page.Number > 0 && w.total < 0 && w.pos.Seen == (w.pos.Page.Number-1)*w.pos.Page.Size {
		each = func(r *Record) bool {
			held = append(held, r)
			return true
		}
	}
	p, err := w.page(ctx, &o, each)
	if err != nil {
		return false, err
	}
	if total := p.total(); len(held) > 0 && total > pageWindow {
		return false, &IncompleteError{Op: w.op, Total: total, Reason: fmt.Sprintf(
			"%d records match, and page numbers, which the order %q needs, reach %d; leave Sort out to read them in the order "+
				"of creation, or narrow the query, such as to one year with Created",
			total, string(o.Sort), pageWindow)}
	}
	if held != nil {
		w.current = map[string]bool{} // the loop may be left, and continued
	}
	for _, r := range held {
		w.current[r.DOI] = true
		if !give(r) {
			return false, bulk.ErrLeft
		}
	}
	return w.turn(&o, p, visit)
}

// turn takes the walk to the page after p.
func (w *Walk) turn(o *ListOptions, p *page, visit visitor) (more bool, err error) {
	results := &Results{}
	results.fill(o, p)
	results.Next, results.More = p.next(o, len(w.current))
	w.total = results.Total
	if err := w.checkTurn(results); err != nil {
		return false, err
	}
	if w.first == nil {
		w.first = w.current
	}
	if o.Page.Number > 0 && w.previous != nil {
		maps.Copy(w.previous, w.current) // by number, a record may come back on any later page
	} else {
		w.previous = w.current
	}
	w.current = nil
	more = results.More
	if more {
		w.pos.Page, w.pos.Last = results.Next, ""
		w.grow()
	}
	if !visit.page(results) {
		return false, bulk.ErrLeft
	}
	return more, nil
}

// checkTurn refuses pages without anything new, and a walk that ends too early.
func (w *Walk) checkTurn(r *Results) error {
	whole := w.opts.Sample == (query.Sample{}) && w.pos.Seen >= 0
	switch {
	case w.skipTo != "":
		return w.incomplete("the record %s, the last one of the earlier walk, is no longer on its page", w.skipTo)
	case r.More && len(w.current) == 0:
		return w.incomplete("a page after %d records has no new record", w.pos.Seen)
	case r.More && w.cursors[r.Next.Cursor]:
		return w.incomplete("the service repeats a cursor after %d records", w.pos.Seen)
	case !r.More && whole && r.Total > w.pos.Seen:
		return w.incomplete("the service counts %d records and showed %d, so %d are missing", r.Total, w.pos.Seen,
			r.Total-w.pos.Seen)
	}
	if r.More && r.Next.Cursor != "" {
		w.cursors[r.Next.Cursor] = true
	}
	return nil
}

func (w *Walk) incomplete(format string, args ...any) error {
	return &IncompleteError{Op: w.op, Total: w.total, Seen: w.pos.Seen,
		Reason: w.client.core.Text(fmt.Sprintf(format, args...))}
}

// page reads one page: again if it breaks off, and in smaller parts if it is too much for the service or for MaxBody.
func (w *Walk) page(ctx context.Context, o *ListOptions, each func(*Record) bool) (*page, error) {
	for failures := 1; ; failures++ {
		before := len(w.current)
		p, err := w.attempt(ctx, o, each)
		switch {
		case err == nil, ctx.Err() != nil:
			return p, err
		case isTooMuch(err) && w.shrink():
			o.Page, failures = w.pos.Page, 0
			continue
		case errors.Is(err, datacite.ErrTooLarge) && len(w.current) > before:
			continue // all have arrived, and there is room for the rest of the page when they come again
		case !errors.Is(err, datacite.ErrUnreadable) || errors.Is(err, datacite.ErrTooLarge):
			return nil, err
		case len(w.current) > before:
			failures = 1
		}
		if failures >= w.client.core.MaxAttempts(ctx) {
			return nil, err
		}
		_ = w.client.core.Sleep(ctx, time.Duration(failures)*time.Second) // asking again finds the end of ctx
	}
}

// isTooMuch recognises what becomes of a page that is too large.
func isTooMuch(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && (isTooSlow(e) || e.StatusCode == http.StatusBadGateway || errors.Is(e, datacite.ErrTooLarge))
}

// isTooSlow recognises a page that the service did not make in time. Asking again would take as long.
func isTooSlow(e *datacite.Error) bool {
	_, silent := errors.AsType[*transport.SilenceError](e)
	return silent || e.StatusCode == http.StatusGatewayTimeout
}

// shrink halves the pages from here on, if they can be halved.
func (w *Walk) shrink() bool {
	page, ok := w.smaller()
	if ok {
		w.pos.Page, w.turned, w.patience = page, 0, max(2*w.patience, growAfter)
	}
	return ok
}

// smaller is the page of half the size. What has arrived stays within it, so that a position is always
// between two pages.
func (w *Walk) smaller() (query.Page, bool) {
	page := w.pos.Page
	size := max(page.Size/2, len(w.current))
	switch {
	case size < smallestSize || size >= page.Size, page.Number > 0 && 2*size != page.Size:
		return page, false
	case page.Number > 0:
		page.Number = 2*page.Number - 1
	}
	page.Size = size
	return page, true
}

// grow doubles the pages, up to the size that was asked for, after a number of pages that doubles with each failure.
func (w *Walk) grow() {
	w.turned++
	page := &w.pos.Page
	if page.Cursor != "" && w.turned > max(w.patience, growAfter) {
		page.Size, w.turned = min(2*page.Size, cmp.Or(w.opts.Page.Size, walkSize)), 0
	}
}

// attempt requests a page once and passes on what arrives of it.
func (w *Walk) attempt(ctx context.Context, o *ListOptions, each func(*Record) bool) (*page, error) {
	request, err := o.request(w.op)
	if err != nil {
		return nil, err
	}
	request.Accept, request.Stream = transport.JSONType, true
	if _, ok := w.smaller(); ok {
		request.Final = isTooSlow
	}
	res, err := w.client.core.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	// A record that arrived before is not kept again. So a page of those that have arrived fits, if this one does not.
	var budget *jsonlex.Budget
	var left int64
	p := &page{fields: o.Fields, unread: call.IsUnread(ctx), limit: o.maxRecords(),
		place: func() *Record { return &Record{} },
		each: func(r *Record) error {
			if w.current[r.DOI] {
				budget.GiveBack(left)
			}
			left = budget.Left()
			return w.take(r, each)
		}}
	err = cmp.Or(w.client.core.Decode(res.Body, func(d *decoder) error {
		budget = d.Budget()
		left = budget.Left()
		return p.read(d)
	}), p.check(o.Page))
	if _, ok := errors.AsType[*IncompleteError](err); err == nil || ok || err == bulk.ErrLeft {
		return p, err
	}
	return nil, w.client.core.Unreadable(request, res, err)
}

// take passes on a record unless it was seen.
func (w *Walk) take(r *Record, each func(*Record) bool) error {
	if w.current == nil {
		w.current = map[string]bool{}
	}
	switch {
	case w.current[r.DOI], w.previous[r.DOI]:
		return nil
	case w.first[r.DOI], w.again(r):
		return w.incomplete("after %d records the service began again from the first", w.pos.Seen)
	case w.skipTo != "":
		w.current[r.DOI] = true
		if r.DOI == w.skipTo {
			w.skipTo = ""
		}
		return nil
	}
	w.current[r.DOI] = true
	if !each(r) {
		return bulk.ErrLeft
	}
	return nil
}

// again recognises the very first record of a walk that was continued.
func (w *Walk) again(r *Record) bool {
	return r.DOI == w.pos.First && w.pos.Page.Cursor != "1" && w.pos.Page.Cursor != ""
}

func (w *Walk) give(r *Record, each func(*Record) bool) bool {
	w.pos.Last, w.pos.First = r.DOI, cmp.Or(w.pos.First, r.DOI)
	if w.pos.Seen >= 0 {
		w.pos.Seen++
	}
	return each(r)
}

// Pages returns the pages of the records that match opts, from opts.Page on, as complete as
// [Client.All]. An error ends the sequence and comes with nil results. Ranging over it
// again starts from the beginning.
func (c *Client) Pages(ctx context.Context, opts *ListOptions) iter.Seq2[*Results, error] {
	return func(yield func(*Results, error) bool) { c.walk("dois.Pages", opts).Pages(ctx)(yield) }
}

// All returns the records that match opts, one by one, each as soon as it has arrived, and requests
// further pages as the loop goes on. Every listed record (see [Client.List]) is returned once, or
// an error, with a nil record, ends the sequence. Ranging over it again starts from the beginning.
//
// Without a Sort, or by creation, a walk goes by cursor and reaches every record. Any other Sort
// needs page numbers, which reach 10,000 records: if more match, the walk ends before the first
// record. A record that occurs again, because records moved between two pages, is left out. If the
// service counts more records than it has listed, starts over, or repeats a page, the walk ends
// with an [*IncompleteError].
//
// A page that breaks off is requested again. After 502 and 504, without a response, or if a page takes more than
// Config.MaxBody, the pages become smaller, and by cursor larger again after a while. Page.Size 0
// means 100 here; by page number the size is rounded down to a divisor of 10,000.
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
	turned, patience         int             // pages since their size changed, and how many before they grow again
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
