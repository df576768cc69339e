package counter

import (
	"github.com/datacite-go/datacite-go/internal/extsort"
)

// An overflow takes the clicks of a key with more URLs in 30 seconds than memory has room
// for, such as those that were logged while a clock stood still. It sorts them by URL to
// remove double clicks, and those that stay by time to count them.
type overflow struct {
	byURL, byTime extsort.Sorter
	space         []byte
}

func newOverflow(memory int, dir string) *overflow {
	return &overflow{byURL: extsort.Sorter{Memory: memory, Dir: dir}, byTime: extsort.Sorter{Memory: memory, Dir: dir}}
}

// add takes a click, in any order.
func (o *overflow) add(c *click) error {
	o.space = c.append(append(o.space[:0], c.url[:]...))
	return o.byURL.Add(o.space, nil)
}

// count counts the clicks and removes the temporary files.
func (o *overflow) count(t *tally) error {
	defer o.byURL.Close() // they are of no further use
	defer o.byTime.Close()
	last := click{}
	some := false
	for rec, err := range o.byURL.Keys() {
		if err != nil {
			return err
		}
		c := click{user: t.user}
		c.read(rec[hashSize:])
		switch {
		case !some:
		case last.url == c.url && last.near(&c) && (t.user != byAddress || t.sessionOf(&last) == t.sessionOf(&c)):
			t.summary.DoubleClicks++
		default:
			if err := o.keep(&last); err != nil {
				return err
			}
		}
		last, some = c, true
	}
	if err := o.keep(&last); err != nil {
		return err
	}
	for rec, err := range o.byTime.Keys() {
		if err != nil {
			return err
		}
		c := click{user: t.user}
		c.read(rec)
		t.count(&c)
	}
	return nil
}

func (o *overflow) keep(c *click) error {
	o.space = c.append(o.space[:0])
	return o.byTime.Add(o.space, nil)
}
