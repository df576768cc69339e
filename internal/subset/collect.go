package subset

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

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
