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
//  1. A POST adds its subset each time it arrives. It is sent again only after
//     it was seen not to have arrived.
//  2. Of two writes at once one document is lost, and the report is permanently
//     unreadable. So nothing is sent while another write of this machine may be under
//     way, or one of another machine of which something is seen. A write goes on
//     after its connection is gone; MaxProcessing bounds for how long.
//  3. While a POST adds to a report that has a document, GET fails until the new
//     document is stored. So a subset that is seen then proves that its POST has
//     ended.
//  4. While a PUT is under way, and as long as a report has no document (a write
//     was refused or died), GET shows a subset as soon as it has a row, and the
//     document may still come, or fail to come. Then what is seen proves nothing,
//     not even that the report is complete, and only time does. From outside, a
//     report is known to have a document once a write of this run was answered.
//  5. Subsets have no order: what is compared is the set.
//  6. A PUT is not refused for being somebody else's report, or for leaving it
//     half replaced. So everything is looked at before the first one.
//
// A delivery is what a run knows. Submit asks it for the next step, takes the
// step, and tells it the result, until the step is to finish or to stop. The
// delivery is a plain value and asks no clock, so a test can explore all that may
// happen: see TestEveryInterleaving.
type delivery struct {
	subsets       int // planned
	maxProcessing time.Duration
	maxOutage     time.Duration
	firstPause    time.Duration // between two looks; each further one is twice as long

	seen    sight     // by the last look, or in the last answer
	asked   time.Time // when that look began: what it shows is no newer
	seenAt  time.Time // when it ended, or when the last write was lost
	looks   int       // since the last write
	failing time.Time // since when looks fail; zero if the last one did not

	stored  int       // the first subsets, known to be stored by this run or found by it
	lost    bool      // the answer to subset stored was lost
	until   time.Time // no write of which we know is under way from then on
	written bool      // this run has sent something
	sound   bool      // a write of this run was answered: the report has a document
	tries   int       // how often subset stored was sent

	suspect bool           // the report could not be read before anything was sent: somebody else wrote
	watched sight          // what there was when this run began to wait for another program
	left    runlock.Record // by an earlier run of this account on this machine
}

// A sight is what the service shows of a report, compared with the plan.
type sight struct {
	kind    sightKind
	first   int    // it holds the first planned subsets, so many, ...
	foreign bool   // ... or something else than that, such as another report
	state   uint64 // tells what is stored from anything else; 0: not known
}

type sightKind int

const (
	unseen      sightKind = iota // no look since something was sent
	unreachable                  // the service does not answer
	unreadable                   // the service cannot read the report: it is being written, or broken
	shown                        // as first and foreign say; a report that does not exist has no subsets
)

// newDelivery begins a run. Left is what an earlier run on this machine noted, and
// others is when a request of another account on it may have been under way; both
// zero if there is none.
func newDelivery(subsets int, o SubmitOptions, left runlock.Record, others time.Time) delivery {
	d := delivery{subsets: subsets, maxProcessing: o.MaxProcessing, maxOutage: o.MaxOutage, firstPause: time.Second, left: left}
	for _, request := range []runlock.Record{left, {At: others}} {
		if !request.At.IsZero() && request.State == 0 {
			d.until = later(d.until, request.At.Add(o.MaxProcessing))
		}
	}
	return d
}

// record is what the next run has to know; false if nothing new is known.
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
	at     time.Time // of look: when
	until  time.Time // of look: the latest end of the wait
	why    string    // of look: what is waited for
	subset int       // of send: 0 by PUT, the others by POST
	state  SubmitState
}

type action int

const (
	look action = iota
	send
	finish
	stop // with a state: the run cannot go on
)

// mostTries is how often a subset is sent that was seen not to have arrived.
const mostTries = 5

// next decides what to do at the time now.
func (d delivery) next(now time.Time) step {
	over := !now.Before(d.until) // nothing that we know of is under way
	again := step{do: look, at: d.seenAt.Add(d.pause()), until: d.until, why: d.waitingFor()}
	if !d.failing.IsZero() {
		again.until = later(d.until, d.failing.Add(d.maxOutage))
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

	// A write may be under way. Of a lost POST to a sound report a look can tell
	// that it has ended; see saw. Of anything else only time can.
	case !over:
		if !d.lost || !d.sound || d.until.Before(again.at) {
			again.at = d.until
		}
		return again
	case d.asked.Before(d.until):
		return step{do: look, at: now}

	// Nothing is under way, and the report is as it was seen.
	case d.seen.first == d.subsets && !d.seen.foreign:
		return step{do: finish}
	case d.disturbed():
		return step{do: stop, state: Disturbed}
	case d.tries == mostTries:
		return step{do: stop, state: d.without()}
	case d.seen.foreign:
		return step{do: send, subset: 0}
	}
	return step{do: send, subset: d.seen.first}
}

// disturbed tells whether the report is not what this run has left, or changed
// while it waited for another program.
func (d delivery) disturbed() bool {
	switch {
	case !d.written:
		return d.watched.kind == shown && d.watched != d.seen
	case d.stored == 0: // a PUT did not arrive: what was there is there, or nothing
		return !d.seen.foreign && d.seen.first > 0
	}
	return d.seen.foreign || d.seen.first != d.stored
}

// saw takes in what a look showed that began at asked and ended now.
func (d delivery) saw(s sight, asked, now time.Time) delivery {
	over := !asked.Before(d.until)
	d.seen, d.asked, d.seenAt, d.looks = s, asked, now, d.looks+1
	if s.kind != shown {
		if d.failing.IsZero() {
			d.failing = asked
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
		// Another program is at work, or it left a part and no record of its last
		// request on this machine. If nothing changes while a request could be
		// in progress, that is not so. An earlier run may have begun to wait.
		since := now
		if d.left.State == s.state && s.state != 0 && !d.suspect {
			since = d.left.At
		}
		d.watched, d.until = s, later(d.until, since.Add(d.maxProcessing))
	}
	return d
}

// ours tells whether an earlier run of this account left what is seen, or a request
// that made it so. Some services show datasets of what they called subsets in the
// answer to a write.
func (d delivery) ours(s sight) bool {
	if d.left.State == 0 {
		return !d.left.At.IsZero()
	}
	return d.left.At.Equal(runlock.Idle) && (d.left.State == s.state || d.left.State&1 != s.state&1)
}

// sending takes in that a subset is about to be sent.
func (d delivery) sending(subset int) delivery {
	d.stored, d.written, d.tries, d.looks, d.seen = subset, true, d.tries+1, 0, sight{}
	d.failing, d.until = time.Time{}, time.Time{}
	return d
}

// answered takes in that the service has carried out what was sent, and what its
// answer shows; unseen if that does not tell.
func (d delivery) answered(s sight, now time.Time) delivery {
	d.stored, d.sound, d.tries, d.seen, d.seenAt = d.stored+1, true, 0, s, now
	return d
}

// lostAnswer takes in that it is not known whether the service carries out what
// was sent.
func (d delivery) lostAnswer(now time.Time) delivery {
	d.lost, d.until, d.seenAt = true, now.Add(d.maxProcessing), now
	return d
}

// pause is how long to wait before another look.
func (d delivery) pause() time.Duration {
	return min(d.firstPause<<min(d.looks, 10), time.Minute)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// without is the state of a report that the next subset did not get into.
func (d delivery) without() SubmitState {
	switch {
	case d.stored > 0:
		return Incomplete
	case d.tries > 1: // a PUT that did not arrive whole may have removed what was there
		return Unclear
	}
	return Untouched
}

// failed is the state of a report that cannot be looked at. A report that is being
// written cannot be read either.
func (d delivery) failed() SubmitState {
	if d.seen.kind == unreadable && !d.asked.Before(d.until) && d.asked.Sub(d.failing) >= d.maxProcessing {
		return Broken
	}
	return d.interrupted()
}

// interrupted is the state of a run that ends in the middle.
func (d delivery) interrupted() SubmitState {
	if d.lost {
		return Unclear
	}
	return d.without()
}

// waitingFor says why there is a wait.
func (d delivery) waitingFor() string {
	switch {
	case d.seen.kind == unreachable:
		return "the service cannot be reached, or fails"
	case d.seen.kind == unreadable:
		return "the service cannot read the report, which is normal while it is written"
	case d.lost:
		return "the answer to the last request was lost, and the service may still be working on it"
	case d.watched.kind == shown:
		return "another program may be writing to the report"
	case d.written:
		return "the service has to show what it stored"
	}
	return "the last request of an earlier run may still be under way"
}
