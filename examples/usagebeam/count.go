package main

import (
	"context"

	"github.com/datacite-go/datacite-go/reports/counter"
)

// A countFn counts the events of a part: all events of some users and datasets. [counter.Count] sorts them on disk, if
// there are many.
type countFn struct {
	Rules  rules
	Shards int

	rows packer // by shard
}

func (f *countFn) ProcessElement(ctx context.Context, _ int, next func(*[]byte) bool, emit func(int, []byte)) error {
	opts, err := f.Rules.options()
	if err != nil {
		return err
	}
	opts.Memory = partMemory
	f.rows.reset(f.Shards)
	events := func(yield func(counter.Event, error) bool) {
		if err := unpacked(next, func(b *block) bool { return yield(b.event(), nil) }); err != nil {
			yield(counter.Event{}, err)
		}
	}
	for row, err := range counter.Count(events, opts) {
		if err != nil {
			return err
		}
		f.rows.add(placeOf([]byte(row.DOI), f.Shards), func(dst []byte) []byte { return appendRow(dst, &row) }, emit)
	}
	f.rows.flush(emit)
	tell(ctx, outcomes(*opts.Tally))
	return nil
}

// partMemory is the memory in which the events of a part are sorted, and the rows of a shard.
const partMemory = 16 << 20
