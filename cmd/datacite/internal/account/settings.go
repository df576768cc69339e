package account

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	{"contact", "DATACITE_CONTACT", "your mail address; the service allows more requests with one", func(value string) error {
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
	if err != nil {
		return "", fmt.Errorf("there is no folder for settings; set DATACITE_CONFIG_DIR: %w", err)
	}
	return filepath.Join(folder, "datacite"), nil
}

// Load reads the settings. Without a file there are none.
func Load(s *shell.Shell) (Settings, error) {
	folder, err := Folder(s)
	if err != nil {
		return Settings{}, nil //nolint:nilerr // a process without a home has no settings
	}
	settings, err := readPairs(filepath.Join(folder, "settings"))
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	return settings, err
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
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := shell.CreateFile(path, 0o600)
	if err != nil {
		return err
	}
	defer file.Discard()
	if _, err := file.Write([]byte(text.String())); err != nil {
		return err
	}
	return file.Save()
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
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return nil, fmt.Errorf("%s: line %d is not NAME=VALUE", name, n)
		}
		pairs[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return pairs, lines.Err()
}
