package main

import (
	"bufio"
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
)

// An input is where the datasets come from.
type input struct {
	header   reports.Header
	datasets iter.Seq2[reports.Dataset, error]
	file     *countedFile
	isTable  bool
	doi      string // of the dataset read last

	warnings []datacite.Finding // the first mostWarnings
	warned   int
	faults   []string // of the datasets that were left out, the first mostFaults
	leftOut  int      // datasets, and rows that name none
}

const mostFaults = 100

const mostWarnings = 20

// An inputError is a fault of the input or the options.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// open opens the file that the settings name.
func open(ctx context.Context, s settings, stdin io.Reader, show *meter) (*input, error) {
	file, err := openFile(s.file, stdin)
	if err != nil {
		return nil, &inputError{err}
	}
	in := &input{file: file}
	if s.csv {
		in.openTable(ctx, s, show)
		return in, nil
	}
	if err := in.openReport(); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *input) openReport() (err error) {
	in.header, in.datasets, err = reports.ReadFile(in.file)
	if err != nil {
		return &inputError{fmt.Errorf("%s: %w; a table is read with -csv", in.file.name, err)}
	}
	return nil
}

func (in *input) openTable(ctx context.Context, s settings, show *meter) {
	in.header, in.isTable = s.header, true
	t := &table{
		tableSettings: s.table, name: in.file.name, open: in.file.inflated,
		progress: func(rows int64) { show.at("Reading", in.file.fraction(), rows, "rows") },
	}
	opts := &reports.GroupOptions{MergeRepeats: s.mergeRepeats, LeaveOut: in.leavingOut(s), Warn: func(f datacite.Finding) {
		if f.Code == "conflict" || f.Code == "corrected" { // Submit warns of what records will not show
			in.warn(f)
		}
	}}
	in.datasets = reports.Group(t.rows(ctx), opts)
}

func (in *input) close() { _ = in.file.close() } // it was only read

// leavingOut is the function that is told of datasets left out; nil if a fault stops the
// program.
func (in *input) leavingOut(s settings) func(error) bool {
	if !s.leaveOut {
		return nil
	}
	return in.leaveOut
}

// leaveOut counts a dataset that is left out.
func (in *input) leaveOut(err error) bool {
	in.leftOut++
	faults := datacite.Findings(err)
	for _, f := range faults[:min(len(faults), mostFaults-len(in.faults))] {
		in.faults = append(in.faults, f.String())
	}
	return true
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

// fault marks what went wrong in reading as a fault of the input. An interruption
// is none.
func (in *input) fault(err error) error {
	if _, ok := errors.AsType[*inputError](err); ok || in.isTable {
		return err
	}
	return &inputError{fmt.Errorf("%s: %w", in.file.name, err)}
}

// fraction is how much of the input has become datasets; negative if that is not
// known, as in a table, which is read to its end before.
func (in *input) fraction() float64 {
	if in.isTable {
		return -1
	}
	return in.file.fraction()
}

// A countedFile is a file, or standard input, that knows how far it has been
// read.
type countedFile struct {
	name  string
	src   io.Reader
	size  int64 // 0 if not known
	at    atomic.Int64
	again bool // it can be read from the start once more
	owned bool
}

func openFile(name string, stdin io.Reader) (*countedFile, error) {
	f := &countedFile{name: name, src: stdin}
	if name == "-" {
		f.name = "standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		f.src, f.owned = file, true
	}
	file, ok := f.src.(*os.File)
	if !ok {
		return f, nil
	}
	info, err := file.Stat()
	switch {
	case err == nil && info.IsDir():
		err = fmt.Errorf("%s is a folder", name)
		fallthrough
	case err != nil:
		return nil, errors.Join(err, f.close())
	case info.Mode().IsRegular():
		f.size, f.again = info.Size(), true
	}
	return f, nil
}

func (f *countedFile) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	f.at.Add(int64(n))
	return n, err
}

// Seek makes the file an io.Seeker; it fails where the file is a pipe.
func (f *countedFile) Seek(offset int64, whence int) (int64, error) {
	seeker, ok := f.src.(io.Seeker)
	if !ok || !f.again {
		return 0, errors.New("it can be read only once")
	}
	at, err := seeker.Seek(offset, whence)
	f.at.Store(at)
	return at, err
}

// inflated returns the content of the file, inflated if it is compressed.
func (f *countedFile) inflated() (io.Reader, error) {
	buffered := bufio.NewReaderSize(f, 64<<10)
	if start, _ := buffered.Peek(2); len(start) == 2 && start[0] == 0x1f && start[1] == 0x8b {
		return gzip.NewReader(buffered)
	}
	return buffered, nil
}

// fraction is how much of the file has been read; negative if that is not known.
func (f *countedFile) fraction() float64 {
	if f.size == 0 {
		return -1
	}
	return min(1, float64(f.at.Load())/float64(f.size))
}

func (f *countedFile) close() error {
	if file, ok := f.src.(*os.File); ok && f.owned {
		return file.Close()
	}
	return nil
}
