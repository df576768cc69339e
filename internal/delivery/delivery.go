// Package delivery decides what a run of Submit does next, so that a report holds exactly the planned
// subsets, each once.
//
// The service takes two writes. PUT /reports/{id} replaces a report by one
// subset; POST /reports adds a subset to the report of that creator and month
// (specification §4.1, Large reports). There is no lock, no idempotency key and
// no delete. The deployed service keeps a report twice, as rows of a database and
// as one document with all subsets that is written later, and checks one against
// the other whenever the report is read or written. What follows (the evidence
// for each rule is in datacitetest/evidence/deployed-reports.md):
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
package delivery

import (
	"time"

	"github.com/datacite-go/datacite-go/internal/runlock"
)

// A Run is what a run knows. Submit asks it for the next step, carries out the step, and
// reports the result, until the step is Finish or Stop. A Run is a plain value that reads no
// clock, so a test can explore every sequence of events: see TestEveryInterleaving.
type Run struct {
	Settings

	Seen    View      // in the last look or the last response
	asked   time.Time // when that look began: what it shows is not newer
	seenAt  time.Time // when it ended, or when the last response was lost
	looks   int       // since the last write
	Failing time.Time // since when looks fail; zero if the last one succeeded

	Stored  int       // the first planned subsets, which this run has stored or found
	Lost    bool      // the response to the write of subset stored was lost
	Until   time.Time // from then on no known write is in progress
	Written bool      // this run has sent something
	sound   bool      // this run received the response to a write: the report has a document
	tries   int       // how often subset stored was sent

	suspect bool           // the report was unreadable before this run sent anything: another program wrote
	watched View           // what was stored when this run began to wait for another program
	Left    runlock.Record // by an earlier run of this account on this machine
}

// Settings are what a run is told.
type Settings struct {
	Subsets       int // planned
	MaxProcessing time.Duration
	MaxOutage     time.Duration
	FirstPause    time.Duration // between two looks; each further one is twice as long
	LongestPause  time.Duration
}

// A View is what the service shows of a report, compared with the plan.
type View struct {
	Kind    Kind
	First   int       // how many of the planned subsets it holds, from the first one on
	Foreign bool      // it holds something else, such as another report; First is 0 then
	Hash    uint64    // a hash of what is stored; 0 if not known
	Since   time.Time // of a failure: when the first request was sent that failed; zero if not known
}

// A Kind is what a look has found.
type Kind int

const (
	Unseen      Kind = iota // no look since something was sent
	Unreachable             // the service does not respond
	Unreadable              // the service cannot read the report: it is being written, or broken
	Shown                   // see First and Foreign; a report that does not exist has no subsets
)

// New begins a run. Left is the record of an earlier run on this machine, and
// others is when a request of another account on it may have been in progress; both are
// zero if there was none.
func New(s Settings, left runlock.Record, others time.Time) Run {
	d := Run{Settings: s, Left: left}
	for _, request := range []runlock.Record{left, {At: others}} {
		if !request.At.IsZero() && request.State == 0 {
			d.Until = later(d.Until, request.At.Add(s.MaxProcessing))
		}
	}
	return d
}

// Record returns what the next run has to know, or false if nothing is new.
func (d Run) Record() (runlock.Record, bool) {
	switch {
	case d.Lost:
		return runlock.Record{At: d.Until.Add(-d.MaxProcessing)}, true
	case d.Written:
		return runlock.Record{At: runlock.Idle, State: d.Seen.Hash}, true
	case d.watched.Kind == Shown:
		return runlock.Record{At: d.Until.Add(-d.MaxProcessing), State: d.watched.Hash}, true
	case d.Seen.Kind == Shown && d.Left.State != d.Seen.Hash && !d.asked.Before(d.Until):
		r := runlock.Record{At: d.asked, State: d.Seen.Hash}
		if d.ours(d.Seen) {
			r.At = runlock.Idle
		}
		return r, true
	}
	return runlock.Record{}, false
}

// A Step is what to do next.
type Step struct {
	Do     Action
	At     time.Time // of Look: when
	Until  time.Time // of Look: the latest end of the wait
	Why    string    // of Look: the reason for the wait
	Subset int       // of Send: 0 by PUT, the others by POST
	State  State     // of Stop
}

// End is the latest end of the wait for a step.
func (s Step) End() time.Time { return later(s.At, s.Until) }

// A State is the state of a report whose run has ended early.
type State string

// The states are those of an error of Submit, which says what each means.
const (
	Untouched  State = "untouched"
	Incomplete State = "incomplete"
	Unclear    State = "unclear"
	Disturbed  State = "disturbed"
	Broken     State = "broken"
)

// An Action is what a step does.
type Action int

const (
	Look Action = iota
	Send
	Finish
	Stop // the run cannot continue
)

// maxTries is how often a subset is sent that did not arrive.
const maxTries = 5

// Next decides what to do at the time now.
func (d Run) Next(now time.Time) Step {
	over := !now.Before(d.Until) // no known write is in progress
	again := Step{Do: Look, At: d.seenAt.Add(d.pause()), Until: d.Until, Why: d.WaitingFor()}
	if !d.Failing.IsZero() {
		over := d.Failing.Add(d.MaxOutage)
		again.Until = later(d.Until, over)
		if over.Before(again.At) { // the last look
			again.At = over
		}
	}
	switch {
	case d.Seen.Kind == Unseen && !d.Lost:
		return Step{Do: Look, At: now}
	case d.Seen.Kind == Unseen:
		if !d.sound {
			again.At = d.Until
		}
		return again

	// Looks fail.
	case d.Seen.Kind != Shown && d.asked.Sub(d.Failing) >= d.MaxOutage:
		return Step{Do: Stop, State: d.failed()}
	case d.Seen.Kind != Shown:
		return again

	// A write may be in progress. A look can show that a POST to a sound report has
	// ended; see Looked. Otherwise only time can.
	case !over:
		if !d.Lost || !d.sound || d.Until.Before(again.At) {
			again.At = d.Until
		}
		return again
	case d.asked.Before(d.Until):
		return Step{Do: Look, At: now}

	// Nothing is in progress, and the report is as it was seen.
	case d.Seen.First == d.Subsets && !d.Seen.Foreign:
		return Step{Do: Finish}
	case d.disturbed():
		return Step{Do: Stop, State: Disturbed}
	case d.tries == maxTries:
		return Step{Do: Stop, State: d.Without()}
	case d.Seen.Foreign:
		return Step{Do: Send, Subset: 0}
	}
	return Step{Do: Send, Subset: d.Seen.First}
}

// disturbed reports whether the report is not as this run left it, or changed
// while the run waited for another program.
func (d Run) disturbed() bool {
	switch {
	case !d.Written:
		return d.watched.Kind == Shown && d.watched != d.Seen
	case d.Stored == 0: // a PUT did not arrive: the old report is there, or nothing
		return d.Seen.First > 0
	}
	return d.Seen.First != d.Stored
}

// Looked records what a look showed that began at asked and ended now.
func (d Run) Looked(s View, asked, now time.Time) Run {
	over := !asked.Before(d.Until)
	d.Seen, d.asked, d.seenAt, d.looks = s, asked, now, d.looks+1
	if s.Kind != Shown {
		if d.Failing.IsZero() {
			d.Failing = later(asked, s.Since)
		}
		d.suspect = d.suspect || s.Kind == Unreadable && over
		return d
	}
	d.Failing = time.Time{}
	arrived, part := s.First == d.Stored+1, s.First > 0 && s.First < d.Subsets
	switch {
	case d.Lost && (over || arrived && d.sound):
		d.Lost, d.Until = false, time.Time{}
		if arrived {
			d.Stored, d.tries = s.First, 0
		}
	case !d.Written && d.watched.Kind == Unseen && (d.suspect || part && !d.ours(s)):
		// Another program is writing, or it has stored a part and left no record on
		// this machine. If nothing changes for MaxProcessing, no request is in
		// progress. An earlier run may have begun this wait.
		since := now
		if d.Left.State == s.Hash && s.Hash != 0 && !d.suspect {
			since = d.Left.At
		}
		d.watched, d.Until = s, later(d.Until, since.Add(d.MaxProcessing))
	}
	return d
}

// ours reports whether an earlier run of this account left what is seen, or sent a request
// that stored it. Some services list subsets in the response to a write, and show
// datasets later.
func (d Run) ours(s View) bool {
	if d.Left.State == 0 {
		return !d.Left.At.IsZero()
	}
	return d.Left.At.Equal(runlock.Idle) && (d.Left.State == s.Hash || d.Left.State&1 != s.Hash&1)
}

// Replanned records that the plan has further subsets, so what was seen has to be compared
// with it again.
func (d Run) Replanned(subsets int) Run {
	d.Subsets, d.Seen = subsets, View{}
	if d.watched.Foreign { // which it may no longer be
		d.watched, d.suspect = View{}, false
	}
	return d
}

// Sending records that a subset is about to be sent.
func (d Run) Sending(subset int) Run {
	d.Stored, d.Written, d.tries, d.looks, d.Seen = subset, true, d.tries+1, 0, View{}
	return d
}

// Responded records that the service has stored what was sent, and what its response
// shows; Unseen if it does not show that.
func (d Run) Responded(s View, now time.Time) Run {
	d.Stored, d.sound, d.tries, d.Seen, d.seenAt = d.Stored+1, true, 0, s, now
	return d
}

// ResponseLost records that it is unknown whether the service stores what was sent.
func (d Run) ResponseLost(now time.Time) Run {
	d.Lost, d.Until, d.seenAt = true, now.Add(d.MaxProcessing), now
	return d
}

// pause is how long to wait before another look.
func (d Run) pause() time.Duration {
	return min(d.FirstPause<<min(d.looks, 10), d.LongestPause)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Without is the state of a report to which the next subset was not added.
func (d Run) Without() State {
	switch {
	case d.Stored > 0:
		return Incomplete
	case d.tries > 1: // a PUT that did not arrive completely may have removed the old report
		return Unclear
	}
	return Untouched
}

// failed is the state of a report that cannot be read. While a report is being
// written it cannot be read either.
func (d Run) failed() State {
	if d.Seen.Kind == Unreadable && !d.asked.Before(d.Until) && d.asked.Sub(d.Failing) >= d.MaxProcessing {
		return Broken
	}
	return d.Interrupted()
}

// Interrupted is the state of a report whose run ends early.
func (d Run) Interrupted() State {
	if d.Lost {
		return Unclear
	}
	return d.Without()
}

// WaitingFor is the reason for a wait.
func (d Run) WaitingFor() string {
	switch {
	case d.Seen.Kind == Unreachable:
		return "the service cannot be reached, or fails"
	case d.Seen.Kind == Unreadable:
		return "the service cannot read the report, which is normal while it is written"
	case d.Lost:
		return "the response to the last request was lost, and the service may still be working on it"
	case d.watched.Kind == Shown:
		return "another program may be writing to the report"
	}
	return "the last request of an earlier run may still be in progress"
}
