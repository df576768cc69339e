// Package gzipbody compresses request bodies so that the same data always make the same
// bytes. The service identifies a stored part by the checksum of its compressed bytes.
//
// A body is one gzip member, assembled from blocks. A [Compressor] compresses each block
// independently, so that several can work at once, and a [Member] knows its compressed
// size before the next block is added. No writer that compresses in parallel does:
// github.com/klauspost/pgzip makes the same bytes each time, too, but only tells the size
// of what it has written.
//
// Blocks are compressed by github.com/klauspost/compress/flate, which needs half the time of
// compress/flate.
package gzipbody

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/klauspost/compress/flate"
)

// DefaultLevel is the compression level used unless the caller chooses one.
const DefaultLevel = 6

// Compress returns data as a gzip member.
func Compress(data []byte) ([]byte, error) {
	c, err := NewCompressor(DefaultLevel)
	if err != nil {
		return nil, err
	}
	block, err := c.Block(nil, data)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	body.Grow(Overhead + len(block.Data))
	m, _ := NewMember(&body) // a buffer takes everything
	_ = m.Add(block)
	_ = m.Close()
	return body.Bytes(), nil
}

// A Block is a piece of a member's data: whole deflate blocks that end on a byte
// boundary, refer to nothing before them, and may be followed by others.
type Block struct {
	Data []byte // compressed
	Size int    // of the data before compression
	CRC  uint32 // CRC-32 of the data before compression
}

// A Compressor makes blocks. Only one goroutine may use it at a time.
type Compressor struct {
	deflater *flate.Writer
	out      appender
}

// NewCompressor returns a Compressor of a level from 1, fast, to 9, small.
func NewCompressor(level int) (*Compressor, error) {
	d, err := flate.NewWriter(io.Discard, level)
	return &Compressor{deflater: d}, err
}

// Block compresses data and appends the result to dst. Data and level alone
// decide the bytes, not what was compressed before.
func (c *Compressor) Block(dst, data []byte) (Block, error) {
	at := len(dst)
	c.out.data = dst
	c.deflater.Reset(&c.out)
	if _, err := c.deflater.Write(data); err != nil {
		return Block{}, err
	}
	if err := c.deflater.Flush(); err != nil {
		return Block{}, err
	}
	dst, c.out.data = c.out.data, nil
	return Block{Data: dst[at:], Size: len(data), CRC: crc32.ChecksumIEEE(data)}, nil
}

// maxStored is the size of the largest stored deflate block.
const maxStored = 1<<16 - 1

// Stored returns a block of at most 65,535 uncompressed bytes, for pieces that are too
// short to compress, such as a separator.
func Stored(data []byte) Block {
	if len(data) > maxStored {
		panic("gzipbody: stored block of more than 65,535 bytes")
	}
	out := make([]byte, 0, 5+len(data))
	out = append(out, 0) // not the last block, not compressed
	out = binary.LittleEndian.AppendUint16(out, uint16(len(data)))
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(data)))
	return Block{Data: append(out, data...), Size: len(data), CRC: crc32.ChecksumIEEE(data)}
}

// appender is an io.Writer that appends to a slice.
type appender struct{ data []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.data = append(a.data, p...)
	return len(p), nil
}

// A CRC-32 is a polynomial over GF(2) modulo crc32.IEEE, with the coefficient of
// x⁰ in the highest bit. To append n bytes is to multiply by x⁸ⁿ.

// xPowers[i] is x to the power of 2ⁱ. The powers repeat after 32 of them, since
// x to the power of 2³² is x.
var xPowers = func() (powers [32]uint32) {
	powers[0] = 1 << 30 // x
	for i := 1; i < len(powers); i++ {
		powers[i] = multiply(powers[i-1], powers[i-1])
	}
	return powers
}()

// multiply returns a·b modulo the polynomial.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return product
}

// combineCRC returns the CRC-32 of two pieces of data, one after the other, from
// the CRC-32 of each and the size of the second.
func combineCRC(first, second uint32, size int) uint32 {
	for n := uint64(size); n != 0; n &= n - 1 {
		first = multiply(xPowers[(bits.TrailingZeros64(n)+3)%len(xPowers)], first)
	}
	return first ^ second
}

// memberHeader means: deflate, no name, no time, unknown system. These fields of a gzip
// header differ between libraries.
const memberHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// lastBlock is an empty deflate block marked as the last one.
const lastBlock = "\x03\x00"

// trailerSize is the size of what [Member.Close] writes: the last block, the CRC
// and the size of the data.
const trailerSize = len(lastBlock) + 8

// Overhead is the size of a member without blocks.
const Overhead = len(memberHeader) + trailerSize

// A Member writes one gzip member.
type Member struct {
	w       io.Writer
	written int64
	size    uint32 // before compression, modulo 2³²
	crc     uint32
}

// NewMember begins a member.
func NewMember(w io.Writer) (*Member, error) {
	m := &Member{w: w}
	return m, m.write([]byte(memberHeader))
}

// Len returns the size of the whole member if nothing more is added.
func (m *Member) Len() int64 { return m.written + int64(trailerSize) }

// Add adds a block.
func (m *Member) Add(b Block) error {
	m.size += uint32(b.Size)
	m.crc = combineCRC(m.crc, b.CRC, b.Size)
	return m.write(b.Data)
}

// Close ends the member.
func (m *Member) Close() error {
	end := append(make([]byte, 0, trailerSize), lastBlock...)
	end = binary.LittleEndian.AppendUint32(end, m.crc)
	end = binary.LittleEndian.AppendUint32(end, m.size)
	return m.write(end)
}

func (m *Member) write(p []byte) error {
	n, err := m.w.Write(p)
	m.written += int64(n)
	return err
}
