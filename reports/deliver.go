package reports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// found is what the service holds of a report, compared with what is planned.
type found struct {
	there  bool // there is a report of that id
	prefix int  // how many of the planned subsets it holds, from the first one on
	more   bool // it holds something else besides
}

func (f found) is(n int) bool { return f.there && f.prefix == n && !f.more }

// resume looks at what is stored and returns how many planned subsets need not
// be sent. If it is more than none, the report is otherwise empty.
func (s *submission) resume(ctx context.Context) (int, error) {
	f, err := s.firstLook(ctx)
	switch {
	case err != nil:
		return 0, err
	case f.is(len(s.plan)):
		return len(s.plan), nil
	case f.more || f.prefix == 0:
		return 0, nil
	case s.claim.waited:
		return f.prefix, nil
	}
	// Part of the report is there, and no run of this machine left word: another
	// one stopped, or is at work. Time tells: if nothing changes while a request
	// could be under way, nobody is.
	if err := sleep(ctx, s.options.Settle); err != nil {
		return 0, fmt.Errorf("reports.Submit: %w", err)
	}
	again, err := s.firstLook(ctx)
	switch {
	case err != nil:
		return 0, err
	case again.is(len(s.plan)):
		return len(s.plan), nil
	case again != f:
		return 0, fmt.Errorf("reports.Submit: %w: report %s grew from %d to %d of %d subsets while nothing was sent", ErrBusy, s.id, f.prefix, again.prefix, len(s.plan))
	}
	return f.prefix, nil
}

// firstLook looks before anything is sent, and again while the report cannot be
// read because somebody is writing it.
func (s *submission) firstLook(ctx context.Context) (found, error) {
	var f found
	err := s.poll(ctx, func(time.Duration) (bool, error) {
		var err error
		f, err = s.look(ctx)
		return err == nil, err
	})
	return f, err
}

// deliver stores planned subset i: by PUT if it is the first, else by POST. What
// is stored must not be the first i+1 subsets yet, or it could not be seen whether
// a request arrived whose answer was lost. It returns when the service holds
// exactly the first i+1 subsets, or with an error that says what it holds.
func (s *submission) deliver(ctx context.Context, i int) error {
	for try := 1; ; try++ {
		err := s.post(ctx, i)
		switch {
		case err == nil:
			s.claim.settled()
			return nil
		case !errors.Is(err, ErrUnclear):
			s.claim.settled()
			return s.refused(i, err)
		}
		arrived, lookErr := s.settle(ctx, i, err)
		if lookErr != nil {
			return lookErr
		}
		s.claim.settled()
		switch {
		case arrived:
			s.recognise(i)
			return nil
		case permanent(err) || try == mostTries:
			return s.failed(i, without(i), err)
		}
	}
}

// recognise takes what an answer listed after subset i for the first i+1 planned
// subsets, when a look has shown that they hold the same: another compressor made
// some of them, or they were cut elsewhere.
func (s *submission) recognise(i int) {
	if s.listed != nil && !s.same(s.listed, i+1) {
		s.accepted, s.covered = s.listed, i+1
	}
}

// without is the state of a report that subset i surely did not get into.
func without(i int) SubmitState {
	if i == 0 {
		return Untouched
	}
	return Incomplete
}

// mostTries is how often a subset is sent that was seen not to have arrived.
const mostTries = 5

// post sends subset i once and checks the answer.
func (s *submission) post(ctx context.Context, i int) error {
	method, path := http.MethodPost, "/reports"
	if i == 0 {
		method, path = http.MethodPut, "/reports/"+s.id
	}
	request := body{s.body(i), true}.request("reports.Submit", method, path)
	request.Replay = transport.IfUnsent // a lost PUT may still be at work, too
	request.Before = s.claim.sending
	s.listed = nil
	a, err := s.client.store(ctx, request)
	switch {
	case err != nil:
		return err
	case !strings.EqualFold(a.ID, s.id):
		return fmt.Errorf("%w: the service put subset %d into the report %s", ErrConflict, i+1, a.ID)
	case len(a.Subsets) == 0:
		return nil // a service that does not list them, as the specification allows
	case !s.same(a.Subsets, i+1):
		err := fmt.Errorf("after subset %d the service lists %d subsets that are not the first %d of this report; another program writes to it, or a request of an earlier run arrived late",
			i+1, len(a.Subsets), i+1)
		if i == 0 {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		s.listed = a.Subsets // which may hold the same, and only a look can tell
		return fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	return nil
}

// same tells whether stored subsets are the first n planned ones.
func (s *submission) same(stored []Subset, n int) bool {
	return slices.EqualFunc(stored, s.subsets(n), func(a, b Subset) bool { return a.Checksum == b.Checksum })
}

// settle finds out whether subset i arrived whose answer was lost. It looks with
// growing pauses: the subset may be seen at any time, but that it will not come
// is certain only after the service has had time to finish what it may have
// been doing.
func (s *submission) settle(ctx context.Context, i int, cause error) (arrived bool, err error) {
	looks := 0
	err = s.poll(ctx, func(since time.Duration) (bool, error) {
		f, err := s.look(ctx)
		if err != nil {
			return false, err
		}
		looks++
		arrived = f.is(i + 1)
		switch {
		case arrived:
			return true, nil
		case i > 0 && !f.is(i):
			return false, fmt.Errorf("%w: the service holds something else than the first %d subsets of this report", ErrBusy, i)
		}
		return permanent(cause) || looks >= 2 && since >= s.options.Settle, nil
	})
	if err == nil {
		return arrived, nil
	}
	state := Unclear
	switch {
	case errors.Is(err, ErrBroken):
		state = Broken
	case errors.Is(err, ErrBusy):
		state = Disturbed
	}
	return false, s.failed(i, state, errors.Join(cause, err))
}

// poll calls look, with pauses that grow, until it says that it is done, fails
// for good, or Patience is over. Failures that pass are a service that cannot be
// reached, and one that cannot read a report because it is being written; a
// report that stays unreadable is broken.
func (s *submission) poll(ctx context.Context, look func(since time.Duration) (done bool, err error)) error {
	start := time.Now()
	pause := time.Second
	for {
		done, err := look(time.Since(start))
		switch {
		case done:
			return nil
		case err != nil && !passing(err):
			return err
		case err != nil && time.Since(start) >= s.options.Patience:
			if unreadableReport(err) {
				return fmt.Errorf("%w: report %s has been unreadable for %v: %w", ErrBroken, s.id, time.Since(start).Round(time.Second), err)
			}
			return err
		}
		pause = min(2*pause, time.Minute)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// look compares what is stored with the plan: by the checksums that the service
// shows, and where these do not explain all of it, by the datasets themselves.
func (s *submission) look(ctx context.Context) (found, error) {
	stored, err := s.client.scan(ctx, "reports.Submit", s.id)
	switch {
	case errors.Is(err, ErrNotFound):
		return found{}, nil
	case err != nil:
		return found{}, err
	case stored.Shown == 0 && len(stored.Subsets) == 0:
		return found{there: true}, nil
	}
	if stored.Shown == 0 {
		if f := s.compareChecksums(stored.Subsets); !f.more {
			return f, nil
		}
	}
	if s.header.differs(&stored.Header) != "" {
		return found{there: true, more: true}, nil
	}
	return s.compareContent(ctx)
}

// compareChecksums compares stored subsets with the planned ones.
func (s *submission) compareChecksums(stored []Subset) found {
	if len(s.accepted) > len(stored) || !s.same(stored[:len(s.accepted)], s.covered) {
		return found{there: true, more: true}
	}
	f := found{there: true, prefix: s.covered}
	for _, sub := range stored[len(s.accepted):] {
		if f.prefix == len(s.plan) || sub.Checksum != s.plan[f.prefix].Checksum {
			f.more = true
			break
		}
		f.prefix++
	}
	return f
}

// compareContent reads the stored datasets and compares them with the plan,
// subset by subset. It serves a service that shows no subsets, and subsets that
// another release of a compressor made.
func (s *submission) compareContent(ctx context.Context) (found, error) {
	r, err := s.client.open(ctx, "reports.Submit", s.id)
	if err != nil {
		return found{}, err
	}
	defer r.Close()
	planned, stop := iter.Pull2(s.datasetsPlanned())
	defer stop()
	f := found{there: true}
	var entries [2][]byte
	n := 0 // datasets of the subset
	for stored, err := range r.Scan() {
		if err != nil {
			return found{}, err
		}
		if f.prefix == len(s.plan) {
			f.more = true
			return f, nil
		}
		want, err, ok := planned()
		if err != nil {
			return found{}, err
		}
		if !ok || !sameEntry(stored, want, &entries) {
			f.more = true
			return f, nil
		}
		if n++; n == s.plan[f.prefix].Datasets {
			f.prefix++
			n = 0
		}
	}
	f.more = n > 0
	if !f.more && len(r.Subsets) > 0 {
		s.accepted, s.covered = slices.Clone(r.Subsets), f.prefix
	}
	return f, nil
}

// datasetsPlanned yields the datasets of the plan, read from the spooled bodies.
func (s *submission) datasetsPlanned() iter.Seq2[*Dataset, error] {
	return func(yield func(*Dataset, error) bool) {
		for i := range s.plan {
			r, err := NewReader(s.body(i))
			if err != nil {
				yield(nil, err)
				return
			}
			for d, err := range r.Scan() {
				if !yield(d, err) {
					return
				}
			}
		}
	}
}

// sameEntry tells whether two datasets would be sent as the same entry. It makes
// the entries in the memory of the last ones.
func sameEntry(a, b *Dataset, entries *[2][]byte) bool {
	for i, d := range []*Dataset{a, b} {
		var err error
		if entries[i], err = appendDataset(entries[i][:0], d); err != nil {
			return false
		}
	}
	return bytes.Equal(entries[0], entries[1])
}

// refused makes the error for a subset that the service did not take.
func (s *submission) refused(i int, err error) error {
	if i == 0 && errors.Is(err, ErrConflict) {
		err = fmt.Errorf("%w; the service holds a report of %q for %s under another id or for another account: look for it with List, and submit with its id, or under another name",
			err, s.header.CreatedBy, s.header.ReportingPeriod.BeginDate)
	}
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w; set SubmitOptions.MaxBytes below %d", err, s.plan[i].Bytes)
	}
	if errors.Is(err, ErrBusy) {
		return s.failed(i, Disturbed, err)
	}
	return s.failed(i, without(i), err)
}

func (s *submission) failed(stored int, state SubmitState, err error) error {
	e := &SubmitError{ReportID: s.id, State: state, Stored: s.subsets(stored), Datasets: s.datasets(stored), Err: err}
	if s.whole {
		e.Of = len(s.subsets(len(s.plan)))
	}
	return e
}

// passing tells whether an error of a look may be gone at the next one.
func passing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || errors.Is(err, ErrTooLarge) {
		return false
	}
	return e.StatusCode == 0 && !errors.Is(err, context.Canceled) && !errors.Is(err, transport.ErrNoCredentials) ||
		e.StatusCode >= 500 || e.StatusCode == http.StatusTooManyRequests || errors.Is(err, ErrUnreadable)
}

// unreadableReport recognises the answer of the deployed service about a report
// whose parts it cannot find: for a moment while another request writes it, and
// for ever after two requests wrote it at once.
func unreadableReport(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.StatusCode >= 500 && strings.Contains(e.Message, "[UsageReports]")
}

// permanent recognises the failures of the deployed service that are really
// about the request.
func permanent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.StatusCode != http.StatusInternalServerError {
		return false
	}
	for _, text := range []string{"invalid date", "no implicit conversion", "Invalid encoding", "Data too long", "Invalid request parameters"} {
		if strings.Contains(e.Message, text) {
			return true
		}
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
