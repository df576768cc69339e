package transport_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// talking is a server that says the same to everybody.
func talking(t *testing.T, words string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			if first, _ := in.Peek(1); string(first) != "\x16" { // all of a request, so that no write of it fails before the words are read
				if req, err := http.ReadRequest(in); err == nil {
					_, _ = io.Copy(io.Discard, req.Body)
				}
			}
			_, _ = io.WriteString(c, words)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// An address with the wrong scheme stays wrong, and TLS or a proxy that refuses refuses again: it is tried
// once, nothing was done, and the error says what to change.
func TestTheWrongScheme(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusNotFound
		if r.URL.Hostname() == "api.example.com" {
			status = http.StatusProxyAuthRequired
		}
		w.WriteHeader(status)
	}))
	defer plain.Close()
	closed := httptest.NewUnstartedServer(http.NotFoundHandler()) // to clients without a certificate
	closed.Config.ErrorLog = log.New(io.Discard, "", 0)
	closed.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	closed.StartTLS()
	defer closed.Close()
	for name, tt := range map[string]struct{ base, says string }{
		"TLS that asks for a certificate":         {closed.URL, "remote error: tls: handshake failure"},
		"a proxy that is none":                    {"https://api.example.org", "no connection by the proxy " + strings.TrimPrefix(plain.URL, "http://") + ": Not Found"},
		"a proxy that refuses":                    {"https://api.example.com", ": Proxy Authentication Required"},
		"TLS to a port of HTTP":                   {"https://" + strings.TrimPrefix(plain.URL, "http://"), "the server at this port does not speak TLS; should the address begin with http://?"},
		"TLS to a port of something else":         {"https://" + talking(t, "SSH-2.0-OpenSSH_9.9\r\n"), "the server at this port does not speak TLS"},
		"HTTP to a port of TLS":                   {"http://" + talking(t, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), "400 Bad Request: Client sent an HTTP request to an HTTPS server."},
		"HTTP to a port of TLS that sends alerts": {"http://" + talking(t, "\x15\x03\x01\x00\x02\x02\x16"), "the server at this port speaks TLS"},
		"HTTP to a port of TLS that sends a page": {"http://" + talking(t, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head>"), "400 Bad Request: an HTML page: 400 The plain HTTP request was sent to HTTPS port"},
	} {
		t.Run(name, func(t *testing.T) {
			net := closed.Client().Transport.(*http.Transport).Clone()
			net.Proxy = func(r *http.Request) (*url.URL, error) {
				if !strings.HasPrefix(r.URL.Host, "api.") {
					return nil, nil
				}
				return url.Parse("http://u:secret@" + strings.TrimPrefix(plain.URL, "http://"))
			}
			defer net.CloseIdleConnections()
			c, err := newClient(config{BaseURL: tt.base, HTTPClient: &http.Client{Transport: net}})
			require.NoError(t, err)
			for _, r := range []transport.Request{get(), put(), mint()} {
				_, err := c.Do(t.Context(), r)
				require.ErrorContains(t, err, tt.says)
				assert.NotContains(t, err.Error(), "gave up")
				e, is := errors.AsType[*datacite.Error](err)
				require.True(t, is)
				assert.Equal(t, 1, e.Attempts)
				assert.False(t, datacite.Temporary(err))
				assert.NotErrorIs(t, err, datacite.ErrUnclear)
			}
		})
	}
}
