package reportstest

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
	Stall       FaultKind = "stall"        // a Deployed server stops for Fault.Delay at Fault.Step of its work, then goes on and answers
	Crash       FaultKind = "crash"        // dropped, because a Deployed server died at Fault.Step: what comes after was not done
)

// A Step is a moment in a Deployed server's work on a usage report that it was
// sent. A request that does not come to the step of its fault is done.
type Step string

// The steps of a POST or PUT, in their order. Document removed and rows
// destroyed are those of a compressed PUT over a report alone; row and header of
// a new report are committed at once; a plain write over a report has no row.
const (
	Parsed          Step = "parsed"           // the body is read; nothing is done yet
	LookedUp        Step = "looked-up"        // the report is read, and compared with its document
	DocumentRemoved Step = "document-removed" // the document is gone, and the database says so
	RowsDestroyed   Step = "rows-destroyed"   // the subsets that were read are gone
	RowInserted     Step = "row-inserted"     // the new subset is in the database
	HeaderCommitted Step = "header-committed" // so is the header
	Rendered        Step = "rendered"         // the answer is made, which will be the document
	DocumentDeleted Step = "document-deleted" // the old document is gone, the new one not there
	DocumentStored  Step = "document-stored"  // the new document is there
	RowsCleaned     Step = "rows-cleaned"     // the database has lost the bytes; the answer is due
)

// A Fault is what happens to one request instead of a plain answer.
type Fault struct {
	Kind       FaultKind
	Status     int           // of Status and StatusAfter; 0 means 503
	Delay      time.Duration // how long the client waits for the answer, or for the end of the connection; of Stall, how long it lasts
	RetryAfter time.Duration // sent with Status and StatusAfter in whole seconds, rounded up; 0 means not at all
	Step       Step          // of Stall and Crash

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
		return &sandbox.Fault{
			Kind: sandbox.FaultKind(f.Kind), Status: f.Status, Delay: f.Delay, RetryAfter: f.RetryAfter, Behind: f.Behind, Step: sandbox.Step(f.Step),
		}
	}
}
