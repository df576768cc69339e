package dois

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Format is the media type of a record. Any media type may be requested; the service
// refuses those that it does not know ([ErrNoFormat]).
type Format string

// The formats of the deployed service.
const (
	DataCiteXML  Format = "application/vnd.datacite.datacite+xml"
	DataCiteJSON Format = "application/vnd.datacite.datacite+json"
	Citeproc     Format = "application/vnd.citationstyles.csl+json"
	SchemaOrg    Format = "application/vnd.schemaorg.ld+json"
	Codemeta     Format = "application/vnd.codemeta.ld+json"
	Crosscite    Format = "application/vnd.crosscite.crosscite+json"
	JATS         Format = "application/vnd.jats+xml"
	BibTeX       Format = "application/x-bibtex"
	RIS          Format = "application/x-research-info-systems"
	CSV          Format = "text/csv"
	citationText Format = "text/x-bibliography"
)

// CitationOptions are the optional settings of [Client.Citation]. For an unknown style or
// locale, the deployed service silently uses the defaults of both; a text that cannot be a
// style or a locale is a [*datacite.ValidationError].
type CitationOptions struct {
	Style  string `url:"style,omitempty"`  // of the Citation Style Language, such as "apa" or "chicago-author-date"; "" means apa
	Locale string `url:"locale,omitempty"` // such as "de-DE"; "" means en-US
}

// Open returns a record in another format, as a stream that the caller closes. An empty
// response, as for the XML of a record without XML, is [ErrNoFormat].
//
// Open sends GET /dois/{doi} with the format in the Accept header.
func (c *Client) Open(ctx context.Context, doiName string, format Format) (io.ReadCloser, error) {
	return c.open(ctx, "dois.Open", doiName, format, "")
}

// Citation returns the text to cite a record with, in one line.
//
// Citation sends GET /dois/{doi} with text/x-bibliography in the Accept header.
func (c *Client) Citation(ctx context.Context, doiName string, opts *CitationOptions) (string, error) {
	if err := opts.check(); err != nil {
		return "", err
	}
	body, err := c.open(ctx, "dois.Citation", doiName, citationText, parameters(opts))
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return "", fmt.Errorf("dois.Citation: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

var (
	styleName  = regexp.MustCompile(`^([a-z0-9]+([-._][a-z0-9]+)*)?$`)
	localeName = regexp.MustCompile(`^([a-z]{2,3}(-[A-Z]{2})?)?$`)
)

func (o *CitationOptions) check() error {
	var f faults
	if o != nil && !styleName.MatchString(o.Style) {
		f.add("CitationOptions.Style", "value", "%q is not the name of a style such as apa or chicago-author-date", o.Style)
	}
	if o != nil && !localeName.MatchString(o.Locale) {
		f.add("CitationOptions.Locale", "language", "%q is not a locale such as de-DE", o.Locale)
	}
	return datacite.Invalid(f...)
}

func (c *Client) open(ctx context.Context, op, doiName string, format Format, parameters string) (io.ReadCloser, error) {
	name, err := doi.API.Readable(doiName)
	if err != nil {
		return nil, err
	}
	wanted, _, err := mime.ParseMediaType(string(format))
	if err != nil {
		return nil, datacite.Invalid(datacite.Finding{Path: "format", Code: "syntax", Reason: fmt.Sprintf("%q is not a media type", string(format))})
	}
	request := transport.Request{
		Op: op, Method: "GET", Path: "/dois/" + doi.API.Path(name), Query: parameters, Accept: string(format),
		Access: transport.Optional, Stream: true,
	}
	res, err := c.core.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	body := &opened{Reader: bufio.NewReader(res.Body), Closer: res.Body}
	if _, err := body.Reader.Peek(1); err != nil {
		body.Close()
		if err == io.EOF {
			return nil, fmt.Errorf("%s: %w: the response for %s as %s is empty", op, ErrNoFormat, name, format)
		}
		return nil, c.core.Unreadable(request, res, err)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/html" && wanted != kind {
		body.Close()
		return nil, c.core.Unreadable(request, res, errors.New("it is an HTML page"))
	}
	return body, nil
}

// opened is a response whose first byte was read ahead.
type opened struct {
	*bufio.Reader
	io.Closer
}
