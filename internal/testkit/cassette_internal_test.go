package testkit

import (
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repeating is a server that shows in each response all credentials that it ever got.
type repeating struct{ log []string }

func (s *repeating) RoundTrip(r *http.Request) (*http.Response, error) {
	_, password, _ := r.BasicAuth()
	s.log = append(s.log, r.Header.Get("Authorization"), password)
	text := strings.Join(s.log, "\n")
	return &http.Response{
		StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", Request: r,
		Header: http.Header{"Content-Type": {"text/plain"}, "Location": {"https://example.org/?p=" + password}},
		Body:   io.NopCloser(strings.NewReader(text)),
	}, nil
}

func TestRecordingsHaveNoSecrets(t *testing.T) {
	const password, token = "correct-horse-battery", "eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiJhIn0.c2lnbmF0dXJl"
	before := *record
	t.Cleanup(func() { *record = before })
	*record = true
	name, err := filepath.Rel(filepath.Join(root(), "testdata", "cassettes"), filepath.Join(t.TempDir(), "secrets"))
	require.NoError(t, err)
	t.Run("recording", func(t *testing.T) {
		hc := Cassette(t, name, &repeating{}, nil)
		for _, header := range []string{
			"Basic " + base64.StdEncoding.EncodeToString([]byte("EXAMPLE.REPO:"+password)), "Bearer " + token, "",
		} {
			req, err := http.NewRequest(http.MethodGet, "https://api.test.datacite.org/dois/10.5072/a", nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", header)
			res, err := hc.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
		}
	})
	data, err := os.ReadFile(filepath.Join(root(), "testdata", "cassettes", name) + ".yaml")
	require.NoError(t, err)
	assert.Contains(t, string(data), "REDACTED")
	for _, secret := range []string{password, token,
		base64.StdEncoding.EncodeToString([]byte("EXAMPLE.REPO:" + password))} {
		assert.NotContains(t, string(data), secret)
	}
}
