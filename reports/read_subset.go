package reports

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// errStopped ends the lexer of a document whose reader has stopped.
var errStopped = errors.New("reading has been stopped")

// subset reads a subset and verifies its checksum.
func (r *Reader) subset(e *emitter) bool {
	d, i := r.doc, len(r.Subsets)
	e.hold, r.emptied = true, false
	checksum := d.readSubset(func() { r.expand(e) })
	if d.lex.Err() != nil {
		return false
	}
	var err error
	switch {
	case i < len(r.Subsets):
		err = r.Subsets[i].compareChecksum(i, checksum)
	case checksum != "":
		err = fmt.Errorf("subset %d has no data under its checksum", i+1)
	}
	if err != nil {
		d.lex.Fail(err)
		return false
	}
	return e.release()
}

// expand reads the datasets of the compressed content that comes next. Its
// errors become those of the document's lexer.
func (r *Reader) expand(e *emitter) {
	content := r.doc.lex.Base64()
	before := e.count
	err := r.inflate(content, e)
	if err == nil && !e.stopped {
		err = content.Drain()
	}
	switch {
	case e.stopped:
		r.doc.lex.Fail(errStopped)
	case err != nil:
		r.doc.lex.Fail(fmt.Errorf("subset %d: %w", len(r.Subsets)+1, e.place(err)))
	case len(r.Subsets) == maxSubsets:
		r.doc.lex.Fail(fmt.Errorf("%w: more than %d subsets", jsonlex.ErrTooLarge, maxSubsets))
	default:
		r.Subsets = append(r.Subsets, Subset{Checksum: content.Checksum(), Datasets: e.count - before, Bytes: content.Size()})
	}
}

// inflate yields the datasets of a subset: a report with a header of its own,
// which may differ from the stored one and does not count. Some subsets hold it
// as JSON in a JSON text.
func (r *Reader) inflate(content io.Reader, e *emitter) error {
	if err := r.plain.open(content); err != nil {
		return err
	}
	finished := false
	r.plain.gunzip.Start()
	defer func() {
		if !finished {
			r.Close() // so that Stop need not wait for the network
		}
		r.plain.gunzip.Stop()
	}()
	lex := r.plain.lexer(r.bounded(r.plain.gunzip, &r.inflated))
	var err error
	if lex.Kind() != '"' {
		err = e.document(newDocumentOf(lex, r.doc.dec))
	} else {
		lex.OpenText()
		if err = e.document(newDocument(lex.Reader(), r.doc.dec)); err == nil {
			lex.End()
			err = lex.Err()
		}
	}
	finished = err == nil && !e.stopped
	return err
}

// A plainSubset reads the content of a subset, reusing the memory of the one before.
type plainSubset struct {
	gunzip *gzipbody.Reader
	lex    *jsonlex.Lexer
}

// open reads the header of the gzip stream. Of several members the first one
// counts, as it does for the service.
func (p *plainSubset) open(content io.Reader) (err error) {
	if p.gunzip != nil {
		return p.gunzip.Reset(content)
	}
	p.gunzip, err = gzipbody.NewReader(content, false)
	return err
}

func (p *plainSubset) lexer(src io.Reader) *jsonlex.Lexer {
	if p.lex == nil {
		p.lex = jsonlex.New(src)
	} else {
		p.lex.Reset(src)
	}
	return p.lex
}

// compareChecksum compares the checksum of the subset with number i with the one that the
// service shows, if it shows one.
func (s *Subset) compareChecksum(i int, shown string) error {
	if shown == "" || strings.EqualFold(shown, s.Checksum) {
		return nil
	}
	return &checksumError{i + 1, s.Checksum, shown}
}

// A checksumError is a subset that does not match the checksum of the service. It matches
// datacite.ErrIncomplete.
type checksumError struct {
	subset       int
	found, shown string
}

func (e *checksumError) Error() string {
	return fmt.Sprintf("subset %d has checksum %s, but the service says %.64q", e.subset, e.found, e.shown)
}

func (e *checksumError) Is(target error) bool { return target == datacite.ErrIncomplete }
