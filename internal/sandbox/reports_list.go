package sandbox

import (
	"cmp"
	"net/http"
	"slices"
)

// maxPage is the most a page holds, whatever page[size] says.
const maxPage = 1000

// listReports is GET /reports: headers alone, by id. The filters id,
// created-by, year and client-id must all hold.
func (s *Service) listReports(q *request) (reply, error) {
	params, err := readParams(q)
	if err != nil {
		return reply{}, err
	}
	found := s.findReports(params)
	size := params.number("page[size]", 25)
	if size <= 0 {
		size = 25
	}
	size = min(size, maxPage)
	page := max(params.number("page[number]", 1), 1)
	entries := []any{}
	for _, r := range window(found, page, size) {
		entries = append(entries, object{"id": r.id, "report-header": r.header})
	}
	return jsonReply(http.StatusOK, object{
		"reports": entries,
		"meta":    object{"total": len(found), "total-pages": pages(len(found), size), "page": page},
	}), nil
}

func (s *Service) findReports(params params) []*report {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*report
	for _, r := range s.reports {
		key := keyOf(r.header)
		if (params["id"] == "" || listed(params["id"], r.id)) && params.is("created_by", key.createdBy) &&
			params.is("year", key.begin[:min(4, len(key.begin))]) && params.is("client_id", r.owner) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *report) int { return cmp.Compare(a.id, b.id) })
	return found
}

// window is the page of all, counted from 1.
func window[T any](all []T, page, size int) []T {
	start := min((page-1)*size, len(all))
	return all[start:min(start+size, len(all))]
}

func pages(total, size int) int {
	if size <= 0 {
		return 0
	}
	return (total + size - 1) / size
}
