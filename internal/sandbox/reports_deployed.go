package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// serveDeployedReports is interface A as the deployed service plays it.
func (s *Service) serveDeployedReports(q *request, id string) (reply, error) {
	q.header.Set("Vary", "Accept, Accept-Encoding, Origin")
	id = strings.TrimSuffix(id, ".json")
	if strangeAccept(q) {
		return reply{}, outside(q, http.StatusInternalServerError)
	}
	switch {
	case q.method == http.MethodGet && id == "":
		nameCaller(q)
		return s.listReports(q)
	case q.method == http.MethodGet:
		nameCaller(q)
		return s.getStored(id)
	case q.method == http.MethodPost && id == "", q.method == http.MethodPut && id != "":
		return s.takeSubmission(q, id)
	case q.method == http.MethodDelete && id != "":
		return s.deleteReport(q, id)
	}
	return reply{}, outside(q, http.StatusNotFound)
}

// strangeAccept says whether the Accept header holds what is no media type.
func strangeAccept(q *request) bool {
	for kind := range strings.SplitSeq(q.Header.Get("Accept"), ",") {
		kind, _, _ = strings.Cut(kind, ";")
		kind = strings.TrimSpace(kind)
		if kind != "" && kind != "gzip" && !strings.Contains(kind, "/") {
			return true
		}
	}
	return false
}

// sentToken is the last word of the Authorization header, whatever its scheme.
func sentToken(q *request) string {
	words := strings.Fields(q.Header.Get("Authorization"))
	if len(words) == 0 || len(words) == 1 && strings.EqualFold(words[0], "Bearer") {
		return ""
	}
	return words[len(words)-1]
}

// nameCaller sets the header that says who asks; nobody in particular when the
// token is worth nothing.
func nameCaller(q *request) {
	token := sentToken(q)
	if token == "" {
		q.header.Set("X-Anonymous-Consumer", "true")
		return
	}
	c, _ := readClaims(token)
	q.header.Set("X-Credential-Username", c.UID)
}

func (s *Service) getStored(id string) (reply, error) {
	r := s.findReport(strings.ToLower(id))
	if r == nil {
		return reply{}, errNoReport
	}
	if err := r.consistent(); err != nil {
		return reply{}, err
	}
	return r.view(http.StatusOK, r.fullHeader(), r.document), nil
}

// deleteReport is DELETE, which is for the operator's staff.
func (s *Service) deleteReport(q *request, id string) (reply, error) {
	r := s.findReport(strings.ToLower(id))
	token := sentToken(q)
	switch c, _ := readClaims(token); {
	case r == nil:
		return reply{}, errNoReport
	case token == "":
		return reply{}, s.noToken()
	case c.Role != staff:
		return reply{}, fail(http.StatusUnauthorized, notAuthorized)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.periods, r.key)
	delete(s.reports, strings.ToLower(id))
	return reply{status: http.StatusNoContent}, nil
}

// takeSubmission is POST, without an id, and PUT: one check after the other, in
// the deployed service's order.
func (s *Service) takeSubmission(q *request, id string) (reply, error) {
	sub, err := readSubmission(q)
	if err != nil {
		return reply{}, err
	}
	token := sentToken(q)
	if token == "" {
		return reply{}, s.noToken()
	}
	if err := sub.datePeriod(); err != nil {
		return reply{}, err
	}
	account, err := s.tokenAccount(token)
	if err != nil {
		return reply{}, err
	}
	if id != "" && !uuidForm.MatchString(strings.ToLower(id)) {
		return reply{}, fail(http.StatusUnprocessableEntity, "Record invalid")
	}
	q.header.Set("X-Credential-Username", account.ClientID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		return s.postReport(account, sub)
	}
	return s.putReport(account, id, sub)
}

var errTaken = fail(http.StatusConflict, "The resource already exists.")

func (s *Service) postReport(account *Account, sub *submission) (reply, error) {
	if err := sub.checkProtocol(); err != nil {
		return reply{}, err
	}
	holder := s.reports[s.periods[sub.key()]]
	if holder == nil || !strings.EqualFold(holder.owner, account.ClientID) {
		if err := sub.unknownAttribute(); err != nil {
			return reply{}, err
		}
		if errs := sub.problems(true); len(errs) > 0 {
			return reply{}, &fault{
				status: http.StatusUnprocessableEntity, body: errs,
				header: map[string]string{"X-Credential-Username": account.ClientID},
			}
		}
		return s.createReport(account, newUUID(), sub)
	}
	if err := holder.consistent(); err != nil {
		return reply{}, err
	}
	if !sub.compressed {
		return holder.view(http.StatusCreated, holder.fullHeader(), holder.document), nil
	}
	return s.appendSubset(holder, sub.part)
}

// putReport replaces a report. What it refuses late has destroyed the subsets
// that were there.
func (s *Service) putReport(account *Account, id string, sub *submission) (reply, error) {
	old := s.reports[strings.ToLower(id)]
	if old != nil {
		if err := old.consistent(); err != nil {
			return reply{}, err
		}
	}
	err := cmp.Or(sub.checkProtocol(), sub.unknownAttribute())
	if err == nil && len(sub.problems(old == nil)) > 0 {
		err = fail(http.StatusUnprocessableEntity, "undefined method `serialize' for #<ReportsController:0x000000000131b8>")
	}
	switch {
	case old == nil && err != nil:
		return reply{}, err
	case old == nil:
		return s.createReport(account, id, sub)
	case sub.compressed:
		return s.replaceSubsets(account, old, sub, err)
	case err != nil:
		return reply{}, err
	}
	return s.replaceDatasets(account, old, sub)
}

// sentHeader is the header as the answer to PUT shows it: what was sent, also
// where the service keeps what it has.
func (r *report) sentHeader(account *Account, sub *submission) object {
	h := r.fullHeader()
	maps.Copy(h, sub.known())
	h["client-id"], h["year"], h["month"] = account.ClientID, sub.year, sub.month
	return h
}

// fullHeader is the header with the members that only the report itself shows.
func (r *report) fullHeader() object {
	h := maps.Clone(r.header)
	year, month, _ := strings.Cut(r.key.begin, "-")
	h["client-id"], h["year"], h["month"] = r.owner, year, month
	return h
}

// merged is the report's header with what a PUT may change.
func (r *report) merged(sub *submission) object {
	h := maps.Clone(r.header)
	for name, value := range sub.known() {
		if name != "created-by" && name != "report-id" {
			h[name] = value
		}
	}
	return h
}

// headerMembers are the members that the deployed service stores, each with
// what stands for one that was not sent.
var headerMembers = object{
	"report-name": "Dataset Report", "report-id": nil, "release": nil, "created": nil, "created-by": nil,
	"reporting-period": nil, "report-filters": []any{}, "report-attributes": []any{}, "exceptions": []any{},
}

// known are the members of the header that the service stores.
func (sub *submission) known() object {
	h := object{}
	for name, value := range sub.header {
		if _, ok := headerMembers[name]; ok && value != nil {
			h[name] = value
		}
	}
	return h
}

func (sub *submission) newHeader() object {
	h := maps.Clone(headerMembers)
	maps.Copy(h, sub.known())
	return h
}

// view is the answer with one report. datasets null is how the service answers
// a report of resolutions that it has just stored.
func (r *report) view(status int, header object, d blob) reply {
	shown := &report{id: r.id, header: header, parts: d.subsets}
	return shown.answer(status, weakETag(d.datasets), func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, `"report-datasets":%s,`, d.datasets); err != nil {
			return err
		}
		return writeSubsets(w, d.subsets)
	})
}

// deploy gives a seeded report what a Deployed service keeps of one.
func (r *report) deploy() error {
	data, err := r.parts[0].open()
	if err != nil {
		return err
	}
	sub := &submission{compressed: r.parts[0].compressed, part: r.parts[0]}
	if err := sub.parse(data); err != nil {
		return err
	}
	_ = sub.datePeriod() // an odd report may have none
	r.header, r.key = sub.header, sub.key()
	_, r.document = sub.firstContent()
	r.parts = slices.Clone(r.document.subsets)
	return nil
}

// firstContent is what a new report holds: a row for each subset, and the
// document.
func (sub *submission) firstContent() ([]part, blob) {
	d := blob{datasets: []byte("[]"), subsets: []part{sub.part}}
	if !sub.compressed {
		d.datasets = sub.storedDatasets()
		d.subsets = []part{newPart(compress(sub.packed(d.datasets)), true)}
	}
	return slices.Clone(d.subsets), d
}

// storedDatasets are the datasets that a plain report keeps: none, if it says
// that it is compressed.
func (sub *submission) storedDatasets() []byte {
	if sub.datasets == nil || notedCompressed(sub.header) {
		return []byte("[]")
	}
	return encode(sub.datasets)
}

// packed is a plain report as the service compresses it for itself.
func (sub *submission) packed(datasets []byte) []byte {
	return encode(object{"report-header": respell(sub.newHeader(), underscored), "report-datasets": json.RawMessage(bytes.Clone(datasets))})
}
