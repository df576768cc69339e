// Package faults simulates failures between a client and the service.
package faults

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// FaultKind says how a request fails; package datacitetest documents each kind.
type FaultKind string

const (
	DropBefore  FaultKind = "drop-before"
	DropDuring  FaultKind = "drop-during"
	DropAfter   FaultKind = "drop-after"
	CutResponse FaultKind = "cut-response"
	Status      FaultKind = "status"
	StatusAfter FaultKind = "status-after"
	Delay       FaultKind = "delay"
	Stall       FaultKind = "stall"
	Crash       FaultKind = "crash"
)

// A Fault replaces the normal response to a request; see datacitetest.Fault.
type Fault struct {
	Kind       FaultKind
	Status     int
	Delay      time.Duration
	RetryAfter time.Duration
	Step       Step
	Behind     bool
}

// drop ends the connection: the server of net/http closes it, and the
// transport in memory fails.
func (f *Fault) drop() {
	time.Sleep(f.Delay)
	panic(http.ErrAbortHandler)
}

func (f *Fault) cut(w http.ResponseWriter, recorded *httptest.ResponseRecorder) {
	body := recorded.Body.Bytes()
	if len(body) == 0 {
		f.drop()
	}
	time.Sleep(f.Delay)
	recorded.Header().Set("Content-Length", strconv.Itoa(len(body)))
	copyResponse(w, recorded, body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func copyResponse(w http.ResponseWriter, recorded *httptest.ResponseRecorder, body []byte) {
	maps.Copy(w.Header(), recorded.Header())
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(body)
}

// Code is the status of the response.
func (f *Fault) Code() int {
	if f.Status == 0 {
		return http.StatusServiceUnavailable
	}
	return f.Status
}

// balancer responds in place of the service.
func (f *Fault) balancer(w http.ResponseWriter) {
	time.Sleep(f.Delay)
	h := w.Header()
	h.Set("Server", "awselb/2.0")
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	h.Set("Content-Type", "text/html")
	w.WriteHeader(f.Code())
	_, _ = w.Write(HTMLPage(f.Code(), ""))
}

// HTMLPage is a page of a gateway, which did not reach the service.
func HTMLPage(status int, by string) []byte {
	var b bytes.Buffer
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	fmt.Fprintf(&b, "<html>\r\n<head><title>%s</title></head>\r\n<body>\r\n<center><h1>%s</h1></center>\r\n", title, title)
	if by != "" {
		fmt.Fprintf(&b, "<hr><center>%s</center>\r\n", by)
	}
	b.WriteString("</body>\r\n</html>\r\n")
	return b.Bytes()
}

// A Step is a moment in the deployed service's work on a usage report, as datacitetest.Fault
// lists them. Between two steps other requests may run, and the process may halt or die.
type Step string

const (
	Parsed          Step = "parsed"
	LookedUp        Step = "looked-up"
	DocumentRemoved Step = "document-removed"
	RowsDestroyed   Step = "rows-destroyed"
	RowInserted     Step = "row-inserted"
	HeaderCommitted Step = "header-committed"
	Rendered        Step = "rendered"
	DocumentDeleted Step = "document-deleted"
	DocumentStored  Step = "document-stored"
	RowsCleaned     Step = "rows-cleaned"
)

var steps = []Step{
	Parsed, LookedUp, DocumentRemoved, RowsDestroyed, RowInserted, HeaderCommitted, Rendered, DocumentDeleted,
	DocumentStored, RowsCleaned,
}
