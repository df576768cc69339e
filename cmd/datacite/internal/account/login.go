package account

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
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
	if info.IsDir() {
		return Login{}, fmt.Errorf("%s is a folder; give the name of a file", path)
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
	known := map[string]*string{usernameVariable: &login.Username, passwordVariable: &login.Password,
		tokenVariable: &login.Token}
	for key, value := range pairs {
		if known[key] == nil {
			return login, fmt.Errorf("%s: there is no %s; a login is %s and %s, or %s", name, key, usernameVariable,
				passwordVariable, tokenVariable)
		}
		*known[key] = value
	}
	if login == (Login{}) {
		return login, fmt.Errorf("%s has no login; it is %s and %s, or %s", name, usernameVariable, passwordVariable,
			tokenVariable)
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

// String says whose login it is.
func (l Login) String() string {
	switch {
	case l.Token == "":
		return l.Username
	case l.Username == "":
		return "a token for usage reports"
	}
	return l.Username + ", and a token for usage reports"
}
