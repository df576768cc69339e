package gzipbody

import "encoding/binary"

// memberHeader says: deflate, no name, no time, made on an unknown system. These
// are the parts of a gzip header that differ from one library to another.
const memberHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// lastBlock is an empty deflate block marked as the last one.
const lastBlock = "\x03\x00"

// overhead is the size of a member without blocks.
const overhead = len(memberHeader) + len(lastBlock) + 8

// A Member is a gzip member in the making. After [Member.Reset] it uses its
// memory again, so that growing to some size for the second time costs nothing.
// The zero Member is empty.
type Member struct {
	data []byte // header and blocks
	size uint32 // before compression, modulo 2³²
	crc  uint32
}

// Reset makes m empty.
func (m *Member) Reset() { *m = Member{data: m.data[:0]} }

// Len is the size of the whole member as it is now.
func (m *Member) Len() int { return max(len(m.data), len(memberHeader)) + overhead - len(memberHeader) }

// Add adds a block. It does not keep b.Data.
func (m *Member) Add(b Block) {
	if len(m.data) == 0 {
		m.data = append(m.data, memberHeader...)
	}
	m.data = append(m.data, b.Data...)
	m.size += uint32(b.Size)
	m.crc = combineCRC(m.crc, b.CRC, b.Size)
}

// Cap is the size that the member may have without taking more memory.
func (m *Member) Cap() int { return cap(m.data) }

// Grow makes room for a member of n bytes in all.
func (m *Member) Grow(n int) {
	if n > cap(m.data) {
		m.data = append(make([]byte, 0, n), m.data...)
	}
}

// Bytes returns the finished member, of m.Len() bytes, which are m's own until
// the next call of a method. More blocks may be added afterwards, for a longer
// member.
func (m *Member) Bytes() []byte {
	if len(m.data) == 0 {
		m.data = append(m.data, memberHeader...)
	}
	end := append(m.data, lastBlock...)
	end = binary.LittleEndian.AppendUint32(end, m.crc)
	return binary.LittleEndian.AppendUint32(end, m.size)
}
