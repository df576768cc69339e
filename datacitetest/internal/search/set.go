package search

import (
	"iter"
	"math/bits"
)

// A Set is a set of records, a bit for each number.
type Set []uint64

// Has says whether a record is in the set.
func (s Set) Has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }

// Add adds a record.
func (s Set) Add(n int) { s[n/64] |= 1 << (n % 64) }

// Len is how many records the set has.
func (s Set) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// All yields the records of the set in the order of their numbers.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// And keeps those that another set has, too.
func (s Set) And(other Set) {
	for i := range s {
		s[i] &= other[i]
	}
}

// Or adds those of another set.
func (s Set) Or(other Set) {
	for i := range s {
		s[i] |= other[i]
	}
}

// Without removes those of another set.
func (s Set) Without(other Set) {
	for i := range s {
		s[i] &^= other[i]
	}
}
