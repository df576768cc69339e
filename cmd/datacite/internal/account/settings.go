package account

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// Settings are what datacite config keeps, by name.
type Settings map[string]string

// A Setting is one of the names.
type Setting struct {
	Name, Variable, Use string
	Check               func(value string) error
}

// Known are the settings, in the order in which they are shown.
var Known = []Setting{
	{"service", "DATACITE_SERVICE", "the service for all commands: test, production or a URL", func(value string) error {
		_, err := Parse(value)
		return err
	}},
	{"contact", "DATACITE_CONTACT", "your mail address; the service allows more requests with one",
		func(value string) error {
			if !strings.Contains(value, "@") {
				return fmt.Errorf("%q is not a mail address", value)
			}
			return nil
		}},
}

// Folder is where settings and logins are kept.
func Folder(s *shell.Shell) (string, error) {
	if folder := s.Getenv("DATACITE_CONFIG_DIR"); folder != "" {
		return folder, nil
	}
	folder, err := os.UserConfigDir()
	if runtime.GOOS == "windows" { // where that folder is copied to other machines, with the logins
		folder, err = os.UserCacheDir()
	}
	if err != nil {
		return "", fmt.Errorf("there is no folder for settings; set DATACITE_CONFIG_DIR: %w", err)
	}
	return filepath.Join(folder, "datacite"), nil
}

// Load reads the settings. Without a file there are none; a setting that is unknown or wrong
// would have no effect, and is an error.
func Load(s *shell.Shell) (Settings, error) {
	folder, err := Folder(s)
	if err != nil {
		return Settings{}, nil //nolint:nilerr // a process without a home has no settings
	}
	path := filepath.Join(folder, "settings")
	settings, err := readPairs(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	var names []string
	for _, k := range Known {
		names = append(names, k.Name)
		if value := settings[k.Name]; value != "" && err == nil {
			err = k.Check(value)
		}
	}
	for name := range settings {
		if err == nil && !slices.Contains(names, name) {
			err = fmt.Errorf("setting %w", shell.NotOne(name, names))
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); !ok && !strings.HasPrefix(err.Error(), path) {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return nil, fmt.Errorf("%w; correct the file", err)
	}
	return settings, nil
}

// others are the variables of commands that neither a setting nor a login has.
var others = []string{"DATACITE_LOGIN", "DATACITE_LOCK_DIR", "DATACITE_CONFIG_DIR"}

// checkEnvironment is an error if a variable that says where or as whom a command works is set and
// empty: a shell leaves it so where another variable is not set. It warns of names that are
// nearly those of variables.
func checkEnvironment(s *shell.Shell) error {
	known := append([]string{usernameVariable, passwordVariable, tokenVariable}, others...)
	for _, k := range Known {
		known = append(known, k.Variable)
	}
	for _, pair := range s.Environ {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case slices.Contains([]string{"DATACITE_SERVICE", "DATACITE_LOGIN"}, name) && strings.TrimSpace(value) == "":
			return fmt.Errorf("the variable %s is set and empty; give it a value, or unset it", name)
		case strings.HasPrefix(name, "DAT") && !slices.Contains(known, name):
			if near := shell.DidYouMean(name, known); near != "" {
				s.Warn("warning: the variable %s has no effect%s", name, near)
			}
		}
	}
	return nil
}

// Save replaces the file of the settings.
func (c Settings) Save(s *shell.Shell) error { return c.save(s, "settings") }

func (c Settings) save(s *shell.Shell, name string) error {
	folder, err := Folder(s)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&text, "%s=%s\n", key, c[key])
	}
	path := filepath.Join(folder, name)
	// An altered password, say, would fail in the next command alone.
	if again, err := parsePairs(path, bufio.NewScanner(strings.NewReader(text.String()))); err != nil ||
		!maps.Equal(again, c) {
		return fmt.Errorf("%s cannot be stored: a value has white space around it, a line break, or more than 64 KiB",
			strings.Join(slices.Sorted(maps.Keys(c)), ", "))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return shell.WriteText(path, 0o600, text.String())
}

// readPairs reads a file of lines such as NAME=VALUE. Empty lines and those that begin with #
// do not count.
func readPairs(path string) (Settings, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parsePairs(path, bufio.NewScanner(file))
}

func parsePairs(name string, lines *bufio.Scanner) (Settings, error) {
	pairs := Settings{}
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return nil, fmt.Errorf("%s: line %d is not NAME=VALUE", name, n)
		}
		if key = strings.TrimSpace(key); pairs[key] != "" {
			return nil, fmt.Errorf("%s: line %d gives %s a second time; leave one of them out", name, n, key)
		}
		pairs[key] = strings.TrimSpace(value)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pairs, nil
}
