package doistest

import (
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go/internal/sandbox"
)

// A FaultKind says how a request fails, and how far the server got with it.
type FaultKind string

// The kinds of faults. A dropped connection is an error of the client's round
// trip, as when the other side resets it.
const (
	DropBefore  FaultKind = "drop-before"  // dropped at once: nothing was done
	DropDuring  FaultKind = "drop-during"  // dropped in the middle of the request's body: nothing was done
	DropAfter   FaultKind = "drop-after"   // the work was done, the answer is lost
	CutAnswer   FaultKind = "cut-answer"   // the work was done, the answer breaks off half-way
	Status      FaultKind = "status"       // a load balancer answers Fault.Status with a page of HTML: nothing was done
	StatusAfter FaultKind = "status-after" // the work was done, a load balancer answers Fault.Status
	Delay       FaultKind = "delay"        // the work was done, the answer comes after Fault.Delay
)

// A Fault is what happens to one request instead of a plain answer.
type Fault struct {
	Kind       FaultKind
	Status     int           // of Status and StatusAfter; 0 means 503
	Delay      time.Duration // how long the client waits for the answer, or for the end of the connection
	RetryAfter time.Duration // sent with Status and StatusAfter in whole seconds, rounded up; 0 means not at all

	// Behind says that the fault happens between the metadata store and the
	// service behind it; see package mdstest. It counts in a Deployed server and
	// for the metadata store; else it is as without it.
	Behind bool
}

// Schedule returns faults for [Options.Faults]: each request fails with the
// probability rate, from 0 to 1, in one of all the ways there are; delays are
// shorter than a second. The same seed gives the n-th request the same fate.
func Schedule(seed uint64, rate float64) func(n int, r *http.Request) *Fault {
	fate := sandbox.Schedule(seed, rate)
	return func(n int, r *http.Request) *Fault {
		f := fate(n, r)
		if f == nil {
			return nil
		}
		return &Fault{Kind: FaultKind(f.Kind), Status: f.Status, Delay: f.Delay, RetryAfter: f.RetryAfter, Behind: f.Behind}
	}
}

// inside hands faults on to the service.
func inside(ask func(n int, r *http.Request) *Fault) func(n int, r *http.Request) *sandbox.Fault {
	if ask == nil {
		return nil
	}
	return func(n int, r *http.Request) *sandbox.Fault {
		f := ask(n, r)
		if f == nil {
			return nil
		}
		return &sandbox.Fault{Kind: sandbox.FaultKind(f.Kind), Status: f.Status, Delay: f.Delay, RetryAfter: f.RetryAfter, Behind: f.Behind}
	}
}
