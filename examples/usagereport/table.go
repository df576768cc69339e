package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/reports"
)

// tableSettings are the options for tables.
type tableSettings struct {
	platform, publisher string // where a row does not say
	period              reports.Period
	maxRows             int  // read into memory at most
	leaveOut            bool // leave datasets with bad rows out
	merge               bool // add up rows that count the same
}

// A table is a CSV file of counts.
type table struct {
	tableSettings
	name string
	open func() (io.Reader, error)
	warn func(string)

	columns []column // of each cell of a row
	total   int      // datasets, if that is known before they are built
	lines   []int    // the first line of each dataset that was handed on
	faults  []fault  // the first mostFaults
	faulty  int
	leftOut int // datasets, and rows that name none
}

const mostFaults = 100

// A fault is a place in a table and what is wrong there.
type fault struct {
	line   int
	column column // empty if it is the whole row
	reason string
}

func (f fault) String() string {
	if f.column == "" {
		return fmt.Sprintf("line %d: %s", f.line, f.reason)
	}
	return fmt.Sprintf("line %d, column %s: %s", f.line, f.column, f.reason)
}

// A tableError is every fault of a table.
type tableError struct {
	name   string
	faults []fault // the first mostFaults
	all    int
}

func (e *tableError) Error() string {
	return fmt.Sprintf("%s: %d faults, first %s", e.name, e.all, e.faults[0])
}

func (t *table) fault(line int, c column, format string, args ...any) {
	t.faulty++
	if len(t.faults) < mostFaults {
		t.faults = append(t.faults, fault{line, c, fmt.Sprintf(format, args...)})
	}
}

// datasets returns the datasets of the table, in the order of their DOIs. If the
// table can be read twice, it is first looked at whether it is sorted.
func (t *table) datasets(ctx context.Context, twice bool, show *meter, fraction func() float64) (iter.Seq2[reports.Dataset, error], error) {
	watched := func(n int) { show.at("Reading", fraction(), int64(n), "rows") }
	why := "cannot be read twice"
	if twice {
		sorted, err := t.survey(ctx, watched)
		switch {
		case err != nil:
			return nil, err
		case sorted:
			show.end()
			return t.each(t.grouped(ctx)), nil
		}
		why = "is not sorted by doi"
	}
	show.end()
	show.say("%s %s, so it is read into memory.", t.name, why)
	groups, err := t.collect(ctx, watched)
	if err != nil {
		return nil, err
	}
	show.end()
	t.total = len(groups)
	return t.each(func(yield func(*group, error) bool) {
		for _, g := range groups {
			if !yield(g, nil) {
				return
			}
		}
	}), nil
}

// survey finds out whether the rows are sorted by DOI, and how many DOIs there
// are.
func (t *table) survey(ctx context.Context, watched func(rows int)) (sorted bool, err error) {
	r, err := t.reader()
	if err != nil {
		return false, err
	}
	r.ReuseRecord = true
	at := slices.Index(t.columns, columnDOI)
	last := ""
	for n := 1; ; n++ {
		record, err := t.next(ctx, r)
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		case len(record) <= at || sortKey(record[at]) == "":
			continue // a fault, which counts later
		}
		watched(n)
		name := sortKey(record[at])
		switch {
		case name < last:
			return false, nil
		case name != last:
			t.total++
			last = strings.Clone(name)
		}
	}
}

// sortKey is what DOIs are compared by: letters of both cases are the same. It is
// empty if the cell names no DOI.
func sortKey(cell string) string {
	if !utf8.ValidString(cell) {
		return ""
	}
	return strings.ToLower(cleanDOI(cell))
}

// grouped yields the groups of a sorted table.
func (t *table) grouped(ctx context.Context) iter.Seq2[*group, error] {
	return func(yield func(*group, error) bool) {
		var g *group
		for r, err := range t.rows(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if g == nil || g.key != r.key() {
				if g != nil && !yield(g, nil) {
					return
				}
				g = newGroup(r)
			}
			g.add(t, r)
		}
		if g != nil {
			yield(g, nil)
		}
	}
}

// collect reads the whole table and sorts its groups by DOI.
func (t *table) collect(ctx context.Context, watched func(rows int)) ([]*group, error) {
	groups := map[string]*group{}
	n := 0
	for r, err := range t.rows(ctx) {
		if err != nil {
			return nil, err
		}
		if n++; n > t.maxRows {
			return nil, &inputError{fmt.Errorf("%s: more than %d rows that are not sorted by doi; sort them, or raise -max-rows", t.name, t.maxRows)}
		}
		watched(n)
		g := groups[r.key()]
		if g == nil {
			g = newGroup(r)
			groups[g.key] = g
		}
		g.add(t, r)
	}
	list := make([]*group, 0, len(groups))
	for _, g := range groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int { return strings.Compare(a.key, b.key) })
	return list, nil
}

// each yields the datasets of groups. After a fault that stops the submission it
// goes on to find others, and the error comes at the end.
func (t *table) each(groups iter.Seq2[*group, error]) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for g, err := range groups {
			if err != nil {
				yield(reports.Dataset{}, err)
				return
			}
			d, ok := g.dataset(t)
			if !ok {
				t.leftOut++
			}
			if !ok || t.faulty > 0 && !t.leaveOut {
				continue
			}
			t.lines = append(t.lines, g.line)
			if !yield(d, nil) {
				return
			}
		}
		if t.faulty > 0 && !t.leaveOut {
			yield(reports.Dataset{}, &inputError{&tableError{t.name, t.faults, t.faulty}})
		}
	}
}

// place turns "report-datasets[3].…" into the line where that dataset begins.
func (t *table) place(path string) string {
	var i int
	if _, err := fmt.Sscanf(path, "report-datasets[%d]", &i); err != nil || i >= len(t.lines) {
		return path
	}
	_, field, _ := strings.Cut(path, "].")
	return fmt.Sprintf("line %d: %s", t.lines[i], field)
}

// reader returns a reader that stands after the first row.
func (t *table) reader() (*csv.Reader, error) {
	content, err := t.open()
	if err != nil {
		return nil, t.broken(err)
	}
	r := csv.NewReader(content)
	names, err := r.Read()
	if errors.Is(err, io.EOF) {
		err = errors.New("is empty; the first row has to name the columns")
	}
	if err != nil {
		return nil, t.broken(err)
	}
	if t.columns, err = readColumns(names, t.tableSettings); err != nil {
		return nil, t.broken(err)
	}
	return r, nil
}

func (t *table) broken(err error) error { return &inputError{fmt.Errorf("%s: %w", t.name, err)} }

// next reads one row, which may have too few cells, or too many.
func (t *table) next(ctx context.Context, r *csv.Reader) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	record, err := r.Read()
	switch {
	case err == nil, errors.Is(err, csv.ErrFieldCount):
		return record, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	}
	return nil, t.broken(err) // names line and column
}

// rows yields the rows of the table that name a DOI. Faults are noted.
func (t *table) rows(ctx context.Context) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		r, err := t.reader()
		if err != nil {
			yield(row{}, err)
			return
		}
		for {
			record, err := t.next(ctx, r)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(row{}, err)
				return
			}
			read := t.row(record, func(i int) int {
				line, _ := r.FieldPos(i)
				return line
			})
			if read.doi == "" {
				t.leftOut++ // it belongs to no dataset
				continue
			}
			if !yield(read, nil) {
				return
			}
		}
	}
}
