package mds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Metadata returns the metadata that are registered for a DOI, as the service
// stores them: it rewrites the identifier, and turns other formats into XML. A
// DOI without any is [ErrNoMetadata]. The deployed service garbles characters
// beyond ASCII: such metadata come with [ErrGarbled]. Do not store them again; read
// them with Client.XML of package dois.
//
// Metadata sends GET /metadata/{doi} (specification §4.3).
func (c *Client) Metadata(ctx context.Context, doiName string) (*Document, error) {
	name, err := readable(doiName)
	if err != nil {
		return nil, err
	}
	const op = "mds.Metadata"
	doc, err := c.metadata(ctx, op, name)
	if err == nil && garbled(doc.Data) {
		err = garbledError(op, name)
	}
	return doc, err
}

func (c *Client) metadata(ctx context.Context, op, name string) (*Document, error) {
	request := transport.Request{Op: op, Method: "GET", Path: "/metadata/" + doi.Store.Path(name), Accept: "application/xml", Long: true}
	res, err := c.do(ctx, request)
	if err != nil {
		return nil, err
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(res.Data, []byte("\ufeff")))
	if len(text) == 0 {
		return nil, c.absent(request, res, ErrNoMetadata)
	}
	if text[0] != '<' {
		return nil, c.core.Unreadable(request, res, errors.New("it is not XML"))
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
	return c.putMetadata(ctx, "mds.PutMetadata", name, doc)
}

func (c *Client) putMetadata(ctx context.Context, op, name string, doc Document) (Status, error) {
	if err := doc.check(); err != nil {
		return "", err
	}
	request := transport.Request{
		Op: op, Method: "PUT", Path: "/metadata/" + doi.Store.Path(name),
		ContentType: doc.ContentType, Body: bytes.NewReader(doc.Data),
	}
	res, err := c.do(ctx, request)
	if err != nil {
		return "", explainRefusal(err, doc)
	}
	status, err := c.accepted(request, res)
	if err != nil {
		return "", err
	}
	// The deployed service says which DOI it took.
	if stored, ok := storedName(res); ok && !doi.Equal(stored, name) {
		return "", c.core.Unreadable(request, res, fmt.Errorf("the service stored the metadata under %s: %w", stored, errOtherDOI))
	}
	return status, nil
}

// accepted reads the short text of a write. The deployed service refuses some
// input with status 200 and a text that says so. An answer without a text, but for
// 201, is nobody's that the service has: it is not known what became of the write.
func (c *Client) accepted(r transport.Request, res *transport.Response) (Status, error) {
	status := statusOf(res)
	if res.StatusCode == http.StatusCreated {
		return status, nil
	}
	switch Status(strings.ToUpper(string(status))) {
	case "":
		return "", c.core.Unreadable(r, res, errors.New("it says nothing"))
	case StatusOK, StatusCreated, StatusHandleAlreadyExists:
		return status, nil
	}
	return "", c.refusal(r, res, string(status))
}

// statusOf reads the short text, without the DOI that may follow it in brackets.
func statusOf(res *transport.Response) Status {
	text, _, _ := strings.Cut(strings.TrimSpace(string(res.Data)), " (")
	return Status(text)
}

var inBrackets = regexp.MustCompile(`\((10\..+)\)\s*$`)

// storedName finds the DOI that the service says it stored: in the text, such as
// "OK (10.5072/ABCD-EFGH)", or in the Location header. Names come in upper case
// and are returned in lower case.
func storedName(res *transport.Response) (string, bool) {
	if m := inBrackets.FindSubmatch(res.Data); m != nil {
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
