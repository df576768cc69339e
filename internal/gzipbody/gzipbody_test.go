package gzipbody_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/gzipbody"
)

func TestCompress(t *testing.T) {
	pieces := [][]byte{[]byte(`{"a":[`), bytes.Repeat([]byte("1,"), 100_000), []byte("1]}")}
	body, err := gzipbody.Compress(pieces...)
	require.NoError(t, err)
	again, err := gzipbody.Compress(bytes.Join(pieces, nil))
	require.NoError(t, err)
	assert.Equal(t, body, again, "only the data decides the bytes")
	assert.Equal(t, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}, body[:8], "no time, no name")

	r, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	r.Multistream(false)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, bytes.Join(pieces, nil), data, "one member holds it all")
}

func TestChecksum(t *testing.T) {
	assert.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", gzipbody.Checksum([]byte("abc")))
}
