package sandbox_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// failing is a service whose first request meets a fault.
func failing(f sandbox.Fault, behaviour sandbox.Behaviour) *sandbox.Options {
	return &sandbox.Options{Behaviour: behaviour, Faults: func(n int, _ *http.Request) *sandbox.Fault {
		if n == 1 {
			return &f
		}
		return nil
	}}
}

// exchange sends one request and reads the answer to its end, or to its error.
func exchange(t *testing.T, server *sandbox.Server, c call) (res *http.Response, body string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, strings.NewReader(c.body))
	require.NoError(t, err)
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	req.Header.Set("Accept-Encoding", "identity") // so that half an answer is half of the bytes
	if c.as == "token" {
		req.Header.Set("Authorization", "Bearer "+server.Current().Token(server.Current().Now().Add(time.Hour)))
	} else {
		req.SetBasicAuth(sandbox.DefaultAccount.Username, sandbox.DefaultAccount.Password)
	}
	res, err = server.HTTPClient().Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	return res, string(data), err
}

// Every kind of fault, for each interface, in memory and over a port.
func TestFaults(t *testing.T) {
	post := postReport(reportBody(month("Repo", "2020-01-01", ""), dataset))
	metadata := call{method: "PUT", path: "/metadata/10.5072/x",
		header: map[string]string{"Content-Type": "application/xml;charset=UTF-8"}, body: metadataXML}
	record := create(`"doi":"10.5072/x"`)
	record.header = map[string]string{"Content-Type": "application/vnd.api+json"}
	for _, interfaces := range []struct {
		name string
		call call
		done func(t *testing.T, server *sandbox.Server) bool
	}{
		{"reports", post, func(t *testing.T, server *sandbox.Server) bool {
			return at(call{method: "GET", path: "/reports"}.do(t, server.Current()).read(t), "meta.total") == 1.0
		}},
		{"mds", metadata, func(_ *testing.T, server *sandbox.Server) bool {
			return server.Current().State("10.5072/x") == "draft"
		}},
		{"dois", record, func(_ *testing.T, server *sandbox.Server) bool {
			return server.Current().State("10.5072/x") == "draft"
		}},
	} {
		for kind, want := range map[faults.FaultKind]struct {
			done   bool
			status int // 0: no answer
			cut    bool
		}{
			faults.DropBefore:  {},
			faults.DropDuring:  {},
			faults.DropAfter:   {done: true},
			faults.CutResponse: {done: true, status: 201, cut: true},
			faults.Status:      {status: 502},
			faults.StatusAfter: {done: true, status: 502},
			faults.Delay:       {done: true, status: 201},
		} {
			for _, noPort := range []bool{true, false} {
				for _, behaviour := range []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed} {
					t.Run(interfaces.name+"/"+string(kind)+"/"+map[bool]string{true: "in memory", false: "over a port"}[noPort]+"/"+
						string(behaviour), func(t *testing.T) {
						server := sandbox.Serve(failing(sandbox.Fault{Kind: kind, Status: 502}, behaviour), noPort)
						defer server.Close()
						res, body, err := exchange(t, server, interfaces.call)
						switch {
						case want.status == 0:
							require.Error(t, err)
							if noPort {
								broken, ok := errors.AsType[*net.OpError](err)
								require.True(t, ok, "%T", err)
								assert.Equal(t, "read", broken.Op)
								assert.ErrorIs(t, err, syscall.ECONNRESET)
							}
						case want.cut:
							require.Error(t, err)
							assert.Equal(t, 201, res.StatusCode)
							assert.NotEmpty(t, body)
							assert.Equal(t, int64(len(body)), res.ContentLength/2)
						default:
							require.NoError(t, err)
							assert.Equal(t, want.status, res.StatusCode)
						}
						if want.status == 502 {
							assert.Contains(t, res.Header.Get("Content-Type"), "text/html")
							assert.Contains(t, body, "502 Bad Gateway")
						}
						assert.Equal(t, want.done, interfaces.done(t, server))
					})
				}
			}
		}
	}
}

func TestFaultsInNumbers(t *testing.T) {
	t.Run("requests are counted from 1", func(t *testing.T) {
		var asked []int
		service := sandbox.New(&sandbox.Options{Faults: func(n int, r *http.Request) *sandbox.Fault {
			asked = append(asked, n)
			assert.Equal(t, "/reports", r.URL.Path)
			return nil
		}})
		for range 3 {
			assert.Equal(t, 200, call{method: "GET", path: "/reports"}.do(t, service).status)
		}
		assert.Equal(t, []int{1, 2, 3}, asked)
	})
	t.Run("the status is 503 if none is given, and says when to come again", func(t *testing.T) {
		service := sandbox.New(failing(sandbox.Fault{Kind: faults.Status, RetryAfter: 1500 * time.Millisecond}, ""))
		a := call{method: "GET", path: "/reports"}.do(t, service)
		assert.Equal(t, 503, a.status)
		assert.Equal(t, "2", a.header.Get("Retry-After"))
	})
	t.Run("a delay is waited for", func(t *testing.T) {
		for _, kind := range []faults.FaultKind{faults.Delay, faults.Status} {
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				call{method: "GET", path: "/reports"}.do(t, sandbox.New(failing(sandbox.Fault{Kind: kind, Delay: time.Minute}, "")))
				assert.Equal(t, time.Minute, time.Since(started))
			})
		}
	})
	t.Run("what was dropped is in the log", func(t *testing.T) {
		service := sandbox.New(failing(sandbox.Fault{Kind: faults.DropDuring}, ""))
		_, err := service.Transport().RoundTrip(gzipPost(t, service, make([]byte, 100)))
		require.Error(t, err)
		require.Len(t, service.Requests(), 1)
		assert.Equal(t, 0, service.Requests()[0].Status)
		assert.Equal(t, int64(50), service.Requests()[0].BodySize, "half of the body")
	})
}
