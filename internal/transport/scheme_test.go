package transport_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// talking is a server that says the same to everybody.
func talking(t *testing.T, words string) string {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			// all of a request, so that no write of it fails before the words are read
			if first, _ := in.Peek(1); string(first) != "\x16" {
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
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	proxies := map[string]string{}
	behind := func(status string) string { // a proxy that responds so to CONNECT
		host := fmt.Sprintf("api%d.example.org", len(proxies))
		words := "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n"
		if status == "" {
			words = ""
		}
		proxies[host+":443"] = talking(t, words)
		return "https://" + host
	}
	closed := httptest.NewUnstartedServer(http.NotFoundHandler()) // to clients without a certificate
	closed.Config.ErrorLog = log.New(io.Discard, "", 0)
	closed.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	closed.StartTLS()
	defer closed.Close()
	for name, tt := range map[string]struct {
		base, says string
		passes     bool
	}{
		"TLS that asks for a certificate": {closed.URL, "remote error: tls: handshake failure", false},
		"a proxy that is none":            {behind("404 Not Found"), ": Not Found", false},
		"a proxy that refuses": {behind("407 Proxy Authentication Required"),
			": Proxy Authentication Required", false},
		"a proxy that refuses in its own words": {behind("403 Blocked by policy"), ": Blocked by policy", false},
		"a proxy that refuses without words":    {behind("403"), ": unknown status code", false},
		"a proxy that refuses with a blank":     {behind("403 "), ": a status without words", false},
		"a proxy that has lost the service":     {behind("502 Bad Gateway"), ": Bad Gateway", true},
		"a proxy with a fault":                  {behind("500 Internal Server Error"), ": Internal Server Error", true},
		"a proxy that wants a pause":            {behind("429 Too Many Requests"), ": Too Many Requests", true},
		"a proxy that falls silent":             {behind(""), "EOF", true},
		"TLS to a port of HTTP": {"https://" + strings.TrimPrefix(plain.URL, "http://"),
			"the server at this port does not speak TLS; should the address begin with http://?", false},
		"TLS to a port of something else": {"https://" + talking(t, "SSH-2.0-OpenSSH_9.9\r\n"),
			"the server at this port does not speak TLS", false},
		"HTTP to a port of TLS": {
			"http://" + talking(t, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"),
			"400 Bad Request: Client sent an HTTP request to an HTTPS server.", false},
		"HTTP to a port of TLS that sends alerts": {"http://" + talking(t, "\x15\x03\x01\x00\x02\x02\x16"),
			"the server at this port speaks TLS", false},
		"HTTP to a port of TLS that sends a page": {
			"http://" + talking(t, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: "+
				"close\r\n\r\n<html><head><title>400 The plain HTTP request was sent to HTTPS "+
				"port</title></head>"), "400 Bad Request: an HTML page: 400 The plain HTTP request was sent to HTTPS port", false},
	} {
		t.Run(name, func(t *testing.T) {
			net := closed.Client().Transport.(*http.Transport).Clone()
			net.Proxy = func(r *http.Request) (*url.URL, error) {
				if proxy := proxies[r.URL.Host+":443"]; proxy != "" {
					return url.Parse("http://u:secret@" + proxy)
				}
				return nil, nil
			}
			defer net.CloseIdleConnections()
			c := must(newClient(config{BaseURL: tt.base, HTTPClient: &http.Client{Transport: net}, MaxAttempts: 3,
				MaxWait: time.Millisecond}))(t)
			for _, r := range []transport.Request{get(), put(), mint()} {
				_, err := c.Do(t.Context(), r)
				require.ErrorContains(t, err, tt.says)
				if proxy := proxies[strings.TrimPrefix(tt.base, "https://")+":443"]; proxy != "" {
					assert.ErrorContains(t, err, "no connection by the proxy "+proxy+": ")
				}
				assert.NotContains(t, err.Error(), "gave up")
				e, is := errors.AsType[*datacite.Error](err)
				require.True(t, is)
				assert.Equal(t, map[bool]int{false: 1, true: 3}[tt.passes], e.Attempts)
				assert.Equal(t, tt.passes, datacite.Temporary(err))
				assert.NotErrorIs(t, err, datacite.ErrUnclear)
			}
		})
	}
}
