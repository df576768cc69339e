package jsonlex

import (
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/internal/arena"
)

// A Decoder reads values of any kind in any place: the services have stored what
// many clients sent over many years, so a member may be of any type. What does not
// fit is left out, and nothing but broken JSON is an error.
//
// The memory of all it makes counts against the budget.
type Decoder struct {
	*Lexer
	stream *Lexer // with the memory for reading streams
	texts  arena.Texts
	names  []*Names          // by the place of an Object
	lists  []any             // *arena.Lists[E], by the place of a list
	latest []string          // by the place of a word
	words  map[string]string // of small vocabularies
}

var decoders = sync.Pool{New: func() any { return &Decoder{} }}

// Decode reads one value from a stream, which may make as much memory as is allowed.
// The error is the Decoder's, or that of read.
func Decode(src io.Reader, allowed int64, read func(*Decoder) error) error {
	d := decoders.Get().(*Decoder)
	defer decoders.Put(d)
	if d.stream == nil {
		d.stream = New(src)
	}
	d.stream.Reset(src)
	d.Lexer = d.stream
	d.Use(NewBudget(allowed))
	return d.run(read)
}

// Unmarshal reads one value from data, which must stay as they are meanwhile.
func Unmarshal(data []byte, read func(*Decoder) error) error {
	d := decoders.Get().(*Decoder)
	defer decoders.Put(d)
	d.Lexer = OfBytes(data)
	return d.run(read)
}

func (d *Decoder) run(read func(*Decoder) error) error {
	defer func() { d.Fail(io.EOF) }() // the input must not be kept
	if err := read(d); err != nil {
		return err
	}
	d.End()
	return d.Err()
}

// Scalar reads a text, and a number or boolean as it is written. Anything else is
// nothing. The bytes are valid until the next call.
func (d *Decoder) Scalar() []byte {
	switch d.Kind() {
	case '"':
		return d.Lexer.Text()
	case 'n', '{', '[':
		d.Skip()
		return nil
	case 't', 'f':
		return d.Bool()
	}
	return d.Number()
}

// Text reads a text, and a number or boolean as it is written; "" for anything
// else.
func (d *Decoder) Text() string {
	b := d.Scalar()
	d.Spend(len(b))
	return d.texts.Copy(b)
}

// Int reads a whole number, or a text that holds one; 0 for anything else. One
// that an int cannot hold is the nearest that it can.
func (d *Decoder) Int() int {
	n, ok := d.Count()
	if !ok {
		float := d.Float()
		if n = int64(float); float != float64(n) {
			return 0
		}
	}
	return int(min(max(n, math.MinInt), math.MaxInt))
}

// Float reads a number, or a text that holds one; 0 for anything else.
func (d *Decoder) Float() float64 {
	n, err := strconv.ParseFloat(string(d.Scalar()), 64)
	if err != nil {
		return 0
	}
	return n
}

// word reads a text of a small vocabulary, most likely the last one in its place.
func (d *Decoder) word(place int) string {
	for len(d.latest) <= place {
		d.latest = append(d.latest, "")
	}
	latest := &d.latest[place]
	if d.Kind() == '"' && d.matchText(*latest) {
		return *latest
	}
	b := d.Scalar()
	if known, ok := d.words[string(b)]; ok {
		*latest = known
		return known
	}
	d.Spend(len(b))
	text := d.texts.Copy(b)
	const most, longest = 512, 64
	if n, _ := plain(b); n < len(b) || n > longest || n == 0 || len(d.words) == most {
		return text
	}
	if d.words == nil {
		d.words = map[string]string{}
	}
	d.words[text], *latest = text, text
	return text
}

// Raw reads a value of any kind as it is written.
func (d *Decoder) Raw() []byte {
	d.Hold()
	d.Skip()
	return d.Keep()
}

// readList reads the elements of a list; null is an empty list, and any other value is
// its one element. item reads one, or skips what can be none and returns false.
func readList[E any](d *Decoder, place int, item func(*Decoder, *E) bool) []E {
	switch {
	case d.Kind() == 'n':
		d.Skip()
		return nil
	case d.Match(`""`):
		return []E{}
	}
	for len(d.lists) <= place {
		d.lists = append(d.lists, nil)
	}
	lists, _ := d.lists[place].(*arena.Lists[E])
	if lists == nil {
		lists = &arena.Lists[E]{Least: 16}
	}
	d.lists[place] = nil // there may be such a list inside an element
	lists.Begin()
	d.Each(func() {
		if cost := lists.Cost(); cost > 0 {
			if d.Spend(cost); d.Err() != nil {
				return
			}
		}
		if !item(d, lists.Next()) {
			lists.Drop()
		}
	})
	d.lists[place] = lists
	return lists.List()
}

// Each calls element for the elements of a list, or for what is no list.
func (d *Decoder) Each(element func()) {
	if d.Kind() != '[' {
		element()
		return
	}
	d.List()
	for i := 0; d.Element(i); i++ {
		element()
	}
}

// TextItem reads an element of a list of texts.
func TextItem(d *Decoder, v *string) bool {
	if strings.IndexByte(`{[n`, d.Kind()) >= 0 {
		d.Skip()
		return false
	}
	*v = d.Text()
	return true
}
