package jsonlex

import (
	"reflect"
	"strings"
)

// Texts allocates many small strings in few blocks. A string keeps its whole block in memory, as a list of
// [Lists] does.
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
	block []T
	start int // of the list that is being made
	turn  int
	open  bool
}

// Begin begins a list. In a new turn, it reuses the memory of all lists made before.
func (s *Lists[T]) Begin(turn int) {
	if turn != s.turn {
		clear(s.block)
		s.block, s.turn = s.block[:0], turn
	}
	s.start, s.open = len(s.block), true
}

// Next adds an element, and returns a pointer that is valid until the next one is added;
// nil if that takes [Lists.Grow] first.
func (s *Lists[T]) Next() *T {
	n := len(s.block)
	if n == cap(s.block) {
		return nil
	}
	s.block = s.block[:n+1] // zero: no list has used it in this turn
	return &s.block[n]
}

// Grow allocates room for further elements.
func (s *Lists[T]) Grow() {
	s.block = append(make([]T, 0, s.room()), s.block[s.start:]...)
	s.start = 0
}

// room returns the number of elements of a new block.
func (s *Lists[T]) room() int {
	const block = 4 << 10
	return max(block/s.size(), 1, 2*(len(s.block)-s.start))
}

// size is the number of bytes of an element.
func (s *Lists[T]) size() int {
	return max(int(reflect.TypeFor[T]().Size()), 1)
}

// Drop removes the last element.
func (s *Lists[T]) Drop() {
	n := len(s.block) - 1
	clear(s.block[n:])
	s.block = s.block[:n]
}

// List ends the list that Begin began, and returns it.
func (s *Lists[T]) List() []T {
	s.open = false
	if len(s.block) == s.start {
		return []T{}
	}
	return s.block[s.start:len(s.block):len(s.block)]
}
