package datacitetest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// Default credentials and prefix of an [Account].
const (
	Username = "EXAMPLE.REPO"
	Password = "sandbox-password"
	Prefix   = "10.5072"
)

// An Account is a repository, a member or the lead of a consortium that may use the server. All fields are optional.
type Account struct {
	// Username is, in lower case, the client id, and up to the dot the provider id, that is, the
	// member; "" means the constant Username
	Username string
	Password string   // "" means Password
	Prefixes []string // under which it may register DOIs; nil means Prefix alone; a member has none
	Domains  []string // hosts that its URLs may point to, "*.example.org" for all below; nil means any

	Consortium string // username of the lead of the consortium that the member belongs to; "" for none

	// Role is the role in the account's tokens, which a Deployed server checks.
	// "client_admin", a repository, and "staff_admin", the operator's staff, may write usage
	// reports and DOIs; "staff_admin" may also delete usage reports; others, such as "user",
	// may only read. "provider_admin", a member, and "consortium_admin", the lead of a consortium,
	// read all DOIs of their repositories, and transfer them. "" means "client_admin".
	Role string
}

// inside is the accounts as the service knows them.
func inside(accounts []Account) (all []sandbox.Account) {
	if len(accounts) == 0 {
		accounts = []Account{{}}
	}
	named := map[string]bool{}
	for _, a := range accounts {
		username := cmp.Or(a.Username, Username)
		clientID := strings.ToLower(username)
		if named[clientID] {
			panic(fmt.Sprintf("datacitetest: two accounts %q", username))
		}
		named[clientID] = true
		provider, _, _ := strings.Cut(clientID, ".")
		account := sandbox.Account{
			Username: username, Password: cmp.Or(a.Password, Password), ClientID: clientID, ProviderID: provider,
			ConsortiumID: strings.ToLower(a.Consortium), Prefixes: a.Prefixes, Domains: a.Domains, Role: a.Role,
		}
		if a.Prefixes == nil && !account.IsMember() {
			account.Prefixes = []string{Prefix}
		}
		all = append(all, account)
	}
	return all
}
