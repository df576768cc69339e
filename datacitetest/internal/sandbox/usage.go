package sandbox

import (
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
)

// toCount is the queue of reports, of a Deployed service, whose usage is to be counted.
type toCount struct {
	lag     time.Duration
	work    sync.Mutex // held while reports are counted
	mu      sync.Mutex
	waiting []announcement
}

// An announcement names a report that was written.
type announcement struct {
	Report string // its id
	Due    time.Time
}

func (q *toCount) add(announced ...announcement) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, announced...)
}

// take removes what is due at a moment, the first of each report.
func (q *toCount) take(now time.Time) (due []announcement) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(a announcement) bool {
		if a.Due.After(now) {
			return false
		}
		if !slices.ContainsFunc(due, func(other announcement) bool { return other.Report == a.Report }) {
			due = append(due, a)
		}
		return true
	})
	return due
}

func (q *toCount) all() []announcement {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.waiting)
}

func (s *Service) announce(report string) {
	s.toCount.add(announcement{report, s.Now().Add(s.toCount.lag)})
}

// ProcessUsage makes the numbers of DOIs of all reports that were written.
func (s *Service) ProcessUsage() { s.countUsage(s.Now().Add(s.toCount.lag)) }

// UsageEvents are the events that records show.
func (s *Service) UsageEvents() []usage.Event {
	s.countUsage(s.Now())
	return s.Store.UsageEvents()
}

// countUsage counts the reports that are due at a moment, first in, first out. They are
// read as they are now; one that cannot be read is left out for good.
func (s *Service) countUsage(until time.Time) {
	s.toCount.work.Lock()
	defer s.toCount.work.Unlock()
	for _, a := range s.toCount.take(until) {
		report, err := s.reports.Usage(a.Report)
		if err != nil {
			continue
		}
		at := a.Due
		if now := s.Now(); now.Before(at) {
			at = now
		}
		s.CountUsage(report, at)
	}
}
