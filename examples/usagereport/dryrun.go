package main

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
)

// A dry run is a whole submission, with all its checks, to a service that takes
// everything and keeps nothing. So what it prints is what would be sent, and its
// memory does not grow with the report.
const (
	dryRunURL   = "https://dry-run.invalid"
	dryRunToken = "none"
)

func dryRunClient() *http.Client { return &http.Client{Transport: &blackHole{}} }

// blackHole answers in place of the network.
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
		return answer(r, http.StatusOK, `{"reports":[],"meta":{"total":0}}`), nil
	case r.Method == http.MethodGet:
		return answer(r, http.StatusNotFound, `{}`), nil
	case r.Method == http.MethodPut:
		b.id = path.Base(r.URL.Path)
	}
	return answer(r, http.StatusCreated, fmt.Sprintf(`{"report":{"id":%q}}`, b.id)), nil
}

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}
