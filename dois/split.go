package dois

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/datacite-go/datacite-go/internal/gunzip"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/panics"
)

const (
	batchSize = 128 << 10 // bytes of text that are decoded at a time
	// What may be made of a batch, in bytes of memory. Records take two or three times
	// their length.
	batchBudget = 32 << 20
	longBudget  = 100 << 20 // of one record that is longer than a batch
)

// A splitter cuts an archive into batches of records, which workers decode. There are
// only so many batches, and each of them is free, with the splitter, in work, or
// waiting for its turn in ordered.
type splitter struct {
	opts *ReaderOptions

	batches chan *batch // that are free
	work    chan *batch
	ordered chan *batch // in the order of the archive
	present *batch      // that is being filled; may be nil
	count   int         // of batches
	quit    chan struct{}
	cutter  panics.Group   // reads the archive, with the functions of the caller
	workers sync.WaitGroup // decode

	faults    int // damages so far
	files     int // that held records
	layers    []*layer
	lexer     *jsonlex.Lexer // of documents
	pageNames *jsonlex.Names
}

// A layer is the memory for one of several packings in each other.
type layer struct {
	window   *bufio.Reader
	inflater *gunzip.Reader
}

// A batch is some records of one file.
type batch struct {
	member  string
	text    []byte // of the records
	pieces  []piece
	damage  *ArchiveError // behind the records
	decoded chan struct{}
}

// A piece is the text of one record, and then what became of it.
type piece struct {
	text   []byte
	line   int
	offset int64 // in the file
	record *Record
	err    error
}

// A place is where in an archive something is.
type place struct {
	member string
	line   int
	offset int64
}

func newSplitter(opts *ReaderOptions) *splitter {
	workers := runtime.GOMAXPROCS(0)
	count := 2*workers + 1
	s := &splitter{
		opts: opts, count: count, quit: make(chan struct{}),
		batches: make(chan *batch, count), work: make(chan *batch, count), ordered: make(chan *batch, count),
	}
	for range count {
		s.batches <- &batch{decoded: make(chan struct{}, 1)}
	}
	for range workers {
		s.workers.Go(s.decode)
	}
	return s
}

// run cuts the archive in a goroutine.
func (s *splitter) run(start func(*splitter) error) {
	s.cutter.Go(func() {
		defer close(s.ordered)
		defer close(s.work)
		if start(s) == nil {
			s.send()
		}
	})
}

// stop ends all goroutines and waits for them.
func (s *splitter) stop() {
	close(s.quit)
	s.cutter.Wait()
	s.workers.Wait()
}

// stopped tells whether nobody wants more.
func (s *splitter) stopped() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}

// free gives a batch back.
func (s *splitter) free(b *batch) {
	clear(b.pieces)
	b.pieces, b.text, b.damage = b.pieces[:0], b.text[:0], nil
	if cap(b.text) > batchSize {
		b.text = nil
	}
	s.batches <- b
}

// batch is the batch to fill.
func (s *splitter) batch(member string) (*batch, error) {
	if s.present != nil && s.present.member == member {
		return s.present, nil
	}
	s.send()
	select {
	case <-s.quit:
		return nil, errStopped
	case b := <-s.batches:
		if b.member = member; b.text == nil {
			b.text = make([]byte, 0, batchSize)
		}
		s.present = b
		return b, nil
	}
}

// send hands the present batch on. There is always room, because there are no more
// batches than that.
func (s *splitter) send() {
	if s.present != nil {
		s.work <- s.present
		s.ordered <- s.present
		s.present = nil
	}
}

// alone waits until no batch but the present one is in use: one long record at a time
// is enough to keep in memory.
func (s *splitter) alone() error {
	var others []*batch
	for len(others) < s.count-1 {
		select {
		case <-s.quit:
			return errStopped
		case b := <-s.batches:
			others = append(others, b)
		}
	}
	for _, b := range others {
		s.batches <- b
	}
	return nil
}

// damaged reports what cannot be read, and returns nil if reading is to go on.
func (s *splitter) damaged(at place, err error) error {
	if err == errStopped {
		return err
	}
	s.faults++
	b, stopped := s.batch(at.member)
	if stopped != nil {
		return stopped
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	b.damage = &ArchiveError{Member: at.member, Line: at.line, Offset: at.offset, Err: err}
	s.send()
	if s.opts.Skip == nil {
		return errStopped
	}
	return nil
}

// lines cuts JSON lines, which begin at a place.
func (s *splitter) lines(at place, src io.Reader) error {
	for at.line = 1; ; {
		b, err := s.batch(at.member)
		if err != nil {
			return err
		}
		ended := fill(b, src)
		whole := bytes.LastIndexByte(b.text, '\n') + 1 // without the line that goes on behind the batch
		switch {
		case ended == io.EOF:
			b.addLines(at, b.text)
			return nil
		case ended == nil && whole == 0:
			if at, err = s.longLine(at, src); err != nil {
				return err
			}
			continue
		}
		rest := b.text[whole:]
		at = b.addLines(at, b.text[:whole])
		if ended != nil {
			at.offset += int64(len(rest))
			return s.damaged(at, ended)
		}
		s.send()
		if err := s.begin(at.member, rest); err != nil {
			return err
		}
	}
}

// begin begins a batch with what the last one left.
func (s *splitter) begin(member string, rest []byte) error {
	b, err := s.batch(member)
	if err == nil && len(rest) > batchSize {
		err = s.alone()
	}
	if err == nil {
		b.text = append(b.text, rest...)
	}
	return err
}

// fill reads until the batch is full. An error says that there is no more.
func fill(b *batch, src io.Reader) error {
	const patience = 100
	for idle := 0; len(b.text) < cap(b.text); idle++ {
		n, err := src.Read(b.text[len(b.text):cap(b.text)])
		b.text = b.text[:len(b.text)+n]
		switch {
		case err != nil:
			return err
		case n > 0:
			idle = 0
		case idle == patience:
			return io.ErrNoProgress
		}
	}
	return nil
}

var (
	errLongLine   = fmt.Errorf("%w: the line is longer than %d MiB", jsonlex.ErrTooLarge, jsonlex.MaxValue>>20)
	errLongRecord = fmt.Errorf("%w: the record is longer than %d MiB", jsonlex.ErrTooLarge, jsonlex.MaxValue>>20)
)

// longLine makes room for a line that fills the batch, and passes over one that is too
// long.
func (s *splitter) longLine(at place, src io.Reader) (place, error) {
	b := s.present
	if size := cap(b.text); size < jsonlex.MaxValue {
		if err := s.alone(); err != nil {
			return at, err
		}
		b.text = append(make([]byte, 0, min(2*size, jsonlex.MaxValue)), b.text...)
		return at, nil
	}
	passed := at
	passed.offset += int64(len(b.text))
	b.text = nil // the line may be longer still
	if err := s.damaged(at, errLongLine); err != nil {
		return at, err
	}
	for {
		b, err := s.batch(at.member)
		if err != nil {
			return at, err
		}
		ended := fill(b, src)
		end := bytes.IndexByte(b.text, '\n') + 1
		if end > 0 {
			passed.line, passed.offset = passed.line+1, passed.offset+int64(end)
			b.text = b.text[:copy(b.text, b.text[end:])]
			return passed, nil
		}
		passed.offset += int64(len(b.text))
		if b.text = b.text[:0]; ended != nil { // lines meets it again
			return passed, nil
		}
	}
}

// addLines adds the lines of text, which is a part of the batch, and returns the place
// behind them.
func (b *batch) addLines(at place, text []byte) place {
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			b.pieces = append(b.pieces, piece{text: bytes.TrimRight(line, "\r\n"), line: at.line, offset: at.offset})
		}
		at.line, at.offset = at.line+1, at.offset+int64(len(line))
	}
	return at
}

// documents cuts pages, lists and single records, one after the other.
func (s *splitter) documents(at place, src io.Reader) error {
	if s.lexer == nil {
		s.lexer, s.pageNames = jsonlex.New(src), jsonlex.NewNames(pageNames...)
	}
	s.lexer.Reset(src)
	for {
		switch s.lexer.Kind() {
		case '[':
			s.list(at)
		case '{':
			if s.lexer.Known(s.pageNames) >= 0 {
				s.page(at)
			} else {
				s.record(at)
			}
		default:
			s.lexer.End()
			if err := s.lexer.Err(); err != nil {
				at.offset += s.lexer.Offset()
				return s.damaged(at, err)
			}
			return nil
		}
	}
}

// pageNames are the members of pages, and not of records.
var pageNames = []string{"data", "meta", "links", "included", "jsonapi", "errors"}

func (s *splitter) page(at place) {
	whole := false
	s.lexer.Begin()
	for i := 0; ; i++ {
		name, more := s.lexer.Key(i)
		if !more {
			break
		}
		data := string(name) == "data"
		switch kind := s.lexer.Kind(); {
		case data && kind == '[':
			s.list(at)
		case data && kind == '{':
			s.record(at)
		default:
			data = false
			s.lexer.Skip()
		}
		whole = whole || data
	}
	if !whole {
		s.lexer.Fail(errNoPage)
	}
}

var errNoPage = errors.New("it is neither a record nor a page of records")

func (s *splitter) list(at place) {
	s.lexer.List()
	for i := 0; s.lexer.Element(i); i++ {
		s.record(at)
	}
}

// record cuts the value that comes next.
func (s *splitter) record(at place) {
	s.lexer.Hold()
	at.offset += s.lexer.Offset()
	s.lexer.Skip()
	text := s.lexer.Held()
	if s.lexer.Err() == nil && len(text) > jsonlex.MaxValue {
		s.lexer.Fail(errLongRecord)
	}
	if s.lexer.Err() != nil {
		return
	}
	b, err := s.batch(at.member)
	if err == nil && len(b.pieces) > 0 && len(b.text)+len(text) > batchSize {
		s.send()
		b, err = s.batch(at.member)
	}
	if err == nil && len(text) > batchSize {
		err = s.alone()
	}
	if err != nil {
		s.lexer.Fail(err)
		return
	}
	start := len(b.text)
	b.text = append(b.text, text...)
	b.pieces = append(b.pieces, piece{text: b.text[start:], offset: at.offset})
}
