package mds_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
)

// An API key is as good as the password.
func TestAPIKeyForAPassword(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := newServer(t, &datacitetest.Options{Behaviour: behaviour})
		key := srv.IssueKey()
		client := as(t, srv, credentials{Username: datacitetest.Username, Password: key}, &datacite.Config{MaxWait: time.Nanosecond})
		require.NoError(t, client.CheckAccess(t.Context(), datacitetest.Prefix, "https://example.org/"))
		done, err := client.Register(t.Context(), "10.5072/x", "https://example.org/", glacier())
		require.NoError(t, err)
		assert.Equal(t, mds.StateFindable, done.State)
		srv.RevokeKey(key)
		assert.ErrorIs(t, client.Hide(t.Context(), "10.5072/x"), datacite.ErrUnauthorized)
	}
}
