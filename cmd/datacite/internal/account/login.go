package account

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
)

// A Login is who a command works as. Token is for usage reports.
type Login struct{ Username, Password, Token string }

// The variables of a login, in the environment and in files.
const (
	usernameVariable = "DATACITE_USERNAME"
	passwordVariable = "DATACITE_PASSWORD"
	tokenVariable    = "DATACITE_TOKEN"
)

// findLogin returns the login for a service: that of --login, else of the environment, else the
// one that datacite login stored for this service. It is empty if there is none.
func (f *Flags) findLogin(service *Service) (Login, error) {
	s := f.shell
	if path := f.login; path == "-" {
		in, err := s.Stdinput()
		if err != nil {
			return Login{}, err
		}
		return readLogin("standard input", bufio.NewScanner(in))
	} else if path != "" {
		return readLoginFile(path)
	}
	if path := s.Getenv("DATACITE_LOGIN"); path != "" {
		return readLoginFile(path)
	}
	login := Login{s.Getenv(usernameVariable), s.Getenv(passwordVariable), s.Getenv(tokenVariable)}
	if login != (Login{}) {
		return login, login.check("the environment")
	}
	if f.use == LogsIn {
		return Login{}, nil // the stored one is to be replaced
	}
	path, err := loginPath(s, service)
	if err != nil {
		return Login{}, nil //nolint:nilerr // a process without a home has no stored login
	}
	login, err = readLoginFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Login{}, nil
	}
	return login, err
}

// loginPath is the file of the login that is stored for a service.
func loginPath(s *shell.Shell, service *Service) (string, error) {
	folder, err := Folder(s)
	return filepath.Join(folder, "logins", fileName(service.Host)), err
}

func fileName(host string) string { return strings.NewReplacer(":", "_", "/", "_").Replace(host) }

// readLoginFile reads a file that nobody else can read.
func readLoginFile(path string) (Login, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Login{}, err
	}
	const others = 0o077
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 {
		return Login{}, fmt.Errorf("%s holds a password, and other accounts may read it; run chmod 600 %[1]s", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return Login{}, err
	}
	defer file.Close()
	return readLogin(path, bufio.NewScanner(file))
}

// readLogin reads lines such as DATACITE_USERNAME=EXAMPLE.REPO.
func readLogin(name string, lines *bufio.Scanner) (login Login, err error) {
	pairs, err := parsePairs(name, lines)
	if err != nil {
		return login, fmt.Errorf("%w, as in %s=EXAMPLE.REPO", err, usernameVariable)
	}
	known := map[string]*string{usernameVariable: &login.Username, passwordVariable: &login.Password, tokenVariable: &login.Token}
	for key, value := range pairs {
		if known[key] == nil {
			return login, fmt.Errorf("%s: there is no %s; a login is %s and %s, or %s", name, key, usernameVariable, passwordVariable, tokenVariable)
		}
		*known[key] = value
	}
	if login == (Login{}) {
		return login, fmt.Errorf("%s has no login; it is %s and %s, or %s", name, usernameVariable, passwordVariable, tokenVariable)
	}
	return login, login.check(name)
}

func (l Login) check(origin string) error {
	switch {
	case l.Username != "" && l.Password == "":
		return fmt.Errorf("%s has %s and no %s", origin, usernameVariable, passwordVariable)
	case l.Username == "" && l.Password != "":
		return fmt.Errorf("%s has %s and no %s", origin, passwordVariable, usernameVariable)
	}
	return nil
}

// Store keeps the login for a service in a file of this account, and returns its name.
func (l Login) Store(s *shell.Shell, service *Service) (string, error) {
	path, err := loginPath(s, service)
	if err != nil {
		return "", err
	}
	pairs := Settings{usernameVariable: l.Username, passwordVariable: l.Password, tokenVariable: l.Token}
	for key, value := range pairs {
		if value == "" {
			delete(pairs, key)
		}
	}
	return path, pairs.save(s, filepath.Join("logins", fileName(service.Host)))
}

// Forget removes the login that is stored for a service. It reports whether there was one.
func Forget(s *shell.Shell, service *Service) (bool, error) {
	path, err := loginPath(s, service)
	if err != nil {
		return false, err
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Stored are the hosts with a login that is stored.
func Stored(s *shell.Shell) (hosts []string) {
	folder, err := Folder(s)
	if err != nil {
		return nil
	}
	files, _ := os.ReadDir(filepath.Join(folder, "logins")) // none is no login
	for _, file := range files {
		hosts = append(hosts, file.Name())
	}
	return slices.Clip(hosts)
}

// refusal is how long a login may take to be refused. The request takes longer only if the
// login is accepted, since then the service looks for the names of the account.
const refusal = 20 * time.Second

// Prove is an error if the service refuses the login. The deployed service ignores a wrong login
// when records are read, and shows what everybody may see.
//
// Prove sends HEAD /dois/get-dois, which needs a login.
func (s *Service) Prove(ctx context.Context) error {
	client, err := dois.NewClient(s.Config)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, refusal)
	defer cancel()
	_, err = client.Do(short, &datacite.Request{Method: "HEAD", Path: "/dois/get-dois"})
	failure, ofService := errors.AsType[*datacite.Error](err)
	switch {
	case errors.Is(err, datacite.ErrUnauthorized):
		return fmt.Errorf("%s refuses the login of %s: %w", s, s.Config.Username, err)
	case err == nil, ofService && failure.StatusCode != 0, ctx.Err() == nil && short.Err() != nil:
		return nil // whatever else it says, it says to an account
	}
	return err
}
