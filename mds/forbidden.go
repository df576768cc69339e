package mds

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// Refusals that the DOI API confirms.
var (
	errForeignDOI error = &transport.Condition{Text: "the DOI belongs to another account",
		General: datacite.ErrForbidden}
	errForeignPrefix error = &transport.Condition{Text: "the account has no right to the prefix",
		General: datacite.ErrForbidden}
)

// read sends a request that reads a DOI.
func (c *Client) read(ctx context.Context, name string, r transport.Request) (*transport.Response, error) {
	r.Refused = func(ctx context.Context) error {
		if why := c.refusal(ctx, r.Op, name); why != errForeignPrefix { // which does not keep from reading
			return why
		}
		return nil
	}
	return c.do(ctx, r)
}

// write sends a request that makes or changes a DOI.
func (c *Client) write(ctx context.Context, name string, r transport.Request) (*transport.Response, error) {
	r.Refused = func(ctx context.Context) error {
		why := c.refusal(ctx, r.Op, name)
		if why == errForeignPrefix && !c.foreignPrefix(ctx, r.Op, doi.Prefix(name)) {
			return nil
		}
		return why
	}
	return c.do(ctx, r)
}

// refusal is why the account may not write a DOI, as far as the record shows it; nil if it does not. The
// store responds with 403 also when it cannot reach the DOI API, so the API itself is asked, once: the DOI
// belongs to another account, or it does not exist, so that the prefix may be the reason. Whatever else the
// API says leaves the question open.
func (c *Client) refusal(ctx context.Context, op, name string) error {
	if c.records == nil || doi.API.Check(name) != nil {
		return nil
	}
	shown, err := c.record(once(ctx), op, name, "")
	switch {
	case err == nil && shown.owner != "" && !strings.EqualFold(shown.owner, c.username):
		return errForeignDOI
	case says(err, http.StatusNotFound, "The resource you are looking for"):
		return errForeignPrefix
	}
	return nil
}

// once is a context for a look at something else, which may fail.
func once(ctx context.Context) context.Context {
	return datacite.WithCallOptions(ctx, &datacite.CallOptions{MaxAttempts: 1})
}

// foreignPrefix asks the API to publish a random name of a prefix, as the store does for
// [Client.CheckAccess]: without metadata, so that nothing is made where the account has the right to.
func (c *Client) foreignPrefix(ctx context.Context, op, prefix string) bool {
	const body = `{"data":{"type":"dois","attributes":{"should_validate":"true","source":"mds","event":"publish",` +
		`"url":"https://example.org/"}}}`
	_, err := c.records.Do(once(ctx), transport.Request{
		Op: op, Method: http.MethodPut, Path: "/dois/" + doi.API.Path(doi.New(prefix)), Accept: transport.JSONType,
		ContentType: "application/vnd.api+json", Body: strings.NewReader(body), Access: transport.Required, Expected: http.StatusForbidden,
	})
	return says(err, http.StatusForbidden, "You are not authorized")
}

// says reports whether an error is a refusal of the DOI API in its own words, which a gateway before it
// does not use.
func says(err error, status int, words string) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && e.StatusCode == status && strings.HasPrefix(e.Message, words)
}
