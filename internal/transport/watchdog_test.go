package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// trickling is a response that takes ten minutes, in pieces.
func trickling(piece string, pause time.Duration) step {
	return func(req *http.Request) (*http.Response, error) {
		r, w := io.Pipe()
		go func() {
			for range 10 * time.Minute / pause {
				time.Sleep(pause)
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
			io.WriteString(w, "{}")
			w.Close()
		}()
		context.AfterFunc(req.Context(), func() { r.CloseWithError(req.Context().Err()) })
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r, Request: req}, nil
	}
}

func TestSlowBodiesAreNotSilence(t *testing.T) {
	for _, tt := range []struct {
		name  string
		piece int
		pause time.Duration
		want  string // "": it is waited for
	}{
		{"a slow line", 52 << 10, 50 * time.Second, ""},
		{"a byte at a time", 1, time.Second, "too slow: fewer than 1024 bytes a second for 1m0s"},
		{"just too slow", 1000, time.Second, ""},
		{"half the speed", 512, time.Second, "too slow"},
		{"silence after a while", 1 << 20, 2 * time.Minute, "no response: nothing sent or received for 1m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(2 * tt.pause) // the service notices that nobody listens
				net := &script{steps: []step{trickling(strings.Repeat(" ", tt.piece), tt.pause)}}
				r := get()
				r.Most = 100 << 20
				_, err := client(t, net, func(c *config) {
					c.Timeout, c.MaxAttempts = time.Minute, 1
				}).Do(t.Context(), r)
				if tt.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.ErrorContains(t, err, tt.want)
			})
		})
	}
}

func TestAReaderMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := get()
		r.Stream, r.Unbounded = true, true
		net := &script{steps: []step{trickling(strings.Repeat(" ", 2048), time.Second)}}
		res := must(client(t, net, func(c *config) { c.Timeout = time.Minute }).Do(t.Context(), r))(t)
		for range 3 {
			must(io.ReadFull(res.Body, make([]byte, 2048)))(t)
			time.Sleep(time.Hour)
		}
		require.NoError(t, res.Body.Close())
		time.Sleep(2 * time.Second) // the service notices that nobody listens
	})
}

// TestSlowUploads gives up a request that the service takes byte by byte, and
// waits for one that it takes slowly, and then for its work.
func TestSlowUploads(t *testing.T) {
	for _, tt := range []struct {
		size, pieces int
		want         string
	}{{10, 20, "too slow"}, {64 << 10, 20, ""}, {46 << 10, 3, ""}} {
		synctest.Test(t, func(t *testing.T) {
			takes := respondingSlowly(tt.size)
			r := put()
			r.Body = strings.NewReader(strings.Repeat("x", tt.pieces*tt.size))
			_, err := client(t, takes, func(c *config) { c.Timeout, c.MaxAttempts = time.Minute, 1 }).Do(t.Context(), r)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// respondingSlowly takes a piece of a request every fifty seconds, and works as long as it may.
type respondingSlowly int

func (a respondingSlowly) RoundTrip(r *http.Request) (*http.Response, error) {
	for piece := make([]byte, a); ; time.Sleep(50 * time.Second) {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		if _, err := r.Body.Read(piece); err != nil {
			if time.Sleep(58 * time.Second); r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			return ok("{}")(r)
		}
	}
}

// blanks is a body that never ends, and ends the context on the way.
type blanks struct{ cancel func() }

func (b *blanks) Read(p []byte) (int, error) {
	b.cancel()
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
}

// What is decompressed goes on when the network has ended; what has come whole is a response.
func TestDecodingEndsWithTheContext(t *testing.T) {
	for most, want := range map[int64]error{100: nil, 1 << 60: context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		net := &script{steps: []step{func(req *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(`[`), io.LimitReader(&blanks{cancel}, most), strings.NewReader(`]`))
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: req}, nil
		}}}
		r := get()
		r.Read = func(d *jsonlex.Decoder) error {
			d.Skip()
			return d.Err()
		}
		_, err := client(t, net, func(c *config) { c.MaxBody = 1 << 60 }).Do(ctx, r)
		require.ErrorIs(t, err, want)
		assert.NotErrorIs(t, err, datacite.ErrUnreadable)
	}
}

// lines are the texts that a logger prints.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// Package net/http prints what a server says on an idle connection, and cannot be made
// not to. A client without such connections prints nothing, as SECURITY.md says.
func TestAnIdleConnection(t *testing.T) {
	for name, tt := range map[string]struct{ keepAlives, printed bool }{"kept": {true, true}, "not kept": {false, false}} {
		t.Run(name, func(t *testing.T) {
			printed := make(lines, 10)
			log.SetOutput(printed)
			defer log.SetOutput(os.Stderr)
			listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
			defer listener.Close()
			received, served := make(chan bool), make(chan bool)
			go func() {
				defer close(served)
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				req, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
				<-received
				fmt.Fprint(conn, req.Header.Get("Authorization"))
				_, _ = io.Copy(io.Discard, conn) // until the client closes
			}()
			base := &http.Transport{DisableKeepAlives: !tt.keepAlives}
			client, err := newClient(config{
				BaseURL: "http://" + listener.Addr().String(), MaxAttempts: 1, HTTPClient: &http.Client{Transport: base},
				Authorize: basic("EXAMPLE.REPO", "sesame"),
			})
			require.NoError(t, err)
			must(client.Do(t.Context(), transport.Request{Op: "x.Y", Method: "GET", Path: "/", Access: transport.Required}))(t)
			close(received)
			<-served
			base.CloseIdleConnections()
			if tt.printed {
				assert.Contains(t, <-printed, "Basic ")
				return
			}
			assert.Empty(t, printed)
		})
	}
}
