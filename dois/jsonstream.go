package dois

import (
	"bytes"
	"io"
)

// A jsonStream is a jsonText that is still arriving. It holds no more of it than
// the value being read.
type jsonStream struct {
	body  io.Reader // nil if all is there
	text  jsonText
	ended bool
}

// more reads on; what stands before the position is given up.
func (s *jsonStream) more() error {
	if s.body == nil || s.ended {
		return io.ErrUnexpectedEOF
	}
	const piece = 64 << 10
	rest := s.text.data[s.text.pos:]
	buf := s.text.data[:cap(s.text.data)]
	if 2*len(rest) >= len(buf) {
		buf = make([]byte, max(2*len(buf), piece))
	}
	n := copy(buf, rest)
	for {
		read, err := s.body.Read(buf[n:])
		s.text.data, s.text.pos = buf[:n+read], 0
		switch {
		case err == io.EOF:
			s.ended = true
			return nil
		case err != nil:
			return err
		case read > 0:
			return nil
		}
	}
}

// next is the first byte of what comes next, 0 at the end.
func (s *jsonStream) next() (byte, error) {
	for {
		c := s.text.peek()
		switch more := s.text.pos < len(s.text.data); {
		case more && c == 0:
			return 0, errSyntax
		case more, s.ended, s.body == nil:
			return c, nil
		}
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

// expect steps over c, which has to come next.
func (s *jsonStream) expect(c byte) error {
	found, err := s.next()
	switch {
	case err != nil:
		return err
	case found == 0:
		return io.ErrUnexpectedEOF
	case found != c:
		return errSyntax
	}
	s.text.pos++
	return nil
}

// value is the next value; its text holds until the stream is read on.
func (s *jsonStream) value() ([]byte, error) {
	first, err := s.next()
	if err != nil {
		return nil, err
	}
	for {
		t := s.text
		raw := t.value()
		all := s.ended || s.body == nil
		if t.err == nil && (t.pos < len(t.data) || all || !digit(raw[len(raw)-1])) {
			s.text = t
			return raw, nil
		}
		if t.err == errSyntax {
			return nil, t.err
		}
		if err := s.further(closers[first]); err != nil {
			return nil, err
		}
	}
}

// closers are the bytes that end a value, by the one that begins it.
var closers = map[byte]byte{'{': '}', '[': ']', '"': '"'}

// further reads on until the value at the position may be whole: until closer has
// come, if it is known. A long value has to grow by a part of itself each time,
// so that reading it anew does not take the square of its length.
func (s *jsonStream) further(closer byte) error {
	const long = 1 << 20
	size := len(s.text.data) - s.text.pos
	wanted := size + 1
	if size > long {
		wanted += size / 8
	}
	whole := closer == 0
	for before := size; ; before = len(s.text.data) {
		if err := s.more(); err != nil {
			return err
		}
		whole = whole || bytes.IndexByte(s.text.data[before:], closer) >= 0
		if s.ended || whole && len(s.text.data) >= wanted {
			return nil
		}
	}
}

// digit reports whether c may be the last byte of a number, which only what
// follows can end.
func digit(c byte) bool { return c >= '0' && c <= '9' }

// object calls member for each member; it has to step over the value.
func (s *jsonStream) object(member func(name string) error) error {
	return s.each('{', '}', func() error {
		raw, err := s.value()
		if err != nil {
			return err
		}
		if raw[0] != '"' {
			return errSyntax
		}
		name := unquote(raw)
		if err := s.expect(':'); err != nil {
			return err
		}
		return member(name)
	})
}

// array calls item for each item; it has to step over the value.
func (s *jsonStream) array(item func() error) error { return s.each('[', ']', item) }

func (s *jsonStream) each(open, shut byte, entry func() error) error {
	if err := s.expect(open); err != nil {
		return err
	}
	c, err := s.next()
	if err != nil {
		return err
	}
	if c == shut {
		s.text.pos++
		return nil
	}
	for {
		if err := entry(); err != nil {
			return err
		}
		c, err := s.next()
		if err != nil {
			return err
		}
		if c != ',' {
			return s.expect(shut)
		}
		s.text.pos++
	}
}
