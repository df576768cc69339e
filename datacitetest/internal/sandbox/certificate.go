package sandbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
)

// certificate is how a server proves to clients that it is the one that they trust.
type certificate struct {
	config *tls.Config // of the server
	roots  *x509.CertPool
	pem    []byte // the authority that has signed it, for trust stores
}

// lifetime is below 398 days, the most that some clients accept.
const lifetime = 365 * 24 * time.Hour

// certify makes a certificate for loopback names and hosts, and the authority that signs it. The key of
// the authority is not kept: it can sign nothing else.
func certify(hosts []string) *certificate {
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "datacitetest, for tests"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	signer := newKey()
	signed := sign(authority, authority, signer, signer)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: authority.NotBefore,
		NotAfter:              authority.NotAfter,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{
			x509.ExtKeyUsageServerAuth},
	}
	for _, host := range append([]string{"localhost", "*.localhost", "127.0.0.1", "::1"}, hosts...) {
		switch host = hostname(host); {
		case net.ParseIP(host) != nil:
			leaf.IPAddresses = append(leaf.IPAddresses, net.ParseIP(host))
		case host != "" && names.IsASCII(host): // clients ask for others in ASCII
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	key := newKey()
	served := sign(leaf, signed, key, signer)
	roots := x509.NewCertPool()
	roots.AddCert(signed)
	return &certificate{
		config: &tls.Config{Certificates: []tls.Certificate{
			{Certificate: [][]byte{served.Raw}, PrivateKey: key, Leaf: served}}},
		roots: roots, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed.Raw}),
	}
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no random numbers
	}
	return key
}

func sign(of, by *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	der, err := x509.CreateCertificate(rand.Reader, of, by, &key.PublicKey, signer)
	if err != nil {
		panic(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return signed
}
