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

	"github.com/datacite-go/datacite-go/reports"
)

// An input is where the datasets come from.
type input struct {
	header   reports.Header
	datasets iter.Seq2[reports.Dataset, error]
	file     *countedFile
	table    *table // nil for a report file

	warnings []string // the first mostWarnings
	warned   int
	found    []reports.Finding // warnings of Submit, the first mostWarnings
}

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
		err = in.openTable(ctx, s, show)
	} else {
		err = in.openReport()
	}
	if err != nil {
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

func (in *input) openTable(ctx context.Context, s settings, show *meter) (err error) {
	in.header = s.header
	in.table = &table{tableSettings: s.table, name: in.file.name, open: in.file.fromStart, warn: in.note}
	in.datasets, err = in.table.datasets(ctx, in.file.again, show, in.file.fraction)
	return err
}

func (in *input) close() { _ = in.file.close() } // it was only read

// warn takes the warnings of Submit. Where in a table they are is found out
// later, when nothing is being read any more. That the countries add up to less
// than the whole is no news in a table: it has rows whose country is not known.
func (in *input) warn(f reports.Finding) {
	if in.table != nil && strings.HasSuffix(f.Path, ".country-counts") {
		return
	}
	in.warned++
	if len(in.found) < mostWarnings {
		in.found = append(in.found, f)
	}
}

// note takes the warnings of the table.
func (in *input) note(text string) {
	in.warned++
	if len(in.warnings) < mostWarnings {
		in.warnings = append(in.warnings, text)
	}
}

func (in *input) printWarnings(out io.Writer) {
	texts := in.warnings
	for _, f := range in.found {
		texts = append(texts, in.place(f.Path)+" "+f.Reason)
	}
	for _, text := range texts[:min(len(texts), mostWarnings)] {
		fmt.Fprintln(out, "warning:", text)
	}
	if in.warned > mostWarnings {
		fmt.Fprintf(out, "warnings: %d in all, of which %d are shown\n", in.warned, mostWarnings)
	}
}

// fault marks what went wrong in reading as a fault of the input. An interruption
// is none.
func (in *input) fault(err error) error {
	if _, ok := errors.AsType[*inputError](err); ok || in.table != nil {
		return err
	}
	return &inputError{fmt.Errorf("%s: %w", in.file.name, err)}
}

// fraction is how much of the input n datasets are.
func (in *input) fraction(n int64) float64 {
	if in.table == nil || in.table.total == 0 {
		return in.file.fraction()
	}
	return float64(n) / float64(in.table.total)
}

// place says where in the input a dataset is, if a person could not find it by
// the path alone.
func (in *input) place(path string) string {
	if in.table == nil {
		return path
	}
	return in.table.place(path)
}

// located says of faults where in the input they are.
func (in *input) located(err error) error {
	v, ok := errors.AsType[*reports.ValidationError](err)
	if !ok || in.table == nil {
		return err
	}
	moved := &reports.ValidationError{}
	for _, f := range v.Faults {
		moved.Faults = append(moved.Faults, &reports.FieldError{Path: in.place(f.Path), Reason: f.Reason})
	}
	return moved
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

// fromStart returns the content of the file, inflated if it is compressed.
func (f *countedFile) fromStart() (io.Reader, error) {
	if f.at.Load() > 0 {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
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
