// Package arena allocates many small strings and lists in few blocks of memory. A string
// or list keeps its whole block in memory.
package arena

import (
	"cmp"
	"reflect"
	"strings"
)

// Texts allocates strings in blocks.
type Texts struct{ block strings.Builder }

const textBlock = 8 << 10

// Copy returns b as a string.
func (a *Texts) Copy(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case len(b) > textBlock/8:
		return string(b)
	case a.block.Cap()-a.block.Len() < len(b):
		a.block = strings.Builder{}
		a.block.Grow(textBlock)
	}
	start := a.block.Len()
	a.block.Write(b)
	return a.block.String()[start:]
}

// Lists allocates lists in blocks, one list at a time.
type Lists[T any] struct {
	Least int // elements of a block; 0 means 64
	block []T
	start int // of the list that is being made
}

// Begin begins a list.
func (s *Lists[T]) Begin() { s.start = len(s.block) }

// Cost returns the bytes that Next will allocate; 0 if there is room.
func (s *Lists[T]) Cost() int {
	if len(s.block) < cap(s.block) {
		return 0
	}
	return s.room() * int(reflect.TypeFor[T]().Size())
}

// room returns the number of elements of a new block.
func (s *Lists[T]) room() int {
	const least = 64
	return max(cmp.Or(s.Least, least), 2*(len(s.block)-s.start))
}

// Next adds an element, and returns a pointer that is valid until the next one is added.
func (s *Lists[T]) Next() *T {
	if len(s.block) == cap(s.block) {
		s.block = append(make([]T, 0, s.room()), s.block[s.start:]...)
		s.start = 0
	}
	n := len(s.block)
	s.block = s.block[:n+1]
	var zero T
	s.block[n] = zero
	return &s.block[n]
}

// Drop removes the last element.
func (s *Lists[T]) Drop() { s.block = s.block[:len(s.block)-1] }

// List returns the list since Begin.
func (s *Lists[T]) List() []T {
	if len(s.block) == s.start {
		return []T{}
	}
	return s.block[s.start:len(s.block):len(s.block)]
}

// Reset reuses the memory of all lists for new ones.
func (s *Lists[T]) Reset() { s.block, s.start = s.block[:0], 0 }
