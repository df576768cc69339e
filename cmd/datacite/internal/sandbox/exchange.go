package sandbox

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest"
)

// An exchange is a request and the response to it.
type exchange struct {
	At       time.Time
	Method   string
	Address  string
	Status   int // 0: the connection was dropped
	Response string
}

const (
	mostExchanges = 30
	maxShown      = 4000 // bytes of a response
)

// serve has the service respond, and keeps the exchange.
func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	seen := &recorder{ResponseWriter: w}
	x := exchange{At: time.Now(), Method: r.Method, Address: r.URL.RequestURI()}
	resets := s.resets.Load()
	defer func() { // a dropped connection is a panic
		x.Status, x.Response = seen.status, seen.text()
		if datacitetest.Writes(r) {
			s.changed.Store(true)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.resets.Load() != resets {
			return // what came before a reset is gone
		}
		s.last = slices.Insert(s.last, 0, x)
		s.last = s.last[:min(len(s.last), mostExchanges)]
	}()
	s.service.ServeHTTP(seen, r)
}

// A recorder keeps the beginning of a response while it is sent.
type recorder struct {
	http.ResponseWriter
	status int
	start  bytes.Buffer
}

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.start.Write(data[:min(len(data), maxShown-w.start.Len())])
	return w.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) text() string {
	var from io.Reader = &w.start
	if strings.Contains(w.Header().Get("Content-Encoding"), "gzip") {
		if unzipped, err := gzip.NewReader(&w.start); err == nil {
			from = unzipped
		}
	}
	text, _ := io.ReadAll(io.LimitReader(from, maxShown))
	return strings.ToValidUTF8(string(text), "\ufffd")
}
