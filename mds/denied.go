package mds

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// believedAfter is how often the service must say 403 in a row, and answer
// something else each time in between, until a refusal is believed. Requests that
// get lost by chance, one by one, do so in two of a million cases at most.
const believedAfter = 10

// errUnproven: the service said 403, and it is not known what that means.
var errUnproven error = &transport.Condition{Text: "the service says so, too, when it loses the one behind it", Passes: true}

// denied returns the error of an answer by which the service refuses, or has lost
// the service behind it: it gives the same text for both. A gateway's page is
// neither.
func denied(err error) *datacite.Error {
	e, ok := err.(*datacite.Error)
	if !ok || e.StatusCode != http.StatusForbidden || errors.Is(e, datacite.ErrRateLimited) {
		return nil
	}
	return e
}

// doubt finds out what a 403 means, by asking again: what was lost goes through at
// last, what is refused is refused every time, while the service answers other
// questions. A request that may not be sent twice is not; another one then shows
// whether the prefix is the account's.
func (c *Client) doubt(ctx context.Context, name string, r transport.Request, first *datacite.Error) (*transport.Response, error) {
	writes, prefix := r.Method != http.MethodGet, doi.Prefix(name)
	if writes && c.refusals.has(prefix) {
		return nil, first
	}
	unproven := *first
	unproven.Err, unproven.Unclear = errUnproven, writes
	unproven.Message += " (" + errUnproven.Error() + ")"
	probing := c.once || r.Replay != transport.Always
	if probing && !writes {
		return nil, &unproven
	}
	if probing {
		r, name = probe(r.Op, prefix), prefix
	}
	exists := false
	if name != prefix {
		exists, _ = c.knows(ctx, name)
	}
	answering := true
	pause := 10 * time.Millisecond
	for range believedAfter - 1 {
		if sleep(ctx, min(pause, c.maxWait)) != nil {
			return nil, &unproven
		}
		pause = min(2*pause, 50*time.Millisecond)
		if _, err := c.knows(ctx, "10.5072/"+doi.NewSuffix()); err != nil {
			answering = false
		}
		res, err := c.core.Do(ctx, r)
		switch {
		case denied(err) != nil:
		case probing:
			return nil, &unproven // so it was not the prefix
		default:
			return res, unsure(err, writes)
		}
	}
	switch {
	case !answering:
		return nil, &unproven
	case writes && !exists: // then only the prefix can be why
		c.refusals.add(prefix)
	}
	return nil, first
}

// knows asks whether the service has a DOI. One that it does not show, because it is
// somebody else's, it has.
func (c *Client) knows(ctx context.Context, name string) (bool, error) {
	_, err := c.core.Do(ctx, transport.Request{
		Op: "mds.State", Method: http.MethodGet, Path: "/doi/" + doi.Store.Path(name), Access: transport.Required, Expected: http.StatusNotFound,
	})
	if e, ok := err.(*datacite.Error); ok && e.StatusCode == http.StatusNotFound {
		return false, nil
	}
	return true, err
}

// probe asks to store metadata that no service takes, under a new name of a
// prefix. Whether the account may comes first.
func probe(op, prefix string) transport.Request {
	return transport.Request{
		Op: op, Method: http.MethodPut, Path: "/metadata/" + prefix + "/" + doi.NewSuffix(), Access: transport.Required,
		ContentType: XMLType, Body: strings.NewReader(`<resource xmlns="http://datacite.org/schema/kernel-4"/>`),
	}
}

// unsure marks an error that came after an answer that may stand for a request
// that was carried out.
func unsure(err error, writes bool) error {
	if e, ok := err.(*datacite.Error); ok && writes {
		e.Unclear = true
	}
	return err
}

// refusals are prefixes that are not the account's. Without them each item of a
// long list would be asked about ten times.
type refusals struct{ prefixes sync.Map }

func (f *refusals) has(prefix string) bool {
	_, refused := f.prefixes.Load(prefix)
	return refused
}

func (f *refusals) add(prefix string) { f.prefixes.Store(prefix, true) }
