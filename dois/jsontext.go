package dois

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// A jsonText is JSON that is read by what is there rather than by what should
// be: the service has been seen to send any type in any place. It checks the
// syntax as it goes, once for all that it steps over.
type jsonText struct {
	data []byte
	pos  int
	err  error // the first fault; whatever is read after it is empty
}

var (
	errShort  = errors.New("the text ends too early")
	errSyntax = errors.New("the text is not JSON")
)

// fail keeps the first fault and moves to the end.
func (t *jsonText) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.pos = len(t.data)
}

// peek returns the first byte of what comes next, 0 at the end.
func (t *jsonText) peek() byte {
	for t.pos < len(t.data) {
		switch c := t.data[t.pos]; c {
		case ' ', '\t', '\n', '\r':
			t.pos++
		default:
			return c
		}
	}
	return 0
}

// accept steps over c if it comes next.
func (t *jsonText) accept(c byte) bool {
	if t.pos < len(t.data) && t.data[t.pos] == c || t.peek() == c { // there are seldom blanks
		t.pos++
		return true
	}
	return false
}

// expect steps over c, which has to come next.
func (t *jsonText) expect(c byte) {
	switch {
	case t.accept(c):
	case t.pos == len(t.data):
		t.fail(errShort)
	default:
		t.fail(errSyntax)
	}
}

// value steps over one value and returns its text.
func (t *jsonText) value() []byte {
	t.peek()
	start := t.pos
	t.skip(0)
	if t.err != nil {
		return nil
	}
	return t.data[start:t.pos:t.pos]
}

// object calls member for each member; it has to step over the value. The name
// is not to be kept.
func (t *jsonText) object(member func(name []byte)) {
	t.expect('{')
	if t.accept('}') {
		return
	}
	for t.err == nil {
		t.peek()
		name := t.name()
		t.expect(':')
		if t.err != nil {
			return
		}
		member(name)
		if !t.accept(',') {
			t.expect('}')
			return
		}
	}
}

// array calls item for each item; it has to step over the value.
func (t *jsonText) array(item func()) {
	t.expect('[')
	if t.accept(']') {
		return
	}
	for t.err == nil {
		item()
		if !t.accept(',') {
			t.expect(']')
			return
		}
	}
}

func (t *jsonText) name() []byte {
	start := t.pos
	t.skipString()
	if t.err != nil {
		return nil
	}
	name := t.data[start+1 : t.pos-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		return []byte(unquote(t.data[start:t.pos]))
	}
	return name
}

func unquote(raw []byte) string {
	plain := string(raw[1 : len(raw)-1])
	if strings.IndexByte(plain, '\\') >= 0 || !utf8.ValidString(plain) {
		_ = json.Unmarshal(raw, &plain) // the syntax has been seen to be right
	}
	return plain
}

// skip steps over one value.
func (t *jsonText) skip(depth int) {
	const deepest = 10_000
	switch c := t.peek(); {
	case c == '"':
		t.skipString()
	case (c == '{' || c == '[') && depth == deepest:
		t.fail(errSyntax)
	case c == '{':
		t.object(func([]byte) { t.skip(depth + 1) })
	case c == '[':
		t.array(func() { t.skip(depth + 1) })
	case c == 't':
		t.skipWord("true")
	case c == 'f':
		t.skipWord("false")
	case c == 'n':
		t.skipWord("null")
	default:
		t.skipNumber()
	}
}

func (t *jsonText) skipWord(word string) {
	for i := range len(word) {
		switch {
		case t.pos == len(t.data):
			t.fail(errShort)
			return
		case t.data[t.pos] != word[i]:
			t.fail(errSyntax)
			return
		}
		t.pos++
	}
}

func (t *jsonText) skipNumber() {
	start := t.pos
	for t.pos < len(t.data) && strings.IndexByte("+-.eE0123456789", t.data[t.pos]) >= 0 {
		t.pos++
	}
	switch {
	case t.pos == len(t.data): // more digits may follow
		if !json.Valid(t.data[start:t.pos]) {
			t.fail(errShort)
		}
	case !json.Valid(t.data[start:t.pos]):
		t.fail(errSyntax)
	}
}

func (t *jsonText) skipString() {
	if t.pos == len(t.data) {
		t.fail(errShort)
		return
	}
	if t.data[t.pos] != '"' {
		t.fail(errSyntax)
		return
	}
	for i := t.pos + 1; ; i++ {
		if i += plain(t.data[i:]); i >= len(t.data) {
			t.fail(errShort)
			return
		}
		switch c := t.data[i]; {
		case c == '"':
			t.pos = i + 1
			return
		case c < ' ':
			t.fail(errSyntax)
			return
		case c == '\\':
			if i++; i == len(t.data) {
				t.fail(errShort)
				return
			}
			if !t.escape(i) {
				t.fail(errSyntax)
				return
			}
		}
	}
}

// plain returns how many bytes in front may stand in a string as they are. It
// looks at eight at a time, since texts are most of what a record is made of.
func plain(data []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(data); i += 8 {
		eight := binary.LittleEndian.Uint64(data[i:])
		quote, slash := eight^('"'*ones), eight^('\\'*ones)
		// Each term has the high bit of a byte set that is a quote, a backslash or
		// below a blank; bytes above ASCII drop out at the end.
		special := (quote-ones)&^quote | (slash-ones)&^slash | (eight-' '*ones)&^eight
		if special &= high; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\'; i++ {
	}
	return i
}

// escape checks what stands after a backslash, as far as it is there.
func (t *jsonText) escape(at int) bool {
	if t.data[at] != 'u' {
		return strings.IndexByte(`"\/bfnrt`, t.data[at]) >= 0
	}
	for i := at + 1; i < min(at+5, len(t.data)); i++ {
		if strings.IndexByte("0123456789abcdefABCDEF", t.data[i]) < 0 {
			return false
		}
	}
	return true
}
