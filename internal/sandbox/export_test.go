package sandbox

import "slices"

// NumberRows gives the next rows of subsets these ids.
func (s *Service) NumberRows(ids ...int64) {
	random := s.reports.archive.number
	s.reports.archive.number = func() int64 {
		if len(ids) == 0 {
			return random()
		}
		id := ids[0]
		ids = ids[1:]
		return id
	}
}

// RowIDs are the ids of a report's subsets, as they were inserted. No answer
// tells them.
func (s *Service) RowIDs(uid string) []int64 {
	s.reports.archive.mu.Lock()
	defer s.reports.archive.mu.Unlock()
	var ids []int64
	rows := s.reports.archive.find(uid).rows
	slices.SortFunc(rows, func(x, y row) int { return int(x.nth - y.nth) })
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	return ids
}

// The limits of bodies, for requests that keep to them.
const MaxPieces, MaxValues = maxPieces, maxValues

func Pieces(text string) int { return pieces([]byte(text)) }
