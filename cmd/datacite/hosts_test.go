//go:build !plan9

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

// hosts plays DataCite's test and production services for the programs that get the returned
// environment.
func hosts(t testing.TB) (env []string) {
	t.Helper()
	services := map[string]http.Handler{}
	for _, names := range [][]string{{"api.test.datacite.org", "mds.test.datacite.org"},
		{"api.datacite.org", "mds.datacite.org"}} {
		service := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Hosts: names})
		t.Cleanup(service.Close)
		services[names[0]], services[names[1]] = service, service
	}
	return play(t, services)
}

// play plays hosts of the internet for the programs that get the returned environment: a proxy leads
// their names to the handlers, and no other name anywhere.
func play(t testing.TB, hosts map[string]http.Handler) (env []string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root.pem")
	certificate := certify(t, slices.Collect(maps.Keys(hosts)), root)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts[r.Host].ServeHTTP(w, r)
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, known := strings.CutSuffix(r.Host, ":443")
		if r.Method != http.MethodConnect || !known || hosts[host] == nil {
			http.Error(w, "the walk has no host "+r.Host, http.StatusForbidden)
			return
		}
		connect(w, r, srv.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	return []string{"HTTPS_PROXY=" + proxy.URL, "https_proxy=" + proxy.URL, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
		"SSL_CERT_FILE=" + root, "CURL_CA_BUNDLE=" + root}
}

// connect joins a client with the address to which all hosts lead.
func connect(w http.ResponseWriter, r *http.Request, address string) {
	var dialer net.Dialer
	to, err := dialer.DialContext(r.Context(), "tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer to.Close()
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	ctx, done := context.WithCancel(context.Background())
	defer context.AfterFunc(ctx, func() { from.Close(); to.Close() })()
	go func() {
		defer done()
		_, _ = io.Copy(to, from) // either end may go away
	}()
	_, _ = io.Copy(from, to)
	done()
}

// certify makes a certificate for hosts, and writes it to a file for those who trust it.
func certify(t testing.TB, hosts []string, file string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "walk"}, DNSNames: hosts, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(24 * time.Hour),
		IsCA:     true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
