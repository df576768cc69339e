package subset

import (
	"context"
	"crypto/sha256"
	"hash"
	"slices"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

// A collector puts the part in the making together.
type collector struct {
	*packer
	member  *gzipbody.Member
	items   int
	content hash.Hash // nil if it is not wanted
}

// collect takes the compressed blocks in order and closes a part before the
// block that would make it too long or too large.
func (p *packer) collect(ctx context.Context) error {
	defer close(p.emitting)
	c := &collector{packer: p, member: p.newMember()}
	if p.Content {
		c.content = sha256.New()
	}
	for b := range p.collecting {
		if b == nil { // the source has come to its end, and was not broken off
			return c.finish(ctx)
		}
		select {
		case <-b.ready:
		case <-ctx.Done():
			return nil
		}
		if err := c.add(ctx, b); err != nil {
			return err
		}
		p.free <- b
	}
	return nil
}

func (c *collector) add(ctx context.Context, b *block) error {
	if c.items > 0 && (c.items+b.items > c.MaxItems || c.sizeWith(b) > c.MaxBytes) {
		if err := c.finish(ctx); err != nil {
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
	if c.content != nil {
		if c.items > 0 {
			c.content.Write(c.Separator)
		}
		c.content.Write(b.raw)
	}
	c.items += b.items
	if c.items == c.MaxItems {
		return c.finish(ctx)
	}
	return nil
}

// sizeWith is the size of the part if it took b and ended there.
func (c *collector) sizeWith(b *block) int64 {
	size := c.member.Len() + len(b.Data) + len(c.tail.Data)
	if c.items > 0 {
		size += len(c.separator.Data)
	}
	return int64(size)
}

// bodyUnit is the unit in which the buffer for bodies grows: parts of a report
// are of nearly the same size.
const bodyUnit = 1 << 20

// finish passes the part on, once the one before it was emitted.
func (c *collector) finish(ctx context.Context) error {
	if c.items == 0 {
		return nil
	}
	c.member.Add(c.tail)
	var body []byte
	select {
	case body = <-c.bodies:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if size := c.member.Len(); cap(body) < size {
		body = slices.Grow([]byte(nil), (size+bodyUnit-1)/bodyUnit*bodyUnit)
	}
	part := Part{Items: c.items, Body: c.member.AppendTo(body[:0])}
	if c.content != nil {
		c.content.Sum(part.Content[:0])
		c.content.Reset()
	}
	c.emitting <- part

	c.member.Reset()
	c.member.Add(c.head)
	c.items = 0
	return nil
}
