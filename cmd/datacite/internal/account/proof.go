package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
)

// ErrUnproven is the error of a login that a service neither accepts nor refuses in a way that
// a command sees.
var ErrUnproven = errors.New("the service does not say whether it accepts the login")

// Prove is an error if the service refuses the name and the password, and matches ErrUnproven if
// it names nobody. The deployed service ignores a wrong login when records are read, and shows
// what everybody may see; a header of its response names the account that it has seen.
func (s *Service) Prove(ctx context.Context) error {
	cfg := s.Config
	cfg.Token = ""
	client, err := dois.NewClient(cfg)
	if err != nil {
		return err
	}
	who, err := caller(client.Do(ctx, &datacite.Request{Method: http.MethodGet, Path: "/dois", Query: url.Values{"page[size]": {"1"}}}))
	if err == nil && !strings.EqualFold(who, cfg.Username) || errors.Is(err, datacite.ErrUnauthorized) {
		return fmt.Errorf("%s refuses the login of %s: %w", s, cfg.Username, datacite.ErrUnauthorized)
	}
	return err
}

// Check proves the login of a command that reads, if there is one, and warns if that cannot be done.
func (s *Service) Check(ctx context.Context, sh *shell.Shell) error {
	if s.Config.Password == "" {
		return nil
	}
	err := s.Prove(ctx)
	if errors.Is(err, ErrUnproven) {
		sh.Warn("warning: %s; if it does not, only findable DOIs are seen", shell.Message(err))
		return nil
	}
	return err
}

// ProveToken is an error if the token has expired, or if the service refuses it, and matches ErrUnproven if
// it names nobody. It returns the account that the token names, and when the token expires. Nothing is
// written, so whether the account may write is not proven.
func (s *Service) ProveToken(ctx context.Context) (account string, expires time.Time, err error) {
	if expires, err = expiry(s.Config.Token); err != nil {
		return "", expires, err
	}
	cfg := s.Config
	cfg.Username, cfg.Password = "", ""
	client, err := reports.NewClient(cfg)
	if err != nil {
		return "", expires, err
	}
	account, err = caller(client.Do(ctx, &datacite.Request{Method: http.MethodGet, Path: "/reports", Query: url.Values{"page[size]": {"1"}}}))
	if err == nil && account == "" || errors.Is(err, datacite.ErrUnauthorized) {
		err = fmt.Errorf("%s refuses the token: %w", s, datacite.ErrUnauthorized)
	}
	return account, expires, err
}

// expiry is when a token expires. It is an error if it has.
func expiry(token string) (at time.Time, err error) {
	if at, err = reports.TokenExpiry(token); err != nil {
		return at, shell.Wrong(fmt.Errorf("%w; is DATACITE_TOKEN right?", err))
	}
	if !time.Now().Before(at) {
		err = shell.Wrong(fmt.Errorf("the token expired on %s; the operator of the service issues a new one", at.Format(time.DateOnly)))
	}
	return at, err
}

// caller is whom a response names as the account of its request, "" for somebody that the service
// does not know.
func caller(response *datacite.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	switch named, ok := response.Header[http.CanonicalHeaderKey("X-Credential-Username")]; {
	case ok:
		return strings.Join(named, ""), nil
	case response.Header.Get("X-Anonymous-Consumer") != "":
		return "", nil
	}
	return "", ErrUnproven
}
