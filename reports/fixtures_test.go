package reports_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// bypass sends a compressed report as a program does that knows nothing of locks.
func bypass(t *testing.T, srv *datacitetest.Server, method, path string, h reports.Header, datasets []reports.Dataset) {
	t.Helper()
	body := gz(string(mustJSON(t, reports.Report{Header: packed(h), Datasets: datasets})))
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header = http.Header{"Content-Type": {"application/gzip"}, "Content-Encoding": {"gzip"}, "Authorization": {"Bearer " + srv.Token(srv.Now().Add(year))}}
	res, err := srv.HTTPClient().Do(req)
	if assert.NoError(t, err) {
		assert.Equal(t, 201, res.StatusCode)
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

// packed is a header with the exception of a compressed report.
func packed(h reports.Header) reports.Header {
	h.Exceptions = []reports.Exception{{Code: reports.CodeCompressed}}
	return h
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
