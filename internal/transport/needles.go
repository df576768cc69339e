package transport

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A needle is a text to look for. Its first bytes are enough: who repeats a secret may cut
// it off, and so do messages.
type needle struct {
	text       []byte
	enough     int // how many bytes are
	head, tail int // characters of base64 before and after it that stand for a part of it and of something else
}

// cutOff is how many of its first bytes a secret is found by where it does not go on.
const cutOff = 16

func newNeedle(text []byte) needle { return needle{text: text, enough: min(len(text), cutOff)} }

// A search looks for needles in one pass, however many they are.
type search struct {
	needles []needle
	by      map[uint32][]needle // the last ones of the bytes that are enough
	some    [1 << 16]bool       // whether there is any of this hash: most of a text is passed over
}

// window is how many bytes a needle is found by. A shorter one would be found everywhere.
const window = 4

func (s *search) add(needles []needle) {
	if s.by == nil {
		s.by = map[uint32][]needle{}
	}
	for _, n := range needles {
		if len(n.text) < window {
			continue
		}
		key := lastBytes(n.text[:n.enough])
		if slices.ContainsFunc(s.by[key], n.same) {
			continue
		}
		s.needles, s.by[key], s.some[hash(key)] = append(s.needles, n), append(s.by[key], n), true
	}
}

func (n needle) same(other needle) bool {
	return bytes.Equal(n.text, other.text) && n.enough == other.enough && n.head == other.head && n.tail == other.tail
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
		for _, n := range s.by[key] {
			if bytes.HasSuffix(text[:end], n.text[:n.enough]) {
				found = merged(found, n.whole(text, end-n.enough))
			}
		}
	}
	return found
}

// merged adds a span to others in their order.
func merged(all []span, next span) []span {
	for n := len(all); n > 0 && all[n-1].end > next.start; n-- {
		next = span{min(all[n-1].start, next.start), max(all[n-1].end, next.end)}
		all = all[:n-1]
	}
	return append(all, next)
}

// whole is how much of a text is the needle that begins there.
func (n needle) whole(text []byte, start int) span {
	end := start + n.enough
	for end < len(text) && end-start < len(n.text) && text[end] == n.text[end-start] {
		end++
	}
	if start >= n.head && isBase64(text[start-n.head:start]) {
		start -= n.head
	}
	if end+n.tail <= len(text) && isBase64(text[end:end+n.tail]) {
		end += n.tail
	}
	return span{start, end}
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
