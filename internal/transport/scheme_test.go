package transport_test

import (
	"bufio"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
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

// An address with the wrong scheme stays wrong: it is tried once, nothing was done, and the error says what
// to change.
func TestTheWrongScheme(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for name, tt := range map[string]struct{ base, says string }{
		"TLS to a port of HTTP":                   {"https://" + strings.TrimPrefix(plain.URL, "http://"), "the server at this port does not speak TLS; should the address begin with http://?"},
		"TLS to a port of something else":         {"https://" + talking(t, "SSH-2.0-OpenSSH_9.9\r\n"), "the server at this port does not speak TLS"},
		"HTTP to a port of TLS":                   {"http://" + strings.TrimPrefix(secure.URL, "https://"), "400 Bad Request: Client sent an HTTP request to an HTTPS server."},
		"HTTP to a port of TLS that sends alerts": {"http://" + talking(t, "\x15\x03\x01\x00\x02\x02\x16"), "the server at this port speaks TLS"},
		"HTTP to a port of TLS that sends a page": {"http://" + talking(t, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head>"), "400 Bad Request: an HTML page: 400 The plain HTTP request was sent to HTTPS port"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := newClient(config{BaseURL: tt.base})
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
