// Package record is the record of a DOI, and reads and writes it as XML, JSON and other formats.
package record

import (
	"net/url"
	"slices"
	"strings"
)

// object is an object in JSON.
type object = map[string]any

// Account is a name with a password: a repository that may register DOIs under its prefixes
// and send usage reports, or a member or the lead of a consortium, which has no DOIs of its own.
type Account struct {
	Username, Password string
	ClientID           string   // the repository, as in client-id filters
	ProviderID         string   // the member the repository belongs to
	ConsortiumID       string   // the consortium of that member, if any
	Prefixes           []string // as in "10.5072"
	Domains            []string // hosts that URLs may point to, "*.example.org" for all below; none means any
	Role               string   // of its tokens, or the role in a token; "" means client_admin

	ByKey bool // authenticated by an API key, which may not list its DOIs
}

// MayWrite says whether the role of the account lets it write DOIs.
func (a *Account) MayWrite() bool {
	return slices.Contains([]string{"", "client_admin", "client_api", "staff_admin"}, a.Role)
}

// The roles of members and of the leads of consortia.
const (
	memberRole = "provider_admin"
	leadRole   = "consortium_admin"
)

// IsMember says whether the account is of a member or of the lead of a consortium.
func (a *Account) IsMember() bool { return a.Role == memberRole || a.Role == leadRole }

// Holds says whether DOIs under the prefix may be registered by the account.
func (a *Account) Holds(prefix string) bool { return slices.Contains(a.Prefixes, prefix) }

const (
	NoURL    = "Not a valid HTTP(S) or FTP URL"
	NoDomain = "URL is not allowed by repository domain settings."
)

// Refusal says why the account may not register a URL, "" if it may: http,
// https or ftp, without spaces, on a host of the account's domains.
func (a *Account) Refusal(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(address, " \t\r\n") ||
		!slices.Contains([]string{"http", "https", "ftp"}, strings.ToLower(u.Scheme)) {
		return NoURL
	}
	host := strings.ToLower(u.Hostname())
	if len(a.Domains) == 0 || slices.ContainsFunc(a.Domains, func(domain string) bool {
		domain = strings.ToLower(domain)
		below, wild := strings.CutPrefix(domain, "*")
		return domain == host || wild && strings.HasSuffix(host, below)
	}) {
		return ""
	}
	return NoDomain
}

// Visible says whether the account may see the record: everybody sees findable
// records, the owner all, and so do its member and the lead of its consortium.
func (rec *Record) Visible(a *Account) bool {
	return rec.State == Findable || rec.Owner(a) || rec.Below(a)
}

// Below says whether the record is of a repository of the account, which is its member or leads its
// consortium; a may be nil.
func (rec *Record) Below(a *Account) bool {
	switch {
	case a == nil:
		return false
	case a.Role == leadRole:
		return rec.Consortium != "" && strings.EqualFold(rec.Consortium, a.ProviderID)
	}
	return a.Role == memberRole && strings.EqualFold(rec.Provider, a.ProviderID)
}

// Owner says whether the record belongs to the account, which may be nil.
func (rec *Record) Owner(a *Account) bool {
	return a != nil && strings.EqualFold(rec.Client, a.ClientID)
}
