package mds_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
)

func list(t *testing.T, c *mds.Client) (names []string, err error) {
	t.Helper()
	for name, err := range c.FirstPrefixDOIs(t.Context()) {
		if err != nil {
			assert.Empty(t, name)
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

func TestDOIs(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		names, err := list(t, srv.MDS())
		require.NoError(t, err, "none is no error")
		assert.Empty(t, names)

		findable(t, srv, "10.5072/b")
		findable(t, srv, "10.5072/A")
		require.NoError(t, srv.MDS().Hide(t.Context(), "10.5072/a"))
		_, err = srv.MDS().PutMetadata(t.Context(), "10.5072/draft", record("A"))
		require.NoError(t, err)
		names, err = list(t, srv.MDS())
		require.NoError(t, err)
		assert.Equal(t, []string{"10.5072/a", "10.5072/b"}, names, "in lower case, without the draft")

		_, err = list(t, as(t, srv, wrong, nil))
		require.ErrorIs(t, err, datacite.ErrUnauthorized)
	})
}

// endless is a list that grows as long as it is read.
type endless struct {
	count  int
	closed bool
}

func (e *endless) Read(p []byte) (int, error) {
	e.count++
	return copy(p, fmt.Sprintf("10.5072/NUMBER-%d\n", e.count)), nil
}

func (e *endless) Close() error { e.closed = true; return nil }

func TestDOIsArriveOneByOne(t *testing.T) {
	body := &endless{}
	c := served(t, func(*http.Request) *http.Response {
		res := response(200, plain, "")
		res.Body, res.ContentLength = body, -1
		return res
	}, nil)
	seen := 0
	for name, err := range c.FirstPrefixDOIs(t.Context()) {
		require.NoError(t, err)
		if seen++; seen == 1000 {
			assert.Equal(t, "10.5072/number-1000", name)
			break
		}
	}
	assert.True(t, body.closed, "leaving the loop ends the request")
}

func TestAListThatIsNoneIsAnError(t *testing.T) {
	for text, fault := range map[string]string{
		"<html><title>Please log in</title></html>":     "does not start with a prefix",
		"10.5072/A\nnot a name\n10.5072/B":              "does not start with a prefix",
		"10.5072/" + strings.Repeat("x", 1<<17) + "\n":  "longer than any DOI name",
		"10.5072/A\n10.5072/B\n<!-- upstream timed out": "does not start with a prefix",
	} {
		_, err := list(t, responding(t, 200, plain, text, nil))
		require.ErrorIs(t, err, datacite.ErrUnreadable)
		assert.ErrorContains(t, err, fault)
	}
	names, err := list(t, served(t, func(*http.Request) *http.Response {
		res := response(200, plain, "")
		res.Body = io.NopCloser(io.MultiReader(strings.NewReader("10.5072/A\n10.5072/B\n"), failing{}))
		return res
	}, nil))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a list that breaks off does not end silently")
	assert.Equal(t, []string{"10.5072/a", "10.5072/b"}, names)

	_, err = list(t, responding(t, 200, plain, strings.Repeat("10.5072/A\n", 200), &datacite.Config{MaxAttempts: 1, MaxBody: 1000}))
	require.ErrorIs(t, err, datacite.ErrTooLarge)
}
