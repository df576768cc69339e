package datacitetest

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
)

// A Fault is a failure or delay of one request.
//
// Stall and Crash happen at a Step of a Deployed server's work on a usage report. The steps of
// a POST or PUT, in their order:
//
//	parsed             the body is read; nothing is done yet
//	looked-up          the report is read, and compared with its document
//	document-removed   the document is removed, and its name in the database
//	rows-destroyed     the subsets that were read are gone
//	row-inserted       the new subset is in the database
//	header-committed   so is the header
//	rendered           the response is made; it becomes the document
//	document-deleted   the old document is gone, the new one not there
//	document-stored    the new document is there
//	rows-cleaned       the bytes are removed from the database; the response comes next
//
// Only a compressed PUT that replaces a report has document-removed and rows-destroyed. A
// plain write to an existing report has no row-inserted; a plain write of a new report does
// row-inserted and header-committed in one step. If a request does not reach the step of its
// fault, it completes; for FaultCrash the response is dropped anyway.
type Fault struct {
	Kind   FaultKind // "" means FaultStatus; another text is 501
	Status int       // for FaultStatus and FaultStatusAfter; 0 means 503
	// Delay: how long the client waits for the response, or for the end of the connection; for
	// FaultStall, the length of the pause
	Delay      time.Duration
	RetryAfter time.Duration // sent with FaultStatus and FaultStatusAfter in whole seconds, rounded up; 0 means not at all
	Step       string        // for FaultStall and FaultCrash: a step of the list above; another text is 501

	// Behind moves the fault between the metadata store and its backend. The client gets
	// the store's response to it: 403 "Access is denied" for a dropped connection, 408
	// after a minute without a response. It has an effect only on the metadata store of a
	// Deployed server.
	Behind bool
}

// A FaultKind says how a request fails, and whether the server has carried it out.
type FaultKind string

// The kinds of faults. A dropped connection is an error of the client's round
// trip, as if the server had reset it.
const (
	FaultDropBefore  FaultKind = "drop-before"  // dropped at once: nothing was done
	FaultDropDuring  FaultKind = "drop-during"  // dropped in the middle of the request's body: nothing was done
	FaultDropAfter   FaultKind = "drop-after"   // the work was done, the response is lost
	FaultCutResponse FaultKind = "cut-response" // the work was done, the response breaks off half-way
	// FaultStatus: nothing was done, a load balancer responds with Fault.Status and a page of HTML
	FaultStatus      FaultKind = "status"
	FaultStatusAfter FaultKind = "status-after" // the work was done, a load balancer responds with Fault.Status
	FaultDelay       FaultKind = "delay"        // the work was done, the response comes after Fault.Delay
	// FaultStall: a Deployed server stops for Fault.Delay at Fault.Step, then goes on and responds
	FaultStall FaultKind = "stall"
	// FaultCrash: dropped, because a Deployed server died at Fault.Step; later steps were not done
	FaultCrash FaultKind = "crash"
)

// Faults returns the fault of the n-th request, counted from 1, or nil. A nil function means no faults. A
// server calls it from one goroutine at a time. It must not read the request's body.
// In this example, one interface is down:
//
//	func(n int, r *http.Request) *datacitetest.Fault {
//		if strings.HasPrefix(r.URL.Path, "/metadata") {
//			return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 502}
//		}
//		return nil
//	}
//
// The results of [First], [Schedule] and [Faults.When] may count requests: make new ones for
// each server.
type Faults func(n int, r *http.Request) *Fault

func (f Faults) of(n int, r *http.Request) *Fault {
	if f == nil {
		return nil
	}
	return f(n, r)
}

// First returns one fault for each of the first requests, and none for later requests. nil
// means no fault.
func First(faults ...*Fault) Faults {
	return func(n int, _ *http.Request) *Fault {
		if n > len(faults) {
			return nil
		}
		return faults[n-1]
	}
}

// Schedule returns random faults: each request fails with the probability rate, from 0 to
// 1, with a fault of any kind except Stall and Crash; delays are shorter than 10 ms. The
// same seed gives the n-th request the same fault.
func Schedule(seed uint64, rate float64) Faults {
	return func(n int, _ *http.Request) *Fault {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		if random.Float64() >= rate {
			return nil
		}
		f := scheduled[random.IntN(len(scheduled))]
		if f.Kind == FaultDelay {
			f.Delay = time.Duration(random.Int64N(int64(10 * time.Millisecond)))
		}
		return &f
	}
}

var scheduled = []Fault{
	{Kind: FaultDropBefore}, {Kind: FaultDropDuring}, {Kind: FaultDropAfter}, {Kind: FaultCutResponse}, {Kind: FaultDelay},
	{Kind: FaultStatus, Status: 500}, {Kind: FaultStatus,
		Status: 502}, {Kind: FaultStatus, Status: 503}, {Kind: FaultStatus, Status: 504},
	{Kind: FaultStatus, Status: 429, RetryAfter: time.Second},
	{Kind: FaultStatusAfter, Status: 500}, {Kind: FaultStatusAfter, Status: 502}, {Kind: FaultStatusAfter, Status: 504},
}

// When returns the faults of f for chosen requests only; other requests are not counted.
func (f Faults) When(chosen func(*http.Request) bool) Faults {
	var n atomic.Int64
	return func(_ int, r *http.Request) *Fault {
		if !chosen(r) {
			return nil
		}
		return f.of(int(n.Add(1)), r)
	}
}

// Or returns the faults of f and, for requests without one, those of other. Each of the two
// numbers requests independently of the other.
func (f Faults) Or(other Faults) Faults {
	return func(n int, r *http.Request) *Fault {
		if fault := f.of(n, r); fault != nil {
			return fault
		}
		return other.of(n, r)
	}
}

// Writes reports whether a request is a write: POST, PUT, PATCH or DELETE. It is for
// [Faults.When].
func Writes(r *http.Request) bool {
	return slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, r.Method)
}

// inside hands faults on to the service.
func (f Faults) inside() func(n int, r *http.Request) *faults.Fault {
	return func(n int, r *http.Request) *faults.Fault {
		f := f.of(n, r)
		if f == nil {
			return nil
		}
		return &faults.Fault{
			Kind: faults.FaultKind(cmp.Or(f.Kind, FaultStatus)), Status: f.Status, Delay: f.Delay, RetryAfter: f.RetryAfter,
			Step: faults.Step(f.Step), Behind: f.Behind,
		}
	}
}
