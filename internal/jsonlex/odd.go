package jsonlex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Odd has the places of what was read as something else than what is written: their offsets in the
// input, the first MaxOdd of each kind, and one more if there are more.
type Odd struct {
	Texts  []int64 // that are not UTF-8: they have U+FFFD
	Values []int64 // of another kind than the one asked for, and members of unknown names: they are left out
}

// MaxOdd bounds the time for finding their paths.
const MaxOdd = 10

// Odd is what was odd since Tolerate, or from the beginning.
func (l *Lexer) Odd() *Odd { return &l.odd }

// Tolerate makes the Lexer replace what is not UTF-8 in the texts that follow, and not fail.
func (l *Lexer) Tolerate(lenient bool) *Lexer {
	l.lenient = lenient
	l.odd = Odd{l.odd.Texts[:0], l.odd.Values[:0]}
	return l
}

// notUTF8 is called where a text is not UTF-8.
func (l *Lexer) notUTF8(at int64) {
	switch {
	case !l.lenient:
		l.Fail(&SyntaxError{at, "the text is not UTF-8", true})
	case len(l.odd.Texts) <= MaxOdd:
		l.odd.Texts = append(l.odd.Texts, at)
	}
}

// invalid is the first byte that is not UTF-8.
func invalid(b []byte) (at int) {
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return at
}

// SkipOdd is Skip for a value of another kind than the one asked for.
func (l *Lexer) SkipOdd() {
	l.Kind()
	l.oddValue(l.Offset())
	l.Skip()
}

func (l *Lexer) oddValue(at int64) {
	if len(l.odd.Values) <= MaxOdd {
		l.odd.Values = append(l.odd.Values, at)
	}
}

// Check returns the error of data that are no JSON text in UTF-8.
func Check(data []byte) error {
	l := OfBytes(data)
	l.Skip()
	l.End()
	return l.err
}

// At returns the path to the byte at an offset in a JSON text, such as titles[0].title, and the value
// there. A path of more than maxPath steps is cut.
func At(data []byte, offset int64) (path string, value []byte) {
	const maxPath = 8
	value = data
	for range maxPath {
		step, from, to := inside(value, offset)
		if step == "" {
			break
		}
		path, value, offset = path+step, value[from:to], offset-from
	}
	return strings.TrimPrefix(path, "."), value
}

// inside finds the part of an object or a list that an offset lies in, if it is not its begin.
func inside(data []byte, offset int64) (step string, from, to int64) {
	if offset <= 0 {
		return "", 0, 0
	}
	l := OfBytes(data).Tolerate(true)
	part := func(step string) (string, int64, int64) {
		l.Kind()
		from := l.Offset()
		if l.Skip(); l.Offset() <= offset {
			step = ""
		}
		return step, from, l.Offset()
	}
	switch l.Kind() {
	case '{':
		for name := range l.Members() {
			if step, from, to = part("." + string(name[:min(len(name), longestWord)])); step != "" {
				break
			}
		}
	case '[':
		l.List()
		for i := 0; step == "" && l.Element(i); i++ {
			step, from, to = part("[" + strconv.Itoa(i) + "]")
		}
	}
	return step, from, to
}
