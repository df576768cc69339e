package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// FaultKind says how a request fails, and how far the service got with it.
type FaultKind string

// The kinds of faults. A dropped connection is an error of the client's round
// trip.
const (
	DropBefore  FaultKind = "drop-before"  // dropped at once: nothing was done
	DropDuring  FaultKind = "drop-during"  // dropped in the middle of the request's body: nothing was done
	DropAfter   FaultKind = "drop-after"   // the work was done, the answer is lost
	CutAnswer   FaultKind = "cut-answer"   // the work was done, the answer breaks off half-way
	Status      FaultKind = "status"       // a load balancer answers Fault.Status: nothing was done
	StatusAfter FaultKind = "status-after" // the work was done, a load balancer answers Fault.Status
	Delay       FaultKind = "delay"        // the work was done, the answer comes after Fault.Delay
	Stall       FaultKind = "stall"        // a Deployed service stops for Fault.Delay at Fault.Step of its work, then goes on and answers
	Crash       FaultKind = "crash"        // dropped, because a Deployed service died at Fault.Step: what comes after was not done
)

// A Fault is what happens to one request instead of a plain answer.
type Fault struct {
	Kind       FaultKind
	Status     int           // of Status and StatusAfter; 0 means 503
	Delay      time.Duration // how long the client waits for the answer, or for the end of the connection; of Stall, how long it lasts
	RetryAfter time.Duration // sent with Status and StatusAfter in whole seconds, rounded up; 0 means not at all
	Step       Step          // of Stall and Crash: a moment in the work on a usage report

	// Behind says that the fault happens between the metadata store and the
	// service behind it, so that the client gets what the store makes of it: 403
	// for a connection that drops, 408 after a minute without an answer. It counts
	// in a Deployed service and for interface C; else it is as without it.
	Behind bool
}

// scheduled are the faults that Schedule draws from.
var scheduled = []Fault{
	{Kind: DropBefore}, {Kind: DropDuring}, {Kind: DropAfter}, {Kind: CutAnswer}, {Kind: Delay},
	{Kind: Status, Status: 500}, {Kind: Status, Status: 502}, {Kind: Status, Status: 503}, {Kind: Status, Status: 504},
	{Kind: Status, Status: 429, RetryAfter: time.Second},
	{Kind: StatusAfter, Status: 500}, {Kind: StatusAfter, Status: 502}, {Kind: StatusAfter, Status: 504},
}

// Schedule returns faults for Options.Faults: each request fails with the
// probability rate, from 0 to 1, in one of all the ways there are; delays are
// shorter than a second. The same seed gives the n-th request the same fate.
func Schedule(seed uint64, rate float64) func(n int, r *http.Request) *Fault {
	return func(n int, _ *http.Request) *Fault {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		if random.Float64() >= rate {
			return nil
		}
		f := scheduled[random.IntN(len(scheduled))]
		if f.Kind == Delay {
			f.Delay = time.Duration(random.Int64N(int64(time.Second)))
		}
		return &f
	}
}

// front stands before a service, as a load balancer does. It plays the faults and
// keeps a record of the requests.
type front struct {
	ask    func(n int, r *http.Request) *Fault // nil for no faults
	answer func(r *http.Request, f *Fault) (status int, send func(http.ResponseWriter))
	behind func(r *http.Request) bool // the service has another one behind it, for such a request
	log    requestLog

	mu    sync.Mutex
	asked int
}

func (f *front) next(r *http.Request) *Fault {
	if f.ask == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.ask(f.asked, r)
}

// ServeHTTP answers a request, or plays the fault that it meets.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := &countedBody{ReadCloser: r.Body}
	if r.Body == nil {
		body.ReadCloser = http.NoBody
	}
	r.Body = body
	fault := f.next(r)
	work := func(w http.ResponseWriter, at *Fault) {
		status, send := f.answer(r, at)
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
	case fault.Kind == Stall, fault.Behind && fault.Kind != Crash && f.behind(r):
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
		f.log.add(r, fault.status(), body.n)
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

// drop ends the connection: the server of net/http closes it, and the
// transport in memory fails.
func (f *Fault) drop() {
	time.Sleep(f.Delay)
	panic(http.ErrAbortHandler)
}

func (f *Fault) cut(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	body := answer.Body.Bytes()
	if len(body) == 0 {
		f.drop()
	}
	time.Sleep(f.Delay)
	answer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	copyAnswer(w, answer, body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func copyAnswer(w http.ResponseWriter, answer *httptest.ResponseRecorder, body []byte) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}

func (f *Fault) status() int {
	if f.Status == 0 {
		return http.StatusServiceUnavailable
	}
	return f.Status
}

// balancer answers in place of the service.
func (f *Fault) balancer(w http.ResponseWriter) {
	time.Sleep(f.Delay)
	h := w.Header()
	h.Set("Server", "awselb/2.0")
	if f.RetryAfter > 0 {
		seconds := (f.RetryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	h.Set("Content-Type", "text/html")
	w.WriteHeader(f.status())
	_, _ = w.Write(htmlPage(f.status(), ""))
}

// htmlPage is an answer that never came near the service.
func htmlPage(status int, by string) []byte {
	var b bytes.Buffer
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	fmt.Fprintf(&b, "<html>\r\n<head><title>%s</title></head>\r\n<body>\r\n<center><h1>%s</h1></center>\r\n", title, title)
	if by != "" {
		fmt.Fprintf(&b, "<hr><center>%s</center>\r\n", by)
	}
	b.WriteString("</body>\r\n</html>\r\n")
	return b.Bytes()
}
