package mds

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Status is the short text with which the service accepts a write: OK, CREATED or
// HANDLE_ALREADY_EXISTS.
type Status string

// accepted reads the short text of a write. The deployed service refuses some
// input with status 200 and a text that says why. It never sends a 200 without a text,
// so after one it is not known what has been done.
func (c *Client) accepted(r transport.Request, res *transport.Response) (Status, error) {
	status := statusOf(res)
	switch {
	case markup(res.Data):
		return "", c.core.Unreadable(r, res, fmt.Errorf("it is no short text, but %.200q", status))
	case res.StatusCode == http.StatusCreated && status == "":
		return "", nil
	}
	switch Status(strings.ToUpper(string(status))) {
	case "":
		return "", c.core.Unreadable(r, res, errors.New("it is empty"))
	case "OK", "CREATED", "HANDLE_ALREADY_EXISTS":
		return status, nil
	}
	if res.StatusCode == http.StatusCreated {
		return "", c.core.Unreadable(r, res, fmt.Errorf("it says %.200q", status))
	}
	return "", c.core.Unsuccessful(r, res, string(status), datacite.ErrInvalid)
}

// statusOf reads the short text, without the DOI that may follow it in brackets.
func statusOf(res *transport.Response) Status {
	text, _, _ := strings.Cut(strings.TrimSpace(string(res.Data)), " (")
	return Status(text)
}

var inBrackets = regexp.MustCompile(`\((10\..+)\)\s*$`)

// storedName finds the DOI under which the deployed service stored something: in the
// text, such as "OK (10.5072/ABCD-EFGH)", or in the Location header. Names come in
// upper case and are returned in lower case.
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

// absent is the error for a known DOI without what was asked for.
func (c *Client) absent(r transport.Request, res *transport.Response, kind error) error {
	return c.core.Unsuccessful(r, res, strings.TrimPrefix(kind.Error(), "mds: "), kind)
}
