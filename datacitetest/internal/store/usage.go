package store

import (
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
)

// CountUsage counts a usage report for its DOIs. Single records show the numbers at once,
// lists when the index has them.
func (s *Store) CountUsage(report usage.Report, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doi := range s.usage.Import(usage.URL(report.ID), report, at) {
		s.renew(doi, at)
	}
}

// Relate makes events of the related identifiers of a findable record, and returns the DOIs
// whose relationships may have changed. [Store.Renew] shows them.
func (s *Store) Relate(doi string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec := s.records[s.key(doi)]; rec != nil && rec.State == record.Findable {
		return s.usage.Relate(rec.DOI, rec.Unpacked().Related(), rec.Updated)
	}
	return nil
}

// Renew makes records show their events, each since a moment: single ones at once, lists when
// the index has them.
func (s *Store) Renew(dois map[string]time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for doi, at := range dois {
		s.renew(doi, at)
	}
}

// renew is Renew of one record. The caller has the lock.
func (s *Store) renew(doi string, at time.Time) {
	if old := s.records[s.key(doi)]; old != nil {
		rec := *old
		s.keep(rec.Lagging(old, at, s.IndexLag))
	}
}

// announce names a record whose related identifiers are to become events.
func (s *Store) announce(rec *record.Record) {
	if s.Deployed && rec.State == record.Findable && len(rec.Related()) > 0 {
		s.Announce(rec.DOI)
	}
}

// UsageEvents are the events that records show.
func (s *Store) UsageEvents() []usage.Event {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.usage.All()
}
