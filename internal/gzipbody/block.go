package gzipbody

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

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
