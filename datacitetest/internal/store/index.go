package store

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/search"
)

// Index is the search index: the records as lists and queries see them. Stores share one until they write.
type Index struct {
	*search.Index
	entries []*Entry       // by their numbers in the index, removed ones among them
	numbers map[string]int // by the keys of records

	mu       sync.Mutex
	orders   map[string]*order
	selected selection
}

// An Entry is a record in the index, without its metadata, and what lists sort it by.
type Entry struct {
	*record.Record
	Year, Type                  string
	Views, Downloads, Citations float64

	// The first title in lower case, with its accents and without: the smaller and the greater form, "" without a title.
	Titled            bool
	Title, TitleAbove string

	key string
}

// order is the entries in an order. Those from next on are not in it yet.
type order struct {
	sorted []int32
	next   int
}

// selection is what was selected last: pages of one list come one after another.
type selection struct {
	order   string
	found   search.Set
	numbers []int32
}

func newIndex() *Index {
	ix := &Index{numbers: map[string]int{}, orders: map[string]*order{}}
	ix.Index = search.NewIndex(ix.read)
	return ix
}

// read is a record as the index has it.
func (ix *Index) read(n int) map[string]any { return ix.entries[n].Unpacked().Indexed() }

// Entry is an entry by its number.
func (ix *Index) Entry(n int) *Entry { return ix.entries[n] }

// put makes a record that of a key; nil means none. full has its metadata, too, if they have been read.
func (ix *Index) put(key string, rec, full *record.Record) {
	n, there := ix.numbers[key]
	if there && ix.entries[n].Record == rec {
		return
	}
	if there {
		ix.Remove(n)
		delete(ix.numbers, key)
	}
	if rec == nil {
		return
	}
	if full == nil {
		full = rec.Unpacked()
	}
	indexed := full.Indexed()
	ix.numbers[key] = ix.Add(indexed)
	ix.entries = append(ix.entries, newEntry(key, rec, full, indexed))
}

func newEntry(key string, rec, full *record.Record, indexed object) *Entry {
	e := &Entry{Record: rec, key: key, Year: full.Year(), Type: full.GeneralType()}
	e.Views, _ = indexed["view_count"].(float64)
	e.Downloads, _ = indexed["download_count"].(float64)
	e.Citations, _ = indexed["citation_count"].(float64)
	e.Title, e.Titled = search.First(indexed, "primary_title.title.raw")
	if plain := names.Collate(e.Title); plain == e.Title {
		e.TitleAbove = e.Title // and not the same text again
	} else {
		e.Title, e.TitleAbove = min(e.Title, plain), max(e.Title, plain)
	}
	return e
}

// Sorted are the numbers of all entries in the order of a name, removed ones among them.
func (ix *Index) Sorted(name string, compare func(a, b *Entry) int) []int32 {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	o := ix.orders[name]
	if o == nil {
		o = new(order)
		ix.orders[name] = o
	}
	byNumber := func(a, b int32) int { return compare(ix.entries[a], ix.entries[b]) }
	few := len(ix.entries)-o.next < 100
	for ; o.next < len(ix.entries); o.next++ {
		at := len(o.sorted)
		if few {
			at, _ = slices.BinarySearchFunc(o.sorted, int32(o.next), byNumber)
		}
		o.sorted = slices.Insert(o.sorted, at, int32(o.next))
	}
	if !few {
		slices.SortFunc(o.sorted, byNumber)
	}
	return o.sorted
}

// Selected are the numbers of the entries of a set in an order of Sorted, of which the name is given. Those of the page
// before are used again.
func (ix *Index) Selected(name string, found search.Set, sorted func() []int32) []int32 {
	ix.mu.Lock()
	last := ix.selected
	ix.mu.Unlock()
	if last.order == name && slices.Equal(last.found, found) {
		return last.numbers
	}
	last = selection{name, slices.Clone(found), make([]int32, 0, found.Len())}
	for _, n := range sorted() {
		if found.Has(int(n)) {
			last.numbers = append(last.numbers, n)
		}
	}
	ix.mu.Lock()
	ix.selected = last
	ix.mu.Unlock()
	return last.numbers
}

// copied is an index with the same contents, which changes do not reach. It has no removed entries if they are many.
func (ix *Index) copied() *Index {
	c := &Index{entries: slices.Clip(ix.entries), numbers: maps.Clone(ix.numbers), orders: map[string]*order{}}
	c.Index = ix.Copy(c.read)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for name, o := range ix.orders {
		c.orders[name] = &order{slices.Clone(o.sorted), o.next}
	}
	return c
}

// compact takes removed entries out when they are many.
func (ix *Index) compact() *Index {
	if len(ix.entries) < 2*len(ix.numbers)+100 {
		return ix
	}
	c := &Index{numbers: make(map[string]int, len(ix.numbers)), orders: map[string]*order{}}
	c.Index = ix.Compact(c.read)
	for n := range ix.Live().All() {
		e := ix.entries[n]
		c.numbers[e.key] = len(c.entries)
		c.entries = append(c.entries, e)
	}
	return c
}

// Search calls do with the index as it is now. do must not use the store.
func (s *Store) Search(do func(ix *Index)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp(s.Now())
	if s.index == nil {
		s.index, s.shared = newIndex(), false
	}
	do(s.index)
}

// catchUp brings the index to the state of a moment. The caller has the lock.
func (s *Store) catchUp(now time.Time) {
	for key := range s.behind {
		rec := cmp.Or(s.records[key], s.removed[key])
		s.enter(key, rec.IndexedAt(now), nil)
		if rec.Lags(now) {
			continue
		}
		delete(s.behind, key)
		delete(s.removed, key)
	}
}

// enter puts a record into the index, see [Index.put]. The caller has the lock.
func (s *Store) enter(key string, rec, full *record.Record) {
	switch {
	case s.index == nil:
		s.index, s.shared = newIndex(), false
	case s.shared:
		s.index, s.shared = s.index.copied(), false
	}
	s.index.put(key, rec, full)
	s.index = s.index.compact()
}
