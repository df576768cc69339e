package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Account is a member with credentials: a repository that may register DOIs
// under its prefixes and send usage reports.
type Account struct {
	Username, Password string
	ClientID           string   // the repository, as in client-id filters
	ProviderID         string   // the member the repository belongs to
	ConsortiumID       string   // the consortium of that member, if any
	Prefixes           []string // as in "10.5072"
	Domains            []string // hosts that URLs may point to, "*.example.org" for all below; none means any

	byKey bool // it has come with an API key, which may not list its DOIs
}

// DefaultAccount is the account of a service whose options name none.
var DefaultAccount = Account{
	Username: "EXAMPLE.REPO", Password: "sandbox-password",
	ClientID: "example.repo", ProviderID: "example",
	Prefixes: []string{"10.5072", "10.82433"},
}

// basic finds the account whose username and password the request carries. given
// says whether it carries any. An API key is a username that needs no password, and
// a password of the repository that it was issued to.
func (s *Store) basic(r *http.Request) (account *Account, given bool) {
	user, password, _ := r.BasicAuth()
	if isKey(user) {
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

// isKey says whether a username counts as an API key, be there such a key or not.
func isKey(username string) bool {
	return len(username) > 20 && strings.EqualFold(username[:3], "DC.")
}

// IssueKey returns a new API key of the first account. The specification does not
// show them; both behaviours take them where the deployed servers do.
func (s *Store) IssueKey() string {
	key := "DC." + strings.ReplaceAll(newUUID(), "-", "")
	s.keys.Store(key, &s.Accounts[0])
	return key
}

// RevokeKey makes an API key one that never was.
func (s *Store) RevokeKey(key string) { s.keys.Delete(key) }

// holder is the account of an API key, nil if there is no such key.
func (s *Store) holder(key string) *Account {
	a, ok := s.keys.Load(key)
	if !ok {
		return nil
	}
	account := *a.(*Account)
	account.byKey = true
	return &account
}

// bearer returns the token of an Authorization header with the Bearer scheme.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Token returns an unsigned JSON web token of the first account. The service
// takes it until its clock shows expires.
func (s *Store) Token(expires time.Time) string {
	return s.TokenOf(s.Accounts[0].ClientID, expires)
}

// TokenOf is Token for the account with that client id, which the service need
// not know: the token alone says who it is.
func (s *Store) TokenOf(clientID string, expires time.Time) string {
	return token(claims{UID: clientID, Role: "client_admin", Expires: seconds(strconv.FormatInt(expires.Unix(), 10))})
}

type claims struct {
	UID       string  `json:"uid"`
	Role      string  `json:"role_id"`
	Expires   seconds `json:"exp"`
	NotBefore seconds `json:"nbf,omitempty"`
}

// seconds is a moment in a token: a number, or a text that holds one.
type seconds json.Number

func (s *seconds) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, (*json.Number)(s)) }

func (s seconds) MarshalJSON() ([]byte, error) { return json.Marshal(json.Number(s)) }

// time is the moment, to the second; none is the beginning of time.
func (s seconds) time() time.Time {
	n, _ := json.Number(s).Float64()
	return time.Unix(int64(n), 0)
}

func token(c claims) string {
	part := base64.RawURLEncoding
	return part.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + part.EncodeToString(encode(c)) + "."
}

// tokenAccount is the account of a token, or of an API key in its place.
func (s *Store) tokenAccount(token string) (*Account, error) {
	if a := s.holder(token); a != nil {
		return a, nil
	}
	owner, err := s.tokenOwner(token)
	if err != nil {
		return nil, err
	}
	for i, a := range s.Accounts {
		if strings.EqualFold(a.ClientID, owner) {
			return &s.Accounts[i], nil
		}
	}
	return nil, fail(http.StatusUnauthorized, notAuthorized)
}

// tokenOwner checks a token as specification §7 says, and returns the client id
// in it: none is 401, an expired one 403. One that means nothing to the service
// is 401 too.
func (s *Store) tokenOwner(token string) (clientID string, err error) {
	if token == "" {
		return "", fail(http.StatusUnauthorized, "No token was provided.")
	}
	c, ok := readClaims(token)
	expired := !s.Now().Before(c.Expires.time())
	switch {
	case !ok || c.UID == "" || expired && !s.ExpiredRefused || !s.AnyRole && !c.mayReport():
		return "", fail(http.StatusUnauthorized, notAuthorized)
	case expired:
		return "", fail(http.StatusForbidden, "The token has expired.")
	}
	return c.UID, nil
}

// mayReport says whether the deployed service takes reports from this role.
func (c claims) mayReport() bool { return c.Role == "client_admin" || c.Role == staff }

const staff = "staff_admin"

const notAuthorized = "You are not authorized to access this resource."

// readClaims reads a token; ok is false when it is malformed.
func readClaims(token string) (c claims, ok bool) {
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
		return claims{}, false
	}
	return c, true
}

// holds says whether DOIs under the prefix may be registered by the account.
func (a *Account) holds(prefix string) bool { return slices.Contains(a.Prefixes, prefix) }

const (
	noURL    = "Not a valid HTTP(S) or FTP URL"
	noDomain = "URL is not allowed by repository domain settings."
)

// refusal says why the account may not register a URL, "" if it may: http,
// https or ftp, without blanks, on a host of the account's domains.
func (a *Account) refusal(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(address, " \t\r\n") ||
		!slices.Contains([]string{"http", "https", "ftp"}, strings.ToLower(u.Scheme)) {
		return noURL
	}
	host := strings.ToLower(u.Hostname())
	if len(a.Domains) == 0 || slices.ContainsFunc(a.Domains, func(domain string) bool {
		domain = strings.ToLower(domain)
		below, wild := strings.CutPrefix(domain, "*")
		return domain == host || wild && strings.HasSuffix(host, below)
	}) {
		return ""
	}
	return noDomain
}
