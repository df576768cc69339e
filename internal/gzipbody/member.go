package gzipbody

import (
	"encoding/binary"
	"io"
)

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
