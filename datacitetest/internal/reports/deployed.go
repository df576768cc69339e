package reports

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/usage"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Path is an escaped path as the router of the deployed reports server reads it:
// without repeated slashes or one at the end. ok says whether the public host
// routes the path to that server.
func Path(path string) (steps []string, ok bool) {
	steps = strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(steps) > 0 {
		steps[0] = unescaped(steps[0])
	}
	return steps, len(steps) > 0 && (strings.HasPrefix(steps[0], "reports") || strings.HasPrefix(steps[0], "report-subsets") ||
		strings.HasPrefix(steps[0], "repositories-usage-reports"))
}

// ServeDeployed is interface A as the deployed service implements it. The further
// outside an error arises, the fewer headers does its Vary name.
func (s *Service) ServeDeployed(q *wire.Request) (wire.Reply, error) {
	path, _ := Path(q.URL.EscapedPath())
	res, err := s.routeReports(q, path)
	return wire.InJSON(res, err).Varying(q, err, formatted(q, path)), nil
}

// routeReports finds the route (config/routes.rb).
func (s *Service) routeReports(q *wire.Request, path []string) (wire.Reply, error) {
	area, id := path[0], ""
	if area == "repositories-usage-reports" && len(path) > 1 && q.Verb == http.MethodGet {
		if _, ok := q.WantedType(); !ok {
			return wire.Reply{}, outside(q, http.StatusInternalServerError)
		}
		nameCaller(q, caller{}) // no token is read
		return s.countReports(unescaped(strings.Join(path[1:], "/"))), nil
	}
	switch len(path) {
	case 1:
		area = withoutFormat(area)
	case 2:
		if id = unescaped(withoutFormat(path[1])); id == "" {
			return wire.Reply{}, outside(q, http.StatusNotFound)
		}
	default:
		return wire.Reply{}, outside(q, http.StatusNotFound)
	}
	if clean := strings.ToValidUTF8(id, "\ufffd"); clean != id {
		return wire.Reply{}, wire.Crashed("Invalid path parameters: Invalid encoding for parameter: " + clean)
	}
	if _, ok := q.WantedType(); !ok && !formatted(q, path) {
		return wire.Reply{}, outside(q, http.StatusInternalServerError)
	}
	caller := s.readCaller(q)
	if q.Verb == http.MethodGet {
		nameCaller(q, caller)
	}
	switch {
	case area == "reports" && q.Verb == http.MethodGet && id == "":
		return s.listStored(q)
	case area == "reports" && q.Verb == http.MethodGet:
		return s.getStored(id)
	case area == "reports" && (q.Verb == http.MethodPost && id == "" || q.Verb == http.MethodPut && id != ""):
		return s.takeSubmission(q, id)
	case area == "reports" && q.Verb == http.MethodDelete && id != "":
		return s.deleteReport(q, caller, id)
	case area == "report-subsets" && q.Verb == http.MethodGet && id != "":
		return s.getSubset(id)
	}
	return wire.Reply{}, outside(q, http.StatusNotFound)
}

// withoutFormat removes ".json" or another format from the last segment of a path;
// "" if there is more than one.
func withoutFormat(step string) string {
	name, format, dotted := strings.Cut(step, ".")
	if dotted && (format == "" || strings.Contains(format, ".")) {
		return ""
	}
	return name
}

// unescaped decodes a path segment, whose escapes net/http has checked.
func unescaped(step string) string {
	plain, _ := url.PathUnescape(step)
	return plain
}

// formatted says whether the path or the query string names a format, which then
// replaces the Accept header.
func formatted(q *wire.Request, path []string) bool {
	inPath := path[0] != "repositories-usage-reports" && strings.Contains(path[len(path)-1], ".")
	return inPath || q.URL.Query().Has("format")
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
	if now := s.Now(); !ok || !now.Before(c.Expires.Time()) || now.Before(c.NotBefore.Time()) {
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
	return shown.reply(http.StatusOK, r.uid), err
}

// shown is a report in the form of GET with Deployed.
func (a *archive) shown(r *stored) (attachment, error) {
	if !r.documented {
		return r.document()
	}
	stored, err := a.load(r)
	return attachment{r.fullHeader(), r.datasets, stored.Subsets}, err
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
	report = usage.Report{ID: r.uid, Header: wire.Encode(shown.Header), Datasets: shown.Datasets}
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
		return wire.Reply{}, noMethod("uid", nil)
	case c.Role != store.Staff:
		return wire.Reply{}, wire.Fail(http.StatusUnauthorized, wire.NotAuthorized)
	}
	s.Archive.remove(id)
	nameCaller(q, c)
	return wire.Reply{Status: http.StatusNoContent}, nil
}

// getSubset is GET /report-subsets (ReportSubsetsController#show), by the number
// of a row. The header is that of the document.
func (s *Service) getSubset(id string) (wire.Reply, error) {
	number := wire.Leading(id)
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	for _, r := range s.Archive.reports {
		i := slices.IndexFunc(r.rows, func(r row) bool { return r.ID == number })
		if i < 0 {
			continue
		}
		if !r.documented {
			return wire.Reply{}, errNilText
		}
		stored, there := s.Archive.documents[names.Folded(r.uid)]
		if !there {
			return wire.Reply{}, errNoDocument(r.uid)
		}
		subset := stored.find(r.rows[i].Checksum)
		if subset == nil {
			return wire.Reply{}, noMethod("[]", nil)
		}
		return wire.JSON(http.StatusOK, object{"report": object{
			"id": r.uid, "report-header": stored.Header, "report-datasets": []any{},
			"report-subsets": []any{object{"gzip": subset.Gzip, "checksum": subset.Checksum}},
			"exceptions":     nil,
		}}), nil
	}
	return wire.Reply{}, errNoReport
}

// countReports is GET /repositories-usage-reports (PublishersController#show).
// Counts are cached for a day.
func (s *Service) countReports(clientID string) wire.Reply {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	now := s.Now()
	if c, ok := s.Archive.counts[clientID]; ok && now.Before(c.at.Add(24*time.Hour)) {
		return wire.JSON(http.StatusOK, c.body)
	}
	createdBy, year, release := object{}, object{}, object{}
	spelled := map[string]string{} // names that are equal to the database
	total := 0
	for _, r := range s.Archive.list() {
		if names.Folded(r.owner) != names.Folded(clientID) {
			continue
		}
		total++
		name := wire.String(r.header["created-by"])
		name = cmp.Or(spelled[names.Folded(name)], name)
		spelled[names.Folded(name)] = name
		for counts, value := range map[*object]string{&createdBy: name, &year: r.year, &release: wire.String(r.header["release"])} {
			n, _ := (*counts)[value].(int)
			(*counts)[value] = n + 1
		}
	}
	body := object{"client-id": clientID, "total": total, "created-by": createdBy, "year": year, "report-types": release}
	s.Archive.counts[clientID] = tally{now, body}
	return wire.JSON(http.StatusOK, body)
}

// list is the table of reports, by id.
func (a *archive) list() []*stored {
	return slices.SortedFunc(maps.Values(a.reports), func(x, y *stored) int { return cmp.Compare(names.Folded(x.uid), names.Folded(y.uid)) })
}

// listStored is GET /reports (ReportsController#index).
func (s *Service) listStored(q *wire.Request) (wire.Reply, error) {
	for pair := range strings.SplitSeq(q.URL.RawQuery, "&") {
		for part := range strings.SplitSeq(pair, "=") {
			if plain, err := url.QueryUnescape(part); err != nil {
				return wire.Reply{}, wire.Crashed("Invalid query parameters: invalid %-encoding (" + part + ")")
			} else if clean := strings.ToValidUTF8(plain, "\ufffd"); clean != plain {
				return wire.Reply{}, wire.Crashed("Invalid query parameters: Invalid encoding for parameter: " + clean)
			}
		}
	}
	params, _ := wire.URLParams(q.URL.RawQuery)
	if page := params["page"]; page != "" || strings.Contains("&"+q.URL.RawQuery+"&", "&page=&") {
		return wire.Reply{}, wire.Crashed("String does not have #dig method")
	}
	return s.listReports(params)
}

// listReports shows headers, by id. With Deployed pages are counted by the requested
// size, but filled up to a limit.
func (s *Service) listReports(params wire.Params) (wire.Reply, error) {
	s.Archive.mu.Lock()
	defer s.Archive.mu.Unlock()
	found := slices.DeleteFunc(s.Archive.list(), s.drops(params))
	size, number := integerParam(params, "page[size]", 25), integerParam(params, "page[number]", 1)
	if !s.Deployed {
		if size, number = min(size, wire.MaxPage), max(number, 1); size <= 0 {
			size = 25
		}
	}
	rows := min(size, wire.MaxPage)
	switch {
	case size == 0:
		return wire.Reply{}, wire.Crashed(map[bool]string{true: "NaN", false: "Infinity"}[len(found) == 0])
	case size < 0:
		rows = 25
	}
	if s.Deployed && number > math.MaxInt/rows {
		return wire.Reply{}, wire.Crashed("bignum too big to convert into `long'")
	}
	entries, err := wire.Encoded(wire.Window(found, max(number, 1), rows), func(r *stored) any {
		return object{"id": r.uid, "report-header": respell(r.header, hyphened)}
	})
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.JSON(http.StatusOK, object{"reports": entries, "meta": object{
		"total": len(found), "total-pages": int(math.Ceil(float64(len(found)) / float64(size))), "page": number,
	}}), nil
}

// integerParam is a parameter by Ruby's to_i, 0 if absent.
func integerParam(p wire.Params, name string, missing int) int {
	value, given := p[name]
	if !given {
		return missing
	}
	n, _ := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(integerForm.FindString(value)), "_", ""))
	return n
}

var integerForm = regexp.MustCompile(`^\s*[-+]?[0-9]+(?:_[0-9]+)*`)

// drops says which reports a list leaves out. Empty filters are ignored, and with
// Deployed all but the first.
func (s *Service) drops(p wire.Params) func(*stored) bool {
	same := func(a, b string) bool { return a == b }
	if s.Deployed {
		same = func(a, b string) bool { return names.Folded(a) == names.Folded(b) }
	}
	return func(r *stored) bool {
		for _, filter := range [][2]string{
			{"id", r.uid}, {"created_by", wire.String(r.header["created-by"])}, {"year", r.year}, {"client_id", r.owner},
		} {
			wanted := p[filter[0]]
			if wire.IsBlank(wanted) {
				continue
			}
			listed := filter[0] == "id" && slices.Contains(strings.Split(names.Folded(wanted), ","), names.Folded(r.uid))
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

// outside is an error of the framework.
func outside(q *wire.Request, status int) *wire.Failure { return wire.Outside(q, status, reportTypes) }
