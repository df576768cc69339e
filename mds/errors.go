package mds

import (
	"errors"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Conditions of this interface alone, to ask for with [errors.Is] like those of package
// datacite. The status codes are those of specification §4.3 and §7 and, where the
// deployed service differs, its own.
var (
	// ErrMetadataMissing: PutURL came before PutMetadata (412, or a 422 that says
	// "Can't be blank").
	ErrMetadataMissing error = &transport.Condition{Text: "mds: metadata must be uploaded first"}
	// ErrTimeout: the service gave up waiting for the one behind it (408).
	ErrTimeout error = &transport.Condition{Text: "mds: service timed out", Passes: true}
	// ErrNoMetadata: the DOI is known and has no metadata (204).
	ErrNoMetadata = errors.New("mds: no metadata registered")
	// ErrNoURL: the DOI is known and has no URL yet (204).
	ErrNoURL = errors.New("mds: no URL registered")
	// ErrGarbled: what was read is not what is stored. The deployed service puts a "?"
	// for each byte of every character beyond ASCII in what it reads out; what it
	// stores is right. The text comes with the error. A text that really has "??"
	// gives the same error. Client.XML of package dois reads both unharmed.
	ErrGarbled = errors.New(`mds: "?" may stand for characters beyond ASCII`)
)

// explain finds out what a refusal means beyond its status.
func explain(e *datacite.Error) {
	switch {
	case metadataMissing(e):
		e.Err = ErrMetadataMissing
	case e.StatusCode == http.StatusRequestTimeout:
		e.Err = ErrTimeout
	}
}

// metadataMissing recognises the two answers to a URL without metadata: that of
// the specification, and that of the deployed service, whose complaint is about
// the title, the creators and so on of an empty record.
func metadataMissing(e *datacite.Error) bool {
	return e.StatusCode == http.StatusPreconditionFailed ||
		e.StatusCode == http.StatusUnprocessableEntity && e.Op == opPutURL && strings.HasPrefix(e.Message, "Can't be blank")
}

// Two things that the deployed service may mean by 404 when it is to make a DOI,
// which cannot be what it does not find.
var (
	errUnknownAccount error = &transport.Condition{
		Text:    "the deployed service responds like this to an account that it does not know",
		General: datacite.ErrUnauthorized,
	}
	errForeignFormat error = &transport.Condition{
		Text:    "the deployed service responds like this if it finds no DOI in the metadata, and to an account that it does not know",
		General: datacite.ErrInvalid,
	}
)

// notMade explains a 404 to a request that makes or changes a DOI.
func notMade(err error, why error) error {
	if e, ok := errors.AsType[*datacite.Error](err); ok && e.StatusCode == http.StatusNotFound {
		e.Err = why
		e.Message += " (" + why.Error() + ")"
	}
	return err
}

// errOtherDOI: the service stored the metadata under another name than it was
// given. To send them again would make another one.
var errOtherDOI error = &transport.Condition{Text: "another DOI was made or changed"}
