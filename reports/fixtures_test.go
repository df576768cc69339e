package reports_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
)

// compressedResponse is a stored report as the deployed service shows it: empty
// report-datasets, and each part as base64 of gzip with its checksum.
func compressedResponse(t *testing.T, parts ...[]int) string {
	t.Helper()
	type subset struct {
		Gzip     string `json:"gzip"`
		Checksum string `json:"checksum"`
	}
	subsets := []subset{}
	for _, numbers := range parts {
		inner := reports.Report{Header: reports.Header{CreatedBy: "Somebody else"}}
		for _, i := range numbers {
			inner.Datasets = append(inner.Datasets, dataset(i))
		}
		body := compressed(t, &inner)
		sum := sha256.Sum256([]byte(body))
		subsets = append(subsets, subset{base64.StdEncoding.EncodeToString([]byte(body)), hex.EncodeToString(sum[:])})
	}
	response, err := json.Marshal(map[string]any{"report": json.RawMessage(`{"id":"` + id + `","report-header":{"created-by":"Example","year":"1999","month":"10"},"report-datasets":[],"report-subsets":` + string(mustJSON(t, subsets)) + `}`)})
	require.NoError(t, err)
	return string(response)
}

// compressed is a report as a request body with Content-Encoding gzip.
func compressed(t *testing.T, r *reports.Report) string {
	t.Helper()
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	_, err := w.Write(mustJSON(t, r))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return body.String()
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// byCountry are counts in the order of their countries.
func byCountry(counts map[string]int64) (list reports.CountryCounts) {
	for _, country := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, reports.CountryCount{Country: country, Count: counts[country]})
	}
	return list
}
