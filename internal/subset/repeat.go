package subset

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"os"
	"slices"

	"github.com/datacite-go/datacite-go/internal/extsort"
)

// A Repeat is two entries with the same name.
type Repeat struct{ First, Again int }

// A RepeatFinder finds repeated names in a stream of any length. It keeps a 64-bit hash and the
// number of each entry, in partitions by hash, which are searched one at a time in the
// end. That takes 1 MiB of memory, and 16 bytes of a temporary file for each entry beyond
// the first 60,000 or so. Different names with the same hash would be reported as
// repeated; with six million entries the probability of that is one in a million.
type RepeatFinder struct {
	seed       maphash.Seed
	dir        string // for the temporary file
	partitions [64]partition
	file       *os.File
	end        int64 // of what is in file
	batch      []byte
}

type seenName struct {
	hash  uint64
	entry uint32
}

// A partition holds the entries whose hashes end with the same bits, in order.
type partition struct {
	written []int64    // where full batches of earlier entries begin in the file
	recent  []seenName // later ones
}

const (
	batchLength = 1024 // entries
	fewEntries  = 32   // for which a partition has room at first
	entrySize   = 16   // bytes in the file
)

// NewRepeatFinder returns a RepeatFinder that keeps its temporary file in dir. The caller closes it.
func NewRepeatFinder(dir string) *RepeatFinder {
	return &RepeatFinder{seed: maphash.MakeSeed(), dir: dir}
}

// Add adds the name of entry i.
func (f *RepeatFinder) Add(i int, name []byte) error {
	hash := maphash.Bytes(f.seed, name)
	p := &f.partitions[hash%uint64(len(f.partitions))]
	switch len(p.recent) {
	case 0:
		p.recent = slices.Grow(p.recent, fewEntries)
	case fewEntries:
		p.recent = slices.Grow(p.recent, batchLength-fewEntries)
	case batchLength:
		if err := f.write(p); err != nil {
			return err
		}
	}
	p.recent = append(p.recent, seenName{hash, uint32(i)})
	return nil
}

// write moves the recent entries of a partition to the file.
func (f *RepeatFinder) write(p *partition) error {
	if f.file == nil {
		file, err := extsort.CreateTemp(f.dir)
		if err != nil {
			return err
		}
		f.file = file
	}
	f.batch = f.batch[:0]
	for _, s := range p.recent {
		f.batch = binary.LittleEndian.AppendUint64(f.batch, s.hash)
		f.batch = binary.LittleEndian.AppendUint64(f.batch, uint64(s.entry))
	}
	if _, err := f.file.WriteAt(f.batch, f.end); err != nil {
		return err
	}
	p.written, p.recent = append(p.written, f.end), p.recent[:0]
	f.end += int64(len(f.batch))
	return nil
}

// Repeats returns at most limit repeated entries, in the order of the second one
// of each, and the number of all.
func (f *RepeatFinder) Repeats(limit int) (found []Repeat, count int, err error) {
	var all []seenName
	var table []uint32
	for i := range f.partitions {
		if all, err = f.read(all[:0], &f.partitions[i]); err != nil {
			return nil, 0, err
		}
		table = eachRepeat(all, table, func(r Repeat) {
			if count++; count <= limit {
				found = append(found, r)
			}
		})
	}
	slices.SortFunc(found, func(a, b Repeat) int { return cmp.Compare(a.Again, b.Again) })
	return found, count, nil
}

// read appends all entries of a partition, in order.
func (f *RepeatFinder) read(all []seenName, p *partition) ([]seenName, error) {
	batch := f.batch[:cap(f.batch)]
	for _, at := range p.written {
		batch = batch[:batchLength*entrySize]
		if _, err := f.file.ReadAt(batch, at); err != nil {
			return nil, err
		}
		for e := range slices.Chunk(batch, entrySize) {
			all = append(all, seenName{binary.LittleEndian.Uint64(e), uint32(binary.LittleEndian.Uint64(e[8:]))})
		}
	}
	return append(all, p.recent...), nil
}

// eachRepeat calls note for each entry whose hash an earlier one has. It reuses and
// returns table, a hash table with linear probing that maps hashes to indexes of all,
// plus one.
func eachRepeat(all []seenName, table []uint32, note func(Repeat)) []uint32 {
	if size := 2 << bits.Len(uint(len(all))); len(table) < size {
		table = make([]uint32, size)
	}
	clear(table)
	mask := uint64(len(table) - 1)
	for i, s := range all {
		at := s.hash >> 32 & mask // the lowest bits are the same in all of them
		for ; table[at] != 0; at = (at + 1) & mask {
			if first := all[table[at]-1]; first.hash == s.hash {
				note(Repeat{int(first.entry), int(s.entry)})
				break
			}
		}
		if table[at] == 0 {
			table[at] = uint32(i + 1)
		}
	}
	return table
}

// Close removes the temporary file.
func (f *RepeatFinder) Close() error { return extsort.RemoveTemp(f.file) }
