package transport

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A needle is a text to look for, with so many bytes of base64 before and after it that
// stand for a part of it and of something else.
type needle struct {
	text       []byte
	head, tail int
}

// A search looks for needles in one pass, however many they are.
type search struct {
	needles []needle
	ends    map[uint32][]needle // by their last bytes: the first ones of tokens are all alike
	some    [1 << 16]bool       // whether any has last bytes of this hash: most of a text is passed over
}

// window is how many of its last bytes a needle is found by. A shorter text would be
// found everywhere.
const window = 4

func (s *search) add(needles []needle) {
	if s.ends == nil {
		s.ends = map[uint32][]needle{}
	}
	for _, n := range needles {
		if len(n.text) < window || s.has(n) {
			continue
		}
		key := lastBytes(n.text)
		s.needles, s.ends[key], s.some[hash(key)] = append(s.needles, n), append(s.ends[key], n), true
	}
}

func (s *search) has(n needle) bool {
	return slices.ContainsFunc(s.ends[lastBytes(n.text)], func(other needle) bool {
		return bytes.Equal(other.text, n.text) && other.head == n.head && other.tail == n.tail
	})
}

func lastBytes(text []byte) uint32 { return binary.LittleEndian.Uint32(text[len(text)-window:]) }

func hash(key uint32) uint16 { return uint16(key * 0x9E3779B1 >> 16) }

// in finds all needles in a text. Of those that overlap it makes one.
func (s *search) in(text []byte) (found []span) {
	for end := window; end <= len(text); end++ {
		key := lastBytes(text[:end])
		if !s.some[hash(key)] {
			continue
		}
		for _, n := range s.ends[key] {
			if bytes.HasSuffix(text[:end], n.text) {
				found = merged(found, n.widened(text, span{end - len(n.text), end}))
			}
		}
	}
	return found
}

// merged adds a span that ends behind the others.
func merged(all []span, next span) []span {
	for n := len(all); n > 0 && all[n-1].end > next.start; n-- {
		next = span{min(all[n-1].start, next.start), max(all[n-1].end, next.end)}
		all = all[:n-1]
	}
	return append(all, next)
}

func (n needle) widened(text []byte, s span) span {
	if s.start >= n.head && isBase64(text[s.start-n.head:s.start]) {
		s.start -= n.head
	}
	if s.end+n.tail <= len(text) && isBase64(text[s.end:s.end+n.tail]) {
		s.end += n.tail
	}
	return s
}

// isBase64 reports whether all characters are those of base64 in plain text, which has
// small letters and blanks for plus signs.
func isBase64(text []byte) bool {
	for _, b := range text {
		if !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == ' ' || b == '/' || b == '-' || b == '_') {
			return false
		}
	}
	return true
}

// beginning is how much of a needle a text ends with, if that is not a common word.
func (s *search) beginning(text []byte) (most int) {
	if len(text) < shortestSecret {
		return 0
	}
	end := text[len(text)-shortestSecret:]
	for _, n := range s.needles {
		for size := len(n.text) - 1; size >= shortestSecret; size-- {
			at := bytes.LastIndex(n.text[:size], end)
			if size = at + shortestSecret; at >= 0 && bytes.HasSuffix(text, n.text[:size]) {
				most = max(most, size)
				break
			}
		}
	}
	return most
}
