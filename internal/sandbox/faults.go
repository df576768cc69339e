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
	"strings"
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

// faults asks for the fault of each request, one request at a time.
type faults struct {
	mu  sync.Mutex
	n   int
	ask func(n int, r *http.Request) *Fault
}

func (f *faults) next(r *http.Request) *Fault {
	if f.ask == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.ask(f.n, r)
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

// play answers a request with a fault.
func (s *Service) play(f *Fault, w http.ResponseWriter, r *http.Request) {
	if f.Behind && s.deployed && f.Kind != Stall && f.Kind != Crash && interfaceOf(r) == 'C' {
		s.serveWith(f, w, r)
		return
	}
	switch f.Kind {
	case DropBefore:
		s.requests.add(r, 0, 0)
		f.drop()
	case DropDuring:
		n, _ := io.CopyN(io.Discard, r.Body, max(r.ContentLength, 2)/2)
		s.requests.add(r, 0, n)
		f.drop()
	case DropAfter:
		s.serve(httptest.NewRecorder(), r)
		f.drop()
	case Stall:
		s.serveWith(f, w, r)
	case Crash:
		s.crash(f, r)
		f.drop()
	case CutAnswer:
		f.cut(w, s.record(r))
	case Status:
		s.requests.add(r, f.status(), 0)
		f.balancer(w)
	case StatusAfter:
		s.record(r)
		f.balancer(w)
	case Delay:
		answer := s.record(r)
		time.Sleep(f.Delay)
		copyAnswer(w, answer, answer.Body.Bytes())
	default:
		panic(fmt.Sprintf("sandbox: no fault %q", f.Kind))
	}
}

// interfaceOf is the interface, A, B or C, that a request to a Deployed service
// goes to.
func interfaceOf(r *http.Request) byte {
	if _, ok := reportsPath(r.URL.EscapedPath()); ok {
		return 'A'
	}
	if path := arrivesAtStore(r.URL.EscapedPath()); path == "/dois" || strings.HasPrefix(path, "/dois/") {
		return 'B'
	}
	return 'C'
}

// crash does the work of a request until it comes to the fault's step.
func (s *Service) crash(f *Fault, r *http.Request) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			s.requests.add(r, 0, max(r.ContentLength, 0))
		} else if p != nil {
			panic(p)
		}
	}()
	s.serveWith(f, httptest.NewRecorder(), r)
}

// record does the work of a request and keeps the answer.
func (s *Service) record(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	s.serve(answer, r)
	return answer
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
