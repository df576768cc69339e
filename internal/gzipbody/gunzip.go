package gzipbody

import (
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/datacite-go/datacite-go/internal/bulk"
)

const (
	blockSize = 64 << 10
	blocks    = 4
)

// A Reader reads what a gzip stream holds, one byte after the other as usual
// until Start. From there on it inflates ahead in a goroutine of its own, so that inflating and
// parsing take place at the same time.
type Reader struct {
	inflater *gzip.Reader
	all      bool
	memory   [][]byte

	full, empty chan []byte
	stop        chan struct{}
	done        bulk.Group // of ahead, which calls the source
	err         error      // of inflater; to be read when full is closed

	block, rest []byte
}

// NewReader reads the header of a gzip stream. Members that follow the first one are
// part of the content if all is true, and left unread otherwise.
func NewReader(src io.Reader, all bool) (*Reader, error) {
	inflater, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	inflater.Multistream(all)
	return &Reader{inflater: inflater, all: all}, nil
}

// Reset makes the Reader read another stream, with the memory that it has. It
// must have been stopped.
func (r *Reader) Reset(src io.Reader) error {
	r.full, r.rest, r.block, r.err = nil, nil, nil, nil
	if err := r.inflater.Reset(src); err != nil {
		return err
	}
	r.inflater.Multistream(r.all)
	return nil
}

// Start begins to read ahead. Stop must follow.
func (r *Reader) Start() {
	for len(r.memory) < blocks {
		r.memory = append(r.memory, make([]byte, blockSize))
	}
	r.full, r.empty, r.stop = make(chan []byte, blocks), make(chan []byte, blocks), make(chan struct{})
	for _, block := range r.memory {
		r.empty <- block
	}
	r.done.Go(r.ahead)
}

// Stop ends reading ahead and waits for a Read of the source that is under way. It panics
// if the source did, and so does Read.
func (r *Reader) Stop() {
	close(r.stop)
	r.done.Wait()
	r.done.Rethrow()
}

// ahead fills blocks until the stream ends, or Stop.
func (r *Reader) ahead() {
	defer close(r.full)
	for {
		select {
		case <-r.stop:
			r.err = io.ErrClosedPipe
			return
		case block := <-r.empty:
			if r.err = r.fill(block); r.err != nil {
				return
			}
		}
	}
}

// fill inflates a block, and hands it on.
func (r *Reader) fill(block []byte) (err error) {
	n := 0
	for n < len(block) && err == nil {
		var more int
		more, err = r.inflater.Read(block[n:])
		n += more
	}
	if n > 0 {
		r.full <- block[:n] // has room for every block there is
	}
	return err
}

// Read reads on.
func (r *Reader) Read(p []byte) (int, error) {
	if r.full == nil {
		return r.inflater.Read(p)
	}
	if len(r.rest) == 0 {
		if r.block != nil {
			r.empty <- r.block[:blockSize]
			r.block = nil
		}
		block, ok := <-r.full
		if !ok {
			r.done.Wait()
			r.done.Rethrow()
			return 0, r.err
		}
		r.block, r.rest = block, block
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
