// Package gzipbody compresses request bodies so that the same data always make the same
// bytes: the service identifies a stored part by the checksum of its compressed bytes.
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

import "bytes"

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
