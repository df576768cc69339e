package account

import (
	"context"
	"encoding/json"
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
	who, err := caller("data")(client.Do(ctx, &datacite.Request{Method: http.MethodGet, Path: "/dois",
		Query: url.Values{"page[size]": {"1"}}}))
	if err == nil && !strings.EqualFold(who, cfg.Username) || errors.Is(err, datacite.ErrUnauthorized) {
		return fmt.Errorf("%s refuses the login of %s: %w", s, cfg.Username, datacite.ErrUnauthorized)
	}
	return s.named(err)
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
	account, err = caller("reports")(client.Do(ctx, &datacite.Request{Method: http.MethodGet, Path: "/reports",
		Query: url.Values{"page[size]": {"1"}}}))
	if err == nil && account == "" || errors.Is(err, datacite.ErrUnauthorized) {
		err = fmt.Errorf("%s refuses the token: %w", s, datacite.ErrUnauthorized)
	}
	return account, expires, s.named(err)
}

// named adds the service to the error of a response that is not read by a client.
func (s *Service) named(err error) error {
	if _, ok := errors.AsType[*datacite.Error](err); !ok && errors.Is(err, datacite.ErrUnreadable) {
		return fmt.Errorf("%s: %w", s, err)
	}
	return err
}

// expiry is when a token expires. It is an error if it has.
func expiry(token string) (at time.Time, err error) {
	if at, err = reports.TokenExpiry(token); err != nil {
		return at, shell.Wrong(fmt.Errorf("%w; is DATACITE_TOKEN right?", err))
	}
	if !time.Now().Before(at) {
		err = shell.Wrong(fmt.Errorf("the token expired at %s; the operator of the service issues a new one",
			shell.Moment(at)))
	}
	return at, err
}

// caller returns whom a response names as the account of its request, "" for somebody that the
// service does not know. A response that does neither and has no list of the given name is that
// of another host, where a login must not seem good.
func caller(list string) func(*datacite.Response, error) (string, error) {
	return func(response *datacite.Response, err error) (string, error) {
		if err != nil {
			return "", err
		}
		switch named, ok := response.Header[http.CanonicalHeaderKey("X-Credential-Username")]; {
		case ok:
			return strings.Join(named, ""), nil
		case response.Header.Get("X-Anonymous-Consumer") != "":
			return "", nil
		}
		var members map[string]json.RawMessage
		var entries []json.RawMessage
		if json.Unmarshal(response.Body, &members) != nil || json.Unmarshal(members[list], &entries) != nil ||
			entries == nil {
			return "", fmt.Errorf("%w: it is not that of a DataCite service, as it has no list named %q; is the address of "+
				"the service right?", datacite.ErrUnreadable, list)
		}
		return "", ErrUnproven
	}
}
