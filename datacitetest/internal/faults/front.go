package faults

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"
)

// A Front stands before a service like a load balancer. It causes faults and logs requests.
type Front struct {
	Respond func(r *http.Request, f *Fault) (status int, send func(http.ResponseWriter))
	Behind  func(r *http.Request) bool // whether such a request has another service behind this one
	log     requestLog

	mu    sync.Mutex
	ask   func(n int, r *http.Request) *Fault // nil for no faults
	asked int
}

// SetFaults replaces the faults of requests; nil means none. ask gets the number of the request,
// counted from here.
func (f *Front) SetFaults(ask func(n int, r *http.Request) *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ask, f.asked = ask, 0
}

func (f *Front) next(r *http.Request) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ask == nil {
		return nil
	}
	f.asked++
	return f.ask(f.asked, r)
}

// ServeHTTP serves a request, or causes its fault.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := &countedBody{ReadCloser: r.Body}
	if r.Body == nil {
		body.ReadCloser = http.NoBody
	}
	r.Body = body
	c := call{Front: f, Request: r, body: body, fault: f.next(r)}
	switch at := c.fault; {
	case at != nil && (at.Kind == Stall || at.Kind == Crash) && !slices.Contains(steps, at.Step):
		c.refuse(w, "step", string(at.Step))
	case c.fault == nil, c.fault.Kind == Stall, c.fault.Behind && c.fault.Kind != Crash && f.Behind(r):
		c.work(w, c.fault)
	default:
		c.play(w)
	}
}

// call is a request on its way to the service.
type call struct {
	*Front
	*http.Request
	body  *countedBody
	fault *Fault
}

// work has the service respond, with a fault during its work, if any.
func (c call) work(w http.ResponseWriter, at *Fault) {
	status, send := c.Respond(c.Request, at)
	c.note(status)
	send(w)
}

// note logs the request. The status is 0 without a response.
func (c call) note(status int) { c.log.add(c, status) }

// worked is the response after the work was done.
func (c call) worked() *httptest.ResponseRecorder {
	recorded := httptest.NewRecorder()
	c.work(recorded, nil)
	return recorded
}

func (c call) play(w http.ResponseWriter) {
	switch f := c.fault; f.Kind {
	case DropBefore:
		c.note(0)
		f.drop()
	case DropDuring:
		_, _ = io.CopyN(io.Discard, c.body, max(c.ContentLength, 2)/2)
		c.note(0)
		f.drop()
	case DropAfter:
		c.worked()
		f.drop()
	case Crash:
		if dies(func() { c.work(httptest.NewRecorder(), f) }) {
			c.note(0)
		}
		f.drop()
	case CutResponse:
		f.cut(w, c.worked())
	case Status:
		c.note(f.Code())
		f.balancer(w)
	case StatusAfter:
		c.worked()
		f.balancer(w)
	case Delay:
		recorded := c.worked()
		time.Sleep(f.Delay)
		copyResponse(w, recorded, recorded.Body.Bytes())
	default:
		c.refuse(w, "kind", string(f.Kind))
	}
}

// refuse responds to a fault that there is not with a status that clients do not retry: net/http
// hides a panic.
func (c call) refuse(w http.ResponseWriter, what, name string) {
	c.note(http.StatusNotImplemented)
	http.Error(w, fmt.Sprintf("datacitetest: Fault: no %s %q", what, name), http.StatusNotImplemented)
}

// dies says whether the work reaches the step at which the service dies.
func dies(work func()) (died bool) {
	defer func() {
		p := recover()
		if died = p == http.ErrAbortHandler; p != nil && !died {
			panic(p)
		}
	}()
	work()
	return false
}
