package sandbox

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
)

// A Server is a Service that can be reached: on a port of this machine, or by
// its own HTTP client alone.
type Server struct {
	*Service
	URL string // where it listens; without a port an address that only HTTPClient reaches

	hosts    []string         // that may be named, beside loopback names
	listener *httptest.Server // nil without a port
}

// Serve starts a service. Its port is guarded, see [Server.Guard]. Without a port it has no goroutine and
// no socket, so it may live inside testing/synctest.
func Serve(opts *Options, noPort bool) *Server {
	s := &Server{Service: New(opts)}
	if opts != nil {
		s.hosts = opts.Hosts
	}
	if noPort {
		// Each has a loopback address of its own, on which nothing listens, so that two
		// servers are never taken for one.
		n := rand.Uint32()
		s.URL = fmt.Sprintf("http://127.%d.%d.%d:1", n>>16&0xff, n>>8&0xff, n&0xff)
		return s
	}
	s.listener = httptest.NewServer(s.Guard(s.Service))
	s.URL = s.listener.URL
	return s
}

// HTTPClient returns a client that reaches the server.
func (s *Server) HTTPClient() *http.Client {
	if s.listener != nil {
		return s.listener.Client()
	}
	return &http.Client{Transport: s.Transport()}
}

// Close frees the port and waits for requests under way.
func (s *Server) Close() {
	if s.listener != nil {
		s.listener.Close()
	}
	s.Wait()
}
