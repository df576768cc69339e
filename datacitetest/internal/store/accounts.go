// Package store is the state that the interfaces share: DOIs, accounts and the clock.
package store

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// object is an object in JSON.
type object = map[string]any

// DefaultAccount is the account of a service whose options name none.
var DefaultAccount = record.Account{
	Username: "EXAMPLE.REPO", Password: "sandbox-password",
	ClientID: "example.repo", ProviderID: "example",
	Prefixes: []string{"10.5072", "10.82433"},
}

// Basic finds the account whose username and password the request carries. given
// says whether it carries any. An API key is a username that needs no password, or
// a password of the repository that it was issued to.
func (s *Store) Basic(r *http.Request) (account *record.Account, given bool) {
	user, password, _ := r.BasicAuth()
	if IsKey(user) {
		return s.holder(user), true
	}
	if user == "" || password == "" {
		return nil, false
	}
	for i, a := range s.Accounts {
		if strings.EqualFold(a.Username, user) && a.Password == password {
			return &s.Accounts[i], true
		}
	}
	if a := s.holder(password); a != nil && strings.Contains(user, ".") && strings.EqualFold(a.Username, user) {
		return a, true
	}
	return nil, true
}

// IsKey says whether a username has the form of an API key.
func IsKey(username string) bool {
	return len(username) > 20 && strings.EqualFold(username[:3], "DC.")
}

// IssueKeyOf returns a new API key of the account with that client id, which must exist. The
// specification does not show them; both behaviours accept them where the deployed servers do.
func (s *Store) IssueKeyOf(clientID string) string {
	key := "DC." + strings.ReplaceAll(uuid.NewString(), "-", "")
	s.keys.Store(key, s.Client(clientID))
	return key
}

// RevokeKey makes an API key unknown.
func (s *Store) RevokeKey(key string) { s.keys.Delete(key) }

// holder is the account of an API key, nil if there is no such key.
func (s *Store) holder(key string) *record.Account {
	a, ok := s.keys.Load(key)
	if !ok {
		return nil
	}
	account := *a.(*record.Account)
	account.ByKey = true
	return &account
}

// Bearer returns the token of an Authorization header with the Bearer scheme.
func Bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// TokenOf returns an unsigned JSON web token of the account with that client id, which need
// not exist: the token alone identifies it. It is valid until expires by the service's clock.
func (s *Store) TokenOf(clientID string, expires time.Time) string {
	role := "client_admin"
	if a := s.Client(clientID); a != nil {
		role = cmp.Or(a.Role, role)
	}
	part := base64.RawURLEncoding
	claims := wire.Encode(Claims{UID: clientID, Role: role, Expires: expires.Unix()})
	return part.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + part.EncodeToString(claims) + "."
}

// Claims are the contents of a token. Times are in seconds since 1970.
type Claims struct {
	UID       string `json:"uid"`
	Role      string `json:"role_id"`
	Expires   int64  `json:"exp"`
	NotBefore int64  `json:"nbf,omitempty"`
}

// TokenAccount is the account of a token, or of an API key in its place.
func (s *Store) TokenAccount(token string) (*record.Account, error) {
	if a := s.holder(token); a != nil {
		return a, nil
	}
	c, err := s.claims(token)
	if err != nil {
		return nil, err
	}
	if a := s.Client(c.UID); a != nil {
		account := *a
		account.Role = c.Role
		return &account, nil
	}
	return nil, wire.Fail(http.StatusUnauthorized, wire.NotAuthorized)
}

// Client is the account of a repository, nil if there is none.
func (s *Store) Client(id string) *record.Account {
	for i, a := range s.Accounts {
		if strings.EqualFold(a.ClientID, id) {
			return &s.Accounts[i]
		}
	}
	return nil
}

// TokenOwner checks a token and returns its client id (specification §7): a missing or
// malformed token is 401, an expired one 403.
func (s *Store) TokenOwner(token string) (clientID string, err error) {
	c, err := s.claims(token)
	return c.UID, err
}

func (s *Store) claims(token string) (Claims, error) {
	if token == "" {
		return Claims{}, wire.Fail(http.StatusUnauthorized, "No token was provided.")
	}
	c, ok := ReadClaims(token)
	expired := s.Now().Unix() >= c.Expires
	switch {
	case !ok || c.UID == "" || s.Deployed && expired:
		return c, wire.Fail(http.StatusUnauthorized, wire.NotAuthorized)
	case expired:
		return c, wire.Fail(http.StatusForbidden, "The token has expired.")
	}
	return c, nil
}

const Staff = "staff_admin"

// ReadClaims reads a token; ok is false when it is malformed.
func ReadClaims(token string) (c Claims, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, false
	}
	var plain [3][]byte
	for i, part := range parts {
		var err error
		if plain[i], err = base64.RawURLEncoding.DecodeString(strings.TrimRight(part, "=")); err != nil {
			return c, false
		}
	}
	if !json.Valid(plain[0]) || json.Unmarshal(plain[1], &c) != nil {
		return Claims{}, false
	}
	return c, true
}
