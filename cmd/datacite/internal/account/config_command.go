package account

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// shownSetting is a setting as --json prints it.
type shownSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin,omitempty"` // a variable or a file; empty without a value
	Login  string `json:"login,omitempty"`  // of a login: whose it is
}

// ConfigCommand is datacite config.
func ConfigCommand(s *shell.Shell) *cobra.Command {
	var names, uses []string
	for _, k := range Known {
		names = append(names, k.Name)
		uses = append(uses, fmt.Sprintf("  %-9s %s (%s)", k.Name, k.Use, k.Variable))
	}
	var unset bool
	cmd := &cobra.Command{
		Use: "config [NAME [VALUE]]", GroupID: shell.Settings, Args: cobra.MaximumNArgs(2), ValidArgs: names,
		Short: "Show or change the settings",
		Long: `Show all settings and where each comes from, and whose logins there are, or one setting, or change
it. They are:

` + strings.Join(uses, "\n") + `

A variable of the environment, in brackets, counts before the setting, and a flag before both.
Logins are kept by datacite login.`,
		Example: `  datacite config                      show all settings
  datacite config service test         commands work on the test service from now on
  datacite config --unset service      writing commands ask for --service again`,
	}
	cmd.Flags().BoolVar(&unset, "unset", false, "remove the setting")
	s.Flags(cmd, shell.JSON)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		settings, err := Load(s)
		if err != nil {
			return shell.Wrong(err)
		}
		if len(args) == 0 && !unset {
			for _, k := range Known {
				showSetting(s, k, settings)
			}
			return showLogins(s)
		}
		setting, err := findSetting(args, names)
		switch {
		case err != nil:
			return shell.Wrong(err)
		case unset && len(args) == 2:
			return shell.Wrong(errors.New("--unset removes the setting, and a value sets it; leave one of them out"))
		case len(args) == 1 && !unset:
			if showSetting(s, setting, settings) == "" {
				return shell.Refused(fmt.Errorf("%s is not set", setting.Name))
			}
			return nil
		case unset:
			delete(settings, setting.Name)
		default:
			if err := setting.Check(args[1]); err != nil {
				return shell.Wrong(err)
			}
			settings[setting.Name] = args[1]
		}
		if err := settings.Save(s); err != nil {
			return shell.Wrong(err)
		}
		if s.Getenv(setting.Variable) != "" {
			s.Warn("%s is set in the environment, and counts before this setting", setting.Variable)
		}
		return nil
	}
	return cmd
}

// showLogins prints whose logins there are: that of the environment, and those that are stored.
func showLogins(s *shell.Shell) error {
	if file := s.Getenv("DATACITE_LOGIN"); file != "" {
		s.Answer(shownSetting{Name: "login", Value: file, Origin: "DATACITE_LOGIN"},
			"login of the file %s, at all services (DATACITE_LOGIN)", file)
	} else if name := s.Getenv("DATACITE_USERNAME"); name != "" {
		s.Answer(shownSetting{Name: "login", Origin: "DATACITE_USERNAME", Login: name},
			"login of %s, at all services (DATACITE_USERNAME)", name)
	}
	folder, err := Folder(s)
	if err != nil {
		return nil //nolint:nilerr // a process without a home has no logins
	}
	files, err := os.ReadDir(filepath.Join(folder, "logins"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shell.Wrong(fmt.Errorf("the stored logins are not known: %w", err))
	}
	for _, file := range files {
		host, path := file.Name(), filepath.Join(folder, "logins", file.Name())
		if strings.HasPrefix(host, ".") { // one that is being written, or was when its process was killed
			continue
		}
		login, err := readLoginFile(path)
		if err != nil {
			s.Warn("warning: the login at %s cannot be read: %v", host, err)
			continue
		}
		s.Answer(shownSetting{"login", host, path, login.String()}, "login at %s: %s (%s)", host, login, path)
	}
	return nil
}

func findSetting(args, names []string) (Setting, error) {
	if len(args) == 0 {
		return Setting{}, errors.New("--unset needs the name of a setting")
	}
	i := slices.Index(names, args[0])
	if i < 0 {
		return Setting{}, fmt.Errorf("setting %w", shell.NotOne(args[0], names))
	}
	return Known[i], nil
}

// showSetting prints a setting that has a value, and returns it.
func showSetting(s *shell.Shell, k Setting, settings Settings) string {
	one := shownSetting{Name: k.Name, Value: s.Getenv(k.Variable), Origin: k.Variable}
	if one.Value == "" {
		one.Value, one.Origin = settings[k.Name], "settings"
	}
	if one.Value == "" {
		one.Origin = ""
		s.Say("%s is not set", k.Name)
	}
	if one.Value != "" || s.JSON {
		s.Answer(one, "%s = %s (%s)", one.Name, one.Value, one.Origin)
	}
	return one.Value
}
