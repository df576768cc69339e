package reports

import (
	"time"

	"github.com/datacite-go/datacite-go/internal/runlock"
)

// How a report comes to hold exactly the planned subsets, each once.
//
// The service takes two writes. PUT /reports/{id} replaces a report by one
// subset; POST /reports adds a subset to the report of that creator and month
// (specification §4.1, Large reports). There is no lock, no idempotency key and
// no delete. The deployed service keeps a report twice, as rows of a database and
// as one document with all subsets that is written later, and checks one against
// the other whenever the report is read or written. What follows (the evidence
// for each rule is in datacitetest/deployed-reports.md):
//
//  1. A POST adds its subset each time it arrives. It is sent again only after a look
//     has shown that it did not arrive.
//  2. If two writes happen at once, one document is lost and the report is permanently
//     unreadable. So nothing is sent while another write of this machine may be in
//     progress, or a visible one of another machine. A write continues after its
//     connection is closed, for up to MaxProcessing.
//  3. While a POST adds to a report that has a document, GET fails until the new
//     document is stored. So a subset that GET shows proves that its POST has ended.
//  4. While a PUT is in progress, and as long as a report has no document (a write
//     was refused or died), GET shows a subset as soon as it has a row, and the
//     document may be stored later or never. Then only time proves anything, even that
//     the report is complete. A run knows that a report has a document once it has
//     received the response to a write.
//  5. Subsets have no order: they are compared as a set.
//  6. The service does not refuse a PUT to the report of another account, or one that
//     leaves a report half replaced. So Submit looks at the report before the first PUT.
//
// A delivery is what a run knows. Submit asks it for the next step, carries out the
// step, and reports the result, until the step is finish or stop. A delivery is a
// plain value that reads no clock, so a test can explore every sequence of events:
// see TestEveryInterleaving.
type delivery struct {
	subsets       int // planned
	maxProcessing time.Duration
	maxOutage     time.Duration
	firstPause    time.Duration // between two looks; each further one is twice as long
	longestPause  time.Duration

	seen    view      // in the last look or the last response
	asked   time.Time // when that look began: what it shows is not newer
	seenAt  time.Time // when it ended, or when the last response was lost
	looks   int       // since the last write
	failing time.Time // since when looks fail; zero if the last one succeeded

	stored  int       // the first planned subsets, which this run has stored or found
	lost    bool      // the response to the write of subset stored was lost
	until   time.Time // from then on no known write is in progress
	written bool      // this run has sent something
	sound   bool      // this run received the response to a write: the report has a document
	tries   int       // how often subset stored was sent

	suspect bool           // the report was unreadable before this run sent anything: another program wrote
	watched view           // what was stored when this run began to wait for another program
	left    runlock.Record // by an earlier run of this account on this machine
}

// A view is what the service shows of a report, compared with the plan.
type view struct {
	kind    viewKind
	first   int       // how many of the planned subsets it holds, from the first one on
	foreign bool      // it holds something else, such as another report
	state   uint64    // a hash of what is stored; 0 if not known
	since   time.Time // of a failure: when the first request was sent that failed; zero if not known
}

type viewKind int

const (
	unseen      viewKind = iota // no look since something was sent
	unreachable                 // the service does not respond
	unreadable                  // the service cannot read the report: it is being written, or broken
	shown                       // see first and foreign; a report that does not exist has no subsets
)

// newDelivery begins a run. Left is the record of an earlier run on this machine, and
// others is when a request of another account on it may have been in progress; both are
// zero if there was none.
func newDelivery(subsets int, o SubmitOptions, left runlock.Record, others time.Time) delivery {
	d := delivery{subsets: subsets, maxProcessing: o.MaxProcessing, maxOutage: o.MaxOutage, firstPause: time.Second, longestPause: time.Minute, left: left}
	for _, request := range []runlock.Record{left, {At: others}} {
		if !request.At.IsZero() && request.State == 0 {
			d.until = later(d.until, request.At.Add(o.MaxProcessing))
		}
	}
	return d
}

// record returns what the next run has to know, or false if nothing is new.
func (d delivery) record() (runlock.Record, bool) {
	switch {
	case d.lost:
		return runlock.Record{At: d.until.Add(-d.maxProcessing)}, true
	case d.written:
		return runlock.Record{At: runlock.Idle, State: d.seen.state}, true
	case d.watched.kind == shown:
		return runlock.Record{At: d.until.Add(-d.maxProcessing), State: d.watched.state}, true
	case d.seen.kind == shown && d.left.State != d.seen.state && !d.asked.Before(d.until):
		r := runlock.Record{At: d.asked, State: d.seen.state}
		if d.ours(d.seen) {
			r.At = runlock.Idle
		}
		return r, true
	}
	return runlock.Record{}, false
}

// A step is what to do next.
type step struct {
	do     action
	at     time.Time   // of look: when
	until  time.Time   // of look: the latest end of the wait
	why    string      // of look: the reason for the wait
	subset int         // of send: 0 by PUT, the others by POST
	state  SubmitState // of stop
}

type action int

const (
	look action = iota
	send
	finish
	stop // the run cannot continue
)

// maxTries is how often a subset is sent that did not arrive.
const maxTries = 5

// next decides what to do at the time now.
func (d delivery) next(now time.Time) step {
	over := !now.Before(d.until) // no known write is in progress
	again := step{do: look, at: d.seenAt.Add(d.pause()), until: d.until, why: d.waitingFor()}
	if !d.failing.IsZero() {
		over := d.failing.Add(d.maxOutage)
		again.until = later(d.until, over)
		if over.Before(again.at) { // the last look
			again.at = over
		}
	}
	switch {
	case d.seen.kind == unseen && !d.lost:
		return step{do: look, at: now}
	case d.seen.kind == unseen:
		if !d.sound {
			again.at = d.until
		}
		return again

	// Looks fail.
	case d.seen.kind != shown && d.asked.Sub(d.failing) >= d.maxOutage:
		return step{do: stop, state: d.failed()}
	case d.seen.kind != shown:
		return again

	// A write may be in progress. A look can show that a POST to a sound report has
	// ended; see looked. Otherwise only time can.
	case !over:
		if !d.lost || !d.sound || d.until.Before(again.at) {
			again.at = d.until
		}
		return again
	case d.asked.Before(d.until):
		return step{do: look, at: now}

	// Nothing is in progress, and the report is as it was seen.
	case d.seen.first == d.subsets && !d.seen.foreign:
		return step{do: finish}
	case d.disturbed():
		return step{do: stop, state: Disturbed}
	case d.tries == maxTries:
		return step{do: stop, state: d.without()}
	case d.seen.foreign:
		return step{do: send, subset: 0}
	}
	return step{do: send, subset: d.seen.first}
}

// disturbed reports whether the report is not as this run left it, or changed
// while the run waited for another program.
func (d delivery) disturbed() bool {
	switch {
	case !d.written:
		return d.watched.kind == shown && d.watched != d.seen
	case d.stored == 0: // a PUT did not arrive: the old report is there, or nothing
		return !d.seen.foreign && d.seen.first > 0
	}
	return d.seen.foreign || d.seen.first != d.stored
}

// looked records what a look showed that began at asked and ended now.
func (d delivery) looked(s view, asked, now time.Time) delivery {
	over := !asked.Before(d.until)
	d.seen, d.asked, d.seenAt, d.looks = s, asked, now, d.looks+1
	if s.kind != shown {
		if d.failing.IsZero() {
			d.failing = later(asked, s.since)
		}
		d.suspect = d.suspect || s.kind == unreadable && !d.written && over
		return d
	}
	d.failing = time.Time{}
	arrived := !s.foreign && s.first == d.stored+1
	part := !s.foreign && s.first > 0 && s.first < d.subsets
	switch {
	case d.lost && (over || arrived && d.sound):
		d.lost, d.until = false, time.Time{}
		if arrived {
			d.stored, d.tries = s.first, 0
		}
	case !d.written && d.watched.kind == unseen && (d.suspect || part && !d.ours(s)):
		// Another program is writing, or it has stored a part and left no record on
		// this machine. If nothing changes for MaxProcessing, no request is in
		// progress. An earlier run may have begun this wait.
		since := now
		if d.left.State == s.state && s.state != 0 && !d.suspect {
			since = d.left.At
		}
		d.watched, d.until = s, later(d.until, since.Add(d.maxProcessing))
	}
	return d
}

// ours reports whether an earlier run of this account left what is seen, or sent a request
// that stored it. Some services list subsets in the response to a write, and show
// datasets later.
func (d delivery) ours(s view) bool {
	if d.left.State == 0 {
		return !d.left.At.IsZero()
	}
	return d.left.At.Equal(runlock.Idle) && (d.left.State == s.state || d.left.State&1 != s.state&1)
}

// replanned records that the plan has further subsets, so what was seen has to be compared
// with it again.
func (d delivery) replanned(subsets int) delivery {
	d.subsets, d.seen = subsets, view{}
	if d.watched.foreign { // which it may no longer be
		d.watched, d.suspect = view{}, false
	}
	return d
}

// sending records that a subset is about to be sent.
func (d delivery) sending(subset int) delivery {
	d.stored, d.written, d.tries, d.looks, d.seen = subset, true, d.tries+1, 0, view{}
	d.failing, d.until = time.Time{}, time.Time{}
	return d
}

// responded records that the service has stored what was sent, and what its response
// shows; unseen if it does not show that.
func (d delivery) responded(s view, now time.Time) delivery {
	d.stored, d.sound, d.tries, d.seen, d.seenAt = d.stored+1, true, 0, s, now
	return d
}

// responseLost records that it is unknown whether the service stores what was sent.
func (d delivery) responseLost(now time.Time) delivery {
	d.lost, d.until, d.seenAt = true, now.Add(d.maxProcessing), now
	return d
}

// pause is how long to wait before another look.
func (d delivery) pause() time.Duration {
	return min(d.firstPause<<min(d.looks, 10), d.longestPause)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// without is the state of a report to which the next subset was not added.
func (d delivery) without() SubmitState {
	switch {
	case d.stored > 0:
		return Incomplete
	case d.tries > 1: // a PUT that did not arrive completely may have removed the old report
		return Unclear
	}
	return Untouched
}

// failed is the state of a report that cannot be read. While a report is being
// written it cannot be read either.
func (d delivery) failed() SubmitState {
	if d.seen.kind == unreadable && !d.asked.Before(d.until) && d.asked.Sub(d.failing) >= d.maxProcessing {
		return Broken
	}
	return d.interrupted()
}

// interrupted is the state of a report whose run ends early.
func (d delivery) interrupted() SubmitState {
	if d.lost {
		return Unclear
	}
	return d.without()
}

// waitingFor is the reason for a wait.
func (d delivery) waitingFor() string {
	switch {
	case d.seen.kind == unreachable:
		return "the service cannot be reached, or fails"
	case d.seen.kind == unreadable:
		return "the service cannot read the report, which is normal while it is written"
	case d.lost:
		return "the response to the last request was lost, and the service may still be working on it"
	case d.watched.kind == shown:
		return "another program may be writing to the report"
	case d.written:
		return "the service has to show what it stored"
	}
	return "the last request of an earlier run may still be in progress"
}
