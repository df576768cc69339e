package send

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync/atomic"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/table"
)

// An input is what one report is made of.
type input struct {
	*command
	files    []*file // one, or the tables
	isTable  bool
	header   reports.Header
	datasets iter.Seq2[reports.Dataset, error]
	doi      string // of the dataset read last

	warnings []datacite.Finding // the first mostWarnings
	warned   int
	faults   []string // of the datasets that were left out, the first mostFaults
	leftOut  int      // datasets, and rows that name none
}

const mostFaults = 100

const mostWarnings = 20

// An inputError is a fault of the input.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// open opens the files. Tables make one report, and other files one each.
func (c *command) open(names []string) (all []*input, err error) {
	for i, name := range names {
		f, err := openFile(name, c.Stdin)
		if err != nil {
			return all, err
		}
		isTable := !f.isReport()
		switch {
		case i == 0 || !isTable && !all[0].isTable:
			all = append(all, &input{command: c, files: []*file{f}, isTable: isTable})
		case isTable && all[0].isTable:
			all[0].files = append(all[0].files, f)
		default:
			f.close()
			return all, fmt.Errorf("%s and %s are a table and a report; send them one after the other", all[0].files[0].name, f.name)
		}
	}
	return all, nil
}

// open begins to read. The header is known then.
func (in *input) open(ctx context.Context) (err error) {
	if !in.isTable {
		in.header, in.datasets, err = reports.ReadFile(in.files[0])
		if err != nil {
			return in.fault(err)
		}
		return nil
	}
	in.header = in.command.header
	in.datasets = reports.Group(in.rows(ctx), &reports.GroupOptions{
		MergeRepeats: in.opts.MergeRepeats, LeaveOut: in.leavingOut(), Warn: func(f datacite.Finding) {
			if f.Code == "conflict" || f.Code == "corrected" { // Submit warns of what records will not show
				in.warn(f)
			}
		},
	})
	return nil
}

// rows are those of all tables.
func (in *input) rows(ctx context.Context) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		n := int64(0)
		for _, f := range in.files {
			for row, err := range table.Read(f.name, f, in.header.ReportingPeriod.BeginDate, &in.table) {
				n++
				if ctx.Err() != nil {
					yield(row, context.Cause(ctx))
					return
				}
				in.meter.at("rows read", f.fraction(), n, 0)
				if err != nil {
					yield(row, &inputError{err})
					return
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

func (in *input) close() {
	for _, f := range in.files {
		f.close()
	}
}

// leavingOut is the function that is told of datasets left out; nil if a fault stops the
// command.
func (in *input) leavingOut() func(error) bool {
	if !in.leaveOut {
		return nil
	}
	return func(err error) bool {
		in.leftOut++
		faults := datacite.Findings(err)
		for _, f := range faults[:min(len(faults), mostFaults-len(in.faults))] {
			in.faults = append(in.faults, f.String())
		}
		return true
	}
}

// warn takes the warnings. In a table nobody finds a dataset by its number, so its
// DOI is named. That the countries add up to less than the whole is no news there:
// it has rows whose country is not known.
func (in *input) warn(f datacite.Finding) {
	if _, field, ok := strings.Cut(f.Path, "]."); ok && in.isTable && strings.HasPrefix(f.Path, "report-datasets[") {
		if strings.HasSuffix(field, ".country-counts") {
			return
		}
		f.Path = in.doi + ": " + field
	}
	in.warned++
	if len(in.warnings) < mostWarnings {
		in.warnings = append(in.warnings, f)
	}
}

func (in *input) printWarnings(line func(format string, args ...any)) {
	for _, f := range in.warnings {
		line("%v", f)
	}
	if in.warned > mostWarnings {
		line("warnings: %d in all, of which %d are shown", in.warned, mostWarnings)
	}
}

// fault marks what went wrong in reading a report as a fault of the input.
func (in *input) fault(err error) error {
	if in.isTable {
		return err
	}
	return &inputError{fmt.Errorf("%s: %w", in.files[0].name, err)}
}

// A file is a file, or standard input, that knows how far it has been read.
type file struct {
	name  string
	src   io.Reader
	disk  *os.File // nil if it can be read only once
	size  int64    // 0 if not known
	at    atomic.Int64
	owned bool
}

func openFile(name string, stdin io.Reader) (*file, error) {
	f := &file{name: name, src: stdin}
	if name == "-" {
		f.name = "standard input"
	} else {
		opened, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		f.src, f.owned = opened, true
	}
	if opened, ok := f.src.(*os.File); ok {
		info, err := opened.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a folder", name)
		}
		if err != nil {
			f.close()
			return nil, err
		}
		if info.Mode().IsRegular() {
			f.disk, f.size = opened, info.Size()
			return f, nil
		}
	}
	f.src = bufio.NewReaderSize(f.src, 64<<10)
	return f, nil
}

// isReport reports whether the file is JSON. It may be compressed, and anything else is a table.
func (f *file) isReport() bool {
	const enough = 4096
	var start []byte
	if buffered, ok := f.src.(*bufio.Reader); ok {
		start, _ = buffered.Peek(enough) // reading tells the error
	} else {
		start = make([]byte, enough)
		now, _ := f.disk.Seek(0, io.SeekCurrent)
		n, _ := f.disk.ReadAt(start, now)
		start = start[:n]
	}
	if r, err := gzip.NewReader(bytes.NewReader(start)); err == nil {
		start, _ = io.ReadAll(r) // of what there is
	}
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\ufeff"))), []byte("{"))
}

func (f *file) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	f.at.Add(int64(n))
	return n, err
}

// Seek makes the file an io.Seeker; it fails where the file is a pipe.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	if f.disk == nil {
		return 0, errors.New("it can be read only once")
	}
	at, err := f.disk.Seek(offset, whence)
	f.at.Store(at)
	return at, err
}

// ReadAt makes the file an io.ReaderAt, for .xlsx. It is called after Seek has succeeded.
func (f *file) ReadAt(p []byte, off int64) (int, error) { return f.disk.ReadAt(p, off) }

// fraction is how much of the file has been read; negative if that is not known.
func (f *file) fraction() float64 {
	if f.size == 0 {
		return -1
	}
	return min(1, float64(f.at.Load())/float64(f.size))
}

func (f *file) close() {
	if opened, ok := f.src.(*os.File); ok && f.owned {
		_ = opened.Close() // it was only read
	}
}
