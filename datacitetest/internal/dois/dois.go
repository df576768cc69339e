// Package dois is interface B, the DOI query.
package dois

import (
	"net/http"
	"sync/atomic"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// object is an object in JSON.
type object = map[string]any

var (
	errBadCredentials = wire.Fail(http.StatusUnauthorized, "Bad credentials.")
	errForbidden      = wire.Fail(http.StatusForbidden, wire.NotAuthorized)
	errNoPayload      = wire.Fail(http.StatusBadRequest, "You need to provide a payload following the JSONAPI spec")
	errType           = wire.Fail(http.StatusNotAcceptable, "The content type is not recognized.")
)

// A Service is interface B.
type Service struct {
	*store.Store
	created atomic.Int64 // internal numbers of records, as in the deployed service
}

// New makes the DOI service over a store.
func New(s *store.Store) *Service { return &Service{Store: s} }

// caller is the account of a request, nil for an anonymous reader. Wrong Basic
// credentials are ignored; a wrong token is refused.
func (s *Service) caller(q *wire.Request) (*record.Account, error) {
	token := store.Bearer(q.Request)
	account, _ := s.Basic(q.Request)
	if token != "" {
		var err error
		if account, err = s.TokenAccount(token); err != nil {
			return nil, errBadCredentials
		}
	}
	if account == nil {
		q.ResponseHeader.Set("X-Anonymous-Consumer", "true")
	} else {
		q.ResponseHeader.Set("X-Credential-Username", account.Username)
	}
	return account, nil
}

// callerAndParams are the account and the parameters of a request.
func (s *Service) callerAndParams(q *wire.Request) (account *record.Account, p wire.Params, err error) {
	if account, err = s.caller(q); err == nil {
		p, err = wire.ReadParams(q)
	}
	return account, p, err
}

// showDOI shows one record in a format, always in full.
func (s *Service) showDOI(q *wire.Request, name, f string) (wire.Reply, error) {
	account, params, err := s.callerAndParams(q)
	if err == nil {
		err = checkPlayable(params)
	}
	if err != nil {
		return wire.Reply{}, err
	}
	rec := s.Find(name)
	if rec == nil || !rec.Visible(account) || s.Deployed && rec.IsForeign() {
		return wire.Reply{}, store.ErrNoRecord
	}
	if _, files := rec.Attributes["contentUrl"].([]any); files && wire.Listed(params["include"], "media") {
		return wire.Reply{}, wire.Parameter.Refusal("include", "media")
	}
	if f != "json" {
		return formatted(f, rec, params)
	}
	body := object{"data": s.resource(rec, singleView(params), params, account)}
	s.include(body, params, []*record.Record{rec}, true)
	return wire.JSON(http.StatusOK, body), nil
}
