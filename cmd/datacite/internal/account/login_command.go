package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

type loginCommand struct {
	*shell.Shell
	flags  *Flags
	forget bool
}

// loginResult is what --json prints.
type loginResult struct {
	Service  string    `json:"service"`
	Host     string    `json:"host"`
	Username string    `json:"username,omitempty"`
	TokenOf  string    `json:"tokenOf,omitempty"`  // the account
	Expires  time.Time `json:"expires,omitzero"`   // the token
	Unproven []string  `json:"unproven,omitempty"` // login or token
	Stored   string    `json:"stored,omitempty"`   // the file
	Removed  bool      `json:"removed,omitempty"`
}

// LoginCommand is datacite login.
func LoginCommand(s *shell.Shell) *cobra.Command {
	c := &loginCommand{Shell: s}
	cmd := &cobra.Command{
		Use: "login", GroupID: shell.Settings, Args: cobra.NoArgs,
		Short: "Test and store the login of a repository account",
		Long: `Ask for the name and the password of a repository account, test them at the service, and store
them for the commands that follow, in a file that only you can read. Each service has a
login of its own.

Without a terminal, the login is read from --login or the environment ("datacite help logins"). A
token for usage reports is tested, too: its form, when it expires, and whether the
service knows its account. Whether that account may send reports shows when one is sent.`,
		Example: `  datacite login --service test
  datacite login --service production --login secret.env
  datacite login --service test --forget`,
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.forget, "forget", false, "remove the stored login")
	s.Flags(cmd, shell.JSON)
	c.flags = NewFlags(s, cmd, LogsIn)
	return cmd
}

func (c *loginCommand) run(cmd *cobra.Command, _ []string) error {
	service, err := c.flags.Open()
	if err != nil {
		return err
	}
	if c.forget {
		removed, err := Forget(c.Shell, service)
		if err != nil {
			return shell.Wrong(err)
		}
		if !removed {
			c.Say("no login was stored for %s", service)
		} else {
			c.Result(loginResult{Service: service.Name, Host: service.Host, Removed: true}, "the login for %s is removed",
				service)
		}
		return nil
	}
	login := Login{Username: service.Config.Username, Password: service.Config.Password, Token: service.Config.Token}
	if login == (Login{}) {
		if login, err = c.ask(service); err != nil {
			return err
		}
		service.Config.Username, service.Config.Password = login.Username, login.Password
	}
	done := loginResult{Service: service.Name, Host: service.Host, Username: login.Username}
	said, err := c.prove(cmd.Context(), service, &done)
	if err != nil {
		return err
	}
	if done.Stored, err = login.Store(c.Shell, service); err != nil {
		return shell.Wrong(err)
	}
	c.Result(done, "%s", strings.Join(append(said, "it is stored in "+done.Stored), "; "))
	return nil
}

// prove tests the parts of a login, and says of each what is known.
func (c *loginCommand) prove(ctx context.Context, service *Service, done *loginResult) (said []string, err error) {
	if done.Username != "" {
		switch err := service.Prove(ctx); {
		case errors.Is(err, ErrUnproven):
			done.Unproven = append(done.Unproven, "login")
			said = append(said, fmt.Sprintf("%s does not say whether it accepts the login of %s", service, done.Username))
		case err != nil:
			return nil, err
		default:
			said = append(said, fmt.Sprintf("%s accepts the login of %s", service, done.Username))
		}
	}
	if service.Config.Token == "" {
		return said, nil
	}
	done.TokenOf, done.Expires, err = service.ProveToken(ctx)
	until := "it expires at " + shell.Moment(done.Expires)
	switch {
	case errors.Is(err, ErrUnproven):
		done.Unproven = append(done.Unproven, "token")
		return append(said, fmt.Sprintf("%s does not say whether it accepts the token", service), until), nil
	case err != nil:
		return nil, err
	}
	return append(said, fmt.Sprintf("%s accepts the token of %s", service, done.TokenOf), until), nil
}

// ask reads the login from the terminal. The password is not shown.
func (c *loginCommand) ask(service *Service) (login Login, err error) {
	if !shell.IsTerminal(c.Stdin) {
		return login, shell.Wrong(errors.New(
			"standard input is not a terminal; give the login with --login FILE, --login - or the environment"))
	}
	if login.Username, err = c.Ask(fmt.Sprintf("Repository account at %s:", service)); err != nil {
		return login, err
	}
	if login.Password, err = c.AskSecret("Password (not shown):"); err != nil {
		return login, err
	}
	if login.Username == "" || login.Password == "" {
		return login, shell.Wrong(errors.New("a login is a name and a password; nothing was stored"))
	}
	return login, nil
}
