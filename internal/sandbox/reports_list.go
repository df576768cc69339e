package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
		if params.oneOf("id", r.id) && params.oneOf("created_by", key.createdBy) &&
			params.oneOf("year", key.begin[:min(4, len(key.begin))]) && params.oneOf("client_id", r.owner) {
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

// params are the parameters of a request. A name is spelled with underscores
// at the top, as in "client_id" and "page[size]".
type params map[string]string

// number is a parameter read as the service does: its leading digits.
func (p params) number(name string, missing int) int {
	text, ok := p[name]
	if !ok || text == "" {
		return missing
	}
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, _ := strconv.Atoi(text[:end])
	return n
}

// oneOf says whether the value is one of those the parameter names, or the
// parameter is not given.
func (p params) oneOf(name, value string) bool {
	if p[name] == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(p[name], ","), func(wanted string) bool {
		return strings.EqualFold(strings.TrimSpace(wanted), value)
	})
}
