package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sync/atomic"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Get returns a stored report with all its datasets, including those of compressed
// subsets. The report may take Config.MaxBody bytes of memory: enough for 70,000 typical
// datasets at the default. A larger one is [datacite.ErrTooLarge]; [Client.Open] reads it
// in constant memory. No credentials are needed.
//
// Get sends GET /reports/{id} (specification §4.1).
func (c *Client) Get(ctx context.Context, id string) (*Report, error) {
	if err := c.core.Ready(ctx); err != nil {
		return nil, err
	}
	memory := jsonlex.NewBudget(c.core.MaxBody())
	r, err := c.open(ctx, "reports.Get", id, memory)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	report := &Report{Datasets: []Dataset{}}
	for d, err := range r.All() {
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

// Open starts to read a stored report. [Reader.All] yields its datasets one by one,
// in constant memory; the caller closes the Reader. No credentials are needed.
//
// Open sends GET /reports/{id} (specification §4.1). The request is sent a second time if
// the subsets come before the list of datasets and the header lacks the exception of a
// compressed report.
func (c *Client) Open(ctx context.Context, id string) (*Reader, error) {
	return c.open(ctx, "reports.Open", id, nil)
}

// open opens a report, all datasets of which are kept if there is memory for them.
func (c *Client) open(ctx context.Context, op, id string, memory *jsonlex.Budget) (*Reader, error) {
	if err := checkUUID("id", id); err != nil {
		return nil, err
	}
	request := reading(op, id)
	r := &Reader{ID: id, limit: c.maxReport, memory: memory}
	r.source = func() (io.Reader, error) {
		res, err := c.core.Do(ctx, request)
		if err != nil {
			return nil, c.notRead(ctx, op, err)
		}
		r.closer = &connection{ReadCloser: res.Body}
		r.fail = func(cause error) error { return c.core.Unreadable(request, res, cause) }
		return r.closer.(io.Reader), nil
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// A connection remembers whether it broke, to distinguish a damaged report from a
// truncated response.
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
// If the service returns the same data twice, as plain datasets and as a subset that it
// made of them, the datasets are read once.
type Reader struct {
	ID     string // of the report
	Header Header // complete once All has ended; the service sends it first

	// Subsets are the compressed parts of the report that All has read so far;
	// empty if the service returns the datasets themselves.
	Subsets []Subset

	source   func() (io.Reader, error) // the document, from its start
	fail     func(error) error         // the error to return for a cause
	closer   io.Closer
	inflater *gzipbody.Reader // of a document that is compressed as a whole
	limit    int64            // bytes of the document, and of what its subsets inflate to; 0: none
	inflated int64            // bytes that the subsets have inflated to
	memory   *jsonlex.Budget  // for all datasets, if they are kept
	gunzip   *gzipbody.Reader // of the subset that is being read, with the memory of the one before
	inner    *jsonlex.Lexer   // of what it inflates to

	closed    bool
	ranged    bool // an iterator has begun
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
	dec := &datasetDecoder{}
	if dec.budget, dec.kept = r.memory, r.memory != nil; !dec.kept {
		dec.budget = jsonlex.NewBudget(maxMemory)
	}
	r.doc = newDocument(r.bounded(src, new(int64)), dec)
	r.next = r.advance()
	if err := r.found(); err != nil {
		r.disconnect()
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
	r.Header = r.doc.header.Header
	if r.doc.id != "" {
		r.ID = r.doc.id
	}
	return m
}

// failed is the error to return for a cause.
func (r *Reader) failed(cause error) error {
	if errors.Is(cause, jsonlex.ErrTooLarge) {
		cause = fmt.Errorf("%w: %w", datacite.ErrTooLarge, cause)
		if r.memory != nil {
			cause = fmt.Errorf("%w (Config.MaxBody); Client.Open reads any report, one dataset at a time", cause)
		}
	}
	return r.fail(cause)
}

// Close ends reading: the datasets that were not read are not yielded any more; ranging over them is an
// error that matches [fs.ErrClosed].
func (r *Reader) Close() error {
	r.closed = true
	return r.disconnect()
}

func (r *Reader) disconnect() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// All returns an iterator over the datasets in the order in which the service returns
// them; the deployed service returns subsets in no fixed order. It can be used once:
// ranging over the datasets again, also after [Reader.Scan], is an error. An error ends the
// sequence: a broken connection, a truncated response, a report larger than
// Config.MaxReport allows ([datacite.ErrTooLarge]), a subset that does not match its
// checksum, or a compressed report without subsets (both [datacite.ErrIncomplete]). The
// last dataset of a subset is yielded after its checksum was verified.
func (r *Reader) All() iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		r.read(newEmitter(r.decoder(), func(d *Dataset, err error) bool { return yield(*d, err) }))
	}
}

// Scan does the same as [Reader.All], and is faster, for programs that keep no
// datasets: the lists of a dataset are valid only until the next iteration; its strings may
// be kept.
func (r *Reader) Scan() iter.Seq2[*Dataset, error] {
	return func(yield func(*Dataset, error) bool) { r.read(newLendingEmitter(r.decoder(), yield)) }
}

// decoder is that of the document. The zero Reader has none.
func (r *Reader) decoder() *datasetDecoder {
	if r.doc == nil {
		return &datasetDecoder{}
	}
	return r.doc.dec
}

// read emits all datasets, and an error as the last thing.
func (r *Reader) read(e *emitter) {
	if r.doc == nil {
		e.yield(&Dataset{}, datacite.Invalidf("Reader", datacite.CodeMissing,
			"is the zero value; NewReader and Client.Open make one"))
		return
	}
	if r.ranged {
		e.yield(&Dataset{}, datacite.Invalidf("report", datacite.CodeUsed,
			"its datasets have been read, and can be read once; open the report again"))
		return
	}
	if r.closed {
		e.yield(&Dataset{}, fmt.Errorf("reports: reading report %.40q: %w", r.ID, fs.ErrClosed))
		return
	}
	r.ranged = true
	err := r.members(e)
	if err == nil && r.postponed && r.from == jsonlex.End && !e.stopped {
		err = r.again(e)
	}
	if err != nil && !e.stopped {
		e.yield(&Dataset{}, err)
	}
}

// members reads what is left of the document.
func (r *Reader) members(e *emitter) error {
	if r.inflater != nil {
		r.inflater.Start()
		defer r.inflater.Stop()
	}
	for ; r.next != jsonlex.End && !e.stopped; r.next = r.advance() {
		r.member(e)
	}
	if e.stopped {
		return nil
	}
	err := r.found()
	switch {
	case err == nil && r.from == reportGzip:
		err = r.Subsets[0].compareChecksum(0, r.doc.checksum)
	case err == nil && r.from == jsonlex.End && r.emptied && r.Header.compressed():
		err = fmt.Errorf("%w: report-subsets is empty, although exception 69 says that the data are there, as after a "+
			"refused PUT; submit the report again", datacite.ErrIncomplete)
	}
	if err != nil {
		return r.failed(e.place(err))
	}
	e.release()
	return nil
}

// again reads the document a second time, now that it is known that no datasets
// are shown.
func (r *Reader) again(e *emitter) error {
	if err := r.disconnect(); err != nil {
		return r.failed(err)
	}
	if err := r.open(); err != nil {
		return err
	}
	r.shown = true
	return r.members(e)
}

// member reads the value that comes next. All data come from one member.
func (r *Reader) member(e *emitter) {
	l := r.doc.lex
	r.listed = r.listed || l.Kind() == '['
	if r.from != jsonlex.End {
		l.Skip()
		return
	}
	r.data(e)
	if e.count > 0 || len(r.Subsets) > 0 {
		r.from = r.next
	}
}

// data reads the data in the value that comes next, if they are there. Datasets
// shown have priority: subsets that come before them have to wait, unless the
// header says that the report is compressed.
func (r *Reader) data(e *emitter) {
	l := r.doc.lex
	entry := func() bool { return e.entry(l) }
	subset := func() bool { return r.subset(e) }
	switch {
	case r.next == reportDatasets:
		r.shown = true
		r.doc.elements(entry, subset)
	case !r.shown && !r.doc.header.compressed():
		r.postponed = true
		l.Skip()
	case r.next == reportSubsets:
		r.emptied = l.Kind() == '['
		r.doc.elements(subset, subset)
	case l.Kind() == '"':
		e.hold = true
		r.expand(e)
	default:
		l.Skip()
	}
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

// bounded ends a stream with an error when more bytes come out of it than the
// limit allows, those counted before included.
func (r *Reader) bounded(src io.Reader, count *int64) io.Reader {
	if r.limit == 0 {
		return src
	}
	return &boundedReader{src, count, r.limit}
}
