package reports

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/datacite-go/datacite-go/internal/gunzip"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// errStopped ends the lexer of a document whose reader has had enough.
var errStopped = errors.New("reading has been stopped")

// A flow hands on the datasets of a report.
type flow struct {
	yield    func(*Dataset, error) bool
	decoders [2]*decoder // in turn: the dataset held and the one being read
	slots    [2]Dataset
	count    int      // datasets read
	reading  bool     // one is being read
	hold     bool     // keep the last one until release
	held     *Dataset // nil: none
	stopped  bool     // yield has returned false
}

// newFlow makes a flow of datasets whose lists, if reuse is true, are good until
// the next one only.
func newFlow(d *decoder, reuse bool, yield func(*Dataset, error) bool) *flow {
	f := &flow{yield: yield, decoders: [2]*decoder{d, d}}
	if reuse {
		f.decoders[1] = newDecoder()
		f.decoders[0].reuse, f.decoders[1].reuse = true, true
		f.decoders[1].budget = d.budget
	}
	return f
}

// entry reads a dataset and hands it on, or the one before if the last one is to
// be held. It returns false when reading has to end.
func (f *flow) entry(l *jsonlex.Lexer) bool {
	turn := f.count & 1
	d := &f.slots[turn]
	f.reading = true
	f.decoders[turn].readDataset(l, d)
	if l.Err() != nil {
		return false
	}
	f.reading = false
	f.count++
	if f.hold {
		d, f.held = f.held, d
	}
	return d == nil || f.give(d)
}

func (f *flow) give(d *Dataset) bool {
	f.stopped = !f.yield(d, nil)
	return !f.stopped
}

// release hands on the dataset that was held.
func (f *flow) release() bool {
	d := f.held
	f.hold, f.held = false, nil
	return d == nil || f.give(d)
}

// document reads the datasets of a document in which they are shown.
func (f *flow) document(d *document) error {
	skip := func() bool {
		d.lex.Skip()
		return true
	}
	for m := d.next(); m != jsonlex.End; m = d.next() {
		if m != reportDatasets {
			d.lex.Skip()
		} else if d.elements(func() bool { return f.entry(d.lex) }, skip); f.stopped {
			return nil
		}
	}
	return d.lex.Err()
}

// place adds to an error the dataset that it was found in.
func (f *flow) place(err error) error {
	if !f.reading {
		return err
	}
	f.reading = false
	return fmt.Errorf("dataset %d: %w", f.count, err)
}

// A plainSubset reads what the compressed content of a subset holds, with the
// memory that it had for the one before.
type plainSubset struct {
	gunzip *gunzip.Reader
	lex    *jsonlex.Lexer
}

// open reads the header of the gzip stream. Of several members the first one
// counts, as it does for the service.
func (p *plainSubset) open(content io.Reader) (err error) {
	if p.gunzip != nil {
		return p.gunzip.Reset(content)
	}
	p.gunzip, err = gunzip.New(content, false)
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

// prove compares the checksum of the subset with number i with the one that the
// service shows; "" is none.
func (s *Subset) prove(i int, shown string) error {
	if shown == "" || strings.EqualFold(shown, s.Checksum) {
		return nil
	}
	return &checksumError{i + 1, s.Checksum, shown}
}

// A checksumError is a subset that is not what the service says. It matches
// ErrIncomplete.
type checksumError struct {
	subset       int
	found, shown string
}

func (e *checksumError) Error() string {
	return fmt.Sprintf("subset %d has checksum %s, but the service says %.64q", e.subset, e.found, e.shown)
}

func (e *checksumError) Is(target error) bool { return target == ErrIncomplete }
