package jsonlex

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
)

// A Base64 decodes the base64 text that comes next in a lexer, piece by piece, and
// hashes what it decodes.
type Base64 struct {
	lex   *Lexer
	piece []byte // rest of the piece read last
	quad  []byte // up to three digits that belong with the next ones
	data  []byte // decoded
	rest  []byte // of data
	hash  hash.Hash
	size  int64
	ended bool // by padding
	whole bool // all of the text has been read
	err   error
}

// Base64 begins to decode the text that comes next.
func (l *Lexer) Base64() *Base64 {
	l.OpenText()
	return &Base64{lex: l, hash: sha256.New()}
}

// Read returns io.EOF at the end of the text. An error of the lexer comes through.
func (d *Base64) Read(buf []byte) (int, error) {
	for len(d.rest) == 0 && d.err == nil {
		d.err = d.decode()
	}
	n := copy(buf, d.rest)
	d.rest = d.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// decode decodes as much as there is of the present piece, or the first four
// digits of it if digits were left over.
func (d *Base64) decode() error {
	if len(d.piece) == 0 {
		if d.piece = d.lex.Piece(); d.piece == nil {
			return d.end()
		}
		d.piece = bytes.TrimLeft(d.piece, "\r\n") // escapes, which some encoders write after each line
	}
	digits := d.piece[:len(d.piece)&^3]
	if len(d.quad) > 0 || len(digits) == 0 {
		n := min(4-len(d.quad), len(d.piece))
		d.quad = append(d.quad, d.piece[:n]...)
		d.piece = d.piece[n:]
		if len(d.quad) < 4 {
			return nil
		}
		digits, d.quad = d.quad, d.quad[:0]
	} else {
		d.piece = d.piece[len(digits):]
	}
	if d.ended {
		return base64.CorruptInputError(d.size / 3 * 4)
	}
	if cap(d.data) < len(digits) {
		d.data = make([]byte, len(digits))
	}
	n, err := decodeBase64(d.data[:cap(d.data)], digits)
	d.rest = d.data[:n]
	d.ended = n < len(digits)/4*3
	d.size += int64(n)
	d.hash.Write(d.rest)
	return err
}

func (d *Base64) end() error {
	d.whole = true
	switch {
	case d.lex.Err() != nil:
		return d.lex.Err()
	case len(d.quad) > 0:
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// Drain reads the rest of the text, since all of it belongs to the checksum. After
// an error that is not the lexer's, the lexer is behind the text, too.
func (d *Base64) Drain() error {
	for d.err == nil {
		d.err = d.decode()
	}
	for !d.whole {
		d.whole = d.lex.Piece() == nil
	}
	switch {
	case d.lex.Err() != nil:
		return d.lex.Err()
	case d.err != io.EOF:
		return d.err
	}
	return nil
}

// Size is how many bytes have been decoded.
func (d *Base64) Size() int64 { return d.size }

// Checksum is the SHA-256 of what has been decoded, in hexadecimal digits.
func (d *Base64) Checksum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// Base64 reads a text in base64; nil for anything else.
func (d *Decoder) Base64() []byte {
	l := d.Lexer
	if d.Kind() == '"' {
		b := l.buf[l.pos:]
		n := max(bytes.IndexByte(b[1:], '"'), 0)
		data := unpack(b[1 : n+1])
		// Digits alone are neither escapes nor control characters, for which Scalar looks.
		if data != nil && base64.StdEncoding.EncodedLen(len(data)) == n {
			d.Spend(n)
			l.pos += n + 2
			return data
		}
	}
	text := d.Scalar()
	d.Spend(len(text))
	return unpack(text)
}

// unpack returns nil for what is not base64, or empty.
func unpack(text []byte) []byte {
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := decodeBase64(data, text)
	if err != nil || n == 0 {
		return nil
	}
	return data[:n]
}

// places64 are the values of the digits in each of the four places of a group.
var places64 = func() (t [4][256]uint32) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range t {
		for c := range t[i] {
			t[i][c] = none64
		}
		for value := range len(digits) {
			t[i][digits[value]] = uint32(value) << (18 - 6*i)
		}
	}
	return t
}()

const none64 = 1 << 31 // no digit

// decodeBase64 does what base64.StdEncoding.Decode does, in half the time.
func decodeBase64(dst, src []byte) (int, error) {
	t, to, from := &places64, dst, src
	for len(from) >= 8 && len(to) >= 8 {
		x := t[0][from[0]] | t[1][from[1]] | t[2][from[2]] | t[3][from[3]]
		y := t[0][from[4]] | t[1][from[5]] | t[2][from[6]] | t[3][from[7]]
		if (x|y)&none64 != 0 {
			break
		}
		binary.BigEndian.PutUint64(to, uint64(x)<<40|uint64(y)<<16)
		from, to = from[8:], to[6:]
	}
	n, err := base64.StdEncoding.Decode(to, from)
	if at, ok := err.(base64.CorruptInputError); ok {
		err = at + base64.CorruptInputError(len(src)-len(from))
	}
	return len(dst) - len(to) + n, err
}
