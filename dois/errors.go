package dois

import (
	"errors"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Error conditions of this interface only, for [errors.Is] like those of package datacite.
var (
	// ErrNoFormat: the service cannot return the record in the requested format (406).
	ErrNoFormat = transport.NewError("dois: no such format")

	// ErrForeign: the service itself, and no gateway before it, refuses a write, since the DOI or its prefix belongs
	// to another account (403). It also matches [datacite.ErrForbidden].
	ErrForeign error = &transport.Condition{Text: "dois: the DOI or its prefix belongs to another account",
		General: datacite.ErrForbidden}
)

// explain finds out what a refusal means beyond its status.
func explain(e *datacite.Error) {
	switch {
	case e.StatusCode == http.StatusNotAcceptable:
		e.Err = ErrNoFormat
	case e.StatusCode == http.StatusUnprocessableEntity && strings.Contains(e.Message, "already been taken"):
		e.Err = errors.Join(datacite.ErrConflict, datacite.ErrInvalid)
	case e.StatusCode == http.StatusForbidden && e.Op == opTransfer && isOwn(e):
		e.Message = "a DOI is transferred with the login of the member that its repository belongs to, or of the lead of " +
			"the consortium; a repository's own login may not (" + e.Message + ")"
	case transport.NotFound(e) && e.Op == opTransfer: // the DOI was there
		e.Message = "the service knows no repository account of this name (" + e.Message + ")"
	case e.StatusCode == http.StatusForbidden && e.Method != http.MethodGet && isOwn(e):
		e.Err = ErrForeign
		e.Message = "the DOI or its prefix belongs to another account (" + e.Message + ")"
	case unknownAccount(e):
		e.Err = errors.Join(datacite.ErrUnauthorized, datacite.ErrNotFound)
		e.Message = "the login is not accepted: the deployed service responds like this to a wrong name or password, and " +
			"to an account that is not a repository's (" + e.Message + ")"
	}
}

// isOwn reports whether a 403 is the service's, and not that of a gateway before it.
func isOwn(e *datacite.Error) bool { return strings.HasPrefix(e.Message, "You are not authorized") }

// unknownAccount recognises the response to a login that is not a repository's. A write to
// a DOI that does not exist creates it, so this 404 is not about the DOI.
func unknownAccount(e *datacite.Error) bool {
	return transport.NotFound(e) && (e.Method == http.MethodPost || e.Method == http.MethodPut) && e.Op != opDo
}
