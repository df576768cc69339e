package table

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// ResultColumns are the columns of a table of results in addition to those of its source. Behind them are those of its
// owner; see [Reader.Own].
var ResultColumns = []string{"result", "error", lastResult}

const lastResult = "registered"

// SearchColumns are the columns of a table of search in addition to those of the records. Other
// commands read over them.
var SearchColumns = []string{"citations", "views", "downloads"}

// IsSpreadsheet reports whether a file is an .xlsx.
func IsSpreadsheet(file string) bool { return strings.EqualFold(filepath.Ext(file), ".xlsx") }

// Is reports whether a file is a table. Those in other formats than CSV and .xlsx are refused when
// they are read.
func Is(file string) bool {
	return IsOutput(file) || slices.Contains([]string{".ods", ".xls", ".xlsm", ".xlsb", ".numbers"},
		strings.ToLower(filepath.Ext(file)))
}

// IsOutput reports whether a table can be written to a file of this name.
func IsOutput(file string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".xlsx"}, strings.ToLower(filepath.Ext(file)))
}

// Open returns a reader of a table of records, and its file.
func Open(name string, opts *Options) (*Reader, io.Closer, error) {
	r, file, err := open(name, opts)
	if errors.Is(err, ErrUnknownColumn) {
		err = cmp.Or(otherTable(name), fmt.Errorf("%w; --pass-over names columns of your own", err))
	}
	return r, file, err
}

func open(name string, opts *Options) (*Reader, io.Closer, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	r, err := NewReader(filepath.Base(name), file, opts)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return r, file, nil
}

// otherTables are those of other things than records, by columns that no table of records has.
var otherTables = []struct {
	columns []string
	says    string
}{
	{[]string{"kind", "path", "desired", "found", "reason", "service", "result", "error"},
		"is a table of differences that datacite audit wrote; correct the source that was compared, and give that one, or " +
			"repair with datacite audit --fix"},
	{[]string{"metric", "access", "count", "platform", "publisher", "month", "country", "title", "year", "type"},
		"is a table of counts; datacite usage send sends it"},
}

// otherTable is the error for a table of other things than records, nil for any other one.
func otherTable(name string) error {
	for _, other := range otherTables {
		r, file, err := open(name, &Options{Others: other.columns, Partial: true})
		if err != nil {
			continue
		}
		_ = file.Close() // it was read only
		if !slices.ContainsFunc(other.columns[:3], func(column string) bool { return !r.Has(column) }) {
			return fmt.Errorf("%s %s", filepath.Base(name), other.says)
		}
	}
	return nil
}

// Stored returns the metadata of a record as its XML has them: the service's JSON leaves out some
// of them, such as keywords that are repeated. The record was read in detail.
func Stored(r *dois.Record) *metadata.Record {
	if record, err := metadata.ParseXML(bytes.NewReader(r.MetadataXML)); err == nil {
		return record
	}
	return &r.Record
}

// warnOfRemoved prints the findings of [Complete], once: a DOI is compared several times.
func warnOfRemoved(s *shell.Shell, place string, found []datacite.Finding) {
	for _, f := range found {
		s.WarnOnce("%s: %s", place, f)
	}
}

// Adapt makes what a DOI should be of a row of a table: the properties that its cells change, in the form in which the
// record was found. Warnings of what goes with them are printed.
func Adapt(s *shell.Shell, d *reconcile.Desired, row *metadata.Record, found *dois.Record) {
	whole, removed := Complete(row, found)
	warnOfRemoved(s, d.Place, removed)
	changed := *whole
	changed.DOI = ""
	to, from := reflect.ValueOf(&changed).Elem(), reflect.ValueOf(&found.Record).Elem()
	for i := range to.NumField() {
		if reflect.DeepEqual(to.Field(i).Interface(), from.Field(i).Interface()) {
			to.Field(i).SetZero()
		}
	}
	d.Metadata = &changed
}

// A Look lifts the faults of rows whose DOI exists; see [Row.Lift].
type Look struct {
	Shell  *shell.Shell
	Client *dois.Client

	lifted map[string]bool // all faults, by DOI
	failed bool
}

// At reads what is stored for the DOI of a row, if the row has faults. A row whose record cannot be read keeps them.
func (l *Look) At(ctx context.Context, row *Row) {
	perhaps := *row
	perhaps.Findings = slices.Clone(row.Findings)
	if perhaps.lift(func(column, datacite.Finding) bool { return true }); row.Err() == nil || perhaps.Err() != nil ||
		row.DOI == "" || l.failed {
		return
	}
	found, err := l.Client.Get(ctx, row.DOI, &dois.GetOptions{Detail: true})
	switch {
	case errors.Is(err, datacite.ErrNotFound):
		return
	case err != nil:
		l.failed = true
		l.Shell.Warn("warning: whether faulty cells say what is stored already cannot be asked: %s", shell.Message(err))
		return
	}
	if row.Lift(found); row.Err() == nil {
		if l.lifted == nil {
			l.lifted = map[string]bool{}
		}
		l.lifted[strings.Clone(doi.Key(row.DOI))] = true // a cell would hold its whole row
	}
}

// Again lifts the faults of a row that was read again, if At lifted them all.
func (l *Look) Again(row *Row) {
	if l.lifted[doi.Key(row.DOI)] {
		row.lift(func(column, datacite.Finding) bool { return true })
	}
}

// SaySheets says which sheet of several is read.
func SaySheets(s *shell.Shell, name string, r *Reader) {
	if sheets := r.Sheets(); len(sheets) > 1 {
		s.Say("%s: only the sheet %q is read; %s ignored", filepath.Base(name), sheets[0],
			shell.Count(len(sheets)-1, "other"))
	}
}

// SayOwn names the columns that are passed over since they are behind those of a result table.
func SayOwn(s *shell.Shell, name string, r *Reader) {
	for _, own := range r.Own() {
		s.Say("%s: the column %q, behind the column %s, is passed over", filepath.Base(name), own, lastResult)
	}
}

// PrintOfWrite prints the warnings about what the service made of a write, and not those about the
// metadata that were sent.
func PrintOfWrite(s *shell.Shell, place string, found []datacite.Finding) {
	for _, f := range found {
		if slices.Contains([]datacite.Code{datacite.CodeEscaped, datacite.CodeNotInJSON, datacite.CodeNotInXML,
			datacite.CodeLoss}, f.Code) {
			f.Warning = false // the line says it
			s.Warn("warning: %s: %s", place, f)
		}
	}
}

// Road says in which form a change is written; "" if nothing differs.
func Road(o *reconcile.Outcome) string {
	switch {
	case o.Draft == nil:
		return ""
	case o.Road == reconcile.RoadBoth:
		return "as JSON, then the XML again"
	case o.Road == reconcile.RoadJSON:
		return "as JSON"
	case o.Found == nil || len(o.Desired.XML) > 0:
		return "as XML"
	}
	return "into the stored XML"
}

// Place is where a row is, such as "items.csv, line 3".
func Place(row *Row) string {
	if row.Line == 0 {
		return row.File
	}
	return fmt.Sprintf("%s, line %d", row.File, row.Line)
}

// Findings prints the faults and warnings of rows. Of equal ones it prints the first, and at the end
// where the others are.
type Findings struct {
	Shell *shell.Shell

	repeated map[string]*repeated
	order    []*repeated
}

// repeated are equal findings.
type repeated struct {
	first datacite.Finding
	lines []int // of all
}

// Print prints the findings of a row, unless they were printed for another one.
func (p *Findings) Print(row *Row) {
	const most = 1000 // different ones that are kept
	for _, f := range row.Findings {
		key := fmt.Sprintf("%s\n%s\n%v\n%s", f.Path, f.Code, f.Warning, f.Reason)
		same := p.repeated[key]
		if same != nil {
			if last := same.lines[len(same.lines)-1]; last != row.Line {
				same.lines = append(same.lines, row.Line)
			}
			continue
		}
		p.say(f)
		if row.Line > 0 && len(p.order) < most {
			if p.repeated == nil {
				p.repeated = map[string]*repeated{}
			}
			same = &repeated{f, []int{row.Line}}
			p.repeated[key] = same
			p.order = append(p.order, same)
		}
	}
}

func (p *Findings) say(f datacite.Finding) {
	if f.Warning {
		p.Shell.Warn("%s", f)
	} else {
		p.Shell.Warn("error: %s", f)
	}
}

// End says where the findings are that Print left out.
func (p *Findings) End() {
	for _, same := range p.order {
		if n := len(same.lines) - 1; n > 0 {
			f := same.first
			f.File, f.Line, f.Column = fmt.Sprintf("%s, and %s (%s)", f.File, shell.Count(n, "more row"),
				lines(same.lines[1:])), 0, 0
			p.say(f)
		}
	}
	p.repeated, p.order = nil, nil
}

// lines are line numbers, in ranges.
func lines(all []int) string {
	const most = 10 // ranges
	var ranges []string
	for i := 0; i < len(all); {
		end := i
		for end+1 < len(all) && all[end+1] == all[end]+1 {
			end++
		}
		if len(ranges) == most {
			ranges = append(ranges, "…")
			break
		}
		text := fmt.Sprint(all[i])
		if end > i {
			text += fmt.Sprintf("–%d", all[end])
		}
		ranges = append(ranges, text)
		i = end + 1
	}
	return "lines " + strings.Join(ranges, ", ")
}
