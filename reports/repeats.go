package reports

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
)

// Repeats says what [Client.Submit] does with a DOI that occurs more than once.
// The service's consumer keeps one entry for each DOI, so of entries in
// different subsets only the last one would count. Looking for repeats takes a
// fiftieth of the time, 1 MiB of memory, and 16 bytes of temporary file for each
// entry of a report with more than 60,000.
type Repeats int

const (
	// RefuseRepeats fails before anything is sent and names the entries.
	RefuseRepeats Repeats = iota
	// MergeRepeats adds up entries of one DOI that follow each other, as they do
	// in a source that is sorted by DOI, and refuses others. Each is checked before;
	// those of different periods, or of several, and sums that are too large fail
	// with a [*FieldError]. What is not counted is taken from the first entry.
	MergeRepeats
	// SendRepeats sends the entries as they are and does not look for repeats.
	SendRepeats
)

// A repeat is two entries with the same DOI.
type repeat struct{ first, again int }

func (r repeat) fault() *FieldError {
	return &FieldError{fmt.Sprintf("report-datasets[%d].dataset-id", r.again), fmt.Sprintf("is that of report-datasets[%d]; the service would keep one of them", r.first)}
}

// repeatedIn finds repeated DOIs in a report that is held in memory.
func repeatedIn(datasets []Dataset) []Finding {
	first := map[string]int{}
	var findings []Finding
	var name []byte
	for i := range datasets {
		name = appendDOI(name[:0], &datasets[i])
		if at, ok := first[string(name)]; ok && len(name) > 0 {
			f := repeat{at, i}.fault()
			findings = append(findings, Finding{Path: f.Path, Reason: f.Reason, Warning: true})
		} else {
			first[string(name)] = i
		}
	}
	return findings
}

// appendDOI appends the dataset's DOI as all spellings share it: without the
// address or scheme before it, its ASCII letters in lower case. It appends nothing
// if there is none.
func appendDOI(dst []byte, d *Dataset) []byte {
	for i := range d.DatasetID {
		if id := &d.DatasetID[i]; strings.EqualFold(id.Type, TypeDOI) {
			name := strings.TrimSpace(id.Value)
			for _, before := range [...]string{"", "https://doi.org/", "doi:"} { // for speed: Parse knows them too
				if rest, ok := strings.CutPrefix(name, before); ok && strings.HasPrefix(rest, "10.") &&
					strings.IndexByte(rest, '%') < 0 && strings.IndexByte(rest, '?') < 0 && strings.IndexByte(rest, '#') < 0 {
					return appendLower(dst, rest)
				}
			}
			if parsed, err := doi.Parse(name); err == nil {
				name = parsed
			}
			return appendLower(dst, name)
		}
	}
	return dst
}

// A repeatFinder finds repeated DOIs in a stream of any length. It remembers a
// 64-bit hash and the number of each entry, 16 bytes, and spreads them over
// partitions by their hash, so that two of the same DOI meet in one. That takes
// 1 MiB of memory, and 16 bytes of a temporary file for each entry beyond the
// first 60,000 or so; in the end, one partition of it is looked through at a time.
// Two different DOIs share a hash with a probability of one to a million in a
// report of six million entries; they would then be reported as repeated.
type repeatFinder struct {
	seed       maphash.Seed
	dir        string // for the temporary file
	partitions [64]partition
	file       *os.File
	end        int64 // of what is in file
	batch      []byte
	scratch    []byte // lower-cased DOI
}

type seenDOI struct {
	hash  uint64
	entry uint32
}

// A partition is the entries whose hashes end with the same bits, in order.
type partition struct {
	written []int64   // where full batches of earlier entries begin in the file
	recent  []seenDOI // later ones
}

const (
	batchLength = 1024 // entries
	fewEntries  = 32   // for which a partition has room at first
	entrySize   = 16   // bytes in the file
)

func newRepeatFinder(dir string) *repeatFinder {
	return &repeatFinder{seed: maphash.MakeSeed(), dir: dir}
}

// see remembers the DOI of entry i.
func (f *repeatFinder) see(i int, d *Dataset) error {
	if f.scratch = appendDOI(f.scratch[:0], d); len(f.scratch) == 0 {
		return nil
	}
	hash := maphash.Bytes(f.seed, f.scratch)
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
	p.recent = append(p.recent, seenDOI{hash, uint32(i)})
	return nil
}

// appendLower appends s with its ASCII letters lowered, which is how DOI names
// compare, eight bytes at a time.
func appendLower(dst []byte, s string) []byte {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := load64(s, i)
		low := x &^ highs
		fromA, afterZ := low+(highs-ones*'A'), low+(highs-ones*('Z'+1))
		upper := (fromA ^ afterZ) & highs &^ x
		dst = binary.LittleEndian.AppendUint64(dst, x|upper>>2)
	}
	for ; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// write moves the recent entries of a partition to the file.
func (f *repeatFinder) write(p *partition) error {
	if f.file == nil {
		file, err := tempFile(f.dir)
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

// repeats returns at most most repeated entries, in the order of the second one
// of each, and how many there are in all.
func (f *repeatFinder) repeats(most int) (found []repeat, count int, err error) {
	var all []seenDOI
	var table []uint32
	for i := range f.partitions {
		if all, err = f.read(all[:0], &f.partitions[i]); err != nil {
			return nil, 0, err
		}
		table = eachRepeat(all, table, func(r repeat) {
			if count++; count <= most {
				found = append(found, r)
			}
		})
	}
	slices.SortFunc(found, func(a, b repeat) int { return cmp.Compare(a.again, b.again) })
	return found, count, nil
}

// read appends all entries of a partition, in order.
func (f *repeatFinder) read(all []seenDOI, p *partition) ([]seenDOI, error) {
	batch := f.batch[:cap(f.batch)]
	for _, at := range p.written {
		batch = batch[:batchLength*entrySize]
		if _, err := f.file.ReadAt(batch, at); err != nil {
			return nil, err
		}
		for e := range slices.Chunk(batch, entrySize) {
			all = append(all, seenDOI{binary.LittleEndian.Uint64(e), uint32(binary.LittleEndian.Uint64(e[8:]))})
		}
	}
	return append(all, p.recent...), nil
}

// eachRepeat calls note with the entries whose hash an earlier one has. It uses
// and returns the memory of table, which maps hashes to places in all: a place
// follows the one where its hash belongs if that one is taken.
func eachRepeat(all []seenDOI, table []uint32, note func(repeat)) []uint32 {
	if size := 2 << bits.Len(uint(len(all))); len(table) < size {
		table = make([]uint32, size)
	}
	clear(table)
	mask := uint64(len(table) - 1)
	for i, s := range all {
		at := s.hash >> 32 & mask // the lowest bits are the same in all of them
		for ; table[at] != 0; at = (at + 1) & mask {
			if first := all[table[at]-1]; first.hash == s.hash {
				note(repeat{int(first.entry), int(s.entry)})
				break
			}
		}
		if table[at] == 0 {
			table[at] = uint32(i + 1)
		}
	}
	return table
}

// close removes the temporary file.
func (f *repeatFinder) close() error { return removeTemp(f.file) }
