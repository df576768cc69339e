package dois

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// A Format is the media type of a record. Any media type may be requested; the service
// refuses those that it does not know ([ErrNoFormat]).
type Format string

// The formats of the deployed service.
const (
	FormatDataCiteXML  Format = "application/vnd.datacite.datacite+xml"
	FormatDataCiteJSON Format = "application/vnd.datacite.datacite+json"
	FormatCiteproc     Format = "application/vnd.citationstyles.csl+json"
	FormatSchemaOrg    Format = "application/vnd.schemaorg.ld+json"
	FormatCodemeta     Format = "application/vnd.codemeta.ld+json"
	FormatCrosscite    Format = "application/vnd.crosscite.crosscite+json"
	FormatJATS         Format = "application/vnd.jats+xml"
	FormatBibTeX       Format = "application/x-bibtex"
	FormatRIS          Format = "application/x-research-info-systems"
	FormatCSV          Format = "text/csv"
	citationText       Format = "text/x-bibliography"
)

// CitationOptions are the optional settings of [Client.Citation]. For an unknown style or
// locale, the deployed service silently uses the defaults of both; a text that cannot be a
// style or a locale is a [*datacite.ValidationError].
type CitationOptions struct {
	// Style: of the Citation Style Language, such as "apa" or "chicago-author-date"; "" means apa
	Style  string `url:"style,omitempty"`
	Locale string `url:"locale,omitempty"` // such as "de-DE"; "" means en-US
}

// Open returns a record in another format, as a stream that the caller closes. An empty
// response, as for the XML of a record without XML, is [ErrNoFormat].
//
// Open sends GET /dois/{doi} with the format in the Accept header.
func (c *Client) Open(ctx context.Context, doiName string, format Format) (io.ReadCloser, error) {
	const op = "dois.Open"
	wanted, _, err := mime.ParseMediaType(string(format))
	if err != nil {
		return nil, datacite.Invalidf("format", datacite.CodeSyntax, "%q is not a media type", string(format))
	}
	request, res, err := c.formatted(ctx, op, doiName, transport.Request{Accept: string(format), Stream: true}, wanted)
	if err != nil {
		return nil, err
	}
	body := &opened{ahead: bufio.NewReader(res.Body), body: res.Body}
	if _, err := body.ahead.Peek(1); err != nil {
		body.Close()
		if err == io.EOF {
			return nil, empty(op, doiName, format)
		}
		return nil, c.core.Unreadable(request, res, err)
	}
	return body, nil
}

// Citation returns the text to cite a record with, in one line, with HTML such as <i> around
// the title. One of more than 16 MiB is [datacite.ErrTooLarge].
//
// Citation sends GET /dois/{doi} with text/x-bibliography in the Accept header.
func (c *Client) Citation(ctx context.Context, doiName string, opts *CitationOptions) (string, error) {
	if err := opts.check(); err != nil {
		return "", err
	}
	const op = "dois.Citation"
	parameters, _ := transport.Params(opts) // of texts
	request := transport.Request{Accept: string(citationText), Query: transport.EncodeParams(parameters),
		Most: transport.MaxDocument}
	_, res, err := c.formatted(ctx, op, doiName, request, string(citationText))
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(res.Data))
	if text == "" {
		return "", empty(op, doiName, citationText)
	}
	return text, nil
}

var (
	styleName  = lazy.Regexp(`^([a-z0-9]+([-._][a-z0-9]+)*)?$`)
	localeName = lazy.Regexp(`^([a-z]{2,3}(-[A-Z]{2})?)?$`)
)

func (o *CitationOptions) check() error {
	var f faults
	if o != nil && !styleName().MatchString(o.Style) {
		f.add("CitationOptions.Style", "value", "%q is not the name of a style such as apa or chicago-author-date", o.Style)
	}
	if o != nil && !localeName().MatchString(o.Locale) {
		f.add("CitationOptions.Locale", "language", "%q is not a locale such as de-DE", o.Locale)
	}
	return datacite.Invalid(f...)
}

// formatted requests a record in a format, whose media type is wanted.
func (c *Client) formatted(ctx context.Context, op, doiName string, r transport.Request,
	wanted string) (transport.Request, *transport.Response, error) {
	name, err := doi.API.Readable(doiName)
	if err != nil {
		return r, nil, err
	}
	r.Op, r.Method, r.Path, r.Access = op, "GET", "/dois/"+doi.API.Path(name), transport.Optional
	res, err := c.core.Do(ctx, r)
	if err != nil {
		return r, nil, err
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); !sends(kind, wanted) {
		if r.Stream {
			res.Body.Close()
		}
		return r, nil, c.core.Unreadable(r, res, fmt.Errorf("its type is %.100q, not %q", kind, wanted))
	}
	return r, res, nil
}

func empty(op, doiName string, format Format) error {
	return fmt.Errorf("%s: %w: the response for %s as %s is empty", op, ErrNoFormat, doiName, format)
}

// formats are what the service sends, also for other names of them.
var formats = []Format{FormatDataCiteXML, FormatDataCiteJSON, FormatCiteproc, FormatSchemaOrg, FormatCodemeta,
	FormatCrosscite, FormatJATS, FormatBibTeX, FormatRIS, FormatCSV, citationText}

// sends reports whether the service sends a media type when another one is wanted.
func sends(kind, wanted string) bool {
	return kind == wanted || strings.Contains(wanted, "*") || slices.Contains(formats, Format(kind))
}

// opened is a response whose first byte was read ahead.
type opened struct {
	ahead  *bufio.Reader
	body   io.Closer
	closed atomic.Bool
}

func (o *opened) Read(p []byte) (int, error) {
	if o.closed.Load() {
		return 0, fmt.Errorf("dois.Open: %w", fs.ErrClosed)
	}
	return o.ahead.Read(p)
}

func (o *opened) Close() error {
	o.closed.Store(true)
	return o.body.Close()
}
