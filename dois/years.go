package dois

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/datacite-go/datacite-go/query"
)

// overflow decides how to go on when page numbers do not reach all records.
func (w *Walk) overflow(ctx context.Context) error {
	w.current = nil
	switch w.opts.Overflow {
	case OverflowUnordered:
		w.pos.Page = query.Page{Cursor: "1", Size: w.pos.Page.Size}
		return nil
	case OverflowByYear:
		all, err := w.years(ctx)
		if err == nil {
			w.pos.Page, w.pos.Year = query.Page{}, all[0]
		}
		return err
	}
	return &IncompleteError{Op: w.op, Total: w.total, Overflow: true, Reason: fmt.Sprintf(
		"%d records match, and page numbers, which the order %q needs, reach %d; set Overflow to read them in the order of creation or year by year, or narrow the query",
		w.total, string(w.opts.Sort), pageWindow)}
}

// years are the years of creation of the records, in the order of the walk.
func (w *Walk) years(ctx context.Context) ([]int, error) {
	if w.calendar != nil {
		return w.calendar, nil
	}
	oldest, err := w.created(ctx, query.ByCreated)
	if err != nil {
		return nil, err
	}
	newest, err := w.created(ctx, query.ByCreated.Desc())
	if err != nil {
		return nil, err
	}
	all := []int{}
	for year := oldest; year <= newest; year++ {
		all = append(all, year)
	}
	if len(all) == 0 {
		return nil, w.incomplete("the years of creation go from %d to %d", oldest, newest)
	}
	if w.opts.Sort == query.ByCreated.Desc() {
		slices.Reverse(all)
	}
	w.calendar = all
	return all, nil
}

// created is the year of creation of the first record in an order.
func (w *Walk) created(ctx context.Context, order query.Sort) (int, error) {
	o := w.opts
	o.Sort, o.Page, o.Fields = order, query.Page{Size: 1}, []string{"created"}
	found, err := w.client.List(ctx, &o)
	switch {
	case err != nil:
		return 0, err
	case len(found.Records) == 0:
		return 0, w.incomplete("the records have gone")
	}
	at, err := found.Records[0].Created.Time()
	if err != nil {
		return 0, w.incomplete("the record %s has no time of creation", found.Records[0].DOI)
	}
	w.total = found.Total
	return at.UTC().Year(), nil
}

// byYear walks through one year of creation after the other, by page number.
func (w *Walk) byYear(ctx context.Context, visit visitor) error {
	all, err := w.years(ctx)
	if err != nil {
		return err
	}
	total := w.total
	for i := max(slices.Index(all, w.pos.Year), 0); i < len(all); i++ {
		last := i == len(all)-1
		if err := w.oneYear(ctx, all[i], total, last, visit); err != nil {
			return err
		}
		if !last {
			w.pos.Year, w.pos.Earlier = all[i+1], w.pos.Seen
			w.pos.Page, w.pos.Last, w.skipTo = query.Page{}, "", ""
		}
	}
	if total > w.pos.Seen {
		return w.incomplete("the service counts %d records and showed %d, so %d are missing", total, w.pos.Seen, total-w.pos.Seen)
	}
	return nil
}

// oneYear walks through one year, from the position on.
func (w *Walk) oneYear(ctx context.Context, year, total int, last bool, visit visitor) error {
	o := w.opts
	o.Created, o.Overflow = strconv.Itoa(year), OverflowFails
	part := w.client.walk(w.op, &o)
	if w.pos.Page != (query.Page{}) {
		part.pos.Page, part.pos.Last, part.skipTo = w.pos.Page, w.pos.Last, w.skipTo
		part.pos.Seen = w.pos.Seen - w.pos.Earlier
		part.current = w.current
	}
	follow := func() {
		w.pos.Page, w.pos.Last, w.pos.Seen = part.pos.Page, part.pos.Last, w.pos.Earlier+part.pos.Seen
		w.total, w.skipTo, w.current = total, "", part.current
	}
	err := part.run(ctx, visitor{
		record: func(r *Record) bool {
			follow()
			return visit.record(r)
		},
		page: func(results *Results) bool {
			follow()
			results.Total, results.More = total, results.More || !last
			return visit.page(results)
		},
	})
	if e, ok := errors.AsType[*IncompleteError](err); ok && e.Overflow {
		e.Reason = fmt.Sprintf("%d records of %d match, and page numbers reach %d; narrow the query", e.Total, year, pageWindow)
	}
	return err
}
