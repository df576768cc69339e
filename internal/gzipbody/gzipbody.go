// Package gzipbody makes compressed request bodies that are the same, byte for
// byte, each time they are made from the same data: the service names a stored
// part by the checksum of its compressed bytes, so a part can be recognised.
package gzipbody

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
)

// Compress returns the pieces, one after the other, as a single gzip member
// without a time or a name in its header.
func Compress(pieces ...[]byte) ([]byte, error) {
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	for _, p := range pieces {
		if _, err := w.Write(p); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// Checksum is the name that the service gives to a compressed body: its SHA-256
// in lowercase hexadecimal digits.
func Checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
