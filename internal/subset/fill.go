package subset

import (
	"context"
	"iter"
)

// fill reads the source into blocks. A block ends before the item that would
// make it larger than blockSize, and at every MaxItems-th item, so that parts
// can hold MaxItems items exactly. Nothing else decides where it ends.
func fill[T any](ctx context.Context, p *packer, src iter.Seq2[T, error], add Appender[T]) error {
	defer close(p.collecting)
	defer close(p.compressing)
	b, err := p.take(ctx)
	if err != nil {
		return err
	}
	var item T // one for all, since add takes its address
	i, kept := 0, 0
	for next, err := range src {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(p.emitting) > 0 {
			if err := p.emit(<-p.emitting); err != nil {
				return err
			}
		}
		item = next
		end := len(b.raw)
		if b.items > 0 {
			b.raw = append(b.raw, p.Separator...)
		}
		start := len(b.raw)
		if b.raw, err = add(b.raw, i, &item); err != nil {
			return err
		}
		switch {
		case len(b.raw) == start:
			b.raw = b.raw[:end]
			i++
			continue
		case b.items > 0 && len(b.raw) > p.blockSize:
			if b, err = p.split(ctx, b, end, start); err != nil {
				return err
			}
		}
		if b.items == 0 {
			b.first = i
		}
		b.items++
		i++
		if kept++; kept%p.MaxItems == 0 {
			p.send(b)
			if b, err = p.take(ctx); err != nil {
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

// split sends the block up to end, and returns another one with what b holds
// from start on.
func (p *packer) split(ctx context.Context, b *block, end, start int) (*block, error) {
	next, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	next.raw = append(next.raw, b.raw[start:]...)
	b.raw = b.raw[:end]
	p.send(b)
	return next, nil
}
