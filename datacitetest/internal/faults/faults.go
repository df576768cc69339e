// Package faults simulates failures between a client and the service.
package faults

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// FaultKind says how a request fails, and how far the service got with it.
type FaultKind string

// The kinds of faults. A dropped connection is an error of the client's round
// trip.
const (
	DropBefore  FaultKind = "drop-before"  // dropped at once: nothing was done
	DropDuring  FaultKind = "drop-during"  // dropped in the middle of the request's body: nothing was done
	DropAfter   FaultKind = "drop-after"   // the work was done, the response is lost
	CutResponse FaultKind = "cut-response" // the work was done, the response breaks off half-way
	Status      FaultKind = "status"       // a load balancer responds with Fault.Status: nothing was done
	StatusAfter FaultKind = "status-after" // the work was done, a load balancer responds with Fault.Status
	Delay       FaultKind = "delay"        // the work was done, the response comes after Fault.Delay
	Stall       FaultKind = "stall"        // a Deployed service stops for Fault.Delay at Fault.Step of its work, then goes on and responds
	Crash       FaultKind = "crash"        // dropped, because a Deployed service died at Fault.Step: what comes after was not done
)

// A Fault replaces the normal response to a request.
type Fault struct {
	Kind       FaultKind
	Status     int           // of Status and StatusAfter; 0 means 503
	Delay      time.Duration // how long the client waits for the response, or for the end of the connection; of Stall, how long it lasts
	RetryAfter time.Duration // sent with Status and StatusAfter in whole seconds, rounded up; 0 means not at all
	Step       Step          // of Stall and Crash: a moment in the work on a usage report

	// Behind says that the fault happens between the metadata store and the
	// service behind it, so that the client gets the store's response: 403 for a
	// dropped connection, 408 after a minute without a response. It has an effect only
	// with Deployed and on interface C.
	Behind bool
}

// scheduled are the faults that Schedule draws from.
var scheduled = []Fault{
	{Kind: DropBefore}, {Kind: DropDuring}, {Kind: DropAfter}, {Kind: CutResponse}, {Kind: Delay},
	{Kind: Status, Status: 500}, {Kind: Status, Status: 502}, {Kind: Status, Status: 503}, {Kind: Status, Status: 504},
	{Kind: Status, Status: 429, RetryAfter: time.Second},
	{Kind: StatusAfter, Status: 500}, {Kind: StatusAfter, Status: 502}, {Kind: StatusAfter, Status: 504},
}

// Schedule returns faults for Options.Faults: each request fails with the
// probability rate, from 0 to 1, with any of the kinds; delays are shorter than
// 10 ms. The same seed gives the n-th request the same fault.
func Schedule(seed uint64, rate float64) func(n int, r *http.Request) *Fault {
	return func(n int, _ *http.Request) *Fault {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		if random.Float64() >= rate {
			return nil
		}
		f := scheduled[random.IntN(len(scheduled))]
		if f.Kind == Delay {
			f.Delay = time.Duration(random.Int64N(int64(10 * time.Millisecond)))
		}
		return &f
	}
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

// A Step is a moment in the deployed service's work on a usage report. Between
// two steps other requests may run, and the process may halt or die: see [Stall] and
// [Crash].
type Step string

// The steps of a POST or PUT, in their order. DocumentRemoved and
// RowsDestroyed occur only in a compressed PUT over a report; row and header of a new
// report are committed together; a plain write over a report inserts no row.
const (
	Parsed          Step = "parsed"           // the body is read; nothing is done yet
	LookedUp        Step = "looked-up"        // the report is read, and compared with its document
	DocumentRemoved Step = "document-removed" // the document is removed, and its name in the database
	RowsDestroyed   Step = "rows-destroyed"   // the subsets that were read are gone
	RowInserted     Step = "row-inserted"     // the new subset is in the database
	HeaderCommitted Step = "header-committed" // the header is in the database, too
	Rendered        Step = "rendered"         // the response is made; its text becomes the document
	DocumentDeleted Step = "document-deleted" // the old document is gone, the new one not yet stored
	DocumentStored  Step = "document-stored"  // the new document is stored
	RowsCleaned     Step = "rows-cleaned"     // the bytes of the rows are deleted; the response follows
)

var steps = []Step{
	Parsed, LookedUp, DocumentRemoved, RowsDestroyed, RowInserted, HeaderCommitted, Rendered, DocumentDeleted, DocumentStored, RowsCleaned,
}
