// Package dois is interface B, the DOI query.
package dois

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// object is an object in JSON.
type object = map[string]any

var (
	errBadCredentials = wire.Fail(http.StatusUnauthorized, "Bad credentials.")
	errForbidden      = wire.Fail(http.StatusForbidden, wire.NotAuthorized)
	errType           = wire.Fail(http.StatusNotAcceptable, "The content type is not recognized.")
)

// Room is interface B: the DOI query.
type Room struct {
	*store.Store
	created atomic.Int64 // numbers of records, as the deployed service gives them
}

func New(s *store.Store) *Room { return &Room{Store: s} }

// Serve is interface B (specification §4.2).
func (s *Room) Serve(q *wire.Request, path string) (wire.Reply, error) {
	name, err := s.nameOfRecord(q, path)
	switch {
	case err != nil:
		return wire.Reply{}, err
	case q.Verb == http.MethodGet && path == "":
		return s.listDOIs(q, nil)
	case q.Verb == http.MethodGet:
		return s.showDOI(q, name)
	case q.Verb == http.MethodPost && path == "":
		return s.writeDOI(q, "")
	case (q.Verb == http.MethodPut || q.Verb == http.MethodPatch) && path != "":
		return s.writeDOI(q, name)
	case q.Verb == http.MethodDelete && path != "":
		return s.deleteDOI(q, name)
	}
	return wire.Reply{}, store.ErrNoRecord
}

// nameOfRecord is the DOI that a path means: of a Deployed service the path as
// its routes see it, and for a record that there is not yet the DOI in what it
// names.
func (s *Room) nameOfRecord(q *wire.Request, path string) (name string, err error) {
	if path == "" {
		return "", nil
	}
	if !s.AsBuilt {
		name, ok := names.Read(path)
		if !ok {
			return "", store.ErrNoRecord
		}
		return name, nil
	}
	w := names.Route(q.Verb, "/dois"+path)
	if w.Part != "" {
		return "", store.ErrNoRecord
	}
	if q.Verb == http.MethodGet || q.Verb == http.MethodDelete || s.Find(w.Doi) != nil {
		return w.Doi, nil
	}
	name, ok := names.Validate(w.Doi)
	switch {
	case !ok:
		return "", store.ErrNoRecord
	case s.Find(name) != nil:
		return "", record.Invalid(name, record.Wrong{"doi", "This DOI has already been taken"})
	}
	return name, nil
}

// caller is the account that asks, nil for an anonymous reader. Wrong Basic
// credentials make one anonymous, a wrong token is refused.
func (s *Room) caller(q *wire.Request) (*record.Account, error) {
	token := store.Bearer(q.Request)
	account, _ := s.Basic(q.Request)
	if token != "" {
		var err error
		if account, err = s.TokenAccount(token); err != nil {
			return nil, errBadCredentials
		}
	}
	if account == nil {
		q.AnswerHeader.Set("X-Anonymous-Consumer", "true")
	} else {
		q.AnswerHeader.Set("X-Credential-Username", account.Username)
	}
	return account, nil
}

// writer is the caller of a request that writes, who must be somebody.
func (s *Room) writer(q *wire.Request) (*record.Account, error) {
	account, err := s.caller(q)
	if err != nil || account != nil {
		return account, err
	}
	if _, given := s.Basic(q.Request); s.NobodyIs404 && !given && q.Verb == http.MethodPost {
		return nil, store.ErrNoRecord
	}
	return nil, errBadCredentials
}

// showDOI answers one record, always in full.
func (s *Room) showDOI(q *wire.Request, name string) (wire.Reply, error) {
	account, err := s.caller(q)
	if err != nil {
		return wire.Reply{}, err
	}
	params, err := wire.ReadParams(q)
	if err != nil {
		return wire.Reply{}, err
	}
	if err := playable(params); err != nil {
		return wire.Reply{}, err
	}
	rec := s.Find(name)
	if rec == nil || !rec.Visible(account) || s.AsBuilt && (hit{Record: rec}).isForeign() {
		return wire.Reply{}, store.ErrNoRecord
	}
	switch accepted(q) {
	case "json":
		body := object{"data": s.resource(rec, singleView(params), params, account)}
		s.include(body, params, []*record.Record{rec}, true)
		return wire.JSON(http.StatusOK, body), nil
	case "xml":
		return wire.Reply{Status: http.StatusOK, ContentType: kernelType + "; charset=utf-8", Body: rec.XML}, nil
	}
	return wire.Reply{}, errType
}

const kernelType = "application/vnd.datacite.datacite+xml"

// accepted is the first kind of answer that the Accept header names and the
// service has.
func accepted(q *wire.Request) string {
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

func (s *Room) deleteDOI(q *wire.Request, name string) (wire.Reply, error) {
	account, err := s.writer(q)
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Reply{Status: http.StatusNoContent}, s.RemoveDraft(account, name, store.ErrNoRecord, errForbidden)
}
