// Package input makes findings of what is wrong with files and texts, and tells damaged input
// from input that could not be read.
package input

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Invalid returns err as f, with the text of err as the reason, and nil for nil. Its code is encoding if err
// says that of JSON.
func Invalid(err error, f datacite.Finding) error {
	if err == nil {
		return nil
	}
	f.Reason, f.Err = err.Error(), err
	if syntax, ok := errors.AsType[*jsonlex.SyntaxError](err); ok && syntax.Encoding {
		f.Code = datacite.CodeEncoding
	}
	return datacite.Invalid(f)
}

// JSON is [jsonlex.Unmarshal] with an error that is a [*datacite.ValidationError].
func JSON[T any](data []byte, v *T, read func(*jsonlex.Decoder, *T)) error {
	return Invalid(jsonlex.Unmarshal(data, v, read), datacite.Finding{Code: datacite.CodeSyntax})
}

// A Watch knows whether a source failed: then its content is not to blame.
type Watch struct{ failed atomic.Bool }

// Failed reports whether reading failed.
func (w *Watch) Failed() bool { return w.failed.Load() }

// Note returns err, and remembers if that is a failure.
func (w *Watch) Note(err error) error {
	if err != nil && err != io.EOF {
		w.failed.Store(true)
	}
	return err
}

// Reader returns r, watched.
func (w *Watch) Reader(r io.Reader) io.Reader { return &reader{r, w} }

type reader struct {
	io.Reader
	watch *Watch
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, r.watch.Note(err)
}
