package reports

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"slices"
	"strings"
)

// Repeats says what [Client.Submit] does with a DOI that occurs more than once.
// The service's consumer keeps one entry for each DOI, so of entries in
// different subsets only the last one would count.
type Repeats int

const (
	// RefuseRepeats fails before anything is sent and names the entries.
	RefuseRepeats Repeats = iota
	// MergeRepeats adds up entries of one DOI that follow each other, as they do
	// in a source that is sorted by DOI, and refuses others.
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
	for i := range datasets {
		name := plainDOI(&datasets[i])
		if name == "" {
			continue
		}
		name = strings.ToLower(name)
		if at, ok := first[name]; ok {
			f := repeat{at, i}.fault()
			findings = append(findings, Finding{Path: f.Path, Reason: f.Reason, Warning: true})
			continue
		}
		first[name] = i
	}
	return findings
}

// plainDOI is the dataset's DOI without the prefix that some senders put before
// it, or "".
func plainDOI(d *Dataset) string {
	for i := range d.DatasetID {
		if id := &d.DatasetID[i]; strings.EqualFold(id.Type, TypeDOI) {
			name := strings.TrimSpace(id.Value)
			if len(name) > 4 && strings.EqualFold(name[:4], "doi:") {
				name = name[4:]
			}
			return name
		}
	}
	return ""
}

// repeatFinder finds repeated DOIs in a stream of any length. It remembers a
// 64-bit hash and the number of each entry: 1 MiB of memory in all, and beyond
// the first 65,536 entries 16 bytes of temporary file for each. Two different
// DOIs share a hash with a probability of one to a million in a report of six
// million entries; they would then be reported as repeated.
type repeatFinder struct {
	seed    maphash.Seed
	dir     string // for the temporary file
	recent  []seenDOI
	runs    []int64 // offsets of the sorted runs in file
	file    *os.File
	scratch []byte // lower-cased DOI
}

type seenDOI struct {
	hash  uint64
	entry uint32
}

// recentDOIs is how many entries are remembered before they are sorted and
// written out.
const recentDOIs = 64 << 10

func newRepeatFinder(dir string) *repeatFinder {
	return &repeatFinder{seed: maphash.MakeSeed(), dir: dir}
}

// see remembers the DOI of entry i.
func (f *repeatFinder) see(i int, d *Dataset) error {
	name := plainDOI(d)
	if name == "" {
		return nil
	}
	f.scratch = appendLower(f.scratch[:0], name)
	if len(f.recent) == recentDOIs {
		if err := f.spill(); err != nil {
			return err
		}
	}
	f.recent = append(f.recent, seenDOI{maphash.Bytes(f.seed, f.scratch), uint32(i)})
	return nil
}

// appendLower lowers ASCII letters, which is how DOI names compare.
func appendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func sortSeen(list []seenDOI) {
	slices.SortFunc(list, func(a, b seenDOI) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.entry, b.entry))
	})
}

// spill writes the recent entries out, sorted.
func (f *repeatFinder) spill() error {
	if f.file == nil {
		file, err := tempFile(f.dir)
		if err != nil {
			return err
		}
		f.file = file
	}
	sortSeen(f.recent)
	at, err := f.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	const batch = 4096
	buf := make([]byte, 0, batch*16)
	for part := range slices.Chunk(f.recent, batch) {
		buf = buf[:0]
		for _, s := range part {
			buf = binary.LittleEndian.AppendUint64(buf, s.hash)
			buf = binary.LittleEndian.AppendUint64(buf, uint64(s.entry))
		}
		if _, err := f.file.Write(buf); err != nil {
			return err
		}
	}
	f.runs = append(f.runs, at)
	f.recent = f.recent[:0]
	return nil
}

// repeats returns at most most repeated entries, in the order of the second one
// of each, and how many there are in all.
func (f *repeatFinder) repeats(most int) (found []repeat, count int, err error) {
	note := func(r repeat) {
		count++
		if len(found) < most {
			found = append(found, r)
		}
	}
	sortSeen(f.recent)
	if len(f.runs) == 0 {
		eachRepeat(slices.Values(f.recent), note)
	} else {
		merged, errMerge := f.merge()
		if errMerge != nil {
			return nil, 0, errMerge
		}
		eachRepeat(merged.all, note)
		err = merged.err
	}
	slices.SortFunc(found, func(a, b repeat) int { return cmp.Compare(a.again, b.again) })
	return found, count, err
}

func eachRepeat(sorted func(yield func(seenDOI) bool), note func(repeat)) {
	var first seenDOI
	begun := false
	for s := range sorted {
		if begun && s.hash == first.hash {
			note(repeat{int(first.entry), int(s.entry)})
			continue
		}
		first, begun = s, true
	}
}

// close removes the temporary file.
func (f *repeatFinder) close() error { return removeTemp(f.file) }

// A merge yields the entries of all sorted runs in order.
type merge struct {
	runs []*run
	err  error
}

// A run is a sorted list that is read piece by piece.
type run struct {
	file     io.ReaderAt
	at, end  int64
	buffered []seenDOI
}

func (f *repeatFinder) merge() (*merge, error) {
	m := &merge{}
	end, err := f.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	for i, at := range f.runs {
		stop := end
		if i+1 < len(f.runs) {
			stop = f.runs[i+1]
		}
		m.runs = append(m.runs, &run{file: f.file, at: at, end: stop})
	}
	m.runs = append(m.runs, &run{buffered: f.recent})
	return m, nil
}

func (m *merge) all(yield func(seenDOI) bool) {
	for {
		var least *run
		for _, r := range m.runs {
			if m.err = r.fill(); m.err != nil {
				return
			}
			if len(r.buffered) > 0 && (least == nil || less(r.buffered[0], least.buffered[0])) {
				least = r
			}
		}
		if least == nil || !yield(least.buffered[0]) {
			return
		}
		least.buffered = least.buffered[1:]
	}
}

func less(a, b seenDOI) bool {
	return a.hash < b.hash || a.hash == b.hash && a.entry < b.entry
}

// fill reads on when nothing is buffered.
func (r *run) fill() error {
	if len(r.buffered) > 0 || r.at >= r.end {
		return nil
	}
	buf := make([]byte, min(r.end-r.at, 4096*16))
	if _, err := r.file.ReadAt(buf, r.at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r.at += int64(len(buf))
	for part := range slices.Chunk(buf, 16) {
		r.buffered = append(r.buffered, seenDOI{binary.LittleEndian.Uint64(part), uint32(binary.LittleEndian.Uint64(part[8:]))})
	}
	return nil
}
