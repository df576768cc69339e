package mds

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Error conditions of this interface only, for [errors.Is] like those of package datacite.
// The status codes are those of specification §4.3 and §7 and, where the deployed service
// differs, its own.
var (
	// ErrMetadataMissing: PutURL was called before PutMetadata (412, or a 422 that says
	// "Can't be blank").
	ErrMetadataMissing error = &transport.Condition{Text: "mds: metadata must be uploaded first"}
	// ErrTimeout: the metadata store got no response from its backend in time (408).
	ErrTimeout error = &transport.Condition{Text: "mds: service timed out", Passes: true}
	// ErrNoMetadata: the DOI is known and has no metadata (204).
	ErrNoMetadata = transport.NewSign("mds: no metadata registered")
	// ErrNoURL: the DOI is known and has no URL yet (204).
	ErrNoURL = transport.NewSign("mds: no URL registered")
	// ErrReplacedCharacters: the text that was read may differ from the stored one. The deployed
	// service sends "?" for each byte of a character beyond ASCII; the stored text is
	// intact. The text with replacements is returned with the error. A stored text that contains "??"
	// gives the same error. Get of package dois returns the stored text (Record.URL,
	// Record.MetadataXML).
	ErrReplacedCharacters = transport.NewSign(`mds: "?" may stand for characters beyond ASCII`)
	// ErrHalfRegistered: a registration stored the metadata, but setting the URL failed. If
	// the error also matches [datacite.ErrUnclear], the URL may have been stored.
	ErrHalfRegistered = transport.NewSign("mds: the metadata are stored, setting the URL failed")
	// ErrHidden: the DOI is hidden, or may be, and the change would make it findable again.
	// EnsureOptions.Show permits this; Update of package dois changes a hidden DOI and
	// keeps it hidden. The error also matches [datacite.ErrNotAllowed].
	ErrHidden error = &transport.Condition{Text: "mds: not changed, as every change makes the DOI findable", General: datacite.ErrNotAllowed}
	// ErrUnconfirmed: the service accepted a registration, but reading the DOI back failed
	// or returned other values. The service may be slow.
	ErrUnconfirmed error = &transport.Condition{Text: "mds: registered, but not read back as written", Passes: true}
)

// explain recognises the conditions of this interface.
func explain(e *datacite.Error) {
	switch {
	case metadataMissing(e):
		e.Err = ErrMetadataMissing
	case e.StatusCode == http.StatusRequestTimeout:
		e.Err = ErrTimeout
	}
}

// metadataMissing recognises the two responses to a URL without metadata: that of
// the specification, and that of the deployed service, which names the title, the
// creators and so on of an empty record.
func metadataMissing(e *datacite.Error) bool {
	return e.StatusCode == http.StatusPreconditionFailed && !markup(e.Body) ||
		e.StatusCode == http.StatusUnprocessableEntity && e.Op == opPutURL && strings.HasPrefix(e.Message, "Can't be blank")
}

// markup recognises HTML, XML and JSON, which the store never sends as a refusal, and a
// gateway or another host does.
func markup(body []byte) bool {
	text := bytes.TrimSpace(body)
	return len(text) > 0 && bytes.IndexByte([]byte("<{["), text[0]) >= 0
}

// What the deployed service may mean by 404 in response to a write that makes a DOI if
// it does not exist.
var (
	errUnknownAccount error = &transport.Condition{
		Text:    "the deployed service responds like this to an unknown account",
		General: datacite.ErrUnauthorized,
	}
	errForeignFormat error = &transport.Condition{
		Text:    "the deployed service responds like this to metadata without a DOI and to an unknown account",
		General: datacite.ErrInvalid,
	}
)

// notMade explains a 404 in response to a write.
func notMade(err error, why error) error {
	if e, ok := errors.AsType[*datacite.Error](err); ok && transport.NotFound(err) {
		e.Err = why
		e.Message += " (" + why.Error() + ")"
	}
	return err
}

// errOtherDOI: the service stored the metadata under another name than the one given.
// Sending them again would make another DOI.
var errOtherDOI error = &transport.Condition{Text: "another DOI was made or changed"}
