package mds_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
)

func TestCheckAccess(t *testing.T) {
	for _, b := range behaviours() {
		srv := newServer(t, &datacitetest.Options{Behaviour: b, Accounts: []datacitetest.Account{{Domains: []string{"repo.example.org"}}}})
		c := srv.MDS()
		require.NoError(t, c.CheckAccess(t.Context(), datacitetest.Prefix, address))
		require.ErrorIs(t, as(t, srv, wrong, nil).CheckAccess(t.Context(), datacitetest.Prefix, address), datacite.ErrUnauthorized)
		assert.Error(t, c.CheckAccess(t.Context(), "10.70000", address), "prefix of another account")
		err := c.CheckAccess(t.Context(), datacitetest.Prefix, "https://elsewhere.example.net/")
		assert.Equal(t, b == datacitetest.Documented, errors.Is(err, datacite.ErrBadRequest), "domain of somebody else: %v", err)
		err = c.CheckAccess(t.Context(), datacitetest.Prefix, "")
		assert.Equal(t, b == datacitetest.Documented, err != nil, "the deployed service does not look at the address: %v", err)
		require.NoError(t, newServer(t, &datacitetest.Options{Behaviour: b}).MDS().CheckAccess(t.Context(), datacitetest.Prefix, ""))
		sent := len(srv.Requests())
		require.ErrorIs(t, c.CheckAccess(t.Context(), "10.5072/a", address), datacite.ErrInvalidDOI)
		require.ErrorIs(t, c.CheckAccess(t.Context(), datacitetest.Prefix, "nowhere"), datacite.ErrInvalid)
		assert.Len(t, srv.Requests(), sent)
		assert.Empty(t, srv.Names(), "nothing was written")
	}
}

func TestCheckAccessOfTheDeployedService(t *testing.T) {
	for _, tt := range []struct {
		status int
		text   string
		want   error
	}{
		{422, "Can't be blank", nil},
		{401, "Bad credentials", datacite.ErrUnauthorized},
		{403, "Access is denied", datacite.ErrForbidden},
		{404, "DOI not found", datacite.ErrUnauthorized},
		{422, "URL is not allowed by repository domain settings.", datacite.ErrInvalid},
		{201, "OK", datacite.ErrUnreadable},
	} {
		err := responding(t, tt.status, plain, tt.text, nil).CheckAccess(t.Context(), datacitetest.Prefix, address)
		if tt.want == nil {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, tt.want)
	}
}

func TestALimiterSpacesRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil)
		c := as(t, srv, account, &datacite.Config{Limiter: rate.NewLimiter(rate.Every(time.Second), 1)})
		start := time.Now()
		for range 10 {
			_, err := c.State(t.Context(), name)
			require.NoError(t, err)
		}
		assert.Equal(t, 9*time.Second, time.Since(start), "of the test's own clock: the first goes at once")

		time.Sleep(time.Hour)
		start = time.Now()
		_, err := c.State(t.Context(), name)
		require.NoError(t, err)
		assert.Zero(t, time.Since(start), "who was idle need not wait")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = c.State(ctx, name)
		require.ErrorIs(t, err, context.Canceled)
	})
}
