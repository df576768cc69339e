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
	having []uint32                   // the records with any value there, or further inside
	terms  [forms]map[string][]uint32 // nil for a form in which no field has the path
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
			m.terms[f.kind.form()] = map[string][]uint32{}
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
func (ix *Index) termsOf(f field) map[string][]uint32 {
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
	ix.root.add(record, uint32(n))
	return n
}

// add adds a value and says whether it is one, see hasValue.
func (m *member) add(v any, n uint32) (is bool) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			is = m.add(item, n) || is
		}
	case map[string]any:
		for name, item := range v {
			var inside *member
			if m != nil {
				inside = m.inside[name]
			}
			is = inside.add(item, n) || is
		}
	default:
		is = true
		m.index(v, n)
	}
	if m != nil && is {
		m.having = appended(m.having, n)
	}
	return is
}

func (m *member) index(v any, n uint32) {
	if m == nil {
		return
	}
	value, _ := scalar(v)
	for f, terms := range m.terms {
		if terms == nil {
			continue
		}
		for term := range form(f).termsOf(value) {
			having, known := terms[term]
			if !known {
				term = strings.Clone(term) // it may be a part of a long text
			}
			terms[term] = appended(having, n)
		}
	}
}

func appended(having []uint32, n uint32) []uint32 {
	if len(having) > 0 && having[len(having)-1] == n {
		return having
	}
	return append(having, n)
}

// Remove takes a record out.
func (ix *Index) Remove(n int) { ix.live[n/64] &^= 1 << (n % 64) }

// Copy returns an index with the same contents, which changes of either do not reach the other.
func (ix *Index) Copy(record func(n int) map[string]any) *Index {
	return &Index{Record: record, size: ix.size, live: slices.Clone(ix.live), root: ix.root.mapped(slices.Clip[[]uint32])}
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
	compact.root = ix.root.mapped(func(having []uint32) []uint32 {
		var kept []uint32
		for _, n := range having {
			if ix.live.Has(int(n)) {
				kept = append(kept, numbers[n])
			}
		}
		return kept
	})
	return compact
}

// mapped is a copy of a member, without terms that no record has any more.
func (m *member) mapped(having func([]uint32) []uint32) *member {
	c := &member{having: having(m.having)}
	for f, terms := range m.terms {
		c.terms[f] = maps.Clone(terms)
		for term, all := range terms {
			if c.terms[f][term] = having(all); len(c.terms[f][term]) == 0 {
				delete(c.terms[f], term)
			}
		}
	}
	if m.inside != nil {
		c.inside = make(map[string]*member, len(m.inside))
		for name, inside := range m.inside {
			c.inside[name] = inside.mapped(having)
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

func (s Set) addAll(all []uint32) {
	for _, n := range all {
		s.Add(int(n))
	}
}

// With are the records that have one of the values in a field of the index. Values are compared as the index has them.
func (ix *Index) With(name string, values ...string) Set {
	found, terms := ix.empty(), ix.Terms(name)
	for _, value := range values {
		found.addAll(terms[value])
	}
	return found
}

// Where are the records that have such a value in a field of the index.
func (ix *Index) Where(name string, is func(value string) bool) Set {
	found := ix.empty()
	for value, having := range ix.Terms(name) {
		if is(value) {
			found.addAll(having)
		}
	}
	return found
}

// Terms are the values in a field of the index, and the records that have each of them, removed ones among them.
func (ix *Index) Terms(name string) map[string][]uint32 {
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
