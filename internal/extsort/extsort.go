// Package extsort sorts any number of records: in memory up to a limit, and beyond it
// in sorted runs in a temporary file, which are merged.
package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/datacite-go/datacite-go/internal/tempfile"
)

// A Sorter sorts records by their keys. Records of one key keep their order.
type Sorter struct {
	Memory int    // bytes held in memory
	Dir    string // for the temporary file

	blocks  [][]byte // the data of the records held
	filled  int      // blocks with data; the others are used again
	held    int      // bytes
	records []record
	file    *os.File
	runs    []*io.SectionReader // in file
	end     int64               // of the last run
}

// A record is a key and a value in a block. Blocks do not move when there are more, so
// no memory is taken twice.
type record struct{ block, start, value, end uint32 }

const recordSize = 16

// blockSize is the most bytes of a block, but for longer records.
const blockSize = 256 << 10

// Add adds a record.
func (s *Sorter) Add(key, value []byte) error {
	size := len(key) + len(value)
	if s.held+size+recordSize > s.Memory && len(s.records) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held += size + recordSize
	block := s.room(size)
	start := len(*block)
	*block = append(append(*block, key...), value...)
	s.records = append(s.records, record{uint32(s.filled - 1), uint32(start), uint32(start + len(key)), uint32(start + size)})
	return nil
}

// room returns the last block if it has room, or else another one.
func (s *Sorter) room(size int) *[]byte {
	if s.filled > 0 {
		if last := &s.blocks[s.filled-1]; cap(*last)-len(*last) >= size {
			return last
		}
	}
	if s.filled == len(s.blocks) {
		s.blocks = append(s.blocks, nil)
	}
	s.filled++
	block := &s.blocks[s.filled-1]
	if *block = (*block)[:0]; cap(*block) < size {
		*block = make([]byte, 0, max(size, min(blockSize, s.Memory/8)))
	}
	return block
}

func (s *Sorter) key(r *record) []byte { return s.blocks[r.block][r.start:r.value] }

func (s *Sorter) sort() {
	slices.SortFunc(s.records, func(a, b record) int {
		if c := bytes.Compare(s.key(&a), s.key(&b)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
}

// spill writes the records in memory to the file, as a run.
func (s *Sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = tempfile.Create(s.Dir); err != nil {
			return err
		}
	}
	s.sort()
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.end), 64<<10)
	var lengths []byte
	size := int64(0)
	for _, r := range s.records {
		lengths = binary.AppendUvarint(lengths[:0], uint64(r.value-r.start))
		lengths = binary.AppendUvarint(lengths, uint64(r.end-r.value))
		for _, b := range [][]byte{lengths, s.blocks[r.block][r.start:r.end]} {
			if _, err := w.Write(b); err != nil {
				return err
			}
			size += int64(len(b))
		}
	}
	s.runs = append(s.runs, io.NewSectionReader(s.file, s.end, size))
	s.end += size
	s.filled, s.held, s.records = 0, 0, s.records[:0]
	return w.Flush()
}

// Values returns an iterator over the values, in the order of their keys. A value is
// valid until the next iteration. Call it once, after the last Add.
func (s *Sorter) Values() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := s.each(func(_, value []byte) bool { return yield(value, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// Keys is Values for records that are all key.
func (s *Sorter) Keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := s.each(func(key, _ []byte) bool { return yield(key, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (s *Sorter) each(yield func(key, value []byte) bool) error {
	if len(s.runs) == 0 {
		s.sort()
		for _, r := range s.records {
			if !yield(s.key(&r), s.blocks[r.block][r.value:r.end]) {
				return nil
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.blocks, s.records = nil, nil
	next, err := s.cursors()
	if err != nil {
		return err
	}
	for heap.Init(&next); len(next) > 0; {
		first := next[0]
		if !yield(first.key, first.value) {
			return nil
		}
		switch err := first.read(); {
		case errors.Is(err, io.EOF):
			heap.Pop(&next)
		case err != nil:
			return err
		default:
			heap.Fix(&next, 0)
		}
	}
	return nil
}

// cursors returns a cursor at the first record of each run.
func (s *Sorter) cursors() (list cursors, err error) {
	const least, most = 4 << 10, 256 << 10
	size := min(max(s.Memory/len(s.runs), least), most)
	for i, run := range s.runs {
		c := &cursor{Reader: bufio.NewReaderSize(run, size), run: i}
		if err := c.read(); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		} else if err == nil {
			list = append(list, c)
		}
	}
	return list, nil
}

// Close removes the temporary file.
func (s *Sorter) Close() error { return tempfile.Remove(s.file) }

// A cursor is the next record of a run.
type cursor struct {
	*bufio.Reader
	run        int
	data       []byte
	key, value []byte // in data
}

// read reads the next record. It returns io.EOF at the end of the run.
func (c *cursor) read() error {
	key, err := binary.ReadUvarint(c)
	if err != nil {
		return err
	}
	value, err := binary.ReadUvarint(c)
	if err != nil {
		return err
	}
	c.data = slices.Grow(c.data[:0], int(key+value))[:key+value]
	c.key, c.value = c.data[:key], c.data[key:]
	_, err = io.ReadFull(c, c.data)
	return err
}

// cursors is a heap: the smallest key first, and of equal keys that of the earliest run.
type cursors []*cursor

func (c cursors) Len() int { return len(c) }
func (c cursors) Less(i, j int) bool {
	return cmp.Or(bytes.Compare(c[i].key, c[j].key), cmp.Compare(c[i].run, c[j].run)) < 0
}
func (c cursors) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)   { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}
