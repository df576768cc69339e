package reports

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// report is a usage report that a Documented service stores. It is replaced,
// never changed.
type report struct {
	id     string
	owner  string // client id of the account that sent it
	key    reportKey
	header object
	parts  []part
}

// part is one body of a report, kept as it came: a report is one, or one for
// each subset.
type part struct {
	content
	body       []byte
	compressed bool
	checksum   string // SHA-256 of body, in hex
}

// reportKey is what makes two reports the same (specification §3.2).
type reportKey struct{ createdBy, begin string }

func keyOf(header object) reportKey {
	period, _ := header["reporting-period"].(object)
	return reportKey{createdBy: wire.String(header["created-by"]), begin: wire.String(period["begin-date"])}
}

// notedCompressed says whether an exceptions entry has the code 69, "report is
// compressed" (specification §4.1).
func notedCompressed(header object) bool {
	exceptions, _ := header["exceptions"].([]any)
	for _, e := range exceptions {
		if o, ok := e.(object); ok && o["code"] == 69.0 {
			return true
		}
	}
	return false
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Serve is interface A (specification §4.1) of a Documented service.
func (s *Room) Serve(q *wire.Request, path string) (wire.Reply, error) {
	id := strings.ToLower(strings.TrimSuffix(path, "/"))
	switch q.Verb {
	case http.MethodGet:
		nameConsumer(q)
		if id == "" {
			return s.listReports(q)
		}
		return s.getReport(id)
	case http.MethodPost, http.MethodPut:
		if (q.Verb == http.MethodPost) != (id == "") {
			return wire.Reply{}, errNoReport
		}
		return s.takeReport(q, id)
	case http.MethodDelete:
		// Only the operator's staff deletes reports.
		return wire.Reply{}, wire.Fail(http.StatusUnauthorized, wire.NotAuthorized)
	}
	return wire.Reply{}, errNoReport
}

// nameConsumer sets the header that says who asks.
func nameConsumer(q *wire.Request) {
	if c, ok := store.ReadClaims(store.Bearer(q.Request)); ok && c.UID != "" {
		q.AnswerHeader.Set("X-Credential-Username", c.UID)
		return
	}
	q.AnswerHeader.Set("X-Anonymous-Consumer", "true")
}

func (s *Room) findReport(id string) *report {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.reports[id]
}

func (s *Room) getReport(id string) (wire.Reply, error) {
	r := s.findReport(id)
	if r == nil {
		return wire.Reply{}, errNoReport
	}
	return r.expanded(http.StatusOK), nil
}

// takeReport is POST, without an id, and PUT.
func (s *Room) takeReport(q *wire.Request, id string) (wire.Reply, error) {
	owner, err := s.TokenOwner(store.Bearer(q.Request))
	if err != nil {
		return wire.Reply{}, err
	}
	if id != "" && !uuidForm.MatchString(id) {
		return wire.Reply{}, wire.Fail(http.StatusUnprocessableEntity, "Record invalid")
	}
	compressed, err := reportEncoding(q)
	if err != nil {
		return wire.Reply{}, err
	}
	p, err := readPart(q, compressed)
	if err != nil {
		return wire.Reply{}, err
	}
	r, status, err := s.storeReport(owner, id, p)
	if err != nil {
		return wire.Reply{}, err
	}
	q.AnswerHeader.Set("X-Credential-Username", owner)
	return r.stored(status), nil
}

// reportEncoding says whether the body is compressed, from the two pairs of
// headers that specification §4.1 allows. Any other is 415.
func reportEncoding(q *wire.Request) (compressed bool, err error) {
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	switch coding := q.Header.Get("Content-Encoding"); {
	case kind == "application/json" && coding == "":
		return false, nil
	case kind == "application/gzip" && coding == "gzip":
		return true, nil
	default:
		return false, wire.Fail(http.StatusUnsupportedMediaType,
			"Content-Type %q with Content-Encoding %q is not supported", q.Header.Get("Content-Type"), coding)
	}
}

// readPart reads and checks the body of a report.
func readPart(q *wire.Request, compressed bool) (part, error) {
	body, err := readReportBody(q)
	if err != nil {
		return part{}, err
	}
	p := newPart(body, compressed)
	r, err := p.open()
	if err == nil {
		p.content, err = readReport(r, reportHeader.check, reportDatasets.element.check)
	}
	switch {
	case errors.Is(err, wire.ErrTooMuch):
		return part{}, wire.ErrTooMuch
	case err != nil:
		return part{}, wire.Fail(http.StatusUnprocessableEntity, "%v", err)
	case compressed && !notedCompressed(p.header):
		return part{}, wire.Fail(http.StatusUnprocessableEntity, "a compressed report needs an exceptions entry with code 69")
	case !compressed && notedCompressed(p.header):
		return part{}, wire.Fail(http.StatusUnprocessableEntity, "exceptions code 69 says compressed, but the report is not")
	}
	return p, nil
}

func readReportBody(q *wire.Request) ([]byte, error) {
	if q.ContentLength > wire.MaxReportBody {
		return nil, wire.TooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(q.Body, wire.MaxReportBody+1))
	switch {
	case err != nil:
		return nil, wire.Fail(http.StatusBadRequest, "reading the body: %v", err)
	case len(body) > wire.MaxReportBody:
		return nil, wire.TooLarge()
	}
	return body, nil
}

func newPart(body []byte, compressed bool) part {
	return part{body: body, compressed: compressed, checksum: sum256(body)}
}

// open returns the JSON text of the part.
func (p part) open() (io.Reader, error) {
	if !p.compressed {
		return bytes.NewReader(p.body), nil
	}
	r, err := gzip.NewReader(bytes.NewReader(p.body))
	if err != nil {
		return nil, fmt.Errorf("the body is not gzip: %w", err)
	}
	return wire.Inflated(r), nil
}

// storeReport stores a body under an id, or, without one, where its creator
// and begin-date say.
func (s *Room) storeReport(owner, id string, p part) (r *report, status int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(p.header)
	holder, taken := s.periods[key]
	fresh := &report{id: id, owner: owner, key: key, header: p.header, parts: []part{p}}
	switch {
	case id != "" && taken && holder != id:
		return nil, 0, wire.Fail(http.StatusConflict, "The resource already exists.")
	case id != "":
		status = http.StatusCreated
		if old := s.reports[id]; old != nil {
			status, fresh.owner = http.StatusOK, old.owner
		}
	case taken:
		old := s.reports[holder]
		if !p.compressed {
			return old, http.StatusCreated, nil
		}
		if !strings.EqualFold(old.owner, owner) {
			return nil, 0, wire.Fail(http.StatusConflict, "The resource already exists.")
		}
		c := *old
		c.parts = append(old.parts[:len(old.parts):len(old.parts)], p)
		fresh, status = &c, http.StatusCreated
	default:
		fresh.id, status = wire.NewUUID(), http.StatusCreated
	}
	s.keepReport(fresh)
	return fresh, status, nil
}

// keepReport stores a report and the period it holds. The caller has the lock.
func (s *Room) keepReport(r *report) {
	id := strings.ToLower(r.id)
	if old := s.reports[id]; old != nil && s.periods[old.key] == id {
		delete(s.periods, old.key)
	}
	s.reports[id], s.periods[r.key] = r, id
}

// expanded is the answer to GET: one report with the datasets of all its
// bodies, in the order they came.
func (r *report) expanded(status int) wire.Reply {
	return r.answer(status, "expanded", func(o *output) {
		o.print(`"report-datasets":[`)
		between := ""
		for _, p := range r.parts {
			if p.datasets > 0 {
				o.print("%s", between)
				between = ","
				p.copyDatasets(o)
			}
		}
		o.print("]")
	})
}

// copyDatasets writes the elements of the part's report-datasets.
func (p part) copyDatasets(o *output) {
	r, err := p.open()
	if err == nil {
		_, err = io.CopyN(io.Discard, r, p.start)
	}
	if err == nil {
		_, err = io.CopyN(o, r, p.end-p.start)
	}
	o.err = cmp.Or(o.err, err)
}

// stored is the answer to POST and PUT. A compressed report is shown by its
// subsets, as the deployed server does it.
func (r *report) stored(status int) wire.Reply {
	if slices.ContainsFunc(r.parts, func(p part) bool { return !p.compressed }) {
		return r.expanded(status)
	}
	return r.answer(status, "subsets", func(o *output) {
		o.print(`"report-datasets":[],`)
		o.subsets(func(subset func([]byte, string)) {
			for _, p := range r.parts {
				subset(p.body, p.checksum)
			}
		})
	})
}

func (r *report) answer(status int, form string, rest func(*output)) wire.Reply {
	header := wire.Encode(r.header)
	sums := [][]byte{[]byte(form), []byte(r.id), header}
	for _, p := range r.parts {
		sums = append(sums, []byte(p.checksum))
	}
	return answer(status, wire.WeakETag(sums...), r.id, header, rest)
}

// listReports is GET /reports: headers alone, by id. The filters id,
// created-by, year and client-id must all hold.
func (s *Room) listReports(q *wire.Request) (wire.Reply, error) {
	params, err := wire.ReadParams(q)
	if err != nil {
		return wire.Reply{}, err
	}
	found := s.findReports(params)
	size, number := params.Number("page[size]", 25), max(params.Number("page[number]", 1), 1)
	if size <= 0 {
		size = 25
	}
	size = min(size, wire.MaxPage)
	entries, err := wire.Encoded(wire.Window(found, number, size), func(r *report) any { return object{"id": r.id, "report-header": r.header} })
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.JSON(http.StatusOK, object{
		"reports": entries,
		"meta":    object{"total": len(found), "total-pages": wire.Pages(len(found), size), "page": number},
	}), nil
}

func (s *Room) findReports(params wire.Params) []*report {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*report
	for _, r := range s.reports {
		if (params["id"] == "" || wire.Listed(params["id"], r.id)) && params.Is("created_by", r.key.createdBy) &&
			params.Is("year", r.key.begin[:min(4, len(r.key.begin))]) && params.Is("client_id", r.owner) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *report) int { return cmp.Compare(a.id, b.id) })
	return found
}
