package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"
)

// A dry run is a whole submission, with all its checks, to a service that takes
// everything and keeps nothing. So what it prints is what would be sent, and its
// memory does not grow with the report.

// dryRunURL is another one each time, so that two dry runs of one report do not
// keep each other out.
func dryRunURL() string { return "https://" + strings.ToLower(rand.Text()) + ".invalid" }

// dryRunToken is a token that nobody issued: Submit looks at its form and its
// expiry.
func dryRunToken() string {
	claims := fmt.Sprintf(`{"exp":%d}`, time.Now().AddDate(1, 0, 0).Unix())
	return "dry." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".run"
}

func dryRunClient() *http.Client { return &http.Client{Transport: &blackHole{}} }

// blackHole responds instead of the network.
type blackHole struct{ id string }

func (b *blackHole) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/reports":
		return respond(r, http.StatusOK, `{"reports":[],"meta":{"total":0}}`), nil
	case r.Method == http.MethodGet:
		return respond(r, http.StatusNotFound, `{}`), nil
	case r.Method == http.MethodPut:
		b.id = path.Base(r.URL.Path)
	}
	return respond(r, http.StatusCreated, fmt.Sprintf(`{"report":{"id":%q}}`, b.id)), nil
}

func respond(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}
