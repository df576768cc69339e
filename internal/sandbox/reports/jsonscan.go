package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// scanner reads a JSON text from a stream, value by value. It holds one string
// or number at a time, so a report of any length passes in constant memory,
// and it knows where in the stream it is.
type scanner struct {
	r        io.Reader
	buf      []byte
	pos, end int   // unread bytes are buf[pos:end]
	base     int64 // offset of buf[0] in the stream
	hold     int64 // offset from which bytes are kept, or -1
}

var errEncoding = errors.New("invalid UTF-8")

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, 64<<10), hold: -1}
}

func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// since returns the bytes from an offset that is held.
func (s *scanner) since(start int64) []byte { return s.buf[start-s.base : s.pos] }

// fill reads more, moving what is held or unread to the front.
func (s *scanner) fill() error {
	keep := s.pos
	if s.hold >= 0 {
		keep = int(s.hold - s.base)
	}
	if keep == 0 && s.end == len(s.buf) {
		if len(s.buf) >= wire.MaxHeld {
			return wire.ErrTooMuch
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	copy(s.buf, s.buf[keep:s.end])
	s.base, s.pos, s.end = s.base+int64(keep), s.pos-keep, s.end-keep
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// peek returns the next byte that is not white space, without taking it.
func (s *scanner) peek() (byte, error) {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// take takes the next byte if it is c.
func (s *scanner) take(c byte) (bool, error) {
	next, err := s.peek()
	if err == nil && next == c {
		s.pos++
		return true, nil
	}
	return false, err
}

func (s *scanner) expect(c byte) error {
	ok, err := s.take(c)
	if err == nil && !ok {
		return s.unexpected(strconv.QuoteRune(rune(c)))
	}
	return err
}

// open takes the first byte of a value of the wanted kind.
func (s *scanner) open(c byte, wanted string) error {
	ok, err := s.take(c)
	if err == nil && !ok {
		return s.unexpected(wanted)
	}
	return err
}

func (s *scanner) unexpected(wanted string) error {
	return fmt.Errorf("%s expected at byte %d, not %q", wanted, s.offset(), s.buf[s.pos])
}

// close makes sure that nothing follows.
func (s *scanner) close() error {
	_, err := s.peek()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil
	case err != nil:
		return err
	}
	return s.unexpected("the end")
}

// text takes a string and returns what is between its quotes. The bytes are
// good until the next call.
func (s *scanner) text() ([]byte, error) {
	if err := s.open('"', "a string"); err != nil {
		return nil, err
	}
	start, held := s.offset(), s.hold
	if held < 0 {
		s.hold = start
	}
	escaped, err := s.skipText()
	raw := []byte(nil)
	if err == nil {
		raw = s.since(start)
		s.pos++ // the closing quote
	}
	s.hold = held
	switch {
	case err != nil:
		return nil, err
	case !utf8.Valid(raw):
		return nil, fmt.Errorf("%w in the string at byte %d", errEncoding, start)
	case !escaped:
		return raw, nil
	}
	var plain string
	if err := json.Unmarshal(fmt.Appendf(nil, `"%s"`, raw), &plain); err != nil {
		return nil, fmt.Errorf("string at byte %d: %w", start, err)
	}
	return []byte(plain), nil
}

// skipText moves to the closing quote.
func (s *scanner) skipText() (escaped bool, err error) {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; {
			case c == '"':
				return escaped, nil
			case c < ' ':
				return false, fmt.Errorf("control character in a string at byte %d", s.offset())
			case c == '\\':
				escaped = true
				if s.pos+1 == s.end {
					if err := s.fill(); err != nil {
						return false, err
					}
				}
				s.pos++
			}
		}
		if err := s.fill(); err != nil {
			return false, err
		}
	}
}

// word takes a number or one of true, false and null.
func (s *scanner) word() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	start, held := s.offset(), s.hold
	if held < 0 {
		s.hold = start
	}
	defer func() { s.hold = held }()
	for {
		for ; s.pos < s.end; s.pos++ {
			c := s.buf[s.pos]
			if c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				return s.checkWord(start)
			}
		}
		if err := s.fill(); errors.Is(err, io.ErrUnexpectedEOF) {
			return s.checkWord(start)
		} else if err != nil {
			return nil, err
		}
	}
}

func (s *scanner) checkWord(start int64) ([]byte, error) {
	word := s.since(start)
	if !json.Valid(word) {
		return nil, fmt.Errorf("a value expected at byte %d, not %q", start, word[:min(len(word), 20)])
	}
	return word, nil
}

// object takes an object. member is called with each name, whose bytes are good
// during the call only, and returns what takes the value.
func (s *scanner) object(member func(name []byte) (rule, error)) error {
	if err := s.open('{', "an object"); err != nil {
		return err
	}
	if done, err := s.take('}'); done || err != nil {
		return err
	}
	for {
		name, err := s.text()
		if err != nil {
			return err
		}
		value, err := member(name)
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := value(s); err != nil {
			return err
		}
		if more, err := s.take(','); err != nil {
			return err
		} else if !more {
			return s.expect('}')
		}
	}
}

// array takes an array; element is called before each element and takes it.
func (s *scanner) array(element func(i int) error) error {
	if err := s.open('[', "an array"); err != nil {
		return err
	}
	if done, err := s.take(']'); done || err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return err
		}
		if more, err := s.take(','); err != nil {
			return err
		} else if !more {
			return s.expect(']')
		}
	}
}

// raw takes a value with the rule and returns its bytes, of so many pieces at most.
func (s *scanner) raw(value rule, limit int) ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	start := s.offset()
	s.hold = start
	defer func() { s.hold = -1 }()
	if err := value(s); err != nil {
		return nil, err
	}
	if wire.Pieces(s.since(start)) > limit {
		return nil, wire.ErrTooMuch
	}
	return bytes.Clone(s.since(start)), nil
}

// nested takes a value of any kind, at most depth levels deep.
func (s *scanner) nested(depth int) error {
	c, err := s.peek()
	switch {
	case err != nil:
		return err
	case depth == 0:
		return fmt.Errorf("values nested too deep at byte %d", s.offset())
	case c == '{':
		inside := func(s *scanner) error { return s.nested(depth - 1) }
		return s.object(func([]byte) (rule, error) { return inside, nil })
	case c == '[':
		return s.array(func(int) error { return s.nested(depth - 1) })
	case c == '"':
		_, err = s.text()
	default:
		_, err = s.word()
	}
	return err
}
