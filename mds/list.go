package mds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// FirstPrefixDOIs lists the registered and findable DOIs of the account's first
// prefix, in lower case, as they arrive. An error, also of a list that breaks off, ends
// the sequence and comes with an empty name. Each loop over the result sends a new
// request. All of package dois lists the DOIs of all prefixes (ListOptions.ClientID).
//
// FirstPrefixDOIs sends GET /doi, which the specification does not show and the
// deployed service has. With an API key as password it is [datacite.ErrForbidden].
func (c *Client) FirstPrefixDOIs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		request := transport.Request{Op: "mds.FirstPrefixDOIs", Method: "GET", Path: "/doi", Stream: true}
		res, err := c.do(ctx, request)
		if err != nil {
			yield("", err)
			return
		}
		defer res.Body.Close()
		if res.StatusCode == http.StatusNoContent {
			return
		}
		for name, err := range names(res) {
			if err != nil {
				err = c.core.Unreadable(request, res, err)
			}
			if !yield(name, err) || err != nil {
				return
			}
		}
	}
}

// names reads a list of DOIs, one a line.
func names(res *transport.Response) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			line := strings.TrimSpace(lines.Text())
			if line == "" {
				continue
			}
			name, err := doi.Parse(line)
			if err != nil {
				yield("", err)
				return
			}
			if !yield(doi.Normal(name), nil) {
				return
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield("", errors.New("a line is longer than any DOI name"))
		} else if err != nil {
			yield("", fmt.Errorf("the list breaks off: %w", err))
		}
	}
}
