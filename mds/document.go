package mds

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/document"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/metadata"
)

// A Document is metadata in the form in which they are sent: bytes and their content type.
// [NewDocument] makes one of a typed record, and [XML] of metadata XML.
//
// The service also accepts other formats of specification §4.3, which it recognises by the bytes
// and converts to XML: schema.org JSON-LD (application/vnd.schemaorg.ld+json), Codemeta
// (application/vnd.codemeta.ld+json), Citeproc JSON
// (application/vnd.citationstyles.csl+json), RIS (application/x-research-info-systems) and
// BibTeX (application/x-bibtex), the last three with the DOI in the text. Properties that
// the new text lacks keep their registered values. The deployed
// service keeps nothing of Crossref XML and of the address of a page. It reads application/json and
// form types as parameters, so documents with these types are refused.
type Document struct {
	ContentType string
	Data        []byte

	// AllowOtherDOI permits metadata that name another DOI, which the service replaces. Without
	// it, such metadata are refused, since they nearly always belong to the other DOI.
	AllowOtherDOI bool

	findings []datacite.Finding // of the record that NewDocument was given
}

// XMLType is the content type of metadata XML (specification §4.3).
const XMLType = "application/xml;charset=UTF-8"

// XML makes a Document of metadata XML, without a leading byte order mark and white space.
// The identifier in it may be empty. The methods that write refuse XML that is not well
// formed or names another DOI, before anything is sent. [metadata.ValidateXML] finds other
// faults that the service would refuse; ignore its findings with the code identifier.
func XML(data []byte) Document {
	return Document{ContentType: XMLType, Data: document.Trim(data)}
}

// NewDocument validates a record and makes a Document of it. The error is a
// [*datacite.ValidationError] with all faults of the record.
func NewDocument(record *metadata.Record) (Document, error) {
	if record == nil {
		return Document{}, datacite.Invalidf("record", datacite.CodeMissing, "is nil")
	}
	if err := record.Validate(); err != nil {
		return Document{}, err
	}
	data, err := record.XML()
	if err != nil {
		return Document{}, err
	}
	doc := XML(data)
	doc.findings = record.Findings()
	return doc, nil
}

// Findings returns the faults of the metadata and warnings about them: those of
// [metadata.Record.Findings] if NewDocument made the document, and for other XML those of
// [metadata.FindingsXML], with line and column. Findings with the codes identifier, json,
// not-in-json and not-in-xml are left out, because the service uses the DOI of the request and receives XML. Other
// formats are not checked.
func (d Document) Findings() []datacite.Finding {
	found := slices.Clone(d.findings)
	if found == nil && d.isXML() {
		found, _ = metadata.FindingsXML(bytes.NewReader(d.Data)) // the error is that of a reader
	}
	return slices.DeleteFunc(found, func(f datacite.Finding) bool {
		return slices.Contains([]datacite.Code{datacite.CodeIdentifier, datacite.CodeJSON, datacite.CodeNotInJSON,
			datacite.CodeNotInXML}, f.Code)
	})
}

const maxWarnings = 100

// warnings are the first of the findings, for a result that is kept for each of many DOIs.
func (d Document) warnings(name, address string) []datacite.Finding {
	found := d.Findings()
	if d.isXML() && bytes.Contains(d.Data, []byte("<alternateIdentifier")) {
		if r, err := metadata.ParseXML(bytes.NewReader(d.Data)); err == nil { // check has the error
			found = append(found, r.OwnNames(name, address)...)
		}
	}
	return slices.Clip(found[:min(len(found), maxWarnings)])
}

// check refuses what cannot be sent, what the service does not read as metadata, and
// what it would repair and accept.
func (d Document) check() error {
	kind, _, _ := mime.ParseMediaType(d.ContentType)
	switch {
	case len(d.Data) == 0:
		return datacite.Invalidf("doc.Data", datacite.CodeMissing, "is empty")
	case d.ContentType == "":
		return datacite.Invalidf("doc.ContentType", datacite.CodeMissing,
			"is empty; mds.XML sets it for metadata XML")
	case strings.ContainsFunc(d.ContentType, func(r rune) bool { return r < ' ' || r > '~' }):
		return datacite.Invalidf("doc.ContentType", datacite.CodeEncoding,
			"has a character that is not allowed in a header")
	case kind == "":
		return datacite.Invalidf("doc.ContentType", datacite.CodeSyntax, "%q is not a media type", d.ContentType)
	case kind == "application/json", kind == "text/x-json", kind == "application/jsonrequest",
		kind == "application/x-www-form-urlencoded", kind == "multipart/form-data":
		return datacite.Invalidf("doc.ContentType", datacite.CodeValue,
			"%s is read as parameters by the service; the comment of Document has types that work", kind)
	case !d.isXML() && (kind == "application/xml" || kind == "text/xml"):
		return datacite.Invalidf("doc.Data", datacite.CodeSyntax, "is not XML, as doc.ContentType says")
	}
	return document.Check("doc.Data", d.Data)
}

// checkFor refuses, beside what check does, metadata that name another DOI.
func (d Document) checkFor(name string) error {
	if err := d.check(); err != nil || d.AllowOtherDOI {
		return err
	}
	return document.CheckName("doc.Data", d.Data, name)
}

func (d Document) isXML() bool { return document.IsXML(d.Data) }

// Metadata returns the metadata of a DOI as the service stores them: with the DOI as
// identifier, and other formats converted to XML. A DOI without metadata is
// [ErrNoMetadata]. The deployed service replaces characters beyond ASCII in its response: such metadata come
// with [ErrReplacedCharacters]. Do not store them again; read them with Get of package dois
// (Record.MetadataXML). More than 16 MiB, which the service cannot store, are
// [datacite.ErrTooLarge].
//
// Metadata sends GET /metadata/{doi} (specification §4.3).
func (c *Client) Metadata(ctx context.Context, doiName string) (*Document, error) {
	name, err := doi.Store.Readable(doiName)
	if err != nil {
		return nil, err
	}
	const op = "mds.Metadata"
	doc, err := c.metadata(ctx, op, name)
	if err == nil && hasReplaced(doc.Data) {
		err = replacedError(op, name)
	}
	return doc, err
}

func (c *Client) metadata(ctx context.Context, op, name string) (*Document, error) {
	request := transport.Request{Op: op, Method: "GET", Path: "/metadata/" + doi.Store.Path(name),
		Accept: "application/xml", Most: transport.MaxDocument}
	res, err := c.read(ctx, name, request)
	if err != nil {
		return nil, err
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(res.Data, []byte("\ufeff")))
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if len(text) == 0 && (res.StatusCode == http.StatusNoContent || strings.HasSuffix(kind, "xml")) {
		return nil, c.absent(request, res, ErrNoMetadata)
	}
	if hasReplaced(text) { // in a name, too, which XML could not have
		text = replacedRun().ReplaceAll(text, []byte("_"))
	}
	if root := rootOf(text); root != "resource" {
		return nil, c.core.Unreadable(request, res, fmt.Errorf("it is not metadata XML, as its root element is %.40q", root))
	}
	return &Document{ContentType: res.Header.Get("Content-Type"), Data: res.Data}, nil
}

var replacedRun = lazy.Regexp(`\?{2,}`)

// rootOf returns the name of the root element, "" if there is none.
func rootOf(data []byte) string {
	decoder := newDecoder(data)
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok {
			return start.Name.Local
		}
	}
}

// PutMetadata stores metadata for a DOI. A DOI that the service does not know
// becomes a draft, a hidden one becomes findable again (specification §3.1), which
// [Client.Register] prevents. The name must be one that doi.CheckNew allows; Register changes
// older DOIs, too. Sending it twice has the same effect as once.
//
// PutMetadata sends PUT /metadata/{doi} (specification §4.3).
func (c *Client) PutMetadata(ctx context.Context, doiName string, doc Document) (Status, error) {
	name, err := doi.Store.Writable(doiName)
	if err == nil {
		err = doi.At("doi", doi.CheckNew(name))
	}
	if err != nil {
		return "", err
	}
	return c.putMetadata(ctx, "mds.PutMetadata", name, doc)
}

func (c *Client) putMetadata(ctx context.Context, op, name string, doc Document) (Status, error) {
	if err := doc.checkFor(name); err != nil {
		return "", err
	}
	request := transport.Request{
		Op: op, Method: "PUT", Path: "/metadata/" + doi.Store.Path(name),
		ContentType: doc.ContentType, Body: bytes.NewReader(doc.Data),
	}
	res, err := c.write(ctx, name, request)
	if err != nil {
		return "", explainRefusal(err, doc)
	}
	status, err := c.accepted(request, res)
	if err != nil {
		return "", err
	}
	if stored, ok := storedName(res); ok && !doi.Equal(stored, name) {
		return "", c.core.Unreadable(request, res,
			fmt.Errorf("the service stored the metadata under %s: %w", stored, errOtherDOI))
	}
	return status, nil
}

// Mint stores metadata under a new DOI of a prefix, a draft, and returns its name. The
// suffix is random, with check digits (see New of package doi). The identifier in
// the metadata is overwritten. [Client.PutURL] makes the DOI findable.
//
// One call never makes two DOIs: Mint chooses the name before it writes, checks that the
// service does not know it, and can then safely repeat the request. If the outcome is unknown, the
// name is returned with an error that matches [datacite.ErrUnclear]: call [Client.PutMetadata] with
// this name; another call of Mint would make another DOI.
//
// The service itself can choose a name: send PUT /metadata/{prefix} with [Client.Do]. After a lost
// response, a draft with an unknown name may then remain.
//
// Mint sends GET /doi/{doi} and PUT /metadata/{doi} (specification §4.3).
func (c *Client) Mint(ctx context.Context, prefix string, doc Document) (string, error) {
	const op = "mds.Mint"
	if err := doi.CheckPrefix(prefix); err != nil {
		return "", doi.At("prefix", err)
	}
	if err := doc.check(); err != nil {
		return "", err
	}
	name, err := c.freeName(ctx, op, prefix)
	if err != nil {
		return "", err
	}
	doc.AllowOtherDOI = true // whatever they name, the name is new
	_, err = c.putMetadata(ctx, op, name, doc)
	if err == nil {
		return name, nil
	}
	if !errors.Is(err, datacite.ErrUnclear) {
		return "", err
	}
	if state, _, lost := c.look(ctx, op, name); lost == nil && state == datacite.StateDraft {
		return name, nil // nobody else knows the name
	}
	return name, err
}

// freeName draws names under a prefix until the service does not know one.
func (c *Client) freeName(ctx context.Context, op, prefix string) (string, error) {
	const draws = 5 // the second is needed once in a billion times, so this many mean a fault
	for range draws {
		name := doi.New(prefix)
		state, _, err := c.look(ctx, op, name)
		switch {
		case err != nil:
			return "", err
		case state == StateNone:
			return name, nil
		}
	}
	return "", fmt.Errorf("%s: %w: the service knows %d random names under %s", op, datacite.ErrUnreadable, draws, prefix)
}
