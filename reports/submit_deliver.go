package reports

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
	"github.com/datacite-go/datacite-go/internal/delivery"
	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// deliver makes the service hold the plan. A [delivery.Run] decides what to do next, and
// deliver does it.
func (s *submission) deliver(ctx context.Context) error {
	left, others, err := s.lock.Last()
	if err != nil {
		return fmt.Errorf("reports.Submit: the record of earlier runs: %w", err)
	}
	core := s.client.core
	d := delivery.New(delivery.Settings{
		Subsets: len(s.plan), MaxProcessing: s.options.MaxProcessing, MaxOutage: s.options.MaxOutage,
		FirstPause: core.Pause(time.Second), LongestPause: core.Pause(time.Minute),
	}, left, others)
	var cause error // why the last look or write failed
	for {
		next := d.Next(time.Now())
		if next.Do == delivery.Send || next.Do == delivery.Finish {
			patient, _ := s.patient(ctx, time.Time{})
			replanned, err := s.correct(patient, d)
			if err != nil {
				return s.stopped(d, d.Without(), err)
			}
			if replanned {
				d = d.Replanned(len(s.plan))
				continue
			}
		}
		switch next.Do {
		case delivery.Look:
			if !s.found && cause != nil {
				next.Why += ": " + s.client.core.Text(cause.Error())
			}
			if err := s.wait(ctx, next, d.Stored); err != nil {
				return s.stopped(d, d.Interrupted(), also(cause, err))
			}
			asked := time.Now()
			patient, outage := s.patient(ctx, d.Failing)
			seen, err := s.look(patient)
			if err != nil && seen.Kind == delivery.Unseen {
				return s.stopped(d, d.Interrupted(), err)
			}
			if err != nil {
				cause, seen.Since = err, outage.Since
			}
			before := d
			if d = d.Looked(seen, asked, time.Now()); err == nil && !d.Lost {
				cause = settled(cause)
			}
			if before.Lost && d.Stored > before.Stored {
				s.sent++
			}
		case delivery.Send:
			d = d.Sending(next.Subset)
			shows, err := s.send(ctx, next.Subset)
			switch cause = err; {
			case err == nil:
				s.sent++
				d = d.Responded(shows, time.Now())
			case errors.Is(err, datacite.ErrUnclear) && !permanent(err), errors.Is(err, errNotReadNow):
				d = d.ResponseLost(time.Now())
			case !neverSent(err):
				s.note(d) // if it fails, the next run only waits longer
				return s.stopped(d, d.Without(), s.explain(next.Subset, settled(err)))
			}
		case delivery.Finish:
			s.completed()
			return nil
		case delivery.Stop:
			return s.stopped(d, next.State, cause)
		}
		if err := s.note(d); err != nil && d.Lost {
			return s.stopped(d, delivery.Unclear, also(cause, err))
		}
		if d.Stored > s.reported {
			s.reported = d.Stored
			s.progress(Progress{Stage: StageSending}, d.Stored)
		}
	}
}

// patient returns a context in which requests may fail for as long as is left of an outage that began
// then, or may begin.
func (s *submission) patient(ctx context.Context, began time.Time) (context.Context, *call.Outage) {
	settings := call.SettingsOf(ctx)
	settings.Outage = &call.Outage{Most: s.outage}
	if !began.IsZero() {
		settings.Outage.Most = max(s.outage-time.Since(began), s.outage/10)
	}
	return call.WithSettings(ctx, settings), settings.Outage
}

// note records what the next run has to know.
func (s *submission) note(d delivery.Run) error {
	if r, ok := d.Record(); ok {
		if r.State != 0 && !d.Seen.Foreign {
			r.Size = s.datasets(max(d.Stored, d.Seen.First))
		}
		if d.Seen.Kind == delivery.Shown && !d.Written && !s.left(d) { // the record is about to say what another program left
			if err := s.lock.SetPast(runlock.Unknown); err != nil {
				return err
			}
		}
		return s.lock.Note(r)
	}
	return nil
}

// wait waits until it is time for a step.
func (s *submission) wait(ctx context.Context, next delivery.Step, stored int) error {
	left := time.Until(next.At)
	if left <= 0 {
		return call.Ended(ctx)
	}
	until := next.End()
	s.warnOfToken(until)
	s.progress(Progress{Stage: StageWaiting, Reason: next.Why, Until: until}, stored)
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
		Path: "Config.Token", Code: datacite.CodeDate, Warning: true,
		Reason: fmt.Sprintf("expires at %s, and the run may wait until %s; what it has to send after that needs a new "+
			"token: submit the same data again with one", moment(at), moment(until)),
	})
}

// send sends subset i once: by PUT if it is the first, else by POST. It returns
// what the response shows.
func (s *submission) send(ctx context.Context, i int) (delivery.View, error) {
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
		return delivery.View{}, s.client.notWritten(ctx, "reports.Submit", s.id, err)
	case err != nil:
		return delivery.View{}, err
	case !strings.EqualFold(a.ID, s.id):
		return delivery.View{}, fmt.Errorf("%w: the service put subset %d into the report %.40q, not %s",
			datacite.ErrConflict, i+1, a.ID, s.id)
	case len(a.Subsets) == 0: // a service that does not list them, as the specification allows
		return delivery.View{Kind: delivery.Shown, First: i + 1}, nil
	}
	if first, ok := s.holds(a); ok && first == i+1 {
		return delivery.View{Kind: delivery.Shown, First: first, Hash: a.state()}, nil
	}
	s.listed = a.Subsets // only a look can show whether they hold the same datasets
	return delivery.View{}, nil
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
		err = fmt.Errorf("%w; the service holds a report of %q for %s under another id or for another account: look for it "+
			"with List, and submit with its id, or under another name",
			err, s.header.CreatedBy, s.header.ReportingPeriod.BeginDate)
	}
	if n := s.plan[i].Datasets; n > 1 && errors.Is(err, datacite.ErrTooLarge) {
		err = fmt.Errorf("%w; set SubmitOptions.MaxDatasets below %d", err, n)
	}
	return err
}

// stopped makes the error of a run that cannot continue.
func (s *submission) stopped(d delivery.Run, state delivery.State, err error) error {
	err = s.client.core.Shown(transport.Within("reports.Submit", err))
	switch {
	case state == delivery.Broken:
		err = fmt.Errorf("%w: report %s has been unreadable for %v: %w", ErrBroken, s.id,
			time.Since(d.Failing).Round(time.Second), err)
	case state == delivery.Disturbed && d.Written:
		err = fmt.Errorf("%w: the service holds something other than the first %d subsets of this report", ErrBusy, d.Stored)
	case state == delivery.Disturbed:
		err = fmt.Errorf("%w: report %s changed while nothing was sent", ErrBusy, s.id)
	}
	if time.Now().Before(d.Until) {
		err = fmt.Errorf("%w; no run may send anything before %s, because %s", err, d.Until.Format(time.RFC3339),
			d.WaitingFor())
	}
	if !d.Written {
		return fmt.Errorf("reports.Submit: %w; nothing was sent", err)
	}
	return &SubmitError{
		ReportID: s.id, State: SubmitState(state), Stored: s.subsets(d.Stored), Datasets: s.datasets(d.Stored),
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
	return ok && e.StatusCode == http.StatusInternalServerError &&
		slices.ContainsFunc([]string{"invalid date", "Invalid encoding", "Data too long", "Invalid request parameters"},
			func(text string) bool { return strings.Contains(e.Message, text) })
}
