package jsonlex

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"sync"
)

// A Decoder reads values of any kind in any place: the services have stored what
// many clients sent over many years, so a member may be of any type. What does not
// fit is left out, and nothing but broken JSON is an error.
//
// The memory of all it makes counts against the budget.
type Decoder struct {
	*Lexer
	stream *Lexer // with the memory for reading streams
	texts  Texts
	names  []*Names    // by the place of an Object
	lists  []any       // *Lists[E], by the place of a list
	turn   int         // of Reuse
	later  func()      // of Later
	words  [512]string // of small vocabularies, by their hash
}

var decoders = sync.Pool{New: func() any { return &Decoder{} }}

// Decode reads one value from a stream, which may make as much memory as is allowed.
// The error is the Decoder's, or that of read.
func Decode(src io.Reader, allowed int64, read func(*Decoder) error) error {
	d := decoders.Get().(*Decoder)
	defer d.release()
	if d.stream == nil {
		d.stream = New(src)
	}
	d.stream.Reset(src)
	d.Lexer = d.stream
	d.Use(NewBudget(allowed))
	return d.run(read)
}

// Unmarshal replaces v with what read makes of data, which must stay as they are
// meanwhile.
func Unmarshal[T any](data []byte, v *T, read func(*Decoder, *T)) error {
	d := decoders.Get().(*Decoder)
	defer d.release()
	d.Lexer = OfBytes(data)
	*v = *new(T)
	return d.run(func(d *Decoder) error {
		read(d, v)
		return nil
	})
}

// release keeps the Decoder for others, unless its lists may keep a large part of what it
// made in memory.
func (d *Decoder) release() {
	if b := d.budget; b == nil || b.left > b.allowed/2 {
		decoders.Put(d)
	}
}

func (d *Decoder) run(read func(*Decoder) error) error {
	defer func() { d.Fail(io.EOF); d.later = nil }() // the input must not be kept
	if err := read(d); err != nil {
		return err
	}
	d.Settle()
	d.End()
	return d.Err()
}

// Later has Settle call do, in place of what it was given before: for a member whose meaning depends on members that
// may come after it.
func (d *Decoder) Later(do func()) { d.later = do }

// Settle ends the object that has a Later. Otherwise the end of the input does.
func (d *Decoder) Settle() {
	if do := d.later; do != nil {
		d.later = nil
		do()
	}
}

// Reuse gives the memory of all lists to those that are read from now on.
func (d *Decoder) Reuse() { d.turn++ }

// Scalar reads a text, and a number or boolean as it is written. Anything else is
// nothing. The bytes are valid until the next call.
func (d *Decoder) Scalar() []byte {
	switch d.Kind() {
	case '"':
		return d.Lexer.Text()
	case 'n':
		d.Skip()
		return nil
	case '{', '[':
		d.SkipOdd()
		return nil
	case 't', 'f':
		return d.Bool()
	}
	return d.Number()
}

// Text reads a text, and a number or boolean as it is written; "" for anything
// else.
func (d *Decoder) Text() string {
	if l := d.Lexer; l.pos < len(l.buf) && l.buf[l.pos] == '"' {
		return d.Copy(l.Text())
	}
	return d.Copy(d.Scalar())
}

// Copy makes a text of bytes that are valid for a short time only.
func (d *Decoder) Copy(b []byte) string {
	d.Spend(len(b))
	return d.texts.Copy(b)
}

// Int reads a whole number, or a text that holds one; 0 for anything else. One
// that an int cannot hold is the nearest that it can.
func (d *Decoder) Int() int {
	n, ok := d.Count()
	if !ok {
		at := d.Offset()
		text := d.Scalar()
		float, err := strconv.ParseFloat(string(text), 64)
		if n = int64(float); err != nil || float != float64(n) {
			d.oddText(text, at)
			return 0
		}
	}
	return int(min(max(n, math.MinInt), math.MaxInt))
}

// Word reads a text of a small vocabulary. Texts read before are found by a hash of their
// ends; of two with the same one, the later stays.
func (d *Decoder) Word() string {
	l := d.Lexer
	if b := l.buf[l.pos:]; len(b) > longestWord+1 && b[0] == '"' {
		b = b[1 : longestWord+2]
		if n := bytes.IndexByte(b, '"'); n > 0 {
			if known := *d.known(b[:n]); string(b[:n]) == known {
				l.pos += n + 2
				return known
			}
		}
	}
	b := d.Scalar()
	n, _ := plain(b)
	if len(b) == 0 || n > longestWord || n < len(b) { // as it is, or an escape might seem to be one
		return d.Copy(b)
	}
	known := d.known(b)
	if string(b) != *known {
		*known = d.Copy(b)
	}
	return *known
}

const longestWord = 64

// known is where the decoder keeps a word, none of which is like JSON of another text.
func (d *Decoder) known(word []byte) *string {
	var first, last uint64
	if n := len(word); n >= 8 {
		first, last = binary.LittleEndian.Uint64(word), binary.LittleEndian.Uint64(word[n-8:])
	} else {
		first, last = uint64(word[0])|uint64(word[n/2])<<8|uint64(word[n-1])<<16, uint64(n)
	}
	const odd = 0x9e3779b97f4a7c15
	return &d.words[((first+uint64(len(word)))*odd^last)*odd>>55]
}

// Truth reads true or false; anything else is false.
func (d *Decoder) Truth() bool {
	at := d.Offset()
	text := string(d.Scalar())
	if text != "true" && text != "false" {
		d.oddText([]byte(text), at)
	}
	return text == "true"
}

// oddText notes a text that was read, and not as what it should be.
func (d *Decoder) oddText(text []byte, at int64) {
	if len(text) > 0 {
		d.oddValue(at)
	}
}

// Raw reads a value of any kind as it is written.
func (d *Decoder) Raw() []byte {
	d.Hold()
	d.Skip()
	return d.Keep()
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
	switch d.Kind() {
	case '{', '[':
		d.SkipOdd()
		return false
	case 'n':
		d.Skip()
		return false
	}
	*v = d.Text()
	return true
}
