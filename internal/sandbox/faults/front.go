package faults

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Front stands before a service, as a load balancer does. It plays the faults and
// keeps a record of the requests.
type Front struct {
	Ask    func(n int, r *http.Request) *Fault // nil for no faults
	Answer func(r *http.Request, f *Fault) (status int, send func(http.ResponseWriter))
	Behind func(r *http.Request) bool // the service has another one behind it, for such a request
	log    requestLog

	mu    sync.Mutex
	asked int
}

func (f *Front) next(r *http.Request) *Fault {
	if f.Ask == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.Ask(f.asked, r)
}

// ServeHTTP answers a request, or plays the fault that it meets.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := &countedBody{ReadCloser: r.Body}
	if r.Body == nil {
		body.ReadCloser = http.NoBody
	}
	r.Body = body
	fault := f.next(r)
	work := func(w http.ResponseWriter, at *Fault) {
		status, send := f.Answer(r, at)
		f.log.add(r, status, body.n)
		send(w)
	}
	drop := func() {
		f.log.add(r, 0, body.n)
		fault.drop()
	}
	record := func() *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		work(answer, nil)
		return answer
	}
	switch {
	case fault == nil:
		work(w, nil)
		return
	case fault.Kind == Stall, fault.Behind && fault.Kind != Crash && f.Behind(r):
		work(w, fault)
		return
	}
	switch fault.Kind {
	case DropBefore:
		drop()
	case DropDuring:
		_, _ = io.CopyN(io.Discard, r.Body, max(r.ContentLength, 2)/2)
		drop()
	case DropAfter:
		record()
		fault.drop()
	case Crash:
		if dies(func() { work(httptest.NewRecorder(), fault) }) {
			drop()
		}
		fault.drop()
	case CutAnswer:
		fault.cut(w, record())
	case Status:
		f.log.add(r, fault.Code(), body.n)
		fault.balancer(w)
	case StatusAfter:
		record()
		fault.balancer(w)
	case Delay:
		answer := record()
		time.Sleep(fault.Delay)
		copyAnswer(w, answer, answer.Body.Bytes())
	default:
		panic(fmt.Sprintf("sandbox: no fault %q", fault.Kind))
	}
}

// dies says whether work comes to the step where the service dies.
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
