package mds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
	"github.com/datacite-go/datacite-go/mds/metadata"
)

// A Document is metadata as they travel: bytes and what they are.
type Document struct {
	ContentType string
	Data        []byte
}

// XMLType is the content type of metadata XML (specification §4.3).
const XMLType = "application/xml;charset=UTF-8"

// Content types of the other formats that the service takes. It recognises the
// format by the bytes; these types only keep it from reading them as parameters,
// which is what it does with application/json.
const (
	TypeRIS       = "application/x-research-info-systems"
	TypeBibTeX    = "application/x-bibtex"
	TypeSchemaOrg = "application/vnd.schemaorg.ld+json"
	TypeCiteproc  = "application/vnd.citationstyles.csl+json"
	TypeCodemeta  = "application/vnd.codemeta.ld+json"
	TypeCrossref  = "application/vnd.crossref.unixref+xml"
)

// XML makes a Document of metadata XML. The identifier in it may be empty: the
// DOI of the request counts. [metadata.ValidateXML] tells beforehand what the
// service would refuse.
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

func (d Document) check() error {
	switch {
	case len(d.Data) == 0:
		return &FieldError{Path: "doc.Data", Reason: "is empty"}
	case d.ContentType == "":
		return &FieldError{Path: "doc.ContentType", Reason: "is empty; mds.XML sets it for metadata XML"}
	case strings.ContainsFunc(d.ContentType, func(r rune) bool { return r < ' ' || r > '~' }):
		return &FieldError{Path: "doc.ContentType", Reason: "has a character that a header cannot hold"}
	}
	return nil
}

// Metadata returns the metadata that are registered for a DOI, as the service
// stores them: it rewrites the identifier. A DOI without any is [ErrNoMetadata].
//
// Metadata sends GET /metadata/{doi} (specification §4.3).
func (c *Client) Metadata(ctx context.Context, doiName string) (*Document, error) {
	name, err := readable(doiName)
	if err != nil {
		return nil, err
	}
	request := transport.Request{Op: "mds.Metadata", Method: "GET", Path: "/metadata/" + doi.Path(name), Accept: "application/xml"}
	res, err := c.do(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(res.Data) == 0 {
		return nil, c.absent(request, res, ErrNoMetadata)
	}
	return &Document{ContentType: res.Header.Get("Content-Type"), Data: res.Data}, nil
}

// PutMetadata stores metadata for a DOI. A DOI that the service does not know
// becomes a draft, a registered one becomes findable again (specification §3.1).
// Sending it twice has the same effect as once.
//
// PutMetadata sends PUT /metadata/{doi} (specification §4.3).
func (c *Client) PutMetadata(ctx context.Context, doiName string, doc Document) (Status, error) {
	name, err := c.writable(doiName)
	if err != nil {
		return "", err
	}
	if err := doc.check(); err != nil {
		return "", err
	}
	res, err := c.do(ctx, transport.Request{
		Op: "mds.PutMetadata", Method: "PUT", Path: "/metadata/" + doi.Path(name),
		ContentType: doc.ContentType, Body: doc.Data,
	})
	if err != nil {
		return "", err
	}
	return statusOf(res), nil
}

// Mint stores metadata under a new DOI, a draft, whose suffix the service
// chooses, and returns its name in lower case. The identifier in the metadata is
// overwritten.
//
// Each request makes another DOI, so Mint sends it again only when it surely did
// not arrive. An error that matches [ErrUnclear] means that a draft may exist
// whose name is not known.
//
// Mint sends PUT /metadata/{prefix} (specification §4.3).
func (c *Client) Mint(ctx context.Context, prefix string, doc Document) (string, error) {
	if err := doi.CheckPrefix(prefix); err != nil {
		return "", nameError("prefix", err)
	}
	if err := doc.check(); err != nil {
		return "", err
	}
	request := transport.Request{
		Op: "mds.Mint", Method: "PUT", Path: "/metadata/" + prefix,
		ContentType: doc.ContentType, Body: doc.Data, Replay: transport.IfUnsent,
	}
	res, err := c.do(ctx, request)
	if err != nil {
		return "", err
	}
	name, err := mintedName(res)
	if err == nil && doi.Prefix(name) != prefix {
		err = fmt.Errorf("the new DOI %s does not have the prefix %s", name, prefix)
	}
	if err != nil {
		return "", wrap(c.core.Unreadable(request, res, err))
	}
	return name, nil
}

var inBrackets = regexp.MustCompile(`\((10\..+)\)\s*$`)

// mintedName finds the new name in the text, such as "OK (10.5072/ABCD-EFGH)",
// or in the Location header.
func mintedName(res *transport.Response) (string, error) {
	text := ""
	if m := inBrackets.FindSubmatch(res.Data); m != nil {
		text = string(m[1])
	} else if _, path, ok := strings.Cut(res.Header.Get("Location"), "/metadata/"); ok {
		text = "https://doi.org/" + path // percent-encoded, as resolver addresses are
	}
	if text == "" {
		return "", errors.New("it does not name the new DOI")
	}
	name, err := doi.Parse(text)
	return strings.ToLower(name), err
}

// Hide takes a findable DOI out of the search index. The DOI goes on resolving,
// and its state becomes [Registered]; [Client.PutMetadata] makes it findable
// again. Sending it twice has the same effect as once.
//
// Hide sends DELETE /metadata/{doi} (specification §3.1, §4.3). For a DOI that
// it does not know the deployed service makes a draft, which Hide reports as
// [ErrNotFound]; [Client.DeleteDraft] removes it.
func (c *Client) Hide(ctx context.Context, doiName string) error {
	name, err := c.writable(doiName)
	if err != nil {
		return err
	}
	request := transport.Request{Op: "mds.Hide", Method: "DELETE", Path: "/metadata/" + doi.Path(name)}
	res, err := c.do(ctx, request)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusCreated {
		return c.absent(request, res, fmt.Errorf("%w: the service made a draft of that name instead", ErrNotFound))
	}
	return nil
}

// DeleteDraft removes a draft for good. Only drafts can be deleted
// ([ErrNotAllowed]).
//
// DeleteDraft sends DELETE /doi/{doi} (specification §3.1, §4.3). When it had to
// be sent again and the service then does not know the DOI, the first one did
// its work.
func (c *Client) DeleteDraft(ctx context.Context, doiName string) error {
	name, err := c.writable(doiName)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, transport.Request{Op: "mds.DeleteDraft", Method: "DELETE", Path: "/doi/" + doi.Path(name)})
	if e, ok := errors.AsType[*Error](err); ok && e.StatusCode == http.StatusNotFound && e.Unclear {
		return nil
	}
	return err
}
