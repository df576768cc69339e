package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/bulk"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

const batchSize = 128 << 10 // bytes of text that are decoded at a time

// A splitter cuts an archive into batches of records, which workers decode. The number of
// batches is fixed, which bounds the memory: each is free, being filled by the splitter,
// or waiting in ordered to be decoded and read.
type splitter struct {
	opts *Options

	batches chan *batch // free ones
	work    chan *batch // to decode
	ordered chan *batch // in the order of the archive
	current *batch      // the one being filled; may be nil
	count   int         // of all batches
	quit    chan struct{}
	cutting bulk.Group // the splitter's goroutine, which calls the source
	workers sync.WaitGroup

	watch     *input.Watch // of the source that is being read
	faults    int          // damages so far
	files     int          // files with records so far
	layers    []*layer
	line      []byte         // the last one
	lexer     *jsonlex.Lexer // of documents
	pageNames *jsonlex.Names
}

// A layer is the memory for one level of nested packings.
type layer struct {
	window   *bufio.Reader
	inflater *gzipbody.Reader
}

// A batch is some records of one file.
type batch struct {
	member  string
	text    []byte // of the records
	pieces  []piece
	damage  *damage // after the records
	decoded chan struct{}
}

// A piece is the text of one record, and once it is decoded, the record or the fault.
type piece struct {
	text   []byte
	line   int
	offset int64 // of the text in the file
	record *dois.Record
	err    error
}

// A place is a position in an archive.
type place struct {
	member string
	line   int
	offset int64
}

func newSplitter(opts *Options) *splitter {
	workers := runtime.GOMAXPROCS(0)
	count := 2*workers + 1
	s := &splitter{
		opts: opts, count: count, watch: &input.Watch{}, quit: make(chan struct{}),
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
func (s *splitter) run(start func(*splitter)) {
	s.cutting.Go(func() {
		defer close(s.ordered)
		defer close(s.work)
		start(s)
		s.send()
	})
}

// stop ends all goroutines and waits for them. It panics if the source did.
func (s *splitter) stop() {
	close(s.quit)
	s.cutting.Wait()
	s.workers.Wait()
	s.cutting.Rethrow()
}

// free makes a batch available again.
func (s *splitter) free(b *batch) {
	clear(b.pieces)
	b.pieces, b.text, b.damage = b.pieces[:0], b.text[:0], nil
	if cap(b.text) > batchSize {
		b.text = nil
	}
	s.batches <- b
}

// batch returns the batch to fill.
func (s *splitter) batch(member string) (*batch, error) {
	if s.current != nil && s.current.member == member {
		return s.current, nil
	}
	s.send()
	select {
	case <-s.quit:
		return nil, bulk.ErrLeft
	case b := <-s.batches:
		if b.member = member; b.text == nil {
			b.text = make([]byte, 0, batchSize)
		}
		s.current = b
		return b, nil
	}
}

// send hands the current batch on. It never blocks: the channels have room for all
// batches.
func (s *splitter) send() {
	if s.current != nil {
		s.work <- s.current
		s.ordered <- s.current
		s.current = nil
	}
}

// alone waits until no batch but the current one is in use, so that there is only one
// long record in memory at a time.
func (s *splitter) alone() error {
	var others []*batch
	for len(others) < s.count-1 {
		select {
		case <-s.quit:
			return bulk.ErrLeft
		case b := <-s.batches:
			others = append(others, b)
		}
	}
	for _, b := range others {
		s.batches <- b
	}
	return nil
}

// damaged reports damage and returns nil if reading may go on.
func (s *splitter) damaged(at place, err error) error {
	if err == bulk.ErrLeft {
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
	b.damage = &damage{at, err, s.watch.Failed()}
	s.send()
	if s.opts.LeaveOut == nil {
		return bulk.ErrLeft
	}
	return nil
}

// lines cuts the JSON lines that begin at a place.
func (s *splitter) lines(at place, src *bufio.Reader) error {
	for at.line = 1; ; at.line++ {
		size, ended := s.readLine(src)
		var err error
		switch {
		case size > jsonlex.MaxValue:
			err = s.damaged(at, errLongLine)
		case ended != nil && ended != io.EOF:
		case len(bytes.TrimSpace(s.line)) > 0:
			err = s.add(at, bytes.TrimRight(s.line, "\r\n"))
		}
		at.offset += int64(size)
		switch {
		case err != nil:
			return err
		case ended == io.EOF:
			return nil
		case ended != nil:
			return s.damaged(at, ended)
		}
	}
}

// readLine reads a line into s.line, and passes over the rest of one that is too long. An error
// means that nothing follows.
func (s *splitter) readLine(src *bufio.Reader) (size int, err error) {
	if s.line = s.line[:0]; cap(s.line) > batchSize {
		s.line = nil
	}
	for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
		var part []byte
		part, err = src.ReadSlice('\n')
		if size += len(part); size > jsonlex.MaxValue {
			continue
		}
		if size > cap(s.line) {
			s.line = append(make([]byte, 0, min(max(2*cap(s.line), windowSize), jsonlex.MaxValue)), s.line...)
		}
		s.line = append(s.line, part...)
	}
	return size, err
}

var errLongLine = fmt.Errorf("%w: the line is longer than %d MiB", jsonlex.ErrTooLarge, jsonlex.MaxValue>>20)

// documents cuts pages, lists and single records, one after the other.
func (s *splitter) documents(at place, src io.Reader) error {
	if s.lexer == nil {
		s.lexer, s.pageNames = jsonlex.New(src), jsonlex.NewNames(pageNames...)
	}
	s.lexer.Reset(src)
	s.lexer.Tolerate(true) // it cuts the records, whose texts are read later
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

// pageNames are the members of pages that records do not have.
var pageNames = []string{"data", "meta", "links", "included", "jsonapi", "errors"}

func (s *splitter) page(at place) {
	whole := false
	for name := range s.lexer.Members() {
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

var errNoPage = errors.New("neither a record nor a page of records")

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
	if s.lexer.Err() != nil {
		return
	}
	if err := s.add(at, text); err != nil {
		s.lexer.Fail(err)
	}
}

// add adds the text of a record to the batch.
func (s *splitter) add(at place, text []byte) error {
	b, err := s.batch(at.member)
	if err == nil && len(b.pieces) > 0 && len(b.text)+len(text) > batchSize {
		s.send()
		b, err = s.batch(at.member)
	}
	if err == nil && len(text) > batchSize {
		err = s.alone()
	}
	if err != nil {
		return err
	}
	start := len(b.text)
	b.text = append(b.text, text...)
	b.pieces = append(b.pieces, piece{text: b.text[start:], line: at.line, offset: at.offset})
	return nil
}

// decode reads the records of batches until there are no more.
func (s *splitter) decode() {
	for b := range s.work {
		select {
		case <-s.quit:
		default:
			for i := range b.pieces {
				b.pieces[i].decode()
			}
		}
		b.decoded <- struct{}{}
	}
}

func (p *piece) decode() {
	r := &dois.Record{}
	if p.err = r.UnmarshalJSON(p.text); p.err == nil && r.DOI == "" {
		p.err = errNoDOI
	}
	if p.err == nil {
		p.record = r
	}
}

// damage describes a piece that is not a record.
func (p *piece) damage(member string) *damage {
	at := p.offset
	if fault, ok := errors.AsType[*jsonlex.SyntaxError](p.err); ok {
		at += fault.Offset
	}
	return &damage{place: place{member, p.line, at}, err: p.err}
}

var errNoDOI = errors.New("not a record: it has no DOI")
