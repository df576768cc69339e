package mds_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/mds"
)

// resolved gives a resolver's texts one after the other, and then repeats the last.
type resolved struct {
	responses []string
	err       error
	asked     []time.Time
}

func (r *resolved) Resolve(context.Context, string) (string, error) {
	r.asked = append(r.asked, time.Now())
	now := r.responses[0]
	if len(r.responses) > 1 {
		r.responses = r.responses[1:]
	}
	return now, r.err
}

func TestWaitResolved(t *testing.T) {
	t.Run("asks with growing pauses until the new URL is there", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &resolved{responses: []string{"", "", "https://repo.example.org/old", address}}
			require.NoError(t, mds.WaitResolved(t.Context(), r, name, address, &mds.WaitOptions{First: 4 * time.Second, Longest: 7 * time.Second}))
			require.Len(t, r.asked, 4)
			var pauses []time.Duration
			for i := range 3 {
				pauses = append(pauses, r.asked[i+1].Sub(r.asked[i]))
			}
			assert.Equal(t, []time.Duration{4 * time.Second, 6 * time.Second, 7 * time.Second}, pauses)
		})
	})
	t.Run("any URL will do", func(t *testing.T) {
		require.NoError(t, mds.WaitResolved(t.Context(), &resolved{responses: []string{"https://x.example/"}}, name, "", nil))
	})
	t.Run("time is up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			err := mds.WaitResolved(t.Context(), &resolved{responses: []string{"https://repo.example.org/old"}}, name, address, nil)
			require.ErrorIs(t, err, mds.ErrNotResolved)
			assert.ErrorContains(t, err, `leads to "https://repo.example.org/old"`)
			assert.True(t, datacite.Temporary(err))
			assert.Equal(t, 15*time.Minute, time.Since(start), "of the test's own clock")
		})
	})
	t.Run("a resolver that fails is asked again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			broken := errors.New("resolver is down")
			r := &resolved{responses: []string{""}, err: broken}
			err := mds.WaitResolved(t.Context(), r, name, address, &mds.WaitOptions{Timeout: time.Minute})
			require.ErrorIs(t, err, mds.ErrNotResolved)
			require.ErrorIs(t, err, broken)
			assert.Greater(t, len(r.asked), 2)
		})
	})
	t.Run("the context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := mds.WaitResolved(ctx, &resolved{responses: []string{""}}, name, address, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, mds.ErrNotResolved)
		})
	})
	t.Run("bad input", func(t *testing.T) {
		require.ErrorIs(t, mds.WaitResolved(t.Context(), nil, "10.5072", address, nil), datacite.ErrInvalidDOI)
		require.ErrorIs(t, mds.WaitResolved(t.Context(), nil, name, address, &mds.WaitOptions{First: -1}), datacite.ErrInvalid)
	})
}

func TestHTTPResolver(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		assert.Empty(t, r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/10.5072/a#b":
			w.Header().Set("Location", address)
			w.WriteHeader(http.StatusFound)
		case "/10.5072/broken":
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer srv.Close()
	r := &mds.HTTPResolver{BaseURL: srv.URL + "/", HTTPClient: srv.Client()}

	got, err := r.Resolve(t.Context(), "10.5072/a#b")
	require.NoError(t, err)
	assert.Equal(t, address, got, "the redirect is read, not followed")
	got, err = r.Resolve(t.Context(), "10.5072/unknown")
	require.NoError(t, err)
	assert.Empty(t, got)
	_, err = r.Resolve(t.Context(), "10.5072/broken")
	require.ErrorContains(t, err, "502 Bad Gateway is neither a redirect nor 404")
	assert.Equal(t, []string{"HEAD /10.5072/a%23b", "HEAD /10.5072/unknown", "HEAD /10.5072/broken"}, asked)
	_, err = (&mds.HTTPResolver{BaseURL: "http://127.0.0.1:1"}).Resolve(t.Context(), name)
	require.Error(t, err)
}
