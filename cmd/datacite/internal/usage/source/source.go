// Package source reads what usage reports are made of: report files and tables of counts.
package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/reports"
)

// Help says which files are read, in the help of a command.
const Help = `  - a report as JSON, such as "datacite usage count" writes
  - a table of counts, CSV or .xlsx; several make one report. --creator and --month are required

Either may be compressed with gzip; - is standard input. A table has the columns

  doi, metric, access, count         required
  platform, publisher                required, here or as flags
  title, year, uri, country

in any order. A row counts one metric (total- or unique-dataset-requests, total- or
unique-dataset-investigations) of one DOI for one kind of access (regular or machine) and one
country of two letters, or none if it is not known. The rows of a DOI make one dataset. They may
come in any order and number, and make the same report in any order.

A row that counts what another row has counted is a fault, and so is a cell that cannot be read:
nothing is sent. --leave-out leaves out the dataset of such a row, since its counts would be wrong
without it, and --merge-repeats adds up what is counted twice.`

// Files are the settings of a command that reads such files.
type Files struct {
	MergeRepeats bool

	shell                                   *shell.Shell
	creator, month, created, name, reportID string // of the header of a table
	platform, publisher                     string // of rows that do not name one
	leaveOut                                bool
	header                                  reports.Header // of a table
}

// ofTables are the flags that a report file has no use for.
var ofTables = []string{"creator", "month", "created", "name", "report-id", "platform", "publisher"}

// NewFiles adds the flags to a command.
func NewFiles(s *shell.Shell, cmd *cobra.Command) *Files {
	f, flags := &Files{shell: s}, cmd.Flags()
	flags.StringVar(&f.creator, "creator", "", "of a table: `name` of the repository or platform that counted")
	flags.StringVar(&f.month, "month", "", "of a table: the `month` that was counted, YYYY-MM")
	flags.StringVar(&f.created, "created", "",
		"of a table: the `day` on which the report was made, YYYY-MM-DD (without it: the day after the month, so that each "+
			"run makes the same report)")
	flags.StringVar(&f.name, "name", "Dataset Report", "of a table: `name` of the report, for people")
	flags.StringVar(&f.reportID, "report-id", "dsr", "of a table: short `code` of the type of the report")
	flags.StringVar(&f.platform, "platform", "", "of a table: `platform` of rows that do not name one")
	flags.StringVar(&f.publisher, "publisher", "", "of a table: `publisher` of rows that do not name one")
	flags.BoolVar(&f.leaveOut, "leave-out", false, "leave out datasets with faults, and send the others")
	flags.BoolVar(&f.MergeRepeats, "merge-repeats", false, "add up what is counted twice")
	return f
}

// A Report is what one report is made of.
type Report struct {
	Header  reports.Header // known after Begin
	IsTable bool

	*Files
	files    []*shell.Input // one, or the tables
	datasets iter.Seq2[reports.Dataset, error]
	doi      string // of the dataset read last

	warnings []datacite.Finding // the first mostWarnings
	Warned   int
	Faults   []string // of the datasets that were left out, the first mostFaults
	LeftOut  int      // datasets, and rows that name none
}

const mostFaults = 100

const mostWarnings = 20

// An Error is a fault of the input.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// ofLogs says where reports and tables come from, to those who give other files.
const ofLogs = "datacite usage count makes reports and tables of logs"

// Open opens files. Tables make one report, and other files one each. Close what it returns, with
// an error, too.
func (f *Files) Open(cmd *cobra.Command, names []string) (all []*Report, err error) {
	for i, name := range names {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return all, shell.Wrong(fmt.Errorf(
				"%s is a folder; give a report or a table, which datacite usage count --output writes", name))
		}
		in, err := f.shell.OpenInput(name)
		if err != nil {
			return all, err
		}
		isTable := !isReport(in)
		if bytes.HasPrefix(bytes.TrimSpace(in.Peek(512)), []byte("<")) {
			in.Close()
			return all, shell.Wrong(fmt.Errorf("%s is XML; give a report or a table as datacite usage count writes them",
				in.Name))
		}
		switch {
		case i == 0 || !isTable && !all[0].IsTable:
			all = append(all, &Report{Files: f, files: []*shell.Input{in}, IsTable: isTable})
		case isTable && all[0].IsTable:
			all[0].files = append(all[0].files, in)
		default:
			in.Close()
			return all, shell.Wrong(fmt.Errorf("%s and %s are a table and a report; send them one after the other",
				all[0].files[0].Name, in.Name))
		}
	}
	if err := f.readHeader(cmd, all[0].IsTable); err != nil {
		return all, shell.Wrong(err)
	}
	return all, nil
}

// isReport reports whether a file is JSON. It may be compressed, and anything else is a table.
func isReport(in *shell.Input) bool {
	start := in.Peek(4096)
	if r, err := gzip.NewReader(bytes.NewReader(start)); err == nil {
		start, _ = io.ReadAll(r) // of what there is
	}
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\ufeff"))), []byte("{"))
}

// readHeader makes the header of a table.
func (f *Files) readHeader(cmd *cobra.Command, isTable bool) error {
	if !isTable {
		for _, name := range ofTables {
			if shell.Changed(cmd, name) {
				return fmt.Errorf("--%s is for tables: a report file has its own", name)
			}
		}
		return nil
	}
	if f.creator == "" || f.month == "" {
		return errors.New("a table needs --creator and --month")
	}
	month, err := time.Parse("2006-01", f.month)
	if err != nil {
		return fmt.Errorf("--month is %q, not YYYY-MM", f.month)
	}
	created := month.AddDate(0, 1, 0)
	switch {
	case f.created != "":
		if created, err = time.Parse(time.DateOnly, f.created); err != nil {
			return fmt.Errorf("--created is %q, not YYYY-MM-DD", f.created)
		}
	case created.After(time.Now()):
		return fmt.Errorf("the month %s is not over; give --created to report it all the same", f.month)
	}
	f.header = reports.NewHeader(f.creator, reports.Day(created), reports.Month(month.Year(), month.Month()))
	f.header.ReportName, f.header.ReportID = f.name, f.reportID
	return nil
}

// Begin begins to read. The header is known then.
func (r *Report) Begin(ctx context.Context) (err error) {
	if !r.IsTable {
		if r.Header, r.datasets, err = reports.ReadFile(r.files[0]); datacite.Findings(err) != nil {
			err = fmt.Errorf("%w; %s", err, ofLogs)
		}
		return r.invalid(err)
	}
	r.Header = r.header
	r.datasets = reports.Group(r.rows(ctx), &reports.GroupOptions{
		MergeRepeats: r.MergeRepeats, LeaveOut: r.LeavingOut(), Warn: func(f datacite.Finding) {
			// Submit warns of what records will not show
			if f.Code == datacite.CodeConflict || f.Code == datacite.CodeCorrected {
				r.Warn(f)
			}
		},
	})
	return nil
}

// rows are those of all tables.
func (r *Report) rows(ctx context.Context) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		n := 0
		for _, in := range r.files {
			t := counts{name: in.Name, day: r.Header.ReportingPeriod.BeginDate, platform: r.platform, publisher: r.publisher}
			for row, err := range t.rows(in) {
				n++
				if ctx.Err() != nil {
					yield(row, ctx.Err())
					return
				}
				r.progress(n, "rows read", in.Fraction())
				if f := datacite.Findings(err); len(f) > 0 && f[0].Line <= 1 {
					err = fmt.Errorf("%w; %s", err, ofLogs)
				}
				if err != nil {
					yield(row, &Error{err})
					return
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// Datasets are those of the report, once. Their errors are an [*Error].
func (r *Report) Datasets() iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		n := 0
		for d, err := range r.datasets {
			if err != nil {
				yield(d, r.invalid(err))
				return
			}
			n++
			fraction := -1.0 // a table has been read by then
			if !r.IsTable {
				fraction = r.files[0].Fraction()
			}
			if r.doi = ""; len(d.DatasetID) > 0 {
				r.doi = d.DatasetID[0].Value
			}
			r.progress(n, "datasets built", fraction)
			if !yield(d, nil) {
				return
			}
		}
	}
}

// progress shows how much is read; fraction is negative if that is not known.
func (r *Report) progress(n int, things string, fraction float64) {
	more := ""
	if fraction >= 0 {
		more = fmt.Sprintf("%.0f %% of the input", 100*fraction)
	}
	r.shell.Progress(n, 0, things, more)
}

// Close closes the files.
func (r *Report) Close() {
	for _, in := range r.files {
		in.Close()
	}
}

// LeavingOut is the function that is told of datasets left out; nil if a fault stops the
// command.
func (r *Report) LeavingOut() func(error) bool {
	if !r.leaveOut {
		return nil
	}
	return func(err error) bool {
		r.LeftOut++
		faults := datacite.Findings(err)
		for _, f := range faults[:min(len(faults), mostFaults-len(r.Faults))] {
			r.Faults = append(r.Faults, f.String())
		}
		return true
	}
}

// Warn takes a warning about the dataset read last. Nobody finds a dataset by its number, so its
// DOI is named. That the countries add up to less than the whole is no news: not every address has
// a country.
func (r *Report) Warn(f datacite.Finding) { r.WarnOf(r.doi, f) }

// WarnOf takes a warning about a dataset.
func (r *Report) WarnOf(doi string, f datacite.Finding) {
	if _, field, ok := strings.Cut(f.Path, "]."); ok && strings.HasPrefix(f.Path, "report-datasets[") {
		if strings.HasSuffix(field, ".country-counts") {
			return
		}
		if doi != "" {
			f.Path = doi + ": " + field
		}
	}
	if r.Warned++; len(r.warnings) < mostWarnings {
		r.warnings = append(r.warnings, f)
	}
}

// PrintWarnings prints the warnings, the first ones of many.
func (r *Report) PrintWarnings(line func(format string, args ...any)) {
	for _, f := range r.warnings {
		line("%v", f)
	}
	if r.Warned > mostWarnings {
		line("warnings: %d in all, of which %d are shown", r.Warned, mostWarnings)
	}
}

// invalid marks what went wrong in reading a report as a fault of the input.
func (r *Report) invalid(err error) error {
	if err == nil || r.IsTable {
		return err
	}
	// it is something else
	if invalid, ok := errors.AsType[*datacite.ValidationError](err); ok && invalid.Findings[0].Path == "report" {
		err = fmt.Errorf("%w; give a report or a table as datacite usage count writes them", err)
	}
	return &Error{fmt.Errorf("%s: %w", r.files[0].Name, err)}
}

// Listed are several faults of the input, one a line, with the cure if there is one.
func Listed(faults *datacite.ValidationError) string {
	lines := []string{fmt.Sprintf("%d faults in the input; nothing was sent", len(faults.Findings))}
	switch n := len(faults.Findings); {
	case n == 1:
		lines[0] = "1 fault in the input; nothing was sent"
	case n >= mostFaults:
		lines[0] = fmt.Sprintf("faults in the input, the first %d; nothing was sent", n)
	}
	repeats := false
	for _, f := range faults.Findings {
		lines = append(lines, "  "+f.String())
		repeats = repeats || errors.Is(f.Err, reports.ErrRepeated)
	}
	if repeats {
		lines = append(lines, "--merge-repeats adds up what is counted twice.")
	}
	return strings.Join(lines, "\n")
}
