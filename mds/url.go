package mds

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

const opPutURL = "mds.PutURL"

// Status is the service's short text on success, such as "CREATED",
// "HANDLE_ALREADY_EXISTS" or "OK".
type Status string

// Texts that the service is known to answer.
const (
	StatusCreated             Status = "CREATED"
	StatusHandleAlreadyExists Status = "HANDLE_ALREADY_EXISTS"
	StatusOK                  Status = "OK"
)

// URL returns the address that is registered for a DOI. A draft without one is
// [ErrNoURL].
//
// URL sends GET /doi/{doi} (specification §4.3).
func (c *Client) URL(ctx context.Context, doiName string) (string, error) {
	name, err := readable(doiName)
	if err != nil {
		return "", err
	}
	request := transport.Request{Op: "mds.URL", Method: "GET", Path: "/doi/" + doi.Path(name)}
	res, err := c.do(ctx, request)
	if err != nil {
		return "", err
	}
	address := strings.TrimSpace(string(res.Data))
	if address == "" {
		return "", c.absent(request, res, ErrNoURL)
	}
	return address, nil
}

// PutURL sets the address that a DOI resolves to, and makes a draft findable:
// the DOI then resolves through the global resolver, usually after a few
// minutes. The metadata must be there first ([ErrMetadataMissing]). For a DOI
// that has an address, it is changed.
//
// The address is an absolute http, https or ftp URL without blanks and control
// characters.
//
// PutURL sends PUT /doi/{doi} with the two lines of specification §2.3. Sending
// it twice has the same effect as once.
func (c *Client) PutURL(ctx context.Context, doiName, address string) (Status, error) {
	name, err := c.writable(doiName)
	if err != nil {
		return "", err
	}
	if err := checkAddress(address); err != nil {
		return "", err
	}
	request := transport.Request{
		Op: opPutURL, Method: "PUT", Path: "/doi/" + doi.Path(name),
		ContentType: "text/plain;charset=UTF-8",
		Body:        []byte("doi=" + bodyValue(name) + "\nurl=" + bodyValue(address)),
	}
	res, err := c.do(ctx, request)
	if err != nil {
		return "", err
	}
	status := statusOf(res)
	if res.StatusCode == http.StatusOK && status != StatusOK {
		// The deployed service refuses some addresses with the status of a success.
		return "", c.refusal(request, res, string(status))
	}
	return status, nil
}

// bodyValue protects the two characters that the service decodes in the body.
func bodyValue(value string) string {
	return strings.NewReplacer("%", "%25", "+", "%2B").Replace(value)
}

func checkAddress(address string) error {
	const path = "url"
	for _, r := range address {
		if r <= ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return &FieldError{Path: path, Reason: fmt.Sprintf("has the character %q, which an address cannot have", r)}
		}
	}
	u, err := url.Parse(address)
	switch {
	case address == "":
		return &FieldError{Path: path, Reason: "is empty"}
	case err != nil:
		return &FieldError{Path: path, Reason: fmt.Sprintf("%q is not a URL", address)}
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp":
		return &FieldError{Path: path, Reason: fmt.Sprintf("%q does not start with http://, https:// or ftp://", address)}
	case u.Hostname() == "":
		return &FieldError{Path: path, Reason: fmt.Sprintf("%q has no host", address)}
	}
	return nil
}

// statusOf reads the short text, without the DOI that may follow it in brackets.
func statusOf(res *transport.Response) Status {
	text, _, _ := strings.Cut(strings.TrimSpace(string(res.Data)), " (")
	return Status(text)
}

// absent is the error for a known DOI without what was asked for.
func (c *Client) absent(r transport.Request, res *transport.Response, kind error) error {
	return &Error{
		Op: r.Op, Method: r.Method, URL: c.core.BaseURL() + r.Path, StatusCode: res.StatusCode,
		Message: strings.TrimPrefix(kind.Error(), "mds: "), RequestID: res.RequestID, Attempts: res.Attempts, Err: kind,
	}
}

// refusal is the error for a success status with a text that says otherwise.
func (c *Client) refusal(r transport.Request, res *transport.Response, text string) error {
	return &Error{
		Op: r.Op, Method: r.Method, URL: c.core.BaseURL() + r.Path, StatusCode: res.StatusCode,
		Message: text, Body: res.Data, RequestID: res.RequestID, Attempts: res.Attempts,
		Err: ErrInvalid,
	}
}
