package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// large is a service with a report of some megabytes.
func large(t *testing.T) (service *sandbox.Service, size int) {
	t.Helper()
	service = newService()
	body := reportBody(header("Repo", "2020-01-01", ""), bare(30_000)...)
	require.Equal(t, 201, putReport(someUUID, body).do(t, service).status)
	return service, len(body)
}

func get(ctx context.Context, t *testing.T, path string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	require.NoError(t, err)
	return req
}

// The same answers over a socket and in memory.
func TestTransportIsLikeANetwork(t *testing.T) {
	service, _ := large(t)
	require.Equal(t, 201, putMetadata("10.5072/x", metadataXML).do(t, service).status)
	server := httptest.NewServer(service)
	defer server.Close()
	for _, path := range []string{"/reports", "/reports/" + someUUID, "/dois?query=x&page[size]=3", "/doi/10.5072/x",
		"/metadata/10.5072/x", "/dois/10.5072/a%23b"} {
		t.Run(path, func(t *testing.T) {
			look := func(client *http.Client, base string) (http.Header, string) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
				require.NoError(t, err)
				req.Host = "api.example.org"
				req.SetBasicAuth(sandbox.DefaultAccount.Username, sandbox.DefaultAccount.Password)
				res, err := client.Do(req)
				require.NoError(t, err)
				defer func() { _ = res.Body.Close() }()
				body, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				for _, changing := range []string{"X-Request-Id", "X-Runtime", "Date", "Content-Length"} {
					res.Header.Del(changing)
				}
				return res.Header, res.Status + "\n" + string(body)
			}
			header, answer := look(server.Client(), server.URL)
			headerHere, answerHere := look(&http.Client{Transport: service.Transport()}, "http://sandbox.test")
			assert.Equal(t, header, headerHere)
			assert.Equal(t, answer, answerHere)
		})
	}
}

func TestTransportLeavesNoGoroutine(t *testing.T) {
	t.Run("when the body is closed early", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service, _ := large(t)
			res, err := service.Transport().RoundTrip(get(t.Context(), t, "/reports/"+someUUID))
			require.NoError(t, err)
			assert.Equal(t, int64(-1), res.ContentLength, "it is streamed")
			_, err = io.ReadFull(res.Body, make([]byte, 10))
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			synctest.Wait()
		})
	})
	service, _ := large(t)
	whole := int64(len(getReport(someUUID).do(t, service).body))
	for _, read := range []int64{0, 10, whole / 2, whole - 1} {
		t.Run(fmt.Sprintf("when the context ends after %d bytes", read), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				res, err := service.Transport().RoundTrip(get(ctx, t, "/reports/"+someUUID))
				require.NoError(t, err)
				_, err = io.CopyN(io.Discard, res.Body, read)
				require.NoError(t, err)
				time.Sleep(time.Minute)
				synctest.Wait()
				_, err = io.Copy(io.Discard, res.Body)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
	t.Run("when a request never comes to its end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := newService()
			body, writer := io.Pipe()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/reports", body)
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer "+service.Token(service.Now().Add(time.Hour)))
			_, err = service.Transport().RoundTrip(req)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			synctest.Wait()
			_, err = writer.Write([]byte("x"))
			assert.ErrorIs(t, err, io.ErrClosedPipe, "the request's body is closed")
		})
	})
}

func TestTransportStreamsRequests(t *testing.T) {
	service := newService()
	body, writer := io.Pipe()
	go func() {
		for part := range strings.SplitSeq(reportBody(header("Repo", "2020-01-01", ""), bare(100)...), ",") {
			_, _ = io.WriteString(writer, part+",")
		}
		_ = writer.CloseWithError(errors.New("the source broke"))
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/reports", body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+service.Token(service.Now().Add(time.Hour)))
	res := send(t, service, req)
	assert.Equal(t, 400, res.StatusCode)
	assert.Equal(t, 0.0, at(call{method: "GET", path: "/reports"}.do(t, service).read(t), "meta.total"))
}

// closes tells whether a body was closed.
type closes struct {
	io.Reader
	closed bool
}

func (c *closes) Close() error {
	c.closed = true
	return nil
}

func TestTransportClosesTheRequestsBody(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx      context.Context
		host     string
		answered bool
	}{{t.Context(), base, true}, {canceled, base, false}, {t.Context(), "", false}} {
		body := &closes{Reader: bytes.NewReader(nil)}
		req, err := http.NewRequestWithContext(tt.ctx, http.MethodPost, tt.host+"/reports", body)
		require.NoError(t, err)
		res, err := newService().Transport().RoundTrip(req)
		if err == nil {
			require.NoError(t, res.Body.Close())
		}
		assert.Equal(t, tt.answered, err == nil)
		assert.True(t, body.closed)
	}
}

func TestTheLastThousandRequestsAreLogged(t *testing.T) {
	service := newService()
	for range 1100 {
		call{method: "GET", path: "/doi"}.do(t, service)
	}
	log := service.Requests()
	require.Len(t, log, 1000)
	assert.Equal(t, 101, log[0].Number)
}

func TestConcurrentUse(t *testing.T) {
	service := newService()
	// Of two requests that create a DOI at the same time, the second is refused (422).
	require.Equal(t, 201, update("10.5072/shared", `"titles":[{"title":"first"}]`).do(t, service).status)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 20 {
				doi := fmt.Sprintf("10.5072/%d-%d", worker, i)
				assert.Equal(t, 201, putMetadata(doi, metadataXML).do(t, service).status)
				assert.Equal(t, 201, putURL(doi, doi, "https://example.org/").do(t, service).status)
				assert.Equal(t, 200, update("10.5072/shared", fmt.Sprintf(`"titles":[{"title":"%d of %d"}]`, i, worker)).do(t,
					service).status)
				assert.Equal(t, 201, postSubset(reportBody(header("Repo", "2020-01-01", noteCompressed), dataset)).do(t,
					service).status)
				call{method: "GET", path: "/dois?query=alps&sort=-created"}.do(t, service)
				service.Advance(time.Second)
				service.Requests()
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 80.0, at(listed(t, service, "query=alps", ""), "meta.total"))
	assert.Len(t, dois(getReport(onlyReport(t, service)).do(t, service).read(t)), 80, "no subset is lost")
	shared := at(call{method: "GET", path: "/dois/10.5072/shared", as: "repo"}.do(t, service).read(t), "data.attributes")
	assert.Equal(t, 80.0, at(shared, "metadataVersion"), "no update is lost")
}

func TestClock(t *testing.T) {
	start := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	service := sandbox.New(&sandbox.Options{Now: func() time.Time { return start }})
	create(`"doi":"10.5072/x"`).do(t, service)
	service.Advance(24 * time.Hour)
	a := update("10.5072/x", `"event":"publish",`+complete).do(t, service)
	assert.Equal(t, "2024-02-29T12:00:00.000Z", at(a.read(t), "data.attributes.created"))
	assert.Equal(t, "2024-03-01T12:00:00.000Z", at(a.read(t), "data.attributes.updated"))
	assert.Equal(t, "2024-03-01T12:00:00.000Z", at(a.read(t), "data.attributes.registered"))
	assert.Equal(t, start.Add(24*time.Hour), service.Now())
}
