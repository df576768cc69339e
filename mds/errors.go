package mds

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
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
	ErrNoMetadata = error(&transport.Condition{Text: "mds: no metadata registered"})
	// ErrNoURL: the DOI is known and has no URL yet (204).
	ErrNoURL = error(&transport.Condition{Text: "mds: no URL registered"})
	// ErrReplacedCharacters: the text that was read may differ from the stored one. The deployed
	// service sends "?" for each byte of a character beyond ASCII; the stored text is
	// intact. The text with replacements is returned with the error. A stored text that contains "??"
	// gives the same error. Get of package dois returns the stored text (Record.URL,
	// Record.MetadataXML).
	ErrReplacedCharacters = transport.NewError(`mds: "?" may stand for characters beyond ASCII`)
	// ErrHalfRegistered: a registration stored the metadata, but setting the URL failed. If
	// the error also matches [datacite.ErrUnclear], the URL may have been stored.
	ErrHalfRegistered = transport.NewError("mds: the metadata are stored, setting the URL failed")
	// ErrHidden: the DOI is hidden, or may be, and registering it would make it findable again.
	// RegisterOptions.Show permits this; Update of package dois changes a hidden DOI and
	// keeps it hidden. The error also matches [datacite.ErrNotAllowed].
	ErrHidden error = &transport.Condition{Text: "mds: not changed, as every change makes the DOI findable",
		General: datacite.ErrNotAllowed}
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

// errRefused: the service refuses input with a text and status 200.
var errRefused error = &transport.Condition{Text: "refused", General: datacite.ErrInvalid}

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

// How the schema validator and the service name an element.
var (
	namedElement = lazy.Regexp(`^(?:\d+:\d+: )?(?:[A-Z]+: )?Element '(?:\{[^}]*\})?([^']+)'`)
	leadingName  = lazy.Regexp(`^([A-Za-z]+)(?:', attribute '[^']*')?: `)
)

// explainRefusal adds to a refusal of metadata the element at the fault, and to a 404
// what the service may mean by it.
func explainRefusal(err error, doc Document) error {
	why := errUnknownAccount
	if !doc.isXML() {
		why = errForeignFormat
	}
	err = notMade(err, why)
	e, ok := errors.AsType[*datacite.Error](err)
	if !ok || e.StatusCode != http.StatusUnprocessableEntity {
		return err
	}
	if len(e.Details) == 0 {
		line, column := transport.Position(e.Message)
		e.Details = []datacite.Finding{{Code: datacite.CodeRefused, Reason: e.Message, Line: line, Column: column}}
	}
	for i, d := range e.Details {
		if d.Path == "" {
			e.Details[i].Path = faultyElement(d, doc)
		}
	}
	return err
}

func faultyElement(d datacite.Finding, doc Document) string {
	if m := namedElement().FindStringSubmatch(d.Reason); m != nil {
		return m[1]
	}
	if m := leadingName().FindStringSubmatch(d.Reason); m != nil && bytes.Contains(doc.Data, []byte("<"+m[1])) {
		return m[1]
	}
	if kind, _, _ := mime.ParseMediaType(doc.ContentType); kind != "application/xml" {
		return ""
	}
	// The first element whose tag ends on the line, which is the one that validators name, or else
	// the last one before it.
	name := ""
	for decoder := newDecoder(doc.Data); ; {
		token, err := decoder.Token()
		line, _ := decoder.InputPos()
		if err != nil || line > d.Line {
			return name
		}
		if start, ok := token.(xml.StartElement); ok {
			if name = start.Name.Local; line == d.Line {
				return name
			}
		}
	}
}

// Status is the short text with which the service accepts a write: OK, CREATED or
// HANDLE_ALREADY_EXISTS.
type Status string

// accepted reads the short text with which the service accepts a PUT (201) or a DELETE (200). The
// deployed service refuses some input with status 200 and a text that says why. After anything
// else, such as the empty 201 of a file server, it is not known what has been done.
func (c *Client) accepted(r transport.Request, res *transport.Response) (Status, error) {
	accepts := http.StatusCreated
	if r.Method == http.MethodDelete {
		accepts = http.StatusOK
	}
	status := statusOf(res)
	isKnown := slices.Contains([]string{"OK", "CREATED", "HANDLE_ALREADY_EXISTS"}, strings.ToUpper(string(status)))
	switch {
	case isKnown && res.StatusCode == accepts:
		return status, nil
	case isKnown, status == "", markup(res.Data), res.StatusCode != http.StatusOK:
		return "", c.core.Unreadable(r, res,
			fmt.Errorf("the service accepts a %s with %d and OK or CREATED, not with %d and %.200q", r.Method, accepts,
				res.StatusCode, status))
	}
	return "", c.core.Unsuccessful(r, res, string(status), errRefused)
}

// statusOf reads the short text, without the DOI that may follow it in brackets.
func statusOf(res *transport.Response) Status {
	text, _, _ := strings.Cut(strings.TrimSpace(string(res.Data)), " (")
	return Status(text)
}

var inBrackets = lazy.Regexp(`\((10\..+)\)\s*$`)

// storedName finds the DOI under which the deployed service stored something: in the
// text, such as "OK (10.5072/ABCD-EFGH)", or in the Location header. Names come in
// upper case and are returned in lower case.
func storedName(res *transport.Response) (string, bool) {
	if m := inBrackets().FindSubmatch(res.Data); m != nil {
		name, err := doi.Parse(string(m[1]))
		return doi.Normal(name), err == nil
	}
	_, path, ok := strings.Cut(res.Header.Get("Location"), "/metadata/")
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(path)
	if err == nil {
		name, err = doi.Parse(name)
	}
	return doi.Normal(name), err == nil
}

// absent is the error for a known DOI without what was asked for.
func (c *Client) absent(r transport.Request, res *transport.Response, kind error) error {
	return c.core.Unsuccessful(r, res, strings.TrimPrefix(kind.Error(), "mds: "), kind)
}
