package transport

import (
	"bytes"
	"context"
	"math"
	"strings"

	"github.com/datacite-go/datacite-go"
)

// Custom sends a request of the caller's own.
func (c *Client) Custom(ctx context.Context, op string, r *datacite.Request) (*datacite.Response, error) {
	switch {
	case r == nil:
		return nil, datacite.Invalidf("Request", datacite.CodeMissing, "is nil")
	case r.Method == "":
		return nil, datacite.Invalidf("Request.Method", datacite.CodeMissing, "is empty")
	case !strings.HasPrefix(r.Path, "/"):
		return nil, datacite.Invalidf("Request.Path", datacite.CodeValue, "does not begin with a slash")
	case strings.ContainsAny(r.Path, "?#"):
		return nil, datacite.Invalidf("Request.Path", datacite.CodeValue,
			"has a ? or # that is not escaped; parameters go into Query")
	}
	request := Request{
		Op: op, Method: r.Method, Path: r.Path, Query: r.Query.Encode(), Header: r.Header,
		Accept: r.Accept, ContentType: r.ContentType, Access: Optional, Most: math.MaxInt64, Replay: IfUnsent,
	}
	if r.Body != nil {
		request.Body = bytes.NewReader(r.Body)
	}
	if r.Repeatable || reads(r.Method) {
		request.Replay = Always
	}
	res, err := c.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	return &datacite.Response{StatusCode: res.StatusCode, Header: res.Header, Body: res.Data,
		RequestID: res.RequestID}, nil
}
