package subset

import (
	"cmp"
	"context"
	"iter"
)

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
