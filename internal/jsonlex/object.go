package jsonlex

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// An Object says what the members of a JSON object are in a T.
type Object[T any] struct {
	place   int
	texts   func() []string
	members []Member[T]
	bare    func(*Decoder, *T)
	open    bool
}

// A Member of an object reads its value into a T.
type Member[T any] struct {
	Name string
	Read func(*Decoder, *T)
}

// Field makes a Member.
func Field[T any](name string, read func(*Decoder, *T)) Member[T] { return Member[T]{name, read} }

// places numbers what a Decoder keeps something for.
var places atomic.Int32

func newPlace() int { return int(places.Add(1)) }

// NewObject makes an Object of its members, in the order in which they are mostly
// written.
func NewObject[T any](members ...Member[T]) *Object[T] {
	o := &Object[T]{place: newPlace(), members: members}
	o.texts = sync.OnceValue(func() []string { return quoted(o.Names()) })
	return o
}

// Or makes bare read what stands instead of an object, such as the name of an
// organization. Without it that is skipped, as null always is.
func (o *Object[T]) Or(bare func(*Decoder, *T)) *Object[T] {
	o.bare = bare
	return o
}

// Open lets the object have unknown members, which are not odd.
func (o *Object[T]) Open() *Object[T] {
	o.open = true
	return o
}

// Names are the names of the members.
func (o *Object[T]) Names() []string {
	var names []string
	for _, m := range o.members {
		names = append(names, m.Name)
	}
	return names
}

// shared has a func() []Member[T] for types T of which other packages read the members. Packages set it
// when the program starts.
var shared = map[reflect.Type]any{}

// Share lets packages that may not see the members of a T read one inside their own types.
func Share[T any](members func() []Member[T]) { shared[reflect.TypeFor[T]()] = members }

// Members returns those that [Share] was given.
func Members[T any]() []Member[T] { return shared[reflect.TypeFor[T]()].(func() []Member[T])() }

// Inside makes the members of a T those of a U that holds one.
func Inside[U, T any](members []Member[T], t func(*U) *T) []Member[U] {
	var inside []Member[U]
	for _, m := range members {
		inside = append(inside, Member[U]{m.Name, func(d *Decoder, u *U) { m.Read(d, t(u)) }})
	}
	return inside
}

// Read reads the members that are there.
func (o *Object[T]) Read(d *Decoder, v *T) {
	switch c := d.Kind(); {
	case c == '{':
	case c == 'n':
		d.Skip()
		return
	case o.bare == nil:
		d.SkipOdd()
		return
	default:
		o.bare(d, v)
		return
	}
	names, l := d.namesOf(o.place, o.texts), d.Lexer
	l.pos++
	for m := l.Member(names, End); m != End; m = l.Member(names, m) {
		switch {
		case m != Unknown:
			o.members[m].Read(d, v)
		case o.open:
			l.Skip()
		default:
			l.SkipOdd()
		}
	}
}

// ReadMember reads the value of member i.
func (o *Object[T]) ReadMember(i int, d *Decoder, v *T) { o.members[i].Read(d, v) }

// Item reads an element of a list of objects.
func (o *Object[T]) Item(d *Decoder, v *T) bool {
	c := d.Kind()
	fits := c == '{' || o.bare != nil && c != '[' && c != 'n'
	o.Read(d, v)
	return fits
}

func (d *Decoder) namesOf(place int, texts func() []string) *Names {
	if place < len(d.names) && d.names[place] != nil {
		return d.names[place]
	}
	return d.makeNames(place, texts)
}

func (d *Decoder) makeNames(place int, texts func() []string) *Names {
	for len(d.names) <= place {
		d.names = append(d.names, nil)
	}
	d.names[place] = newNames(texts())
	return d.names[place]
}

// Of is a member that is an object.
func Of[T, V any](name string, field func(*T) *V, o *Object[V]) Member[T] {
	return Member[T]{name, func(d *Decoder, v *T) {
		inner := field(v)
		*inner = *new(V)
		o.Read(d, inner)
	}}
}

// List makes a reader of lists of what item reads: null is an empty list, and any other
// value is its one element. item reads an element, or skips what cannot be one and
// returns false.
func List[S ~[]E, E any](item func(*Decoder, *E) bool) func(*Decoder) S {
	place := newPlace()
	return func(d *Decoder) S {
		one := d.Kind() != '['
		switch {
		case !one:
			d.pos++
		case d.Null():
			return nil
		case d.Match(`""`):
			return S{}
		}
		l := listsOf[E](d, place)
		for i := 0; one && i == 0 || !one && d.Element(i); i++ {
			e := l.Next()
			if e == nil {
				if e = grow(d, l); e == nil {
					break
				}
			}
			if !item(d, e) {
				l.Drop()
			}
		}
		return l.List()
	}
}

// Map makes a reader of an object whose names are data, such as country codes, into a
// list; nil for anything else.
func Map[S ~[]E, E any](item func(d *Decoder, name []byte, v *E)) func(*Decoder) S {
	place := newPlace()
	return func(d *Decoder) S {
		if d.Kind() != '{' {
			d.Skip()
			return nil
		}
		l := listsOf[E](d, place)
		d.pos++
		for i := 0; ; i++ {
			name, more := d.key(i)
			if !more {
				return l.List()
			}
			e := l.Next()
			if e == nil {
				e = grow(d, l)
			}
			if e != nil {
				item(d, name, e)
			}
		}
	}
}

// listsOf begins a list in the memory of its place. A list inside an element of such a
// list gets other memory.
func listsOf[E any](d *Decoder, place int) *Lists[E] {
	for len(d.lists) <= place {
		d.lists = append(d.lists, nil)
	}
	l, _ := d.lists[place].(*Lists[E])
	if l == nil || l.open {
		l = &Lists[E]{}
		d.lists[place] = l
	}
	l.Begin(d.turn)
	return l
}

// grow adds an element in a new block; nil beyond the budget.
func grow[E any](d *Decoder, l *Lists[E]) *E {
	if d.Spend(l.room() * l.size()); d.Err() != nil {
		return nil
	}
	l.Grow()
	return l.Next()
}
