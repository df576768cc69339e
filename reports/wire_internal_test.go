package reports

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

func TestAppendDatasetDoesNotAllocate(t *testing.T) {
	pair := []TypedValue{{"some text", "a"}}
	d := &Dataset{
		Title: "some text", PublisherID: pair, DatasetID: pair, Dates: pair, Contributors: pair, Attributes: pair,
		Performance: []Performance{{Instance: []Instance{
			{Count: 9223372036854775807, CountryCounts: CountryCounts{{"de", 1}, {"some text", 7}}}}}},
	}
	buf := make([]byte, 0, 1<<16)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_, err := appendDataset(buf, d)
		if err != nil {
			t.Error(err)
		}
	}))
}

// What a response says of a report is read without its data, wherever they are.
func TestScanResponse(t *testing.T) {
	s, err := scanResponse(strings.NewReader(
		`{"report-subsets":[null,{"id":7,"gzip":null,"checksum":"a"}],"report-datasets":[{"gzip":"AAAA","checksum":"b"}],` +
			`"gzip":"AA==","checksum":"c"}`))
	require.NoError(t, err)
	var found []int64
	for _, part := range s.Subsets {
		found = append(found, part.Bytes)
	}
	assert.Equal(t, []int64{0, 0, 3, 1}, found, "wherever they are")
	require.ErrorContains(t, s.damage, "subset 1 has no data")
	const response = `{"report":{"id":"an id","report-header":{"exceptions":[{},{"code":69}]},` +
		`"report-datasets":[{"yop":1},{},{"a":[{"b":"]}"}]}],"report-subsets":[{"gzip":"+\/8="}]}}`
	s, err = scanResponse(iotest.OneByteReader(strings.NewReader(response)))
	require.NoError(t, err)
	assert.Equal(t, "an id", s.ID)
	assert.True(t, s.Header.compressed())
	assert.Equal(t, 3, s.Shown)
	assert.Equal(t, []Subset{{Checksum: fmt.Sprintf("%x", sha256.Sum256([]byte{0xfb, 0xff})), Bytes: 2}}, s.Subsets)
	_, err = scanResponse(strings.NewReader(`{"report-subsets":[` + strings.Repeat("{},", 1<<22) + `{}]}`))
	require.ErrorIs(t, err, jsonlex.ErrTooLarge)
	for end := range response {
		_, err := scanResponse(strings.NewReader(response[:end]))
		require.Error(t, err, "cut off at %d", end)
	}
}
