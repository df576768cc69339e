package jsonlex

import "strings"

// Number reads a number, as it is written. The bytes are valid until the next
// call.
func (l *Lexer) Number() []byte {
	switch c := l.Kind(); {
	case c != '-' && (c < '0' || c > '9'):
		l.unexpected("a value")
		return nil
	}
	n := 0
	for {
		b := l.buf[l.pos:]
		for n < len(b) && numeric(b[n]) {
			n++
		}
		if n < len(b) || !l.fill() {
			break
		}
	}
	if l.err != nil {
		return nil
	}
	text := l.buf[l.pos : l.pos+n]
	if !isNumber(text) {
		l.Failf("%.40q is not a number", text)
		return nil
	}
	l.pos += n
	return text
}

// Count reads a number that is plain digits, few enough for an int64, if that is
// what comes next. Otherwise it reads nothing.
func (l *Lexer) Count() (value int64, ok bool) {
	const most = 18
	l.Kind()
	b := l.buf[l.pos:]
	n := 0
	for n < len(b) && n <= most {
		digit := b[n] - '0'
		if digit > 9 {
			break
		}
		value = value*10 + int64(digit)
		n++
	}
	if n == 0 || n > most || n == len(b) || b[0] == '0' && n > 1 || numeric(b[n]) {
		return 0, false
	}
	l.pos += n
	return value, true
}

// numeric tells whether c can be part of a number.
func numeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// isNumber checks the syntax of RFC 8259, section 6.
func isNumber(b []byte) bool {
	b, _ = after(b, "-")
	whole := digits(b)
	if whole == 0 || whole > 1 && b[0] == '0' {
		return false
	}
	b, ok := after(b[whole:], ".")
	if ok {
		n := digits(b)
		if n == 0 {
			return false
		}
		b = b[n:]
	}
	if b, ok = after(b, "eE"); ok {
		b, _ = after(b, "+-")
		return digits(b) > 0 && digits(b) == len(b)
	}
	return len(b) == 0
}

// after is b behind its first byte, if that is one of some.
func after(b []byte, some string) ([]byte, bool) {
	if len(b) == 0 || strings.IndexByte(some, b[0]) < 0 {
		return b, false
	}
	return b[1:], true
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}
