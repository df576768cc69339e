package sandbox

import (
	"net/http"
	"strings"
	"sync/atomic"
)

var (
	errNoRecord       = fail(http.StatusNotFound, notFound)
	errBadCredentials = fail(http.StatusUnauthorized, "Bad credentials.")
	errForbidden      = fail(http.StatusForbidden, notAuthorized)
	errType           = fail(http.StatusNotAcceptable, "The content type is not recognized.")
)

// doiRoom is interface B: the DOI query.
type doiRoom struct {
	*Store
	created atomic.Int64 // numbers of records, as the deployed service gives them
}

func newDOIRoom(s *Store) *doiRoom { return &doiRoom{Store: s} }

// serveDOIs is interface B (specification §4.2).
func (s *doiRoom) serveDOIs(q *request, path string) (reply, error) {
	if s.Vary != "" {
		q.header.Set("Vary", s.Vary)
	}
	name, err := s.nameOfRecord(q, path)
	switch {
	case err != nil:
		return reply{}, err
	case q.method == http.MethodGet && path == "":
		return s.listDOIs(q)
	case q.method == http.MethodGet:
		return s.showDOI(q, name)
	case q.method == http.MethodPost && path == "":
		return s.writeDOI(q, "")
	case (q.method == http.MethodPut || q.method == http.MethodPatch) && path != "":
		return s.writeDOI(q, name)
	case q.method == http.MethodDelete && path != "":
		return s.deleteDOI(q, name)
	}
	return reply{}, errNoRecord
}

// nameOfRecord is the DOI that a path means: of a Deployed service the path as
// its routes see it, and for a record that there is not yet the DOI in what it
// names.
func (s *doiRoom) nameOfRecord(q *request, path string) (name string, err error) {
	if path == "" {
		return "", nil
	}
	if !s.AsBuilt {
		name, ok := doiName(path)
		if !ok {
			return "", errNoRecord
		}
		return name, nil
	}
	w := route(q.method, "/dois"+path)
	if w.part != "" {
		return "", errNoRecord
	}
	if q.method == http.MethodGet || q.method == http.MethodDelete || s.find(w.doi) != nil {
		return w.doi, nil
	}
	name, ok := validate(w.doi)
	switch {
	case !ok:
		return "", errNoRecord
	case s.find(name) != nil:
		return "", invalid(name, wrong{"doi", "This DOI has already been taken"})
	}
	return name, nil
}

// caller is the account that asks, nil for an anonymous reader. Wrong Basic
// credentials make one anonymous, a wrong token is refused.
func (s *doiRoom) caller(q *request) (*Account, error) {
	token := bearer(q.Request)
	account, _ := s.basic(q.Request)
	if token != "" {
		var err error
		if account, err = s.tokenAccount(token); err != nil {
			return nil, errBadCredentials
		}
	}
	if account == nil {
		q.header.Set("X-Anonymous-Consumer", "true")
	} else {
		q.header.Set("X-Credential-Username", account.Username)
	}
	return account, nil
}

// writer is the caller of a request that writes, who must be somebody.
func (s *doiRoom) writer(q *request) (*Account, error) {
	account, err := s.caller(q)
	if err != nil || account != nil {
		return account, err
	}
	if _, given := s.basic(q.Request); s.NobodyIs404 && !given && q.method == http.MethodPost {
		return nil, errNoRecord
	}
	return nil, errBadCredentials
}

// visible says whether the account may see the record: everybody sees findable
// ones, the owner all.
func (rec *record) visible(a *Account) bool { return rec.state == findable || rec.owner(a) }

// showDOI answers one record, always in full.
func (s *doiRoom) showDOI(q *request, name string) (reply, error) {
	account, err := s.caller(q)
	if err != nil {
		return reply{}, err
	}
	params, err := readParams(q)
	if err != nil {
		return reply{}, err
	}
	rec := s.find(name)
	if rec == nil || !rec.visible(account) {
		return reply{}, errNoRecord
	}
	switch accepted(q) {
	case "json":
		body := object{"data": rec.resource(singleView(params))}
		include(body, params, []*record{rec})
		return jsonReply(http.StatusOK, body), nil
	case "xml":
		return reply{status: http.StatusOK, contentType: kernelType + "; charset=utf-8", body: rec.xml}, nil
	}
	return reply{}, errType
}

const kernelType = "application/vnd.datacite.datacite+xml"

// accepted is the first kind of answer that the Accept header names and the
// service has.
func accepted(q *request) string {
	header := q.Header.Get("Accept")
	if header == "" {
		return "json"
	}
	for kind := range strings.SplitSeq(header, ",") {
		kind, _, _ = strings.Cut(kind, ";")
		switch strings.TrimSpace(kind) {
		case "application/json", "application/vnd.api+json", "application/*", "*/*":
			return "json"
		case kernelType, "application/x-datacite+xml":
			return "xml"
		}
	}
	return ""
}

func (s *doiRoom) deleteDOI(q *request, name string) (reply, error) {
	account, err := s.writer(q)
	if err != nil {
		return reply{}, err
	}
	if err := s.removeDraft(account, name, errNoRecord, errForbidden); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}
