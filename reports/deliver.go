package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// deliver makes the service hold the plan. What to do next is decided by
// [delivery]; here it is done.
func (s *submission) deliver(ctx context.Context) error {
	lastRequest, err := s.lock.LastRequest()
	if err != nil {
		return fmt.Errorf("reports.Submit: the record of the last request: %w", err)
	}
	d := newDelivery(len(s.plan), s.options, lastRequest)
	var cause error // why the last look or write failed
	for {
		switch next := d.next(time.Now()); next.do {
		case look:
			if err := s.wait(ctx, next, d.stored); err != nil {
				return s.stopped(d, d.interrupted(), also(cause, err))
			}
			asked := time.Now()
			seen, err := s.look(ctx)
			if err != nil && seen.kind == unseen {
				return s.stopped(d, d.interrupted(), err)
			}
			if err != nil {
				cause = err
			}
			d = d.saw(seen, asked, time.Now())
		case send:
			d = d.sending(next.subset)
			answer, err := s.send(ctx, next.subset)
			switch cause = err; {
			case err == nil:
				s.sent++
				d = d.answered(answer, time.Now())
			case errors.Is(err, ErrUnclear) && !permanent(err):
				d = d.lostAnswer(time.Now())
				if err := s.lock.UnderWay(); err != nil {
					return s.stopped(d, Unclear, also(cause, err))
				}
			case !neverSent(err):
				s.lock.Ended()
				return s.stopped(d, d.without(), s.explain(next.subset, err))
			}
		case finish:
			return nil
		case stop:
			return s.stopped(d, next.state, cause)
		}
		if d.idle(time.Now()) {
			s.lock.Ended()
		}
		if d.stored > s.reported {
			s.reported = d.stored
			s.progress(Progress{Stage: Sending}, d.stored)
		}
	}
}

// wait waits until it is time for a step.
func (s *submission) wait(ctx context.Context, next step, stored int) error {
	left := time.Until(next.at)
	if left <= 0 {
		return context.Cause(ctx)
	}
	s.progress(Progress{Stage: Waiting, Reason: next.why, Until: later(next.at, next.until)}, stored)
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send sends subset i once: by PUT if it is the first, else by POST. It returns
// what the answer shows.
func (s *submission) send(ctx context.Context, i int) (sight, error) {
	method, path := http.MethodPost, "/reports"
	if i == 0 {
		method, path = http.MethodPut, "/reports/"+s.id
		s.accepted, s.covered = nil, 0
	}
	request := body{Body: s.lock.Watch(s.body(i)), compressed: true}.request("reports.Submit", method, path)
	request.Replay = transport.IfUnsent // a lost PUT may still be at work, too
	request.Before = s.lock.UnderWay
	s.listed = nil
	a, err := s.client.store(ctx, request)
	switch {
	case err != nil:
		return sight{}, err
	case !strings.EqualFold(a.ID, s.id):
		return sight{}, fmt.Errorf("%w: the service put subset %d into the report %.40q, not %s", ErrConflict, i+1, a.ID, s.id)
	case len(a.Subsets) == 0: // a service that does not list them, as the specification allows
		return sight{kind: shown, first: i + 1}, nil
	}
	if first, ok := s.holds(a.Subsets); ok && first == i+1 {
		return sight{kind: shown, first: first}, nil
	}
	s.listed = a.Subsets // which may hold the same, and only a look can tell
	return sight{}, nil
}

// look compares what the service holds with the plan. An error comes with what
// kind of failure it is; unseen is one that another look does not mend.
func (s *submission) look(ctx context.Context) (sight, error) {
	request := scanning("reports.Submit", s.id)
	request.Replay = transport.IfUnsent // deliver has pauses of its own
	stored, err := s.client.store(ctx, request)
	switch {
	case errors.Is(err, ErrNotFound):
		return sight{kind: shown}, nil
	case err != nil:
		return sight{kind: failure(err)}, err
	}
	if err := s.mayWrite(stored); err != nil {
		return sight{}, err
	}
	if stored.Shown == 0 && len(stored.Subsets) == 0 {
		return sight{kind: shown}, nil
	}
	if s.header.differs(&stored.Header) != "" {
		return sight{kind: shown, foreign: true}, nil
	}
	if first, ok := s.holds(stored.Subsets); ok && stored.Shown == 0 {
		return sight{kind: shown, first: first}, nil
	}
	// Another release of a compressor may have made the subsets, or a service
	// shows datasets and no subsets.
	first, held, err := s.holdsContent(ctx)
	switch {
	case err != nil:
		return sight{kind: failure(err)}, err
	case first == 0:
		return sight{kind: shown, foreign: true}, nil
	case len(held) > 0:
		s.accepted, s.covered = held, first
	case s.listed != nil:
		s.accepted, s.covered = s.listed, first
	}
	return sight{kind: shown, first: first}, nil
}

// mayWrite compares the report that is stored under our id with the one that a
// POST would add to. A PUT is never refused for that: it would replace somebody
// else's report.
func (s *submission) mayWrite(stored *storedReport) error {
	h := &stored.Header
	conflict := func(what, is, ours string) error {
		return fmt.Errorf("%w: the %s of report %s is %.100q, not %q", ErrConflict, what, s.id, is, ours)
	}
	year, month := s.header.ReportingPeriod.yearMonth()
	switch {
	case stored.Account != "" && s.account != "" && !strings.EqualFold(stored.Account, s.account):
		return conflict("account", stored.Account, s.account)
	case !strings.EqualFold(h.CreatedBy, cmp.Or(s.kept.CreatedBy, s.header.CreatedBy)):
		return conflict("creator", h.CreatedBy, s.header.CreatedBy)
	case stored.Month != "" && (stored.Year != year || stored.Month != month):
		return conflict("month", stored.Year+"-"+stored.Month, year+"-"+month)
	}
	s.keep(h)
	return nil
}

// holds tells how many of the planned subsets are stored, if they are the first
// ones and nothing else is.
func (s *submission) holds(stored []Subset) (first int, ok bool) {
	first = s.covered + len(stored) - len(s.accepted)
	return first, first >= s.covered && first <= len(s.plan) && sameSubsets(stored, s.subsets(first))
}

// sameSubsets compares lists without regard to order.
func sameSubsets(a, b []Subset) bool { return slices.Equal(sortedChecksums(a), sortedChecksums(b)) }

func sortedChecksums(subsets []Subset) []string {
	sums := make([]string, len(subsets))
	for i, s := range subsets {
		sums[i] = strings.ToLower(s.Checksum)
	}
	slices.Sort(sums)
	return sums
}

// also is what stopped a run, after what was wrong before.
func also(before, err error) error {
	if before == nil {
		return err
	}
	return fmt.Errorf("%w; then %w", before, err)
}

// explain adds to the error of a refused subset what can be done.
func (s *submission) explain(i int, err error) error {
	if i == 0 && errors.Is(err, ErrConflict) {
		err = fmt.Errorf("%w; the service holds a report of %q for %s under another id or for another account: look for it with List, and submit with its id, or under another name",
			err, s.header.CreatedBy, s.header.ReportingPeriod.BeginDate)
	}
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w; set SubmitOptions.MaxBytes below %d", err, s.plan[i].Bytes)
	}
	return err
}

// stopped makes the error of a run that cannot go on.
func (s *submission) stopped(d delivery, state SubmitState, err error) error {
	switch {
	case state == Broken:
		err = fmt.Errorf("%w: report %s has been unreadable for %v: %w", ErrBroken, s.id, time.Since(d.failing).Round(time.Second), err)
	case state == Disturbed && d.written:
		err = fmt.Errorf("%w: the service holds something else than the first %d subsets of this report", ErrBusy, d.stored)
	case state == Disturbed:
		err = fmt.Errorf("%w: report %s changed while nothing was sent", ErrBusy, s.id)
	}
	if !d.written {
		return fmt.Errorf("reports.Submit: %w; nothing was sent", err)
	}
	return &SubmitError{
		ReportID: s.id, State: state, Stored: s.subsets(d.stored), Datasets: s.datasets(d.stored),
		Of: len(s.subsets(len(s.plan))), Err: err,
	}
}

// failure tells what the error of a look means. Failures that pass are a service
// that cannot be reached, and one that cannot read a report because it is being
// written.
func failure(err error) sightKind {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok || errors.Is(err, ErrTooLarge):
		return unseen
	case e.StatusCode >= 500 && (strings.Contains(e.Message, "[UsageReports]") || strings.Contains(e.Message, "attachment for this report cannot be found")):
		return unreadable
	case e.StatusCode == 0 && e.Attempts > 0 && !errors.Is(err, context.Canceled),
		e.StatusCode >= 500 || e.StatusCode == http.StatusTooManyRequests || errors.Is(err, ErrUnreadable):
		return unreachable
	}
	return unseen
}

// neverSent tells whether no connection could be made.
func neverSent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.StatusCode == 0 && e.Attempts > 0 && !e.Unclear
}

// permanent recognises the failures of the deployed service that are really
// about the request.
func permanent(err error) bool {
	e, ok := errors.AsType[*Error](err)
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
