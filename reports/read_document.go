package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Places of the members of a report as the service shows it. After them come
// those of a header, which a few old files have in no object of its own.
const (
	reportID = iota
	reportHeader
	reportDatasets
	reportSubsets
	reportGzip // with reportChecksum: the one subset of reports from before there were several
	reportChecksum
	reportWrapper
	reportFlatHeader
)

var reportNames = append([]string{"id", "report-header", "report-datasets", "report-subsets", "gzip", "checksum",
	"report"}, headerJSON.Names()...)

// Places of the members of a subset.
const (
	subsetGzip = iota
	subsetChecksum
)

// A document walks through the members of a report, in their order.
type document struct {
	lex           *jsonlex.Lexer
	dec           *datasetDecoder
	names, subset *jsonlex.Names

	begun   bool
	wrapped bool // inside the member report
	last    int  // member read last

	id       string
	header   storedHeader
	headed   bool   // the header has been read
	checksum string // beside reportGzip
}

func newDocument(r io.Reader, dec *datasetDecoder) *document {
	return newDocumentOf(jsonlex.New(r), dec)
}

func newDocumentOf(l *jsonlex.Lexer, dec *datasetDecoder) *document {
	l.Use(dec.budget)
	l.Controls() // the deployed service takes and stores them
	return &document{
		lex: l, dec: dec,
		names: jsonlex.NewNames(reportNames...), subset: jsonlex.NewNames("gzip", "checksum"),
	}
}

// hasHeader tells whether the header has been read, as a member or, in a few old
// files, as members beside the datasets.
func (d *document) hasHeader() bool { return d.headed || d.header.CreatedBy != "" }

// next reads on up to the value of a member that may hold datasets, which is for
// the caller to read, and returns which one it is; jsonlex.End at the end of the
// document or after an error of the lexer.
func (d *document) next() int {
	for {
		d.last = d.member()
		switch d.last {
		case reportDatasets, reportSubsets, reportGzip:
			return d.last
		case jsonlex.End:
			if !d.wrapped || d.lex.Err() != nil {
				d.lex.End()
				return jsonlex.End
			}
			d.wrapped, d.last = false, reportWrapper
		default:
			d.read(d.last)
		}
	}
}

func (d *document) member() int {
	if d.begun {
		return d.lex.Member(d.names, d.last)
	}
	d.begun = true
	return d.lex.Object(d.names)
}

// read reads a member that holds no datasets.
func (d *document) read(member int) {
	switch {
	case member == reportID:
		d.id = d.dec.text(d.lex)
	case member == reportHeader:
		d.dec.Lexer = d.lex
		readHeader(&d.dec.decoder, &d.header)
		d.headed = true
	case member == reportChecksum:
		d.checksum = d.dec.text(d.lex)
	case member == reportWrapper && !d.wrapped && d.lex.Kind() == '{':
		d.wrapped, d.begun = true, false
	case member >= reportFlatHeader && !d.headed:
		d.dec.Lexer = d.lex
		headerJSON.ReadMember(member-reportFlatHeader, &d.dec.decoder, &d.header)
	default:
		d.lex.Skip()
	}
}

// elements reads the list that comes next. It calls entry at each dataset entry
// and subset at each subset, which lists of either name may hold, until one of
// them returns false. It returns false in that case.
func (d *document) elements(entry, subset func() bool) bool {
	l := d.lex
	if l.Kind() != '[' {
		return d.object(subset)
	}
	l.List()
	read := entry
	for i := 0; l.Element(i); i++ {
		if i == 0 && l.Known(d.subset) >= 0 {
			read = subset
		}
		if !read() {
			return false
		}
	}
	return true
}

// object reads what stands instead of a list: null, a single subset, or the note of
// an old server that the list would be too long.
func (d *document) object(subset func() bool) bool {
	if d.lex.Known(d.subset) >= 0 {
		return subset()
	}
	d.lex.Skip()
	return true
}

// readSubset reads a subset, with body called at its compressed content.
func (d *document) readSubset(body func()) (checksum string) {
	if d.lex.Null() {
		return ""
	}
	for m := d.lex.Object(d.subset); m != jsonlex.End; m = d.lex.Member(d.subset, m) {
		switch {
		case m == subsetGzip && d.lex.Kind() == '"':
			body()
		case m == subsetChecksum:
			checksum = d.dec.text(d.lex)
		default:
			d.lex.Skip()
		}
	}
	return checksum
}

// UnmarshalJSON reads a report as it is written, or in a member named report.
// Subsets are left out: [Client.Get] and [NewReader] expand them.
func (r *Report) UnmarshalJSON(data []byte) error {
	*r = Report{}
	lex := jsonlex.OfBytes(data)
	r.read(lex, &datasetDecoder{})
	return input.Invalid(lex.Err(), datacite.Finding{Path: "report", Code: datacite.CodeSyntax})
}

// read reads a report to the end of the document. All datasets are kept.
func (r *Report) read(lex *jsonlex.Lexer, dec *datasetDecoder) {
	d := newDocumentOf(lex, dec)
	for m := d.next(); m != jsonlex.End; m = d.next() {
		if m != reportDatasets || lex.Kind() != '[' {
			lex.Skip()
			continue
		}
		r.Datasets = []Dataset{}
		lex.List()
		for i := 0; lex.Element(i); i++ {
			lex.Spend(2 * sizeOf[Dataset]()) // a list that grows is there twice
			r.Datasets = append(r.Datasets, Dataset{})
			d.dec.readDataset(lex, &r.Datasets[i])
		}
	}
	r.ID, r.Header = d.id, d.header.Header
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

const (
	maxMemory  = 64 << 20 // bytes that one dataset, or the response says of a report, may take
	maxSubsets = 100_000  // subsets that one report may have
)

// An emitter yields the datasets of a report.
type emitter struct {
	yield    func(*Dataset, error) bool
	decoders [2]*datasetDecoder // in turn: the dataset held and the one being read
	slots    [2]Dataset
	count    int      // datasets read
	reading  bool     // one is being read
	hold     bool     // keep the last one until release
	held     *Dataset // nil: none
	stopped  bool     // yield has returned false
}

func newEmitter(d *datasetDecoder, yield func(*Dataset, error) bool) *emitter {
	return &emitter{yield: yield, decoders: [2]*datasetDecoder{d, d}}
}

// newLendingEmitter makes an emitter of datasets whose lists are valid until the
// next iteration.
func newLendingEmitter(d *datasetDecoder, yield func(*Dataset, error) bool) *emitter {
	second := &datasetDecoder{}
	second.budget, second.reuse, d.reuse = d.budget, true, true
	return &emitter{yield: yield, decoders: [2]*datasetDecoder{d, second}}
}

// entry reads a dataset and yields it, or the one before if the last one is to
// be held. It returns false when reading must end.
func (e *emitter) entry(l *jsonlex.Lexer) bool {
	turn := e.count & 1
	d := &e.slots[turn]
	e.reading = true
	e.decoders[turn].readDataset(l, d)
	if l.Err() != nil {
		return false
	}
	e.reading = false
	e.count++
	if e.hold {
		d, e.held = e.held, d
	}
	return d == nil || e.give(d)
}

func (e *emitter) give(d *Dataset) bool {
	e.stopped = !e.yield(d, nil)
	return !e.stopped
}

// release yields the dataset that was held.
func (e *emitter) release() bool {
	d := e.held
	e.hold, e.held = false, nil
	return d == nil || e.give(d)
}

// document reads the datasets of a document in which they are shown.
func (e *emitter) document(d *document) error {
	skip := func() bool {
		d.lex.Skip()
		return true
	}
	for m := d.next(); m != jsonlex.End; m = d.next() {
		if m != reportDatasets {
			d.lex.Skip()
		} else if d.elements(func() bool { return e.entry(d.lex) }, skip); e.stopped {
			return nil
		}
	}
	return d.lex.Err()
}

// place adds to an error the dataset that it was found in.
func (e *emitter) place(err error) error {
	if !e.reading {
		return err
	}
	e.reading = false
	return fmt.Errorf("dataset %d: %w", e.count, err)
}

type boundedReader struct {
	src   io.Reader
	count *int64
	limit int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.src.Read(p)
	if *b.count += int64(n); *b.count > b.limit {
		return 0, fmt.Errorf("%w: more than %d bytes (Config.MaxReport)", datacite.ErrTooLarge, b.limit)
	}
	return n, err
}
