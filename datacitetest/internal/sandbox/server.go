package sandbox

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
)

// A Server is a Service that can be reached: on a port of this machine, or by
// its own HTTP client alone.
type Server struct {
	URL string // where it listens; without a port an address that only HTTPClient reaches

	current  atomic.Pointer[Service]
	first    atomic.Pointer[Service] // what Reset copies
	hosts    []string                // that may be named, beside loopback names
	origins  []string                // of pages that may use it, beside those of hosts
	listener *httptest.Server        // nil without a port
	proof    *certificate            // nil without TLS
}

// Current is the service that gets the requests now.
func (s *Server) Current() *Service { return s.current.Load() }

// Checkpoint makes the present contents those to which Reset returns.
func (s *Server) Checkpoint() { s.first.Store(s.Current().Copy()) }

// Reset puts another service in the place of the current one, so that a request that has begun
// finds what there was and changes nothing that comes after it.
func (s *Server) Reset() {
	old := s.current.Swap(s.first.Load().Copy())
	old.front.Wake()
}

// ServeHTTP serves a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.Current().ServeHTTP(w, r) }

// RoundTrip serves a request in memory.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	return s.Current().Transport().RoundTrip(r)
}

// Serve starts a service. Its port is guarded, see [Server.Guard]. Without a port it has no goroutine and
// no socket, so it may live inside testing/synctest.
func Serve(opts *Options, noPort bool) *Server {
	s := new(Server)
	s.current.Store(New(opts))
	s.Checkpoint()
	if opts != nil {
		s.hosts, s.origins = opts.Hosts, opts.Origins
	}
	scheme := "http"
	if opts != nil && opts.TLS {
		s.proof, scheme = certify(s.hosts), "https"
	}
	if noPort {
		// Each has a loopback address of its own, on which nothing listens, so that two
		// servers are never taken for one.
		n := rand.Uint32()
		s.URL = fmt.Sprintf("%s://127.%d.%d.%d:1", scheme, n>>16&0xff, n>>8&0xff, n&0xff)
		return s
	}
	s.listener = httptest.NewUnstartedServer(s.Guard(s))
	if s.proof != nil {
		s.listener.TLS = s.proof.config
		s.listener.StartTLS()
		s.listener.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs = s.proof.roots
	} else {
		s.listener.Start()
	}
	s.URL = s.listener.URL
	return s
}

// CA is the certificate of the authority that clients must trust, in PEM; nil without TLS.
func (s *Server) CA() []byte {
	if s.proof == nil {
		return nil
	}
	return bytes.Clone(s.proof.pem)
}

// TLSConfig serves the certificate; nil without TLS.
func (s *Server) TLSConfig() *tls.Config {
	if s.proof == nil {
		return nil
	}
	return s.proof.config.Clone()
}

// HTTPClient returns a client that reaches the server.
func (s *Server) HTTPClient() *http.Client {
	if s.listener != nil {
		return s.listener.Client()
	}
	return &http.Client{Transport: s}
}

// Close frees the port and waits for requests under way.
func (s *Server) Close() {
	if s.listener != nil {
		s.listener.Close()
	}
	s.Current().Wait()
}
