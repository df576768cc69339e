package reports

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/extsort"
	"github.com/datacite-go/datacite-go/internal/subset"
)

// build reads src to its end and packs what may be sent into the temporary file.
func (s *submission) build(ctx context.Context, src iter.Seq2[Dataset, error]) error {
	c := &checker{validator: validator{most: maxFaults, warn: s.options.Warn, strict: !s.options.AllowInconsistent},
		leaveOut: s.options.LeaveOut}
	c.header(&s.header)
	if err := c.err(); err != nil {
		return err
	}
	entries := c.entries(src)
	if s.options.MergeRepeats {
		entries = c.merged(entries)
	}
	names := extsort.Sorter{Memory: namesMemory, Dir: s.options.TempDir}
	defer names.Close()
	err := pack(ctx, s.header, items(entries, &names), s.options.packing(), s.bodies, func(p Subset) error {
		s.plan, s.starts = append(s.plan, p), append(s.starts, s.filled)
		s.filled += p.Bytes
		s.progress(Progress{Stage: StageBuilding}, len(s.plan))
		return nil
	})
	switch {
	case c.stopped:
		return c.err()
	case err != nil:
		return fmt.Errorf("reports.Submit: %w", err)
	case len(s.plan) == 0 && c.leftOut > 0:
		return datacite.Invalidf("report-datasets", datacite.CodeMissing,
			"has nothing left to send: all %d datasets have faults", c.leftOut)
	case len(s.plan) == 0:
		return datacite.Invalidf("report-datasets", datacite.CodeMissing,
			"is empty; the service accepts no report without datasets")
	}
	s.whole = true
	return noRepeats(&names)
}

// A checker finds the datasets of a source that may be sent.
type checker struct {
	validator
	leaveOut func(error) bool // nil: a fault stops the submission
	leftOut  int64
	stopped  bool // by a fault: nothing will be sent
}

// An entry is a dataset that may be sent, and how. It is valid until the next
// iteration.
type entry struct {
	number  int // in the source
	dataset *Dataset
	json    []byte
}

// entries yields the datasets of src without faults. After a fault that stops the
// submission it reads on to find further ones, and ends with an error that has all.
func (c *checker) entries(src iter.Seq2[Dataset, error]) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		var d Dataset // one for all, since its address is passed on
		e := entry{number: -1, dataset: &d}
		for next, err := range src {
			if err != nil {
				yield(entry{}, err)
				return
			}
			d = next
			e.number++
			before := len(c.faults)
			c.dataset(e.number, &d)
			d.DatasetID, _ = readableIDs(d.DatasetID)
			e.json = c.encode(e.json[:0], e.number, &d)
			if c.passes(before, &d) && !yield(e, nil) {
				return
			}
			if len(c.faults) >= maxFaults {
				break
			}
		}
		if c.stopped {
			yield(entry{}, c.err())
		}
	}
}

// passes reports whether a dataset is to be sent, given the number of faults before it.
func (c *checker) passes(before int, d *Dataset) bool {
	faults := c.faults[before:]
	switch {
	case len(faults) == 0:
		return !c.stopped
	case c.leaveOut == nil || !c.leaveOut(ofDataset(string(appendDOI(nil, d)), faults)):
		c.stopped = true
		return false
	}
	c.faults = c.faults[:before]
	c.leftOut++
	return false
}

// merged adds up consecutive entries of one DOI. The sum has the number of the first.
func (c *checker) merged(entries iter.Seq2[entry, error]) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		var name, next []byte // DOIs of sum and of the entry that follows
		var total Dataset
		sum := entry{number: -1, dataset: &total}
		flush := func() bool {
			before := len(c.faults)
			if sum.number < 0 {
				return true
			}
			sum.json = c.encode(sum.json[:0], sum.number, &total)
			return !c.passes(before, &total) || yield(sum, nil)
		}
		for e, err := range entries {
			if err != nil {
				yield(entry{}, err)
				return
			}
			next = appendDOI(next[:0], e.dataset)
			if sum.number >= 0 && len(next) > 0 && bytes.Equal(next, name) {
				if err := total.add(e.dataset, sum.number, e.number); err != nil {
					yield(entry{}, err)
					return
				}
				continue
			}
			if !flush() {
				return
			}
			total, sum.number = e.dataset.clone(), e.number
			name, next = next, name
		}
		flush()
	}
}

const namesMemory = 2 << 20 // bytes

// items converts entries for packing, and adds their DOIs and numbers to names.
func items(entries iter.Seq2[entry, error], names *extsort.Sorter) iter.Seq2[subset.Item, error] {
	return func(yield func(subset.Item, error) bool) {
		var name []byte
		for e, err := range entries {
			if err != nil {
				yield(subset.Item{}, err)
				return
			}
			if name = appendDOI(name[:0], e.dataset); len(name) > 0 {
				name = binary.BigEndian.AppendUint64(append(name, 0), uint64(e.number))
				err = names.Add(name, nil)
			}
			if !yield(subset.Item{Number: e.number, Text: e.json}, err) {
				return
			}
		}
	}
}

// pack reads src to its end and writes all subsets to w, one after the other, and calls emit
// with each. Src and emit run on the caller's goroutine, w on another one. After an error
// of src it emits the subsets that were full by then; it stops at once at an error of w or
// emit or the end of ctx.
//
// Where subsets end and what bytes they are depends only on the data, MaxItems, MaxBytes
// and Level.
func pack(ctx context.Context, h Header, src iter.Seq2[subset.Item, error], settings subset.Settings, w io.Writer,
	emit func(Subset) error) error {
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	settings.Head = slices.Concat([]byte(`{"report-header":`), head, []byte(`,"report-datasets":[`))
	settings.Separator, settings.Tail = []byte(`,`), []byte(`]}`)
	return subset.Pack(ctx, settings, src, w, func(p subset.Part) error {
		return emit(Subset{hex.EncodeToString(p.Checksum[:]), p.Items, p.Bytes})
	})
}

// noRepeats fails if a DOI occurred twice.
func noRepeats(names *extsort.Sorter) error {
	var name []byte
	var first int
	var found [][2]int
	for key, err := range names.Keys() {
		if err != nil {
			return fmt.Errorf("reports.Submit: looking for repeated DOIs: %w", err)
		}
		end := len(key) - 8
		number := int(binary.BigEndian.Uint64(key[end:]))
		if !bytes.Equal(name, key[:end]) {
			name, first = append(name[:0], key[:end]...), number
		} else if found = append(found, [2]int{number, first}); len(found) == maxFaults {
			break
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var faults []datacite.Finding
	for _, r := range found {
		faults = append(faults, repeated(r[1], r[0]))
	}
	return datacite.Invalid(faults...)
}
