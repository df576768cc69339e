package search

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// An Index says which records have a value, so that a query reads no records: for each field the terms, and the records
// that have each of them. Records are numbered from 0, in the order in which they are added.
type Index struct {
	Record func(n int) map[string]any // reads a record, for what the index does not have
	size   int
	live   Set // without the removed ones
	root   *member
}

// A member is the index of a member of the records, or of one inside another.
type member struct {
	inside map[string]*member
	having *having                   // the records with any value there, or further inside
	terms  [forms]map[string]*having // nil for a form in which no field has the path
}

// having are the records that have something, by number. Copies of an index share them until they add to them.
type having struct {
	owner   *Index
	records []uint32
}

// all are the records of a list, which may be nil.
func (h *having) all() []uint32 {
	if h == nil {
		return nil
	}
	return h.records
}

// with has the last record of an index, too.
func (h *having) with(ix *Index) *having {
	n := uint32(ix.size - 1)
	switch all := h.all(); {
	case h == nil:
		return &having{ix, []uint32{n}}
	case all[len(all)-1] == n:
		return h
	case h.owner != ix:
		h = &having{ix, slices.Clone(all)}
	}
	h.records = append(h.records, n)
	return h
}

// A form is how a field has its values in the index.
type form uint8

const (
	whole  form = iota // as they are
	lower              // in lower case
	byWord             // the words, in lower case
	forms
)

func (k kind) form() form {
	switch k {
	case folded:
		return lower
	case text:
		return byWord
	}
	return whole
}

// termsOf are the terms of a value.
func (f form) termsOf(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch f {
		case whole:
			yield(value)
		case lower:
			yield(strings.ToLower(value))
		case byWord:
			words(strings.ToLower(value))(yield)
		}
	}
}

// NewIndex makes an empty index of the fields that queries name. record reads a record by its number.
func NewIndex(record func(n int) map[string]any) *Index {
	ix := &Index{Record: record, root: new(member)}
	for _, fields := range []map[string]field{mapping(), beyond()} {
		for _, f := range fields {
			m := ix.root
			for _, name := range f.path {
				if m.inside[name] == nil {
					if m.inside == nil {
						m.inside = map[string]*member{}
					}
					m.inside[name] = new(member)
				}
				m = m.inside[name]
			}
			m.terms[f.kind.form()] = map[string]*having{}
		}
	}
	return ix
}

// at is the member at a path, nil if there is none.
func (m *member) at(path []string) *member {
	for _, name := range path {
		if m == nil {
			return nil
		}
		m = m.inside[name]
	}
	return m
}

// termsOf are the terms of a field, nil if the index does not have them.
func (ix *Index) termsOf(f field) map[string]*having {
	if m := ix.root.at(f.path); m != nil {
		return m.terms[f.kind.form()]
	}
	return nil
}

// Add adds a record and returns its number.
func (ix *Index) Add(record map[string]any) (n int) {
	n = ix.size
	if ix.size++; n/64 == len(ix.live) {
		ix.live = append(ix.live, 0)
	}
	ix.live.Add(n)
	ix.root.add(record, ix)
	return n
}

// add adds a value and says whether it is one, see hasValue.
func (m *member) add(v any, ix *Index) (is bool) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			is = m.add(item, ix) || is
		}
	case map[string]any:
		for name, item := range v {
			var inside *member
			if m != nil {
				inside = m.inside[name]
			}
			is = inside.add(item, ix) || is
		}
	default:
		is = true
		m.index(v, ix)
	}
	if m != nil && is {
		m.having = m.having.with(ix)
	}
	return is
}

func (m *member) index(v any, ix *Index) {
	if m == nil {
		return
	}
	value, _ := scalar(v)
	for f, terms := range m.terms {
		if terms == nil {
			continue
		}
		for term := range form(f).termsOf(value) {
			old := terms[term]
			if old == nil {
				term = strings.Clone(term) // it may be a part of a long text
			}
			if having := old.with(ix); having != old {
				terms[term] = having
			}
		}
	}
}

// Remove takes a record out.
func (ix *Index) Remove(n int) { ix.live[n/64] &^= 1 << (n % 64) }

// Copy returns an index with the same contents. What is added to it does not reach the first one, to
// which nothing may be added any more.
func (ix *Index) Copy(record func(n int) map[string]any) *Index {
	return &Index{Record: record, size: ix.size, live: slices.Clone(ix.live), root: ix.root.mapped(nil)}
}

// Compact returns an index without the removed records, with the others numbered anew in the same order.
func (ix *Index) Compact(record func(n int) map[string]any) *Index {
	compact := &Index{Record: record, size: ix.live.Len()}
	compact.live = full(compact.size)
	numbers := make([]uint32, ix.size)
	next := uint32(0)
	for n := range ix.live.All() {
		numbers[n], next = next, next+1
	}
	compact.root = ix.root.mapped(func(old *having) *having {
		var kept []uint32
		for _, n := range old.all() {
			if ix.live.Has(int(n)) {
				kept = append(kept, numbers[n])
			}
		}
		if kept == nil {
			return nil
		}
		return &having{compact, kept}
	})
	return compact
}

// mapped is a copy of a member, with other records for each term; nil takes the term out.
func (m *member) mapped(renumbered func(*having) *having) *member {
	c := &member{having: m.having}
	for f, terms := range m.terms {
		c.terms[f] = maps.Clone(terms)
	}
	if renumbered != nil {
		c.having = renumbered(m.having)
		for _, terms := range c.terms {
			for term, old := range terms {
				if terms[term] = renumbered(old); terms[term] == nil {
					delete(terms, term)
				}
			}
		}
	}
	if m.inside != nil {
		c.inside = make(map[string]*member, len(m.inside))
		for name, inside := range m.inside {
			c.inside[name] = inside.mapped(renumbered)
		}
	}
	return c
}

// full is the set of the first n records.
func full(n int) Set {
	s := make(Set, (n+63)/64)
	for i := range n {
		s.Add(i)
	}
	return s
}

// Live are all records.
func (ix *Index) Live() Set { return slices.Clone(ix.live) }

// empty is a set without records.
func (ix *Index) empty() Set { return make(Set, len(ix.live)) }

func (s Set) addAll(h *having) {
	for _, n := range h.all() {
		s.Add(int(n))
	}
}

// With are the records that have one of the values in a field of the index. Values are compared as the index has them.
func (ix *Index) With(name string, values ...string) Set {
	found, terms := ix.empty(), ix.values(name)
	for _, value := range values {
		found.addAll(terms[value])
	}
	return found
}

// Where are the records that have such a value in a field of the index.
func (ix *Index) Where(name string, is func(value string) bool) Set {
	found := ix.empty()
	for value, having := range ix.values(name) {
		if is(value) {
			found.addAll(having)
		}
	}
	return found
}

// Count is how many records of a set have each value in a field of the index; values that none has are left out.
func (ix *Index) Count(name string, of Set) map[string]int {
	counts := map[string]int{}
	for value, having := range ix.values(name) {
		for _, n := range having.records {
			if of.Has(int(n)) {
				counts[value]++
			}
		}
	}
	return counts
}

// values are the values in a field, and the records that have each of them, removed ones among them.
func (ix *Index) values(name string) map[string]*having {
	f, known := mapping()[name]
	if !known || f.kind == text {
		panic("search: the index has no values of " + name)
	}
	return ix.termsOf(f)
}

// scan are those of some records that have such a term in a field, without the help of the index.
func (ix *Index) scan(some Set, f field, is func(value string) bool) Set {
	found := ix.empty()
	for n := range some.All() {
		if reach(ix.Record(n), f.path, func(v any) bool { s, ok := scalar(v); return ok && is(s) }) {
			found.Add(n)
		}
	}
	return found
}
