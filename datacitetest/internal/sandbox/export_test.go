package sandbox

import (
	"encoding/json"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// What the first account does, which most tests have alone.

func (s *Service) first() string { return s.Accounts[0].ClientID }

func (s *Service) IssueKey() string { return s.IssueKeyOf(s.first()) }

func (s *Service) Token(expires time.Time) string { return s.TokenOf(s.first(), expires) }

func (s *Service) PutRecord(attributes json.RawMessage) error {
	return s.PutRecordOf(s.first(), attributes)
}

func (s *Service) PutReport(data json.RawMessage) (id string, err error) {
	return s.PutReportOf(s.first(), data)
}

// NumberRows gives the next rows of subsets these ids.
func (s *Service) NumberRows(ids ...int64) {
	random := s.reports.Archive.NewID
	s.reports.Archive.NewID = func() int64 {
		if len(ids) == 0 {
			return random()
		}
		id := ids[0]
		ids = ids[1:]
		return id
	}
}

// RowIDs are the ids of a report's subsets, as they were inserted.
func (s *Service) RowIDs(uid string) []int64 { return s.reports.Archive.RowIDs(uid) }

// The limits of bodies, for requests that keep to them.
const MaxPieces, MaxValues = wire.MaxPieces, wire.MaxValues

func Pieces(text string) int { return wire.Pieces([]byte(text)) }
