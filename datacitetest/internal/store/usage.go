package store

import (
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
)

// CountUsage counts a usage report for its DOIs. Single records show the numbers at once,
// lists when the index has them.
func (s *Store) CountUsage(report usage.Report, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doi := range s.usage.Import(usage.URL(report.ID), report, at) {
		if old := s.records[s.key(doi)]; old != nil {
			rec := *old
			s.keep(rec.Lagging(old, at, s.IndexLag))
		}
	}
}

// UsageEvents are the events that records show.
func (s *Store) UsageEvents() []usage.Event {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.usage.All()
}
