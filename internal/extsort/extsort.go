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

	data    []byte // of the records held
	records []record
	file    *os.File
	runs    []*io.SectionReader // in file
	end     int64               // of the last run
}

// A record is a key and a value in the data of a Sorter.
type record struct{ start, value, end int }

const recordSize = 24

// Add adds a record.
func (s *Sorter) Add(key, value []byte) error {
	if len(s.data)+len(key)+len(value)+recordSize*(len(s.records)+1) > s.Memory && len(s.records) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	start := len(s.data)
	s.data = append(append(s.data, key...), value...)
	s.records = append(s.records, record{start, start + len(key), len(s.data)})
	return nil
}

func (s *Sorter) sort() {
	slices.SortFunc(s.records, func(a, b record) int {
		return cmp.Or(bytes.Compare(s.data[a.start:a.value], s.data[b.start:b.value]), cmp.Compare(a.start, b.start))
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
		for _, b := range [][]byte{lengths, s.data[r.start:r.end]} {
			if _, err := w.Write(b); err != nil {
				return err
			}
			size += int64(len(b))
		}
	}
	s.runs = append(s.runs, io.NewSectionReader(s.file, s.end, size))
	s.end += size
	s.data, s.records = s.data[:0], s.records[:0]
	return w.Flush()
}

// Values returns an iterator over the values, in the order of their keys. A value is
// valid until the next iteration. Call it once, after the last Add.
func (s *Sorter) Values() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := s.values(func(value []byte) bool { return yield(value, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (s *Sorter) values(yield func([]byte) bool) error {
	if len(s.runs) == 0 {
		s.sort()
		for _, r := range s.records {
			if !yield(s.data[r.value:r.end]) {
				return nil
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.data, s.records = nil, nil
	next, err := s.cursors()
	if err != nil {
		return err
	}
	for heap.Init(&next); len(next) > 0; {
		first := next[0]
		if !yield(first.value) {
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
