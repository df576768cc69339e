package reports

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Path is the path of a request after /reports. ok says whether the public host routes a
// path to the reports server.
func Path(path string) (id string, ok bool) {
	area, id, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return id, area == "reports"
}

// ServeDeployed is interface A as the deployed service implements it (config/routes.rb).
func (s *Service) ServeDeployed(q *wire.Request) (wire.Reply, error) {
	id, _ := Path(strings.TrimSuffix(q.Path, "/"))
	switch err := q.MediaTypes(); {
	case err != nil:
		return wire.Reply{}, err
	case q.URL.RawQuery != "" && (id != "" || q.Verb != http.MethodGet):
		return wire.Reply{}, wire.ReportParameter.Refusal(q.URL.RawQuery)
	case strings.HasPrefix(id, "/"), strings.Contains(id, "."):
		return wire.Reply{}, wire.Route.Refusal(q.Path)
	case strings.Contains(id, "/"):
		return wire.Reply{}, wire.Outside(q, http.StatusNotFound)
	}
	caller := s.readCaller(q)
	if q.Verb == http.MethodGet {
		nameCaller(q, caller)
	}
	switch {
	case q.Verb == http.MethodGet && id == "":
		return s.listStored(q)
	case q.Verb == http.MethodGet:
		return s.getStored(id)
	case q.Verb == http.MethodPost && id == "", q.Verb == http.MethodPut && id != "":
		return s.takeSubmission(q, id)
	case q.Verb == http.MethodDelete && id != "":
		return s.deleteReport(q, caller, id)
	}
	return wire.Reply{}, wire.Outside(q, http.StatusNotFound)
}

// caller is the sender of a request; the claims are empty if the token is invalid.
type caller struct {
	given bool // a token was sent
	store.Claims
}

// readCaller reads the last word of the Authorization header as the token, with
// any scheme.
func (s *Service) readCaller(q *wire.Request) caller {
	words := strings.Fields(q.Header.Get("Authorization"))
	if len(words) == 0 {
		return caller{}
	}
	c, ok := store.ReadClaims(words[len(words)-1])
	if now := s.Now().Unix(); !ok || now >= c.Expires || now < c.NotBefore {
		c = store.Claims{}
	}
	return caller{given: true, Claims: c}
}

// mayReport says whether the role may write (ability.rb).
func (c caller) mayReport() bool {
	return c.Role == store.Staff || c.Role == "client_admin" && !wire.IsBlank(c.UID)
}

// nameCaller sets the header that names the caller.
func nameCaller(q *wire.Request, c caller) {
	if c.given {
		q.ResponseHeader.Set("X-Credential-Username", c.UID)
	} else {
		q.ResponseHeader.Set("X-Anonymous-Consumer", "true")
	}
}

// getStored is GET (ReportsController#show). With Deployed it shows the header of the
// database and the subsets of the document, or all from the database without one.
func (s *Service) getStored(id string) (wire.Reply, error) {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	r := s.Archive.find(id)
	if r == nil {
		return wire.Reply{}, errNoReport
	}
	if !s.Deployed {
		return r.expanded(http.StatusOK), nil
	}
	shown, err := s.Archive.shown(r)
	return shown.reply(http.StatusOK, r.UID), err
}

// shown is a report in the form of GET with Deployed.
func (a *archive) shown(r *stored) (attachment, error) {
	if !r.Documented {
		return r.document()
	}
	stored, err := a.load(r)
	return attachment{r.fullHeader(), r.Datasets, stored.Subsets}, err
}

// Usage is a report for counting, with Deployed.
func (s *Service) Usage(id string) (report usage.Report, err error) {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	r := s.Archive.find(id)
	if r == nil {
		return report, errNoReport
	}
	shown, err := s.Archive.shown(r)
	if err != nil {
		return report, err
	}
	report = usage.Report{ID: r.UID, Header: wire.Encode(shown.Header), Datasets: shown.Datasets}
	for _, subset := range shown.Subsets {
		report.Subsets = append(report.Subsets, subset.Gzip)
	}
	return report, nil
}

// deleteReport is DELETE, which is for the operator's staff.
func (s *Service) deleteReport(q *wire.Request, c caller, id string) (wire.Reply, error) {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	switch {
	case s.Archive.find(id) == nil:
		return wire.Reply{}, errNoReport
	case !c.given:
		return wire.Reply{}, errNoToken
	case c.Role != store.Staff:
		return wire.Reply{}, wire.Fail(http.StatusUnauthorized, wire.NotAuthorized)
	}
	s.Archive.remove(id)
	nameCaller(q, c)
	return wire.Reply{Status: http.StatusNoContent}, nil
}

// list is the table of reports, by id.
func (a *archive) list() []*stored {
	return slices.SortedFunc(maps.Values(a.reports), func(x, y *stored) int {
		return cmp.Compare(names.Folded(x.UID), names.Folded(y.UID))
	})
}

// listStored is GET /reports (ReportsController#index).
func (s *Service) listStored(q *wire.Request) (wire.Reply, error) {
	params, err := wire.URLParams(q.URL.RawQuery)
	if err != nil {
		return wire.Reply{}, wire.ReportParameter.Refusal(q.URL.RawQuery)
	}
	for name, value := range params {
		sized := name == "page[size]" || name == "page[number]"
		if sized && !wholeNumber().MatchString(value) || !sized && strings.Contains(name, "[") || name == "page" ||
			name == "callback" {
			return wire.Reply{}, wire.ReportParameter.Refusal(name, value)
		}
	}
	return s.listReports(params)
}

var wholeNumber = lazy.Regexp(`\A[1-9][0-9]{0,8}\z`)

// listReports shows headers, by id. With Deployed pages are counted by the requested
// size, but filled up to a limit.
func (s *Service) listReports(params wire.Params) (wire.Reply, error) {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	found := slices.DeleteFunc(s.Archive.list(), s.drops(params))
	size, number := params.Number("page[size]", 25), max(params.Number("page[number]", 1), 1)
	if size <= 0 {
		size = 25
	}
	rows := min(size, wire.MaxPage)
	if !s.Deployed {
		size = rows
	}
	entries, err := wire.Encoded(wire.Window(found, number, rows), func(r *stored) any {
		return object{"id": r.UID, "report-header": r.Header}
	})
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.JSON(http.StatusOK, object{"reports": entries, "meta": object{
		"total": len(found), "total-pages": wire.Pages(len(found), size), "page": number,
	}}), nil
}

// drops says which reports a list leaves out. Empty filters are ignored, and with
// Deployed all but the first.
func (s *Service) drops(p wire.Params) func(*stored) bool {
	same := func(a, b string) bool { return a == b }
	if s.Deployed {
		same = func(a, b string) bool { return names.Folded(a) == names.Folded(b) }
	}
	return func(r *stored) bool {
		for _, filter := range [][2]string{
			{"id", r.UID}, {"created_by", wire.String(r.Header["created-by"])}, {"year", r.Year}, {"client_id", r.Owner},
		} {
			wanted := p[filter[0]]
			if wire.IsBlank(wanted) {
				continue
			}
			listed := filter[0] == "id" && slices.Contains(strings.Split(names.Folded(wanted), ","), names.Folded(r.UID))
			if !listed && !same(filter[1], wanted) {
				return true
			}
			if s.Deployed {
				break
			}
		}
		return false
	}
}
