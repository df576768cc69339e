package jsonlex

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"slices"
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
	n, err := base64.StdEncoding.Decode(d.data[:cap(d.data)], digits)
	d.rest = d.data[:n]
	d.ended = n < len(digits)/4*3
	d.size += int64(n)
	d.hash.Write(d.rest)
	return err
}

func (d *Base64) end() error {
	switch {
	case d.lex.Err() != nil:
		return d.lex.Err()
	case len(d.quad) > 0:
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// Drain reads what follows the content that was of interest, since it belongs to
// the checksum.
func (d *Base64) Drain() error {
	_, err := io.Copy(io.Discard, struct{ io.Reader }{d})
	return err
}

// Size is how many bytes have been decoded.
func (d *Base64) Size() int64 { return d.size }

// Checksum is the SHA-256 of what has been decoded, in hexadecimal digits.
func (d *Base64) Checksum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// Base64Size reads a text in base64 and returns how many bytes it stands for, without
// decoding it; 0 for anything but a text.
func (l *Lexer) Base64Size() int64 {
	if l.Kind() != '"' {
		l.Skip()
		return 0
	}
	var digits, padding int64
	l.OpenText()
	for piece := l.Piece(); piece != nil; piece = l.Piece() {
		digits += int64(len(piece))
		for _, c := range slices.Backward(piece) {
			if c != '=' {
				break
			}
			padding++
		}
	}
	return (digits - padding) * 3 / 4
}
