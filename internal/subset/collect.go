package subset

import (
	"context"
	"crypto/sha256"
	"hash"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

// A collector puts the part in the making together.
type collector struct {
	*packer
	member  *gzipbody.Member // nil between two parts
	items   int
	content hash.Hash // nil if it is not wanted
}

// collect takes the compressed blocks in order and closes a part before the
// block that would make it too long or too large.
func (p *packer) collect(ctx context.Context) error {
	defer close(p.emitting)
	c := &collector{packer: p}
	if p.Content {
		c.content = sha256.New()
	}
	for b := range p.collecting {
		if b == nil { // the source has come to its end, and was not broken off
			c.finish()
			return nil
		}
		if _, err := receive(ctx, b.ready); err != nil {
			return err
		}
		if err := c.add(ctx, b); err != nil {
			return err
		}
		if p.Content {
			p.release(b)
		}
		p.free <- b
	}
	return nil
}

func (c *collector) add(ctx context.Context, b *block) error {
	if c.items > 0 && (c.items+b.items > c.MaxItems || c.sizeWith(b) > c.MaxBytes) {
		c.finish()
	}
	if c.items == 0 {
		if err := c.begin(ctx, b); err != nil {
			return err
		}
	}
	if size := c.sizeWith(b); size > c.MaxBytes {
		return &TooLargeError{Index: b.first, Bytes: size, Max: c.MaxBytes}
	}
	if c.items > 0 {
		c.member.Add(c.separator)
	}
	c.member.Add(b.Block)
	c.hash(b)
	c.items += b.items
	if c.items == c.MaxItems {
		c.finish()
	}
	return nil
}

// begin takes a member for the part that begins with b, as soon as emit has left
// one.
func (c *collector) begin(ctx context.Context, b *block) (err error) {
	if c.member, err = receive(ctx, c.members); err != nil {
		return err
	}
	c.member.Reset()
	c.reserve(b)
	c.member.Add(c.head)
	return nil
}

// reserve makes room for what the part that begins with b is likely to need, a
// little more the first time, since growing leaves as much behind again. What is
// not needed is not touched, and costs nothing.
func (c *collector) reserve(b *block) {
	if b.Size < c.blockSize/2 {
		return // there is hardly more to come
	}
	likely := min(float64(len(b.Data))*float64(c.MaxItems)/float64(b.items), float64(c.MaxBytes))
	if c.member.Cap() < int(likely) {
		c.member.Grow(int(min(likely*1.05, float64(c.MaxBytes))))
	}
}

func (c *collector) hash(b *block) {
	if c.content == nil {
		return
	}
	if c.items > 0 {
		c.content.Write(c.Separator)
	}
	c.content.Write(b.raw)
}

// sizeWith is the size of the part if it took b and ended there.
func (c *collector) sizeWith(b *block) int64 {
	size := c.member.Len() + len(b.Data) + len(c.tail.Data)
	if c.items > 0 {
		size += len(c.separator.Data)
	}
	return int64(size)
}

// finish passes the part on.
func (c *collector) finish() {
	if c.items == 0 {
		return
	}
	c.member.Add(c.tail)
	part := Part{Items: c.items, Body: c.member.Bytes(), member: c.member}
	if c.content != nil {
		c.content.Sum(part.Content[:0])
		c.content.Reset()
	}
	c.emitting <- part // there is room for one of each member
	c.member, c.items = nil, 0
}
