package sandbox

import (
	"cmp"
	"math"
	"net/http"
	"slices"
)

// maxPage is the most a page holds, whatever page[size] says.
const maxPage = 1000

// listReports is GET /reports: headers alone, by id. The filters id,
// created-by, year and client-id must all hold; a Deployed service looks at the
// first of them alone.
func (s *Service) listReports(q *request) (reply, error) {
	params, err := readParams(q)
	if err != nil {
		return reply{}, err
	}
	found := s.findReports(params)
	p, err := s.reportPage(params, len(found))
	if err != nil {
		return reply{}, err
	}
	entries := []any{}
	for _, r := range window(found, max(p.number, 1), p.rows) {
		entries = append(entries, object{"id": r.id, "report-header": r.header})
	}
	return jsonReply(http.StatusOK, object{
		"reports": entries,
		"meta":    object{"total": len(found), "total-pages": p.total, "page": p.number},
	}), nil
}

// reportPage is a page of the list: its number as the answer shows it, how many
// rows it has at most, and how many pages the answer says there are.
type reportPage struct{ number, rows, total int }

func (s *Service) reportPage(params params, found int) (reportPage, error) {
	size := params.number("page[size]", 25)
	number := params.number("page[number]", 1)
	if !s.deployed {
		if size <= 0 {
			size = 25
		}
		size = min(size, maxPage)
		return reportPage{number: max(number, 1), rows: size, total: pages(found, size)}, nil
	}
	switch {
	case params["page"] != "":
		return reportPage{}, crashed("String does not have #dig method")
	case size == 0:
		return reportPage{}, crashed("Infinity")
	}
	// The deployed service counts pages by the size it was asked for, and shows
	// another one.
	p := reportPage{number: number, rows: min(size, maxPage), total: int(math.Ceil(float64(found) / float64(size)))}
	if size < 0 {
		p.rows = 25
	}
	return p, nil
}

func (s *Service) findReports(params params) []*report {
	if s.deployed {
		params = params.first("id", "created_by", "year", "client_id")
	}
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
	start := min((page-1)*size, len(all))
	return all[start:min(start+size, len(all))]
}

func pages(total, size int) int {
	if size <= 0 {
		return 0
	}
	return (total + size - 1) / size
}
