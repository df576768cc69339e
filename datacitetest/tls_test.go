package datacitetest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

// With TLS, a server's own clients trust it, others if they have its authority.
func TestTLS(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for _, noPort := range []bool{false, true} {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, TLS: true, NoPort: noPort,
				Hosts: []string{"api.test", "api.test:443", "müll.test"}})
			t.Cleanup(srv.Close)
			require.Regexp(t, `^https://127\.`, srv.URL)
			client, err := dois.NewClient(srv.Config())
			require.NoError(t, err)
			_, err = client.Create(t.Context(), &dois.Draft{DOI: "10.5072/a"})
			require.NoError(t, err)
			state, err := srv.MDS().State(t.Context(), "10.5072/a")
			require.NoError(t, err)
			assert.NotEmpty(t, state)
			list, err := srv.DOIs().List(t.Context(), nil)
			require.NoError(t, err)
			assert.EqualValues(t, 1, list.Total)
		}
	}
}

func TestTLSForOtherClients(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{TLS: true, Hosts: []string{"api.test"}})
	defer srv.Close()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(srv.CA()))
	other := datacitetest.NewServer(&datacitetest.Options{TLS: true})
	defer other.Close()
	assert.NotEqual(t, srv.CA(), other.CA())

	at := strings.TrimPrefix(srv.URL, "https://")
	status := func(roots *x509.CertPool, url string) (int, error) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, at)
			}}
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport}).Get(url)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	for _, url := range []string{srv.URL, "https://localhost", "https://sandbox.localhost", "https://[::1]:8443",
		"https://api.test"} {
		code, err := status(roots, url+"/heartbeat")
		require.NoError(t, err, url)
		assert.Equal(t, 200, code, url)
	}
	_, err := status(roots, "https://elsewhere.test/")
	assert.ErrorAs(t, err, new(x509.HostnameError))
	_, err = status(nil, srv.URL)
	assert.ErrorAs(t, err, new(x509.UnknownAuthorityError))
	wrong := x509.NewCertPool()
	require.True(t, wrong.AppendCertsFromPEM(other.CA()))
	_, err = status(wrong, srv.URL)
	assert.ErrorAs(t, err, new(x509.UnknownAuthorityError))

	own := httptest.NewUnstartedServer(srv.Guard(srv)) // of a program
	own.TLS = srv.TLSConfig()
	own.StartTLS()
	defer own.Close()
	at = strings.TrimPrefix(own.URL, "https://")
	code, err := status(roots, own.URL+"/heartbeat")
	require.NoError(t, err)
	assert.Equal(t, 200, code)
}
