package bench_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A sink is a service that responds like the real one, which has no report yet,
// and forgets what it takes.
type sink struct{}

const sinkID = "0b8c7b1e-3c1c-4f6c-9d2e-5a4f3e2d1c0b"

func (sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/reports":
		fmt.Fprint(w, `{"reports":[],"meta":{"total":0,"total-pages":0,"page":1}}`)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`)
	default:
		// In large pieces, or the client would wait for the server.
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 256<<10))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"report":{"id":%q,"report-header":{},"report-datasets":[],"report-subsets":[]}}`, sinkID)
	}
}

// serve starts a sink in this process and returns its address.
func serve(t testing.TB) string {
	server := httptest.NewServer(sink{})
	t.Cleanup(server.Close)
	return server.URL
}

// serveApart starts a sink in a process of its own if the flag -server says so,
// so that its work does not count.
func serveApart(t testing.TB) string {
	if !*serverApart {
		return serve(t)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=sink")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}

// beSink is the process that serveApart starts. It ends with its standard input.
func beSink() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() { _ = http.Serve(listener, sink{}) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
