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
	"runtime"
	"slices"
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

// A record is a place in a block, where the lengths of its key and its value lie, and
// then both. Blocks do not move when there are more, so no memory is taken twice.
type record struct {
	word         uint64 // of the key: what is compared next
	block, start uint32
}

const recordSize = 16

// blockSize is the most bytes of a block, but for longer records.
const blockSize = 256 << 10

// Add adds a record, the value in one part or several.
func (s *Sorter) Add(key []byte, value ...[]byte) error {
	length := 0
	for _, part := range value {
		length += len(part)
	}
	var space [2 * binary.MaxVarintLen64]byte
	lengths := binary.AppendUvarint(binary.AppendUvarint(space[:0], uint64(len(key))), uint64(length))
	size := len(lengths) + len(key) + length
	if s.held+size+recordSize > s.Memory && len(s.records) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held += size + recordSize
	block := s.room(size)
	s.records = append(s.records, record{block: uint32(s.filled - 1), start: uint32(len(*block))})
	*block = append(append(*block, lengths...), key...)
	for _, part := range value {
		*block = append(*block, part...)
	}
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

// read returns the key and the value of a record, and both with their lengths.
func (s *Sorter) read(r *record) (key, value, all []byte) {
	data := s.blocks[r.block][r.start:]
	keySize, n := binary.Uvarint(data)
	valueSize, m := binary.Uvarint(data[n:])
	start := uint64(n + m)
	end := start + keySize
	return data[start:end], data[end : end+valueSize], data[:end+valueSize]
}

func (s *Sorter) key(r *record) []byte {
	key, _, _ := s.read(r)
	return key
}

// sort sorts by words of eight bytes, which lie side by side and are compared at once:
// first by the word after what all keys begin with, then those of one word by the next.
func (s *Sorter) sort() {
	if len(s.records) == 0 {
		return
	}
	common := s.key(&s.records[0])
	for i := range s.records {
		common = common[:commonPrefix(common, s.key(&s.records[i]))]
	}
	s.sortAfter(s.records, len(common))
}

// sortAfter sorts records whose keys have the first n bytes in common.
func (s *Sorter) sortAfter(records []record, n int) {
	anyEnds := false
	for i := range records {
		rest := s.key(&records[i])[n:]
		records[i].word = firstWord(rest)
		anyEnds = anyEnds || len(rest) < 8
	}
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(a.word, b.word) })
	ends := func(r record) bool { return len(s.key(&r)) < n+8 }
	for len(records) > 0 {
		alike := 1
		for alike < len(records) && records[alike].word == records[0].word {
			alike++
		}
		if same := records[:alike]; alike > 2 && !(anyEnds && slices.ContainsFunc(same, ends)) {
			s.sortAfter(same, n+8)
		} else if alike > 1 {
			slices.SortFunc(same, func(a, b record) int {
				return cmp.Or(bytes.Compare(s.key(&a)[n:], s.key(&b)[n:]), cmp.Compare(a.block, b.block),
					cmp.Compare(a.start, b.start))
			})
		}
		records = records[alike:]
	}
}

// firstWord is in the order of keys, but that zeros stand for what a key does not have.
func firstWord(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var word [8]byte
	copy(word[:], key)
	return binary.BigEndian.Uint64(word[:])
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// spill writes the records in memory to the file, as a run.
func (s *Sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = CreateTemp(s.Dir); err != nil {
			return err
		}
	}
	s.sort()
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.end), 64<<10)
	size := int64(0)
	for _, r := range s.records {
		_, _, data := s.read(&r)
		if _, err := w.Write(data); err != nil {
			return err
		}
		size += int64(len(data))
	}
	s.runs = append(s.runs, io.NewSectionReader(s.file, s.end, size))
	s.end += size
	s.filled, s.held, s.records = 0, 0, s.records[:0]
	return w.Flush()
}

// Values returns an iterator over the values, in the order of their keys. A value is
// valid until the next iteration. It may be ranged over again, also after further Adds.
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
			if key, value, _ := s.read(&r); !yield(key, value) {
				return nil
			}
		}
		return nil
	}
	if len(s.records) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
		s.blocks, s.records = nil, nil
	}
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
		if _, err := run.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
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
func (s *Sorter) Close() error { return RemoveTemp(s.file) }

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

// CreateTemp makes a temporary file in dir. Where the system allows it, the file has no
// name, so that it is gone when the process ends.
func CreateTemp(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "datacite-report-*")
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" {
		if err := os.Remove(file.Name()); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return file, nil
}

// RemoveTemp closes and removes a temporary file. It does nothing if file is nil.
func RemoveTemp(file *os.File) error {
	if file == nil {
		return nil
	}
	err := file.Close()
	if runtime.GOOS == "windows" {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}
