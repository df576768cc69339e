// Package tables has what commands share that read and write tables of records.
package tables

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata/table"
)

// ResultColumns are the columns of a table of results in addition to those of its source.
var ResultColumns = []string{"result", "error", "registered"}

// IsSpreadsheet reports whether a file is an .xlsx.
func IsSpreadsheet(file string) bool { return strings.EqualFold(filepath.Ext(file), ".xlsx") }

// Is reports whether a file is a table.
func Is(file string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".xlsx"}, strings.ToLower(filepath.Ext(file)))
}

// Open returns a reader of a table, and its file.
func Open(name string, opts *table.Options) (*table.Reader, io.Closer, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	r, err := table.NewReader(filepath.Base(name), file, opts)
	if errors.Is(err, table.ErrUnknownColumn) {
		err = fmt.Errorf("%w; --pass-over names columns of your own", err)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return r, file, nil
}

// SaySheets says which sheet of several is read.
func SaySheets(s *shell.Shell, name string, r *table.Reader) {
	if sheets := r.Sheets(); len(sheets) > 1 {
		s.Say("%s: only the sheet %q is read; %s ignored", filepath.Base(name), sheets[0], shell.Count(len(sheets)-1, "other"))
	}
}

// CheckRecord is an error for an object that only looks like a record: what commands print with --json
// about a DOI has its name, its URL and the service, and Citeproc JSON writes DOI. Taken for records, they would
// be ones without metadata.
func CheckRecord(r *dois.Record) error {
	what := ""
	switch {
	case r.Has("titles"):
	case r.Has("service"):
		what = "what a command printed with --json"
	case r.Has("DOI"):
		what = "Citeproc JSON"
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s: this is %s, not a record; datacite get --json and datacite harvest write records", r.DOI, what)
}

// Place is where a row is, such as "items.csv, line 3".
func Place(row *table.Row) string {
	if row.Line == 0 {
		return row.File
	}
	return fmt.Sprintf("%s, line %d", row.File, row.Line)
}

// PrintFindings prints the faults and warnings of a row.
func PrintFindings(s *shell.Shell, row *table.Row) {
	for _, f := range row.Findings {
		if f.Warning {
			s.Warn("%s", f)
		} else {
			s.Warn("error: %s", f)
		}
	}
}

// End ends a table that is printed, and says what it did to cells.
func End(s *shell.Shell, w *table.Writer) error {
	err := w.Flush()
	if n := w.Defused(); n > 0 && err == nil {
		s.Say("%s could be taken for a formula by a spreadsheet program, and got an apostrophe in front; tables are read without it", shell.Count(n, "cell"))
	}
	return err
}
