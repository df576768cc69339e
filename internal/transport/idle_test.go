package transport_test

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/transport"
)

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
