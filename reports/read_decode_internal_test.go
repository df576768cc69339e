package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A response to the k-th subset repeats all subsets before it.
func TestScanResponseMeasuresWhatItDrops(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 100_000, 100_001, 100_002}
	var subsets, sums []string
	for i, size := range sizes {
		data := bytes.Repeat([]byte{0xfb, byte(i)}, size)[:size]
		sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(data)))
		content := base64.StdEncoding.EncodeToString(data)
		if i%2 == 0 {
			content = strings.ReplaceAll(content, "/", `\/`)
		}
		subsets = append(subsets, fmt.Sprintf(`{"gzip":"%s","checksum":"%s"}`, content, sums[i]))
	}
	response := `{"report":{"id":"an id","report-header":{"created-by":"Example","exceptions":[{},{"code":69}]},
	  "report-datasets":[{"yop":1},{},{"a":[{"b":"]}"}]}],"report-subsets":[` + strings.Join(subsets, ",") + `]}}`
	for name, r := range map[string]io.Reader{
		"at once":      strings.NewReader(response),
		"byte by byte": iotest.OneByteReader(strings.NewReader(response)),
	} {
		s, err := scanResponse(r)
		require.NoError(t, err, name)
		assert.Equal(t, "an id", s.ID)
		assert.True(t, s.Header.compressed())
		assert.Equal(t, 3, s.Shown)
		require.NoError(t, s.damage)
		require.Len(t, s.Subsets, len(sizes))
		for i, part := range s.Subsets {
			assert.Equal(t, Subset{Checksum: sums[i], Bytes: int64(sizes[i])}, part)
		}
	}
	s, err := scanResponse(strings.NewReader(`{"report-subsets":[null,{"id":7,"gzip":null,"checksum":"a"}],"report-datasets":[{"gzip":"AAAA","checksum":"b"}],"gzip":"AA==","checksum":"c"}`))
	require.NoError(t, err)
	var found []int64
	for _, part := range s.Subsets {
		found = append(found, part.Bytes)
	}
	assert.Equal(t, []int64{0, 0, 3, 1}, found, "wherever they are")
	require.ErrorContains(t, s.damage, "subset 1 has no data")
	for end := 0; end < len(response); end += 997 {
		_, err := scanResponse(strings.NewReader(response[:end]))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut off at %d", end)
	}
}
