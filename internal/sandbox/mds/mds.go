package mds

import (
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// Room is interface C: the metadata store.
type Room struct{ *store.Store }

func New(s *store.Store) *Room { return &Room{s} }

// Serve answers a request to the path area/rest.
func (s *Room) Serve(q *wire.Request, area, rest string) wire.Reply {
	switch area {
	case "doi":
		return wire.InText(s.serveDOI(q, rest))
	case "metadata":
		return wire.InText(s.serveMetadata(q, rest))
	case "media":
		return wire.InText(s.serveMedia(q, rest))
	}
	return wire.InText(wire.Reply{}, errNoRoute)
}

// login checks Basic credentials, which the metadata store wants on every
// request (specification §5).
func (s *Room) login(q *wire.Request) (*record.Account, error) {
	account, given := s.Basic(q.Request)
	if username, password, _ := q.BasicAuth(); store.IsKey(username) {
		account, given = nil, password != "" // the specification knows names alone
	}
	if !given {
		f := wire.Fail(http.StatusUnauthorized, "An Authentication object was not found in the SecurityContext")
		f.Header = map[string]string{"WWW-Authenticate": `Basic realm="mds"`}
		return nil, f
	}
	if account == nil {
		return nil, errBadLogin
	}
	q.AnswerHeader.Set("X-Credential-Username", account.Username)
	return account, nil
}

// hidden is why the account may not read the record.
func hidden(rec *record.Record, account *record.Account, unknown error) error {
	switch {
	case rec == nil:
		return unknown
	case !rec.Owner(account):
		return errDenied
	}
	return nil
}

var (
	errBadLogin = wire.Fail(http.StatusUnauthorized, "Bad credentials")

	errNoDOI  = wire.Fail(http.StatusNotFound, "DOI not found")
	errDenied = wire.Fail(http.StatusForbidden, "Access is denied")

	errUnknown = wire.Fail(http.StatusNotFound, "DOI is unknown to MDS")
	errNoRoute = wire.Fail(http.StatusNotFound, "Resource not found")
)

// unescapeForm decodes %xx and "+" and leaves a stray "%" alone.
func unescapeForm(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '+':
			out = append(out, ' ')
		case text[i] == '%' && i+2 < len(text) && names.IsHex(text[i+1]) && names.IsHex(text[i+2]):
			out = append(out, names.Unhex(text[i+1])<<4|names.Unhex(text[i+2]))
			i += 2
		default:
			out = append(out, text[i])
		}
	}
	return string(out)
}

// nameInPath is the DOI that a path means.
func nameInPath(path string) (string, error) {
	name, ok := names.Read(path)
	if !ok {
		return "", errNoDOI
	}
	return name, nil
}
