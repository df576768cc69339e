package dois_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

// An API key works in each place that it may stand in, until it is revoked.
func TestAPIKeys(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, NoPort: true})
		defer srv.Close()
		key := srv.IssueKey()
		for where, opts := range map[string]datacite.Config{
			"password": {Username: datacitetest.Username, Password: key}, "token": {Token: key},
			"source": {TokenSource: func(context.Context) (string, error) { return key, nil }},
		} {
			opts.Service, opts.HTTPClient, opts.MaxAttempts = srv.Config().Service, srv.HTTPClient(), 1
			client, err := dois.NewClient(opts)
			require.NoError(t, err, where)
			made, err := client.Create(t.Context(), &dois.Draft{Prefix: datacitetest.Prefix})
			require.NoError(t, err, where)
			_, err = client.Get(t.Context(), made.DOI, nil)
			require.NoError(t, err, where)
			require.NoError(t, client.Delete(t.Context(), made.DOI), where)
		}
		srv.RevokeKey(key)
		client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: key, HTTPClient: srv.HTTPClient()})
		require.NoError(t, err)
		_, err = client.Create(t.Context(), &dois.Draft{Prefix: datacitetest.Prefix})
		require.ErrorIs(t, err, datacite.ErrUnauthorized)
		assert.NotContains(t, err.Error(), key)
	}
	_, err := dois.NewClient(datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO"})
	assert.ErrorContains(t, err, "Config.Password: is empty")
	_, err = dois.NewClient(datacite.Config{Service: datacite.Test, Username: "DC.Zx81kQw7Lm20PtRv55YhNc64BdGsAe93"})
	assert.ErrorContains(t, err, "Config.Username: is an API key")
}
