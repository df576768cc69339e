// Package access has what counting accesses and reading logs share: addresses of visitors, and a
// cache of what was found out about texts.
package access

import "hash/maphash"

// A Cache holds what was put last: at least Most values, and at most twice as many. Texts
// are known by 64 bits that nobody can foresee, so it takes two that are as likely to be
// alike as any two numbers of that size for one to get the value of the other.
type Cache[V any] struct {
	Most       int
	young, old map[uint64]V
}

var seed = maphash.MakeSeed()

// A Key stands for a text.
type Key uint64

// KeyOf returns the key of a text.
func KeyOf(text string) Key { return Key(maphash.String(seed, text)) }

// Get returns the value of a text.
func (c *Cache[V]) Get(key Key) (V, bool) {
	if value, ok := c.young[uint64(key)]; ok {
		return value, true
	}
	value, ok := c.old[uint64(key)]
	return value, ok
}

// Put takes the value of a text.
func (c *Cache[V]) Put(key Key, value V) {
	if c.young == nil || len(c.young) >= c.Most {
		c.young, c.old = c.old, c.young
		clear(c.young) // its memory serves again
	}
	if c.young == nil {
		c.young = map[uint64]V{}
	}
	c.young[uint64(key)] = value
}
