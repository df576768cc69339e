package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Source is [datacite.Each] for [Client.Submit].
func Source(datasets []Dataset) iter.Seq2[Dataset, error] { return datacite.Each(datasets) }

// NewReader starts to read a report from a file or another stream, plain or compressed with
// gzip, in the form that is sent or in any form that the service returns. If its subsets
// come before its datasets, or its header comes after them, src must also be an
// [io.Seeker], so that it can be read twice. Numbers as strings, strings as numbers,
// missing and unknown members are accepted. Errors are those of [ReadFile].
func NewReader(src io.Reader) (*Reader, error) {
	if src == nil {
		return nil, datacite.Invalidf("src", datacite.CodeMissing, "is nil")
	}
	r := readerOf("reports.NewReader", src)
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// ReadFile reads a report in any form that [NewReader] reads, for [Client.Submit]: its
// header at once, its datasets one by one from an iterator that can be used once. Unless r
// is also an [io.Seeker], report-header must come before report-datasets. Members that the
// service adds to a header are left out.
//
// A file that is damaged or not a report is a [*datacite.ValidationError], here or from the
// iterator. Any other error is that of r.
func ReadFile(r io.Reader) (Header, iter.Seq2[Dataset, error], error) {
	if r == nil {
		return Header{}, nil, datacite.Invalidf("r", datacite.CodeMissing, "is nil")
	}
	f := readerOf("reports.ReadFile", r)
	if err := f.open(); err != nil {
		return Header{}, nil, err
	}
	if err := f.findHeader(); err != nil {
		return Header{}, nil, err
	}
	return f.Header, f.file(), nil
}

// readerOf reads a report from a file. A file that cannot be read is not an invalid one.
func readerOf(op string, src io.Reader) *Reader {
	var watch input.Watch
	r := &Reader{fail: func(cause error) error {
		if watch.Failed() {
			return fmt.Errorf("%s: %w", op, cause)
		}
		return input.Invalid(cause, datacite.Finding{Path: "report", Code: datacite.CodeSyntax})
	}}
	r.source = r.files(src, &watch)
	return r
}

// file yields the datasets of a file, which must have a list of them.
func (r *Reader) file() iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		going := true
		for d, err := range r.All() {
			if going = yield(d, err) && err == nil; !going {
				return
			}
		}
		if !r.listed {
			yield(Dataset{}, r.failed(errors.New("there is no list report-datasets")))
		}
	}
}

// findHeader makes sure that the header is known before the datasets are read.
func (r *Reader) findHeader() error {
	first, late := r.next, false
	for ; r.next != jsonlex.End && !r.doc.hasHeader(); r.next = r.advance() {
		r.doc.lex.Skip()
		late = true
	}
	header := r.Header
	switch {
	case r.doc.lex.Err() != nil:
		return r.failed(r.doc.lex.Err())
	case !r.doc.hasHeader():
		return r.failed(errors.New("there is no report-header"))
	case first == jsonlex.End:
		return r.failed(errors.New("there is no list report-datasets"))
	case !late:
		return nil
	}
	if err := r.open(); err != nil {
		if errors.Is(err, errNotTwice) {
			return r.failed(errors.New("report-datasets comes before report-header; put the header first"))
		}
		return err
	}
	r.Header, r.doc.header.Header, r.doc.headed = header, header, true
	return nil
}

// errNotTwice: a stream cannot be read from its start again.
var errNotTwice = errors.New("its subsets come before its datasets, and it is not an io.Seeker that can be read twice")

// files returns a source that reads a stream from its start.
func (r *Reader) files(src io.Reader, watch *input.Watch) func() (io.Reader, error) {
	seeker, again := src.(io.Seeker)
	var start int64
	if again {
		var err error
		start, err = seeker.Seek(0, io.SeekCurrent)
		again = err == nil // a pipe is an *os.File, too
	}
	first := true
	return func() (io.Reader, error) {
		if !first {
			if !again {
				return nil, r.failed(errNotTwice)
			}
			if _, err := seeker.Seek(start, io.SeekStart); err != nil {
				return nil, r.failed(watch.Note(err))
			}
		}
		first = false
		plain, err := r.uncompressed(watch.Reader(src))
		if err != nil {
			return nil, r.failed(err)
		}
		return plain, nil
	}
}

// uncompressed looks at the first bytes to see whether they are gzip's.
func (r *Reader) uncompressed(src io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(src, 16) // which larger reads go around
	start, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(start) < 2 || start[0] != 0x1f || start[1] != 0x8b {
		r.inflater = nil
		return b, nil
	}
	r.inflater, err = gzipbody.NewReader(bufio.NewReaderSize(b, 64<<10), true)
	return r.inflater, err
}

// WriteFile writes a report in the form that [ReadFile] reads, dataset by dataset. An error of
// the source or of w ends it, and what was written until then is not a report.
func WriteFile(w io.Writer, h Header, datasets iter.Seq2[Dataset, error]) error {
	to := bufio.NewWriterSize(w, 64<<10) // it keeps its first error
	header, err := h.MarshalJSON()
	if err != nil {
		return err
	}
	to.WriteString(`{"report-header":`)
	to.Write(header)
	to.WriteString(`,"report-datasets":[`)
	before, entry := "\n", []byte(nil)
	for d, err := range datasets {
		if err == nil {
			entry, err = appendDataset(entry[:0], &d)
		}
		if err != nil {
			return err
		}
		to.WriteString(before)
		if _, err := to.Write(entry); err != nil {
			return err
		}
		before = ",\n"
	}
	to.WriteString("\n]}\n")
	return to.Flush()
}
