package bench_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/bench"
	"github.com/datacite-go/datacite-go/reports"
)

// TestUploadsAreTrue checks what is measured: that the bodies hold exactly the
// entries, by the standard library's word, within the limit.
func TestUploadsAreTrue(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	const n = 240
	for _, profile := range []bench.Profile{bench.Typical, bench.Heavy} {
		c := newCorpusOf(n, profile)
		for _, level := range []int{1, 6} {
			opts := reports.SubmitOptions{Level: level, MaxDatasets: 100}
			var bodies [][]byte
			url := serve(t, sink{keep: func(body []byte) { bodies = append(bodies, body) }})
			receipt, err := upload(t.Context(), url, c, n, &opts)
			require.NoError(t, err)
			require.EqualValues(t, n, receipt.Datasets)
			require.Len(t, bodies, 3)

			plain := c.entries(0, n)
			for _, body := range bodies {
				got := inflated(t, body)
				require.LessOrEqual(t, len(got), min(len(plain), opts.MaxDatasets))
				for i := range got {
					require.Equal(t, plain[i], got[i])
				}
				plain = plain[len(got):]
			}
			assert.Empty(t, plain, "nothing is lost")
		}
	}
}

// inflated reads the entries of a body with the standard library.
func inflated(t *testing.T, body []byte) []bench.Entry {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	var report struct {
		Header   reports.Header `json:"report-header"`
		Datasets []bench.Entry  `json:"report-datasets"`
	}
	require.NoError(t, json.NewDecoder(r).Decode(&report))
	require.NoError(t, r.Close())
	assert.Equal(t, header.CreatedBy, report.Header.CreatedBy)
	return report.Datasets
}
