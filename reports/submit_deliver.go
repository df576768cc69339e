package reports

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// deliver makes the service hold the plan. [delivery] decides what to do next, and
// deliver does it.
func (s *submission) deliver(ctx context.Context) error {
	left, others, err := s.lock.Last()
	if err != nil {
		return fmt.Errorf("reports.Submit: the record of earlier runs: %w", err)
	}
	d := newDelivery(len(s.plan), s.options, left, others)
	d.firstPause, d.longestPause = s.client.core.Pause(d.firstPause), s.client.core.Pause(d.longestPause)
	var cause error // why the last look or write failed
	for {
		next := d.next(time.Now())
		if next.do == send || next.do == finish {
			patient, _ := s.patient(ctx, time.Time{})
			replanned, err := s.correct(patient, d)
			if err != nil {
				return s.stopped(d, d.without(), err)
			}
			if replanned {
				d = d.replanned(len(s.plan))
				continue
			}
		}
		switch next.do {
		case look:
			if !s.found && cause != nil {
				next.why += ": " + s.client.core.Text(cause.Error())
			}
			if err := s.wait(ctx, next, d.stored); err != nil {
				return s.stopped(d, d.interrupted(), also(cause, err))
			}
			asked := time.Now()
			patient, outage := s.patient(ctx, d.failing)
			seen, err := s.look(patient)
			if err != nil && seen.kind == unseen {
				return s.stopped(d, d.interrupted(), err)
			}
			if err != nil {
				cause, seen.since = err, outage.Since
			}
			before := d
			if d = d.looked(seen, asked, time.Now()); err == nil && !d.lost {
				cause = settled(cause)
			}
			if before.lost && d.stored > before.stored {
				s.sent++
			}
		case send:
			d = d.sending(next.subset)
			shows, err := s.send(ctx, next.subset)
			switch cause = err; {
			case err == nil:
				s.sent++
				d = d.responded(shows, time.Now())
			case errors.Is(err, datacite.ErrUnclear) && !permanent(err), errors.Is(err, errNotReadNow):
				d = d.responseLost(time.Now())
			case !neverSent(err):
				s.note(d) // if it fails, the next run only waits longer
				return s.stopped(d, d.without(), s.explain(next.subset, settled(err)))
			}
		case finish:
			s.completed()
			return nil
		case stop:
			return s.stopped(d, next.state, cause)
		}
		if err := s.note(d); err != nil && d.lost {
			return s.stopped(d, Unclear, also(cause, err))
		}
		if d.stored > s.reported {
			s.reported = d.stored
			s.progress(Progress{Stage: Sending}, d.stored)
		}
	}
}

// patient returns a context in which requests may fail for as long as is left of an outage that began then, or may begin.
func (s *submission) patient(ctx context.Context, began time.Time) (context.Context, *call.Outage) {
	settings := call.SettingsOf(ctx)
	settings.Outage = &call.Outage{Most: s.outage}
	if !began.IsZero() {
		settings.Outage.Most = max(s.outage-time.Since(began), s.outage/10)
	}
	return call.WithSettings(ctx, settings), settings.Outage
}

// note records what the next run has to know.
func (s *submission) note(d delivery) error {
	if r, ok := d.record(); ok {
		if r.State != 0 && !d.seen.foreign {
			r.Size = s.datasets(max(d.stored, d.seen.first))
		}
		if d.seen.kind == shown && !d.written && !s.left(d) { // the record is about to say what another program left
			if err := s.lock.SetPast(runlock.Unknown); err != nil {
				return err
			}
		}
		return s.lock.Note(r)
	}
	return nil
}

// wait waits until it is time for a step.
func (s *submission) wait(ctx context.Context, next step, stored int) error {
	left := time.Until(next.at)
	if left <= 0 {
		return call.Ended(ctx)
	}
	until := later(next.at, next.until)
	s.warnOfToken(until)
	s.progress(Progress{Stage: Waiting, Reason: next.why, Until: until}, stored)
	return transport.Sleep(ctx, left)
}

// warnOfToken warns, once, of a wait that may outlive the token.
func (s *submission) warnOfToken(until time.Time) {
	at := s.expires
	if at.IsZero() || until.Before(at) {
		return
	}
	s.expires = time.Time{}
	s.warn(datacite.Finding{
		Path: "Config.Token", Code: "date", Warning: true,
		Reason: fmt.Sprintf("expires at %s, and the run may wait until %s; what it has to send after that needs a new token: submit the same data again with one", moment(at), moment(until)),
	})
}

// send sends subset i once: by PUT if it is the first, else by POST. It returns
// what the response shows.
func (s *submission) send(ctx context.Context, i int) (view, error) {
	method, path := http.MethodPost, "/reports"
	if i == 0 {
		method, path = http.MethodPut, "/reports/"+s.id
		s.accepted, s.covered, s.kept.Created = nil, 0, ""
	}
	request := body{Body: s.lock.Watch(s.body(i)), compressed: true}.request("reports.Submit", method, path)
	request.Before = s.lock.Sending
	s.listed = nil
	a, err := s.client.requestStored(ctx, request)
	switch {
	case errors.Is(err, datacite.ErrInvalid):
		return view{}, s.client.notWritten(ctx, "reports.Submit", s.id, err)
	case err != nil:
		return view{}, err
	case !strings.EqualFold(a.ID, s.id):
		return view{}, fmt.Errorf("%w: the service put subset %d into the report %.40q, not %s", datacite.ErrConflict, i+1, a.ID, s.id)
	case len(a.Subsets) == 0: // a service that does not list them, as the specification allows
		return view{kind: shown, first: i + 1}, nil
	}
	if first, ok := s.holds(a); ok && first == i+1 {
		return view{kind: shown, first: first, state: a.state()}, nil
	}
	s.listed = a.Subsets // only a look can show whether they hold the same datasets
	return view{}, nil
}

// settled returns the error of a write whose outcome is known by now, so that it no longer
// says the opposite.
func settled(err error) error {
	if e, ok := errors.AsType[*datacite.Error](err); ok {
		e.Unclear = false
	}
	return err
}

// also joins what stopped a run with the failure before it.
func also(before, err error) error {
	if before == nil {
		return err
	}
	return fmt.Errorf("%w; then %w", before, err)
}

// explain adds advice to the error of a refused subset.
func (s *submission) explain(i int, err error) error {
	if i == 0 && errors.Is(err, datacite.ErrConflict) {
		err = fmt.Errorf("%w; the service holds a report of %q for %s under another id or for another account: look for it with List, and submit with its id, or under another name",
			err, s.header.CreatedBy, s.header.ReportingPeriod.BeginDate)
	}
	if n := s.plan[i].Datasets; n > 1 && errors.Is(err, datacite.ErrTooLarge) {
		err = fmt.Errorf("%w; set SubmitOptions.MaxDatasets below %d", err, n)
	}
	return err
}

// stopped makes the error of a run that cannot continue.
func (s *submission) stopped(d delivery, state SubmitState, err error) error {
	err = s.client.core.Shown(transport.Within("reports.Submit", err))
	switch {
	case state == Broken:
		err = fmt.Errorf("%w: report %s has been unreadable for %v: %w", ErrBroken, s.id, time.Since(d.failing).Round(time.Second), err)
	case state == Disturbed && d.written:
		err = fmt.Errorf("%w: the service holds something other than the first %d subsets of this report", ErrBusy, d.stored)
	case state == Disturbed:
		err = fmt.Errorf("%w: report %s changed while nothing was sent", ErrBusy, s.id)
	}
	if time.Now().Before(d.until) {
		err = fmt.Errorf("%w; no run may send anything before %s, because %s", err, d.until.Format(time.RFC3339), d.waitingFor())
	}
	if !d.written {
		return fmt.Errorf("reports.Submit: %w; nothing was sent", err)
	}
	return &SubmitError{
		ReportID: s.id, State: state, Stored: s.subsets(d.stored), Datasets: s.datasets(d.stored),
		Total: len(s.subsets(len(s.plan))), Err: err,
	}
}

// neverSent reports whether no connection could be made.
func neverSent(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.StatusCode == 0 && e.Attempts > 0 && !e.Unclear
}

// permanent reports whether a failure of the deployed service is really a fault of the
// request, which it would refuse again.
func permanent(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	if !ok || e.StatusCode != http.StatusInternalServerError {
		return false
	}
	for _, text := range []string{"invalid date", "Invalid encoding", "Data too long", "Invalid request parameters"} {
		if strings.Contains(e.Message, text) {
			return true
		}
	}
	return false
}
