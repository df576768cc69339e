package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
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

var reportNames = append([]string{"id", "report-header", "report-datasets", "report-subsets", "gzip", "checksum", "report"}, headerJSON.Names()...)

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

// A storedReport is what a response says of a report, but for its datasets.
type storedReport struct {
	ID string
	storedHeader
	Shown   int      // datasets shown outside of subsets
	Subsets []Subset // in no order; how many datasets they hold is not known
	damage  error    // of the first subset that does not match its checksum
}

// read reads the data of a subset, which are hashed and dropped as they come in.
func (s *storedReport) read(l *jsonlex.Lexer) (part Subset) {
	if l.Kind() != '"' {
		l.Skip()
		return part
	}
	data := l.Base64()
	if err := data.Drain(); err != nil {
		s.damaged(fmt.Errorf("subset %d: %w", len(s.Subsets)+1, err))
	}
	return Subset{Checksum: data.Checksum(), Bytes: data.Size()}
}

// add adds a subset, and compares it with the checksum shown.
func (s *storedReport) add(part Subset, checksum string) {
	if part.Checksum == "" {
		s.damaged(fmt.Errorf("subset %d has no data", len(s.Subsets)+1))
	}
	s.damaged(part.compareChecksum(len(s.Subsets), checksum))
	s.Subsets = append(s.Subsets, part)
}

func (s *storedReport) damaged(err error) { s.damage = cmp.Or(s.damage, err) }

// state is a hash of what is stored, in any order: even for subsets, and odd for datasets.
func (s *storedReport) state() uint64 {
	sum := sha256.Sum256(fmt.Append(nil, s.Shown, sortedChecksums(s.Subsets)))
	state := binary.BigEndian.Uint64(sum[:]) &^ 1
	if s.Shown > 0 {
		state++
	}
	return state
}

// scanResponse reads a report as the service shows it.
func scanResponse(r io.Reader) (storedReport, error) {
	dec := &datasetDecoder{}
	dec.budget = jsonlex.NewBudget(maxMemory)
	d := newDocument(r, dec)
	var s storedReport
	entry := func() bool {
		d.lex.Skip()
		s.Shown++
		return true
	}
	subset := func() bool {
		var part Subset
		checksum := d.readSubset(func() { part = s.read(d.lex) })
		d.lex.Spend(2 * sizeOf[Subset]())
		s.add(part, checksum)
		return true
	}
	var lone Subset
	for m := d.next(); m != jsonlex.End; m = d.next() {
		switch m {
		case reportGzip:
			lone = s.read(d.lex)
		case reportSubsets:
			d.elements(subset, subset)
		default:
			d.elements(entry, subset)
		}
	}
	if lone.Checksum != "" {
		s.add(lone, d.checksum)
	}
	s.ID, s.storedHeader = d.id, d.header
	return s, d.lex.Err()
}

// UnmarshalJSON reads a report as it is written, or in a member named report.
// Subsets are left out: [Client.Get] and [NewReader] expand them.
func (r *Report) UnmarshalJSON(data []byte) error {
	*r = Report{}
	lex := jsonlex.OfBytes(data)
	r.read(lex, &datasetDecoder{})
	return input.Fault(lex.Err(), datacite.Finding{Path: "report", Code: "syntax"})
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
// as JSON in a JSON text. Of several gzip members the first one counts, as it does
// for the service.
func (r *Reader) inflate(content io.Reader, e *emitter) error {
	var err error
	if r.gunzip == nil {
		r.gunzip, err = gzipbody.NewReader(content, false)
		r.inner = jsonlex.New(nil)
	} else {
		err = r.gunzip.Reset(content)
	}
	if err != nil {
		return err
	}
	finished := false
	r.gunzip.Start()
	defer func() {
		if !finished {
			r.Close() // so that Stop need not wait for the network
		}
		r.gunzip.Stop()
	}()
	lex := r.inner
	lex.Reset(r.bounded(r.gunzip, &r.inflated))
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
