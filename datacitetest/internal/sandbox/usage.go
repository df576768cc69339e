package sandbox

import (
	"slices"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
)

// toCount is the queue of reports and records, of a Deployed service, that are to become events.
type toCount struct {
	lag     time.Duration
	work    sync.Mutex // held while reports are counted
	mu      sync.Mutex
	waiting []announcement
}

// An announcement names a report or a record that was written.
type announcement struct {
	Report string // its id
	DOI    string // of a record
	Due    time.Time
}

func (q *toCount) add(announced ...announcement) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, announced...)
}

// take removes what is due at a moment, the first of each report and record.
func (q *toCount) take(now time.Time) (due []announcement) {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := map[announcement]bool{}
	q.waiting = slices.DeleteFunc(q.waiting, func(a announcement) bool {
		if a.Due.After(now) {
			return false
		}
		if one := (announcement{Report: a.Report, DOI: a.DOI}); !taken[one] {
			taken[one] = true
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

func (s *Service) announceReport(id string) {
	s.toCount.add(announcement{Report: id, Due: s.Now().Add(s.toCount.lag)})
}

func (s *Service) announceRecord(doi string) {
	s.toCount.add(announcement{DOI: doi, Due: s.Now().Add(s.toCount.lag)})
}

// ProcessUsage makes the numbers and relationships of DOIs of all that was written.
func (s *Service) ProcessUsage() { s.countUsage(s.Now().Add(s.toCount.lag)) }

// UsageEvents are the events that records show.
func (s *Service) UsageEvents() []usage.Event {
	s.countUsage(s.Now())
	return s.Store.UsageEvents()
}

// countUsage makes events of the reports and records that are due at a moment, first in, first
// out. They are read as they are now; what cannot be read is left out for good.
func (s *Service) countUsage(until time.Time) {
	s.toCount.work.Lock()
	defer s.toCount.work.Unlock()
	related := map[string]time.Time{} // many records may name the same one
	for _, a := range s.toCount.take(until) {
		at := a.Due
		if now := s.Now(); now.Before(at) {
			at = now
		}
		if a.DOI != "" {
			for _, doi := range s.Relate(a.DOI) {
				related[doi] = at
			}
		} else if report, err := s.reports.Usage(a.Report); err == nil {
			s.CountUsage(report, at)
		}
	}
	s.Renew(related)
}
