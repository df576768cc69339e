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
	m.grow(len(b.Data))
	m.data = append(m.data, b.Data...)
	m.size += uint32(b.Size)
	m.crc = combineCRC(m.crc, b.CRC, b.Size)
}

// grow makes room for n bytes beside the header and the end, by a half at a
// time: there is no second member of several megabytes to be copied from often,
// and no memory to be left unused.
func (m *Member) grow(n int) {
	if need := m.Len() + n; need > cap(m.data) {
		const unit = 64 << 10
		data := make([]byte, len(m.data), (max(need, cap(m.data)*3/2)+unit-1)/unit*unit)
		copy(data, m.data)
		m.data = data
	}
	if len(m.data) == 0 {
		m.data = append(m.data, memberHeader...)
	}
}

// Bytes returns the finished member, of m.Len() bytes, which are m's own until
// the next call of a method. More blocks may be added afterwards, for a longer
// member.
func (m *Member) Bytes() []byte {
	m.grow(0)
	end := append(m.data, lastBlock...)
	end = binary.LittleEndian.AppendUint32(end, m.crc)
	return binary.LittleEndian.AppendUint32(end, m.size)
}
