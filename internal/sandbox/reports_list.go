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
func (s *reportRoom) listReports(q *request) (reply, error) {
	params, err := readParams(q)
	if err != nil {
		return reply{}, err
	}
	found := s.findReports(params)
	size, number := params.number("page[size]", 25), max(params.number("page[number]", 1), 1)
	if size <= 0 {
		size = 25
	}
	size = min(size, maxPage)
	entries, err := encoded(window(found, number, size), func(r *report) any { return object{"id": r.id, "report-header": r.header} })
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, object{
		"reports": entries,
		"meta":    object{"total": len(found), "total-pages": pages(len(found), size), "page": number},
	}), nil
}

func (s *reportRoom) findReports(params params) []*report {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*report
	for _, r := range s.reports {
		if (params["id"] == "" || listed(params["id"], r.id)) && params.is("created_by", r.key.createdBy) &&
			params.is("year", r.key.begin[:min(4, len(r.key.begin))]) && params.is("client_id", r.owner) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *report) int { return cmp.Compare(a.id, b.id) })
	return found
}

// window is the page of all, counted from 1.
func window[T any](all []T, page, size int) []T {
	if page-1 > len(all)/max(size, 1) {
		return nil
	}
	start := min((page-1)*size, len(all))
	return all[start:min(start+size, len(all))]
}

func pages(total, size int) int {
	if size <= 0 {
		return 0
	}
	return (total + size - 1) / size
}
