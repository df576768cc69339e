package mds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// opPutURL marks the requests for which 422 can mean that the metadata are missing.
const opPutURL = "mds.PutURL"

// URL returns the URL that is registered for a DOI. A draft without one is [ErrNoURL].
// A URL with characters beyond ASCII, which the deployed service replaces by "?", comes with
// [ErrReplacedCharacters].
//
// URL sends GET /doi/{doi} (specification §4.3).
func (c *Client) URL(ctx context.Context, doiName string) (string, error) {
	name, err := doi.Store.Readable(doiName)
	if err != nil {
		return "", err
	}
	const op = "mds.URL"
	address, err := c.url(ctx, op, name, 0)
	if err == nil && hasReplaced(address) {
		err = replacedError(op, name)
	}
	return address, err
}

// url asks for a URL. A response with the expected status is logged without a warning.
func (c *Client) url(ctx context.Context, op, name string, expected int) (string, error) {
	request := transport.Request{Op: op, Method: "GET", Path: "/doi/" + doi.Store.Path(name), Expected: expected}
	res, err := c.read(ctx, name, request)
	if err != nil {
		return "", err
	}
	address := strings.TrimSpace(string(res.Data))
	switch {
	case res.StatusCode == http.StatusNoContent:
		return "", c.absent(request, res, ErrNoURL)
	case !isURL().MatchString(address):
		return "", c.core.Unreadable(request, res, errors.New("it is not a URL"))
	}
	return address, nil
}

// isURL is lenient: old URLs may be odd. A sentence such as "Error: log in" is none.
var isURL = lazy.Regexp(`^[A-Za-z][A-Za-z0-9+.-]*:[^\s][^\r\n]*$`)

// PutURL sets or changes the URL that a DOI resolves to, and makes a draft findable. The deployed service also
// makes a hidden DOI findable. The global resolver has the URL usually after a few minutes. A DOI without
// metadata is [ErrMetadataMissing].
//
// The address is an absolute http, https or ftp URL without blanks and control
// characters, its scheme in lower case.
//
// PutURL sends PUT /doi/{doi} with the two lines of specification §2.3. Sending
// it twice has the same effect as once.
func (c *Client) PutURL(ctx context.Context, doiName, address string) (Status, error) {
	name, err := doi.Store.Writable(doiName)
	if err != nil {
		return "", err
	}
	if err := checkAddress(address); err != nil {
		return "", err
	}
	return c.putURL(ctx, name, address)
}

func (c *Client) putURL(ctx context.Context, name, address string) (Status, error) {
	request := transport.Request{
		Op: opPutURL, Method: "PUT", Path: "/doi/" + doi.Store.Path(name),
		ContentType: "text/plain;charset=UTF-8",
		Body:        strings.NewReader("doi=" + bodyValue(name) + "\nurl=" + bodyValue(address)),
	}
	res, err := c.write(ctx, name, request)
	if err != nil {
		return "", notMade(err, errUnknownAccount)
	}
	return c.accepted(request, res)
}

// bodyValue encodes the two characters that the service decodes in the body.
func bodyValue(value string) string {
	return strings.NewReplacer("%", "%25", "+", "%2B").Replace(value)
}

var schemes = []string{"http://", "https://", "ftp://"}

// checkAddress refuses what the service would, and every character that could end the
// line of the body.
func checkAddress(address string) error {
	for _, r := range address {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return datacite.Invalidf("url", datacite.CodeEncoding,
				"has the character %q, which is not allowed in a URL", r)
		}
	}
	u, err := url.Parse(address)
	switch {
	case address == "":
		return datacite.Invalidf("url", datacite.CodeMissing, "is empty")
	case !utf8.ValidString(address):
		return datacite.Invalidf("url", datacite.CodeEncoding, "is not valid UTF-8")
	case err != nil:
		return datacite.Invalidf("url", datacite.CodeURI, "%q is not a URL", address)
	case !slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(address, scheme) }):
		return datacite.Invalidf("url", datacite.CodeURI,
			"%q does not start with one of %s, in lower case", address, strings.Join(schemes, ", "))
	case u.Hostname() == "":
		return datacite.Invalidf("url", datacite.CodeURI, "%q has no host", address)
	}
	return nil
}

// CheckAccess returns nil if the client's account may register DOIs under a prefix
// with URLs like the one given. It writes nothing. The error is
// [datacite.ErrUnauthorized] for a wrong login, and [datacite.ErrForbidden],
// [datacite.ErrBadRequest] or [datacite.ErrInvalid] for a prefix or domain that is not
// the account's.
//
// The deployed service permits many reads without a login. CheckAccess therefore tries to set the
// URL of a random name, which has no metadata: the service checks the login, the prefix and,
// unless it is the deployed one, the domain, and then refuses (specification §7, 412). The address
// "" means https://example.org/.
//
// CheckAccess sends PUT /doi/{doi}, and after a 403 asks the DOI API (see the page of the package).
func (c *Client) CheckAccess(ctx context.Context, prefix, address string) error {
	if err := doi.CheckPrefix(prefix); err != nil {
		return doi.At("prefix", err)
	}
	address = cmp.Or(address, "https://example.org/")
	if err := checkAddress(address); err != nil {
		return err
	}
	name := doi.New(prefix)
	_, err := c.putURL(ctx, name, address)
	switch {
	case errors.Is(err, ErrMetadataMissing):
		return nil
	case err == nil:
		return fmt.Errorf("mds.CheckAccess: %w: it registered %s, which has no metadata", datacite.ErrUnreadable, name)
	}
	return err
}
