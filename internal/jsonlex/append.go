package jsonlex

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// AppendCount appends a number that is small more often than not.
func AppendCount(b []byte, n int64) []byte {
	switch {
	case n < 0 || n >= 100:
		return strconv.AppendInt(b, n, 10)
	case n < 10:
		return append(b, '0'+byte(n))
	}
	return append(b, '0'+byte(n/10), '0'+byte(n%10))
}

// AppendText appends what stands between the quotes of a JSON text. Nearly all text
// is its own JSON. Of beyond, one of [Highs] is set if there are characters beyond
// ASCII, which have to be checked: they are appended as they are.
func AppendText(b []byte, s string) (_ []byte, beyond uint64) {
	special, all := inspect(s)
	if special&Highs != 0 {
		return appendEscaped(b, s), all
	}
	return append(b, s...), all
}

// inspect looks at a text eight bytes at a time. Of special, the highest bit of
// some byte is set if there are characters that JSON escapes; of all, if there are
// some beyond ASCII. The last step, and that of a short text, looks at some bytes
// twice.
func inspect(s string) (special, all uint64) {
	n := len(s)
	var last uint64
	switch {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			x := load64(s, i)
			special |= escapes(x)
			all |= x
		}
		last = load64(s, n-8)
	case n >= 4:
		last = load32(s, 0) | load32(s, n-4)<<32
	case n > 0:
		last = uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16 | blanks&^0xffffff
	default:
		return 0, 0
	}
	return special | escapes(last), all | last
}

// Plain counts the bytes of a text before the first one that is a quote, a backslash or a control character.
func Plain(s string) (n int) {
	for ; n+8 <= len(s); n += 8 {
		if stop := escapes(load64(s, n)) & Highs; stop != 0 {
			return n + bits.TrailingZeros64(stop)>>3
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

func load64(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load32(s string, i int) uint64 {
	s = s[i : i+4]
	return uint64(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

// Highs are the highest bits of eight bytes.
const Highs = ones << 7

const (
	ones   = 0x0101010101010101
	blanks = ones * ' '
)

// escapes sets the highest bit of some byte of its result if one of eight bytes
// is below 0x20, a quote or a backslash; the lowest such bit is that of the first of
// them. A byte from 0x80 on is none of these.
func escapes(x uint64) uint64 {
	control := x - ones*0x20
	quote := x ^ ones*'"'
	backslash := x ^ ones*'\\'
	return (control | (quote - ones) | (backslash - ones)) &^ x
}

func appendEscaped(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// AppendLower appends s with its ASCII letters lowered, which is how DOI names
// compare, eight bytes at a time.
func AppendLower(dst []byte, s string) []byte {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := load64(s, i)
		low := x &^ Highs
		fromA, afterZ := low+(Highs-ones*'A'), low+(Highs-ones*('Z'+1))
		upper := (fromA ^ afterZ) & Highs &^ x
		dst = binary.LittleEndian.AppendUint64(dst, x|upper>>2)
	}
	for ; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
