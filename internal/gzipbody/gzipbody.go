// Package gzipbody makes compressed request bodies that are the same, byte for
// byte, each time they are made from the same data: the service names a stored
// part by the checksum of its compressed bytes, so a part can be recognised.
//
// A body is one gzip member, put together from blocks. A [Compressor] makes a
// block of its data alone, so that many can work at once, on any number of
// processors, and a [Member] knows its own size before it takes the next block.
//
// Blocks are compressed by github.com/klauspost/compress/flate. With the build
// tag stdflate they are compressed by compress/flate, which needs twice the time
// and makes other bytes.
package gzipbody

import "bytes"

// DefaultLevel is a good balance of time and size.
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
