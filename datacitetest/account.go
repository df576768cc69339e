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

// An Account is a repository that may use the server. All fields are optional.
type Account struct {
	Username string   // "" means Username; in lower case it is the client id, up to the dot the provider id
	Password string   // "" means Password
	Prefixes []string // under which it may register DOIs; nil means Prefix alone
	Domains  []string // hosts that its URLs may point to, "*.example.org" for all below; nil means any

	// Role is the role in the account's tokens, which a Deployed server checks.
	// "client_admin", a repository, and "staff_admin", the operator's staff, may write usage
	// reports and DOIs; "staff_admin" may also delete usage reports; others, such as "user",
	// may only read. "" means "client_admin".
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
		if a.Prefixes == nil {
			a.Prefixes = []string{Prefix}
		}
		provider, _, _ := strings.Cut(clientID, ".")
		all = append(all, sandbox.Account{
			Username: username, Password: cmp.Or(a.Password, Password), ClientID: clientID, ProviderID: provider,
			Prefixes: a.Prefixes, Domains: a.Domains, Role: a.Role,
		})
	}
	return all
}
