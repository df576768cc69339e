package reports

import (
	"context"
	"errors"
	"net/http"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// The deployed service reads a stored report not only for a GET but before most writes. If
// it cannot, its response is 422 or 500, in words that depend on what is wrong: the
// document lacks a subset, is not there or is cut off, the database has no subset, the base64
// is damaged (datacitetest/deployed-reports.md). What these responses have in common is that
// the service goes on listing the report.

// errNotReadNow is ErrBroken within Submit, which waits and looks again before it says that.
var errNotReadNow = transport.NewSign("reports: stored report cannot be read now")

// mayBeUnread reports whether a response may mean that the service cannot read the report.
func mayBeUnread(err error) bool {
	e, ok := errors.AsType[*datacite.Error](err)
	return ok && (e.StatusCode == http.StatusInternalServerError || e.StatusCode == http.StatusUnprocessableEntity)
}

// notRead returns the error of a request that reads a report, and sets its condition.
func (c *Client) notRead(ctx context.Context, op string, err error) error {
	if !mayBeUnread(err) {
		return err
	}
	_, failed := c.core.Do(ctx, transport.Request{
		Op: op, Method: http.MethodGet, Path: "/reports", Query: "page%5Bsize%5D=1", Accept: transport.JSONType, Replay: transport.IfUnsent,
		Read: func(d *jsonlex.Decoder) error {
			pageJSON.Read(d, &Results{})
			return d.Err()
		},
	})
	if failed != nil {
		return err // the service fails altogether, which the first error says
	}
	return unread(err)
}

// notWritten returns the error of a write of the report with this id, and sets its condition
// if it is that the service cannot read what is stored.
func (c *Client) notWritten(ctx context.Context, op, id string, err error) error {
	if !mayBeUnread(err) {
		return err
	}
	if _, look := c.scan(ctx, op, id); errors.Is(look, ErrBroken) || errors.Is(look, errNotReadNow) {
		return unread(err)
	}
	return err
}

func unread(err error) error {
	e, _ := errors.AsType[*datacite.Error](err)
	// A report that is being written is 500, and never 422.
	condition := &transport.Condition{Text: ErrBroken.Error(), General: ErrBroken, Passes: e.StatusCode >= 500}
	if e.Op == "reports.Submit" {
		condition.General = errNotReadNow
	}
	e.Err = condition
	e.Message = "the service cannot read the stored report, which is broken unless another program is writing to it now: " + e.Message
	return err
}
