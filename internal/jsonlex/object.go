package jsonlex

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// An Object says what the members of a JSON object are in a T.
type Object[T any] struct {
	place   int
	texts   []string
	members []Member[T]
	// Bare reads what stands instead of an object, such as the name of an
	// organization; nil if nothing can.
	Bare func(*Decoder, *T)
}

// A Member of an object reads its value into a T.
type Member[T any] struct {
	Name string
	Read func(*Decoder, *T)
}

// places numbers what a Decoder keeps something for.
var places atomic.Int32

func newPlace() int { return int(places.Add(1)) }

// NewObject makes an Object of its members, in the order in which they are mostly
// written.
func NewObject[T any](members ...Member[T]) *Object[T] {
	o := &Object[T]{place: newPlace(), members: members}
	o.texts = quoted(o.Names())
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

// Members are the object's members as those of an object that holds a T.
func Members[U, T any](o *Object[T], inside func(*U) *T) []Member[U] {
	var members []Member[U]
	for _, m := range o.members {
		members = append(members, Member[U]{m.Name, func(d *Decoder, u *U) { m.Read(d, inside(u)) }})
	}
	return members
}

// Read reads the members that are there.
func (o *Object[T]) Read(d *Decoder, v *T) {
	switch {
	case d.Kind() == '{':
	case o.Bare != nil && d.Kind() != '[' && d.Kind() != 'n':
		o.Bare(d, v)
		return
	default:
		d.Skip()
		return
	}
	names := d.namesOf(o.place, o.texts)
	for m := d.Lexer.Object(names); m != End; m = d.Member(names, m) {
		if m == Unknown {
			d.Skip()
			continue
		}
		o.members[m].Read(d, v)
	}
}

// Item reads an element of a list of objects.
func (o *Object[T]) Item(d *Decoder, v *T) bool {
	c := d.Kind()
	fits := c == '{' || o.Bare != nil && c != '[' && c != 'n'
	o.Read(d, v)
	return fits
}

func (d *Decoder) namesOf(place int, texts []string) *Names {
	for len(d.names) <= place {
		d.names = append(d.names, nil)
	}
	if d.names[place] == nil {
		d.names[place] = newNames(texts)
		d.names[place].exact = true
	}
	return d.names[place]
}

// Text is a member that is a text.
func Text[T any, S ~string](name string, field func(*T) *S) Member[T] {
	return Member[T]{name, func(d *Decoder, v *T) { *field(v) = S(d.Text()) }}
}

// Word is a member that is a text of a small vocabulary.
func Word[T any, S ~string](name string, field func(*T) *S) Member[T] {
	place := newPlace()
	return Member[T]{name, func(d *Decoder, v *T) { *field(v) = S(d.word(place)) }}
}

// Int is a member that is a whole number, or a text that holds one.
func Int[T any](name string, field func(*T) *int) Member[T] {
	return Member[T]{name, func(d *Decoder, v *T) { *field(v) = d.Int() }}
}

// Bool is a member that is true or false.
func Bool[T any](name string, field func(*T) *bool) Member[T] {
	return Member[T]{name, func(d *Decoder, v *T) { *field(v) = string(d.Scalar()) == "true" }}
}

// Ignored is a member that is expected and not wanted.
func Ignored[T any](name string) Member[T] {
	return Member[T]{name, func(d *Decoder, _ *T) { d.Skip() }}
}

// Of is a member that is an object.
func Of[T, V any](name string, field func(*T) *V, o *Object[V]) Member[T] {
	return Member[T]{name, func(d *Decoder, v *T) {
		inner := field(v)
		*inner = *new(V)
		o.Read(d, inner)
	}}
}

// List is a member that is a list.
func List[T any, S ~[]E, E any](name string, field func(*T) *S, item func(*Decoder, *E) bool) Member[T] {
	read := ListReader[S](item)
	return Member[T]{name, func(d *Decoder, v *T) { read(d, field(v)) }}
}

// ListReader reads a list of what item reads.
func ListReader[S ~[]E, E any](item func(*Decoder, *E) bool) func(*Decoder, *S) {
	place := newPlace()
	return func(d *Decoder, v *S) { *v = readList(d, place, item) }
}

var shared sync.Map // reflect.Type of T to *Object[T]

// Share makes the object known to other packages, which could not name it otherwise
// without its package showing it to everybody.
func Share[T any](o *Object[T]) { shared.Store(reflect.TypeFor[T](), o) }

// Shared is the object of T that another package shares.
func Shared[T any]() *Object[T] {
	o, _ := shared.Load(reflect.TypeFor[T]())
	return o.(*Object[T])
}
