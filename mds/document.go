package mds

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"mime"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go/mds/metadata"
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
// leaves them open. The service recognises the format by the bytes. The type
// only has to be none that it would take for something else: application/json
// and forms are read as parameters, and are refused.
const (
	TypeRIS       = "application/x-research-info-systems"
	TypeBibTeX    = "application/x-bibtex"
	TypeSchemaOrg = "application/vnd.schemaorg.ld+json"
	TypeCiteproc  = "application/vnd.citationstyles.csl+json"
	TypeCodemeta  = "application/vnd.codemeta.ld+json"
	TypeCrossref  = XMLType                    // XML is XML, whatever the schema
	TypePage      = "text/plain;charset=UTF-8" // the address of a page with schema.org inside; the deployed service refuses it
)

// XML makes a Document of metadata XML. The identifier in it may be empty: the
// DOI of the request counts. [metadata.ValidateXML] tells beforehand what the
// service would refuse; leave out its CodeIdentifier.
func XML(data []byte) Document { return Document{ContentType: XMLType, Data: data} }

// Record makes a Document of a typed record, after validating it.
func Record(r *metadata.Record) (Document, error) {
	if err := r.Validate(); err != nil {
		return Document{}, fmt.Errorf("mds.Record: %w", err)
	}
	data, err := r.XML()
	if err != nil {
		return Document{}, fmt.Errorf("mds.Record: %w", err)
	}
	return XML(data), nil
}

// Detect makes a Document of metadata in any format that the service takes, and
// finds out which one it is as the service does: by the bytes. Known are
// DataCite XML, Crossref XML, schema.org (JSON-LD, or the address of a page that
// has it inside), Codemeta, Citeproc JSON, RIS and BibTeX. Anything else is a
// [*FieldError].
func Detect(data []byte) (Document, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	contentType, reason := "", "is in no format that the service takes"
	switch {
	case len(text) == 0:
		reason = "is empty"
	case text[0] == '<':
		contentType, reason = detectXML(text)
	case text[0] == '{':
		contentType, reason = detectJSON(text)
	case bytes.HasPrefix(text, []byte("TY  - ")):
		contentType = TypeRIS
	case bibTeX.Match(text):
		contentType = TypeBibTeX
	case pageAddress.Match(text):
		contentType = TypePage
	}
	if contentType == "" {
		return Document{}, &FieldError{Path: "data", Reason: reason}
	}
	return Document{ContentType: contentType, Data: data}, nil
}

var (
	bibTeX      = regexp.MustCompile(`^@\s*[A-Za-z]+\s*[{(]`)
	pageAddress = regexp.MustCompile(`^https?://\S+$`)
)

func detectXML(text []byte) (contentType, reason string) {
	decoder := newDecoder(text)
	decoder.Strict = false // only the root element counts here
	for {
		token, err := decoder.Token()
		if err != nil {
			return "", "is XML without a root element"
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch space := root.Name.Space; {
		case strings.HasPrefix(space, "http://datacite.org/schema/kernel"):
			return XMLType, ""
		case strings.HasPrefix(space, "http://www.crossref.org/"), root.Name.Local == "doi_records":
			return TypeCrossref, ""
		}
		return "", fmt.Sprintf("is XML whose root element %q is neither DataCite's nor Crossref's; the namespace may be missing", root.Name.Local)
	}
}

func detectJSON(text []byte) (contentType, reason string) {
	var members struct {
		Context json.RawMessage `json:"@context"`
		Issued  struct {
			DateParts json.RawMessage `json:"date-parts"`
		} `json:"issued"`
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return "", "is not well-formed JSON: " + err.Error()
	}
	switch {
	case bytes.Contains(members.Context, []byte("codemeta")):
		return TypeCodemeta, ""
	case bytes.Contains(members.Context, []byte("schema.org")):
		return TypeSchemaOrg, ""
	case members.Issued.DateParts != nil:
		return TypeCiteproc, ""
	}
	return "", "is JSON, but neither schema.org nor Codemeta (by @context) nor Citeproc (by issued.date-parts)"
}

// check refuses what cannot be sent, or what the service reads as something
// else than metadata.
func (d Document) check() error {
	kind, _, _ := mime.ParseMediaType(d.ContentType)
	switch {
	case len(d.Data) == 0:
		return &FieldError{Path: "doc.Data", Reason: "is empty"}
	case d.ContentType == "":
		return &FieldError{Path: "doc.ContentType", Reason: "is empty; mds.XML sets it for metadata XML, mds.Detect for other formats"}
	case strings.ContainsFunc(d.ContentType, func(r rune) bool { return r < ' ' || r > '~' }):
		return &FieldError{Path: "doc.ContentType", Reason: "has a character that a header cannot hold"}
	case kind == "application/json", kind == "application/x-www-form-urlencoded", kind == "multipart/form-data":
		return &FieldError{Path: "doc.ContentType", Reason: fmt.Sprintf("%s is read as parameters by the service; mds.Detect finds a type that works", kind)}
	}
	return nil
}
