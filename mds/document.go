package mds

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
	"github.com/datacite-go/datacite-go/metadata"
)

// A Document is metadata as they travel: bytes and what they are. [XML] and
// [Record] make one of metadata XML, [Detect] of any format that the service
// takes.
type Document struct {
	ContentType string
	Data        []byte
}

// XMLType is the content type of metadata XML (specification §4.3).
const XMLType = "application/xml;charset=UTF-8"

// Content types of the other formats that the service takes; specification §4.3
// leaves them open. The service recognises the format by the bytes. Any type
// will do except application/json and forms, which it would read as parameters;
// they are refused.
const (
	TypeRIS          = "application/x-research-info-systems"
	TypeBibTeX       = "application/x-bibtex"
	TypeSchemaOrg    = "application/vnd.schemaorg.ld+json"
	TypeCiteproc     = "application/vnd.citationstyles.csl+json"
	TypeCodemeta     = "application/vnd.codemeta.ld+json"
	TypeDataCiteJSON = "application/vnd.datacite.datacite+json"
	TypeCrosscite    = "application/vnd.crosscite.crosscite+json"
	TypeCrossref     = XMLType                    // XML is XML, whatever the schema; the deployed service takes Crossref and keeps nothing of it
	TypePage         = "text/plain;charset=UTF-8" // the address of a page with schema.org inside; the deployed service refuses it
)

// XML makes a Document of metadata XML, without a byte order mark and blanks in
// front. The identifier in it may be empty: the DOI of the request counts. The
// methods that write refuse XML that is not well formed, before anything is sent.
// [metadata.ValidateXML] tells beforehand what else the service would refuse; leave out
// its CodeIdentifier.
func XML(data []byte) Document { return Document{ContentType: XMLType, Data: trimFront(data)} }

// Record makes a Document of a typed record, after validating it. Its faults match
// [datacite.ErrInvalid], and are a [*metadata.ValidationError].
func Record(r *metadata.Record) (Document, error) {
	if r == nil {
		return Document{}, &datacite.FieldError{Path: "record", Reason: "is nil"}
	}
	if invalid, ok := errors.AsType[*metadata.ValidationError](r.Validate()); ok {
		if err := invalid.Except(metadata.CodeJSON); err != nil {
			return Document{}, &recordError{err}
		}
	}
	data, err := r.XML()
	if err != nil {
		return Document{}, &recordError{err}
	}
	return XML(data), nil
}

// A recordError is a fault of a record. It matches datacite.ErrInvalid.
type recordError struct{ err error }

func (e *recordError) Error() string        { return "mds.Record: " + e.err.Error() }
func (e *recordError) Unwrap() error        { return e.err }
func (e *recordError) Is(target error) bool { return target == datacite.ErrInvalid }

// check refuses what cannot be sent, what the service reads as something else
// than metadata, and what it would repair and call a success.
func (d Document) check() error {
	kind, _, _ := mime.ParseMediaType(d.ContentType)
	switch {
	case len(d.Data) == 0:
		return &datacite.FieldError{Path: "doc.Data", Reason: "is empty"}
	case d.ContentType == "":
		return &datacite.FieldError{Path: "doc.ContentType", Reason: "is empty; mds.XML sets it for metadata XML, mds.Detect for other formats"}
	case strings.ContainsFunc(d.ContentType, func(r rune) bool { return r < ' ' || r > '~' }):
		return &datacite.FieldError{Path: "doc.ContentType", Reason: "has a character that a header cannot hold"}
	case kind == "":
		return &datacite.FieldError{Path: "doc.ContentType", Reason: fmt.Sprintf("%q is not a media type", d.ContentType)}
	case kind == "application/json", kind == "text/x-json", kind == "application/jsonrequest", kind == "application/x-www-form-urlencoded", kind == "multipart/form-data":
		return &datacite.FieldError{Path: "doc.ContentType", Reason: fmt.Sprintf("%s is read as parameters by the service; mds.Detect finds a type that works", kind)}
	case d.isXML() || kind == "application/xml" || kind == "text/xml":
		if err := xmlscan.Check(bytes.NewReader(d.Data)); err != nil {
			return &datacite.FieldError{Path: "doc.Data", Reason: "is not well-formed XML, of which the service would drop parts: " + err.Error()}
		}
	case !utf8.Valid(d.Data):
		return &datacite.FieldError{Path: "doc.Data", Reason: "is not UTF-8; the service would put U+FFFD for what is not"}
	}
	return nil
}

// isXML looks at the bytes, as the service does.
func (d Document) isXML() bool { return bytes.HasPrefix(trimFront(d.Data), []byte("<")) }

// trimFront leaves out what the service stumbles over in some formats.
func trimFront(data []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
}
