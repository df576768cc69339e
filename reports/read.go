package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"

	"github.com/datacite-go/datacite-go/internal/gunzip"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Get returns a stored report with all its datasets, those of compressed
// subsets included. It holds the whole report in memory, which may take
// ClientOptions.MaxBody: enough for 70,000 typical datasets at the default. A larger
// one is [ErrTooLarge]; [Client.Open] reads it in constant memory. No credentials are
// needed.
//
// Get sends GET /reports/{id} (specification §4.1).
func (c *Client) Get(ctx context.Context, id string) (*Report, error) {
	memory := jsonlex.NewBudget(c.core.MaxBody())
	r, err := c.open(ctx, "reports.Get", id, memory)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report := &Report{Datasets: []Dataset{}}
	for d, err := range r.Datasets() {
		if err != nil {
			return nil, err
		}
		if err := memory.Spend(2 * sizeOf[Dataset]()); err != nil { // a list that grows is there twice
			return nil, r.failed(err)
		}
		report.Datasets = append(report.Datasets, d)
	}
	report.ID, report.Header = r.ID, r.Header
	return report, nil
}

// Open starts to read a stored report. Its datasets come one by one from
// [Reader.Datasets], in constant memory however many they are; the caller closes
// the Reader. No credentials are needed.
//
// Open sends GET /reports/{id} (specification §4.1). Reading sends it once more
// if the service shows the parts of the report in an order that does not tell
// early enough which of them hold the data.
func (c *Client) Open(ctx context.Context, id string) (*Reader, error) {
	return c.open(ctx, "reports.Open", id, nil)
}

// open opens a report, all datasets of which are kept if there is memory for them.
func (c *Client) open(ctx context.Context, op, id string, memory *jsonlex.Budget) (*Reader, error) {
	if err := checkUUID("id", id); err != nil {
		return nil, err
	}
	request := transport.Request{
		Op: op, Method: "GET", Path: "/reports/" + id, Accept: transport.JSONType, Stream: true, Unbounded: true,
	}
	r := &Reader{ID: id, limit: c.maxReport, memory: memory}
	r.source = func() (io.Reader, error) {
		res, err := c.core.Do(ctx, request)
		if err != nil {
			return nil, c.wrap(err)
		}
		r.closer = &connection{ReadCloser: res.Body}
		r.fail = func(cause error) error { return c.wrap(c.core.Unreadable(request, res, cause)) }
		return r.closer.(io.Reader), nil
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

const (
	maxMemory  = 64 << 20 // bytes that one dataset, or what an answer says of a report, may take
	maxSubsets = 100_000  // subsets that one report may have
)

// A connection knows whether it broke, which tells a report that is damaged from
// one that came through in part.
type connection struct {
	io.ReadCloser
	broken, closed atomic.Bool
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && err != io.EOF && !c.closed.Load() {
		c.broken.Store(true)
	}
	return n, err
}

func (c *connection) Close() error {
	c.closed.Store(true)
	return c.ReadCloser.Close()
}

// A Reader reads the datasets of one report.
//
// A report that is stored in two ways, with its datasets shown and once more in
// a subset that the service made, is read in one of them.
type Reader struct {
	ID     string // of the report
	Header Header // complete once Datasets has ended; the service sends it first

	// Subsets are the compressed parts that the report is stored in, as far as
	// Datasets has read them; empty for a report that is shown whole. Checksum
	// and Bytes are of the compressed part.
	Subsets []Subset

	source   func() (io.Reader, error) // the document, from its start
	fail     func(error) error         // the error to return for a cause
	closer   io.Closer
	inflater *gunzip.Reader  // of a document that is compressed as a whole
	limit    int64           // bytes of the document, and of what its subsets inflate to; 0: none
	inflated int64           // bytes that the subsets have inflated to
	memory   *jsonlex.Budget // for all datasets, if they are kept
	plain    plainSubset     // the subset that is being read

	doc       *document
	next      int  // member of the document whose value comes next
	from      int  // member that the datasets came from; jsonlex.End: none yet
	shown     bool // the member with the datasets shown has come, or will not
	listed    bool // there was a list of datasets or subsets
	postponed bool // subsets were passed over that may hold the data after all
	emptied   bool // there is a list of subsets, and nothing in it
}

// open reads up to the first member that may hold data.
func (r *Reader) open() error {
	src, err := r.source()
	if err != nil {
		return err
	}
	r.from = jsonlex.End
	dec := newDecoder()
	if dec.budget, dec.kept = r.memory, r.memory != nil; !dec.kept {
		dec.budget = jsonlex.NewBudget(maxMemory)
	}
	r.doc = newDocument(r.bounded(src, new(int64)), dec)
	r.next = r.advance()
	if err := r.found(); err != nil {
		r.Close()
		return r.failed(err)
	}
	return nil
}

// found is the error of a document that has been read up to next.
func (r *Reader) found() error {
	switch {
	case r.doc.lex.Err() != nil:
		return r.doc.lex.Err()
	case r.next == jsonlex.End && !r.doc.hasHeader() && !r.listed && r.from == jsonlex.End:
		return errors.New("it holds no report: neither a header nor a list of datasets")
	}
	return nil
}

// advance reads on up to the next member that may hold data.
func (r *Reader) advance() int {
	m := r.doc.next()
	r.Header = r.doc.header
	if r.doc.id != "" {
		r.ID = r.doc.id
	}
	return m
}

// failed is the error to return for a cause.
func (r *Reader) failed(cause error) error {
	if errors.Is(cause, jsonlex.ErrTooLarge) {
		cause = fmt.Errorf("%w: %w", ErrTooLarge, cause)
		if r.memory != nil {
			cause = fmt.Errorf("%w (ClientOptions.MaxBody); Client.Open reads any report, one dataset at a time", cause)
		}
	}
	return r.fail(cause)
}

// Close ends reading.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// Datasets returns a single-use iterator over the datasets, as the service shows
// them: the deployed one keeps no order of subsets. An error ends it: of the connection, an answer that is cut off, a report that
// is larger than ClientOptions.MaxReport (it matches [ErrTooLarge]), a subset that
// does not match its checksum, or a compressed report that has lost all its subsets
// (they match [ErrIncomplete]). The last dataset of a subset comes after its
// checksum is proved.
func (r *Reader) Datasets() iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		r.read(false, func(d *Dataset, err error) bool { return yield(*d, err) })
	}
}

// Scan is Datasets for programs that keep no datasets: the lists of one are good
// until the next one only, which makes it faster. Texts may be kept.
func (r *Reader) Scan() iter.Seq2[*Dataset, error] {
	return func(yield func(*Dataset, error) bool) { r.read(true, yield) }
}

// read yields all datasets, and an error as the last thing.
func (r *Reader) read(reuse bool, yield func(*Dataset, error) bool) {
	f := newFlow(r.doc.dec, reuse, yield)
	err := r.members(f)
	if err == nil && r.postponed && r.from == jsonlex.End && !f.stopped {
		err = r.again(f)
	}
	if err != nil && !f.stopped {
		yield(&Dataset{}, err)
	}
}

// members reads what is left of the document.
func (r *Reader) members(f *flow) error {
	if r.inflater != nil {
		r.inflater.Start()
		defer r.inflater.Stop()
	}
	for ; r.next != jsonlex.End && !f.stopped; r.next = r.advance() {
		r.member(f)
	}
	if f.stopped {
		return nil
	}
	err := r.found()
	switch {
	case err == nil && r.from == reportGzip:
		err = r.Subsets[0].prove(0, r.doc.checksum)
	case err == nil && r.from == jsonlex.End && r.emptied && r.Header.compressed():
		err = fmt.Errorf("%w: its exception 69 says that its data are in subsets, and report-subsets is empty; a refused PUT leaves that behind: submit the report again", ErrIncomplete)
	}
	if err != nil {
		return r.failed(f.place(err))
	}
	f.release()
	return nil
}

// again reads the document a second time, now that it is known that no datasets
// are shown.
func (r *Reader) again(f *flow) error {
	if err := r.Close(); err != nil {
		return r.failed(err)
	}
	if err := r.open(); err != nil {
		return err
	}
	r.shown = true
	return r.members(f)
}

// member reads the value that comes next, and the data if they are there.
// Datasets shown have priority: subsets that come before them have to wait,
// unless the header says that the report is compressed.
func (r *Reader) member(f *flow) {
	l := r.doc.lex
	r.listed = r.listed || l.Kind() == '['
	switch {
	case r.from != jsonlex.End:
		l.Skip()
	case r.next == reportDatasets:
		r.shown = true
		r.doc.elements(func() bool { return f.entry(l) }, func() bool { return r.subset(f) })
	case !r.shown && !r.doc.header.compressed():
		r.postponed = true
		l.Skip()
	case r.next == reportSubsets:
		r.emptied = l.Kind() == '['
		r.doc.elements(func() bool { return r.subset(f) }, func() bool { return r.subset(f) })
	case l.Kind() == '"':
		f.hold = true
		r.expand(f)
	default:
		l.Skip()
	}
	if r.from == jsonlex.End && (f.count > 0 || len(r.Subsets) > 0) {
		r.from = r.next
	}
}

// subset reads a subset and proves its checksum.
func (r *Reader) subset(f *flow) bool {
	d, i := r.doc, len(r.Subsets)
	f.hold, r.emptied = true, false
	checksum := d.readSubset(func() { r.expand(f) })
	if d.lex.Err() != nil {
		return false
	}
	if i < len(r.Subsets) {
		if err := r.Subsets[i].prove(i, checksum); err != nil {
			d.lex.Fail(err)
			return false
		}
	}
	return f.release()
}

// expand reads the datasets of the compressed content that comes next. Its
// errors become those of the document's lexer.
func (r *Reader) expand(f *flow) {
	content := r.doc.lex.Base64()
	before := f.count
	err := r.inflate(content, f)
	if err == nil && !f.stopped {
		err = content.Drain()
	}
	switch {
	case f.stopped:
		r.doc.lex.Fail(errStopped)
	case err != nil:
		r.doc.lex.Fail(fmt.Errorf("subset %d: %w", len(r.Subsets)+1, f.place(err)))
	case len(r.Subsets) == maxSubsets:
		r.doc.lex.Fail(fmt.Errorf("%w: more than %d subsets", jsonlex.ErrTooLarge, maxSubsets))
	default:
		r.Subsets = append(r.Subsets, Subset{Checksum: content.Checksum(), Datasets: f.count - before, Bytes: content.Size()})
	}
}

// inflate yields the datasets of a subset: a report with a header of its own,
// which may differ from the stored one and does not count. Some subsets hold it
// as JSON in a JSON text.
func (r *Reader) inflate(content io.Reader, f *flow) error {
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
		err = f.document(newDocumentOf(lex, r.doc.dec))
	} else {
		lex.OpenText()
		if err = f.document(newDocument(lex.Reader(), r.doc.dec)); err == nil {
			lex.End()
			err = lex.Err()
		}
	}
	finished = err == nil && !f.stopped
	return err
}

// bounded ends a stream with an error when more bytes come out of it than the
// limit allows, those counted before included.
func (r *Reader) bounded(src io.Reader, count *int64) io.Reader {
	if r.limit == 0 {
		return src
	}
	return &boundedReader{src, count, r.limit}
}

type boundedReader struct {
	src   io.Reader
	count *int64
	limit int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.src.Read(p)
	if *b.count += int64(n); *b.count > b.limit {
		return 0, fmt.Errorf("%w: more than %d bytes (ClientOptions.MaxReport)", ErrTooLarge, b.limit)
	}
	return n, err
}
