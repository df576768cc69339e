// Package subset cuts a stream of items into parts by count and by compressed
// bytes, and compresses parts ahead of their use.
//
// The items are collected in blocks, several workers compress a block each, and parts
// are assembled from the compressed blocks in order. Since the compressed size of a block
// is known before it is added to a part, no part is too large. What a part holds depends
// only on the items and the settings, not on time or the number of workers.
package subset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"sync"

	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

// Settings say how a stream is cut and compressed. All are required.
type Settings struct {
	MaxItems int   // most items in a part
	MaxBytes int64 // most compressed bytes in a part
	Workers  int   // how many blocks are compressed at once
	Level    int   // compression from 1, fast, to 9, small

	Head, Separator, Tail []byte // before, between and after the items of each part; the latter two are short
}

// A Part is one finished part: a gzip member.
type Part struct {
	Items    int
	Bytes    int64             // compressed
	Checksum [sha256.Size]byte // of the compressed bytes
}

// A TooLargeError is an item that does not fit into a part, not even alone.
type TooLargeError struct {
	Number int   // of the item
	Bytes  int64 // size of a part with this item alone
	Max    int64
}

// Error names the item and its size.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("item %d alone makes a part of %d bytes; %d are allowed", e.Number, e.Bytes, e.Max)
}

// An Item is one entry of a part.
type Item struct {
	Number int    // names the item in a [TooLargeError]
	Text   []byte // as it is written; valid until the next one is asked for
}

// Pack reads src to its end and writes it to w as parts, one directly after the other. It
// calls emit with each part when it is written, between two items or after the last one.
// Src and emit run on the caller's goroutine, w on another one, which may write up to two
// further parts while a part waits for emit.
//
// After an error of src, it emits the parts that were full by then; others may have been
// written partly. It stops at once at an error of w or emit, at the end of ctx, and at a
// panic of src or emit, which reaches the caller. All its goroutines have ended when it
// returns.
//
// It holds Workers + 1 blocks of at most 2 MiB, or of one item that is larger, and
// Workers + 3 compressed ones; for a short stream it needs far less.
func Pack(ctx context.Context, s Settings, src iter.Seq2[Item, error], w io.Writer, emit func(Part) error) error {
	p, first, err := newPacker(s)
	if err != nil {
		return err
	}
	caller := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func(err error) { cancel(&stopped{err}) } // the cause of the caller is no *stopped
	p.emit = func(part Part) error {
		err := emit(part)
		if err != nil {
			stop(err)
		}
		return err
	}
	var stages sync.WaitGroup
	defer stages.Wait()
	defer cancel(nil) // after a panic, no one receives the parts
	for i := range s.Workers {
		var c *gzipbody.Compressor
		if i == 0 {
			c = first
		}
		stages.Go(func() {
			if err := p.compress(ctx, c); err != nil {
				stop(err)
			}
		})
	}
	stages.Go(func() {
		defer close(p.emitting)
		if err := p.collect(ctx, w); err != nil {
			stop(err)
		}
	})
	err = p.fill(ctx, src)
	for part := range p.emitting {
		if ctx.Err() == nil {
			_ = p.emit(part) // its error is the cause of ctx
		}
	}
	if end, ok := context.Cause(ctx).(*stopped); ok {
		return end.error
	}
	return cmp.Or(call.Ended(caller), err)
}

// stopped is the failure of a stage.
type stopped struct{ error }

// A packer is the state that the stages of one Pack share.
type packer struct {
	Settings
	blockSize int // of a block before compression, unless it is one item

	raws        chan []byte // buffers for the source to fill
	free        chan *block
	compressing chan *block      // to the workers
	collecting  chan *block      // the same in the order of the source; nil after the last one
	emitting    chan Part        // closed after the last one; if there was an error, ctx has ended by then
	emit        func(Part) error // called on the goroutine of fill; after an error, ctx has ended

	head, separator, tail gzipbody.Block
	overhead              int64 // size of a part without items
}

// A block is a run of items on its way through the stages.
type block struct {
	raw   []byte // nil once it is compressed
	items int
	first int           // number of the first item
	ready chan struct{} // takes a value when the block is compressed
	gzipbody.Block
}

const (
	largestBlock = 2 << 20  // what a block may grow to; smaller ones compress less well
	firstBuffer  = 64 << 10 // the buffer of a block until it is full: most streams are short
)

var errNoRoom = errors.New("subset: MaxBytes leaves no room for items beside the head")

// newPacker also returns the compressor of the first worker.
func newPacker(s Settings) (*packer, *gzipbody.Compressor, error) {
	first, err := gzipbody.NewCompressor(s.Level)
	if err != nil {
		return nil, nil, err
	}
	head, err := first.Block(nil, s.Head)
	if err != nil {
		return nil, nil, err
	}
	raws, blocks := s.Workers+1, s.Workers+3
	p := &packer{
		Settings:    s,
		raws:        make(chan []byte, raws),
		free:        make(chan *block, blocks),
		compressing: make(chan *block, blocks),
		collecting:  make(chan *block, blocks+1),
		emitting:    make(chan Part, 1),
		head:        head,
		separator:   gzipbody.Stored(s.Separator),
		tail:        gzipbody.Stored(s.Tail),
	}
	for range blocks {
		p.free <- &block{ready: make(chan struct{}, 1)}
	}
	for range raws {
		p.raws <- nil
	}
	p.overhead = int64(gzipbody.Overhead + len(p.head.Data) + len(p.tail.Data))
	// Compressed, even noise is less than twice as long, a few bytes of framing
	// apart: a block of this size always fits, so that only a block of one item
	// can be too large.
	const framing = 64
	room := (s.MaxBytes - framing - p.overhead) / 2
	if room <= 0 {
		return nil, nil, errNoRoom
	}
	p.blockSize = int(min(room, largestBlock))
	return p, first, nil
}

// take returns an empty block with an empty buffer, as soon as there are both.
func (p *packer) take(ctx context.Context) (*block, error) {
	b, err := receive(ctx, p, p.free)
	if err != nil {
		return nil, err
	}
	raw, err := receive(ctx, p, p.raws)
	if err != nil {
		return nil, err
	}
	if cap(raw) == 0 || cap(raw) > 4*p.blockSize {
		raw = make([]byte, 0, min(firstBuffer, p.fullBuffer()))
	}
	b.raw, b.items = raw[:0], 0
	return b, nil
}

// fullBuffer is the size of the buffer of a block that fills more than the first one.
func (p *packer) fullBuffer() int { return p.blockSize + p.blockSize/16 }

// receive emits finished parts until there is something to receive.
func receive[T any](ctx context.Context, p *packer, from <-chan T) (v T, err error) {
	for {
		select {
		case v = <-from:
			return v, nil
		case part, ok := <-p.emitting:
			if !ok {
				return v, ctx.Err()
			}
			if err = p.emit(part); err != nil {
				return v, err
			}
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
}

// send passes a filled block on. There is room for all blocks.
func (p *packer) send(b *block) {
	p.compressing <- b
	p.collecting <- b
}

// compress is a worker. It has c, or makes a compressor for its first block.
func (p *packer) compress(ctx context.Context, c *gzipbody.Compressor) (err error) {
	for b := range p.compressing {
		if ctx.Err() != nil {
			return nil
		}
		if c == nil {
			if c, err = gzipbody.NewCompressor(p.Level); err != nil {
				return err
			}
		}
		if cap(b.Data) < len(b.raw)/6 {
			b.Data = make([]byte, 0, len(b.raw)/6)
		}
		if b.Block, err = c.Block(b.Data[:0], b.raw); err != nil {
			return err
		}
		p.raws <- b.raw
		b.raw = nil
		b.ready <- struct{}{}
	}
	return nil
}

// fill reads the source into blocks. A block ends before the item that would
// make it larger than blockSize, and at every MaxItems-th item, so that parts
// can hold MaxItems items exactly. Nothing else decides where it ends.
func (p *packer) fill(ctx context.Context, src iter.Seq2[Item, error]) error {
	defer close(p.collecting)
	defer close(p.compressing)
	b, err := p.take(ctx)
	if err != nil {
		return err
	}
	items := 0
	for item, err := range src {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if err := p.emitFinished(); err != nil {
			return err
		}
		if b.items > 0 && len(b.raw)+len(p.Separator)+len(item.Text) > p.blockSize {
			if b, err = p.sendAndTake(ctx, b); err != nil {
				return err
			}
		}
		p.add(b, item)
		if items++; items%p.MaxItems == 0 {
			if b, err = p.sendAndTake(ctx, b); err != nil {
				return err
			}
		}
	}
	if b.items > 0 {
		p.send(b)
	}
	p.collecting <- nil
	return nil
}

func (p *packer) add(b *block, item Item) {
	if size := len(b.raw) + len(p.Separator) + len(item.Text); size > cap(b.raw) && size <= p.fullBuffer() {
		b.raw = append(make([]byte, 0, p.fullBuffer()), b.raw...)
	}
	if b.items == 0 {
		b.first = item.Number
	} else {
		b.raw = append(b.raw, p.Separator...)
	}
	b.raw = append(b.raw, item.Text...)
	b.items++
}

// emitFinished emits the finished part, if there is one.
func (p *packer) emitFinished() error {
	if len(p.emitting) == 0 {
		return nil
	}
	return p.emit(<-p.emitting)
}

func (p *packer) sendAndTake(ctx context.Context, b *block) (*block, error) {
	p.send(b)
	return p.take(ctx)
}

// A collector puts the part in the making together.
type collector struct {
	*packer
	out      io.Writer // to the packer's writer and to checksum
	checksum hash.Hash
	member   *gzipbody.Member
	part     Part // has no items between two parts
}

// collect takes the compressed blocks in order and closes a part before the
// block that would make it too long or too large.
func (p *packer) collect(ctx context.Context, w io.Writer) error {
	c := &collector{packer: p, checksum: sha256.New()}
	c.out = io.MultiWriter(w, c.checksum)
	for b := range p.collecting {
		if b == nil { // the source has come to its end, and was not broken off
			return c.finish(ctx)
		}
		select {
		case <-b.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := c.add(ctx, b); err != nil {
			return err
		}
		p.free <- b
	}
	return nil
}

func (c *collector) add(ctx context.Context, b *block) error {
	if c.part.Items > 0 && (c.part.Items+b.items > c.MaxItems || c.sizeWith(b) > c.MaxBytes) {
		if err := c.finish(ctx); err != nil {
			return err
		}
	}
	if err := c.open(b); err != nil {
		return err
	}
	if err := c.member.Add(b.Block); err != nil {
		return err
	}
	c.part.Items += b.items
	if c.part.Items == c.MaxItems {
		return c.finish(ctx)
	}
	return nil
}

// open adds what stands before b: a separator, or the head of a new part.
func (c *collector) open(b *block) (err error) {
	if c.part.Items > 0 {
		return c.member.Add(c.separator)
	}
	if size := c.overhead + int64(len(b.Data)); size > c.MaxBytes {
		return &TooLargeError{Number: b.first, Bytes: size, Max: c.MaxBytes}
	}
	c.checksum.Reset()
	if c.member, err = gzipbody.NewMember(c.out); err != nil {
		return err
	}
	return c.member.Add(c.head)
}

// sizeWith is the size of the part if it took b too and ended there.
func (c *collector) sizeWith(b *block) int64 {
	return c.member.Len() + int64(len(c.separator.Data)+len(b.Data)+len(c.tail.Data))
}

// finish completes the part and passes it on.
func (c *collector) finish(ctx context.Context) error {
	if c.part.Items == 0 {
		return nil
	}
	if err := c.member.Add(c.tail); err != nil {
		return err
	}
	c.part.Bytes = c.member.Len()
	if err := c.member.Close(); err != nil {
		return err
	}
	c.checksum.Sum(c.part.Checksum[:0])
	select {
	case c.emitting <- c.part:
		c.part = Part{}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
