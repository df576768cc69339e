package mds

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// believedAfter is how often the service must say 403 in a row, and answer
// something else in between, until a refusal is believed. If each of its own
// requests got lost with any probability, all of that would happen by chance in
// two of a million cases at most.
const believedAfter = 10

// errUnproven: the service said 403, and it is not known what that means.
var errUnproven = errors.New("the service says so, too, when it loses the one behind it")

// denied returns the error of an answer by which the service refuses, or has lost
// the service behind it: it gives the same text for both. A gateway's page is
// neither.
func denied(err error) *transport.Error {
	e, ok := err.(*transport.Error)
	if !ok || e.StatusCode != http.StatusForbidden || isPage(e.Body) {
		return nil
	}
	return e
}

func isPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// doubt finds out what a 403 means. What was lost goes through at last, what is
// refused is refused every time, while the service answers other questions.
func (c *Client) doubt(ctx context.Context, name string, r transport.Request, first *transport.Error) (*transport.Response, error) {
	if c.refusals.known(r, name) {
		return nil, first
	}
	unproven := *first
	unproven.Err, unproven.Unclear = errUnproven, r.Method != http.MethodGet
	unproven.Message += " (" + errUnproven.Error() + ")"
	if c.once || r.Replay != transport.Always {
		return nil, &unproven
	}
	answering := true
	for pause, n := 20*time.Millisecond, 1; n < believedAfter; n++ {
		if sleep(ctx, pause) != nil {
			return nil, &unproven
		}
		pause = min(2*pause, 200*time.Millisecond)
		answering = c.answers(ctx) && answering
		res, err := c.core.Do(ctx, r)
		again := denied(err)
		unproven.Attempts += attempts(res, err)
		if again == nil {
			return res, unsure(err, unproven.Unclear)
		}
	}
	if !answering {
		return nil, &unproven
	}
	first.Attempts = unproven.Attempts
	c.remember(ctx, r, name)
	return nil, first
}

func attempts(res *transport.Response, err error) int {
	if e, ok := err.(*transport.Error); ok {
		return e.Attempts
	}
	return res.Attempts
}

// unsure marks an error that came after an answer that may stand for a request
// that was carried out.
func unsure(err error, unclear bool) error {
	if e, ok := err.(*transport.Error); ok && unclear {
		e.Unclear = true
	}
	return err
}

// answers asks for a name that nobody has, and reports whether the answer came
// from where the DOIs are.
func (c *Client) answers(ctx context.Context) bool {
	known, err := c.knows(ctx, "10.5072/"+doi.NewSuffix())
	return err == nil && !known
}

// knows asks once whether the service knows a DOI.
func (c *Client) knows(ctx context.Context, name string) (bool, error) {
	r := transport.Request{Op: "mds.State", Method: http.MethodGet, Path: "/doi/" + doi.Path(name), Access: transport.Required, Expected: http.StatusNotFound}
	_, err := c.core.Do(ctx, r)
	if e, ok := err.(*transport.Error); ok && e.StatusCode == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

// A refusal of a DOI that does not exist is one of its prefix. Prefixes that are
// not the account's are remembered, or each item of a long list would be asked
// about ten times.
type refusals struct{ prefixes sync.Map }

func (f *refusals) known(r transport.Request, name string) bool {
	_, known := f.prefixes.Load(doi.Prefix(name))
	return known && r.Method != http.MethodGet
}

func (c *Client) remember(ctx context.Context, r transport.Request, name string) {
	if r.Method == http.MethodGet || doi.Prefix(name) == name {
		return
	}
	if known, err := c.knows(ctx, name); err == nil && !known {
		c.refusals.prefixes.Store(doi.Prefix(name), true)
	}
}
