package gzipbody

import "encoding/binary"

// memberHeader says: deflate, no name, no time, made on an unknown system. These
// are the parts of a gzip header that differ from one library to another.
const memberHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// lastBlock is an empty deflate block marked as the last one.
const lastBlock = "\x03\x00"

// overhead is the size of a member without blocks.
const overhead = len(memberHeader) + len(lastBlock) + 8

// pageSize is the unit in which a Member holds its data.
const pageSize = 256 << 10

// A Member is a gzip member in the making. It holds its data in pages, which it
// keeps for the next member after [Member.Reset], so that growing to some size
// for the second time costs nothing. The zero Member is empty.
type Member struct {
	pages  [][]byte
	length int    // of the data in the pages
	size   uint32 // before compression, modulo 2³²
	crc    uint32
}

// Reset makes m empty.
func (m *Member) Reset() { *m = Member{pages: m.pages} }

// Len is the size of the whole member as it is now.
func (m *Member) Len() int { return m.length + overhead }

// Add adds a block. It does not keep b.Data.
func (m *Member) Add(b Block) {
	m.crc = combineCRC(m.crc, b.CRC, b.Size)
	m.size += uint32(b.Size)
	for data := b.Data; len(data) > 0; {
		i, at := m.length/pageSize, m.length%pageSize
		if i == len(m.pages) {
			m.pages = append(m.pages, make([]byte, pageSize))
		}
		n := copy(m.pages[i][at:], data)
		m.length += n
		data = data[n:]
	}
}

// AppendTo appends the finished member, m.Len() bytes, to dst. More blocks may
// be added afterwards, for a longer member.
func (m *Member) AppendTo(dst []byte) []byte {
	dst = append(dst, memberHeader...)
	left := m.length
	for _, page := range m.pages {
		n := min(left, pageSize)
		dst = append(dst, page[:n]...)
		left -= n
	}
	dst = append(dst, lastBlock...)
	dst = binary.LittleEndian.AppendUint32(dst, m.crc)
	return binary.LittleEndian.AppendUint32(dst, m.size)
}
