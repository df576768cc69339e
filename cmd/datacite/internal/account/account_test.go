package account_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

// show makes a command that says where it would work, and as whom.
func show(use account.Use) shell.Maker {
	return func(s *shell.Shell) *cobra.Command {
		cmd := &cobra.Command{Use: "show"}
		s.Flags(cmd, shell.DryRun)
		flags := account.NewFlags(s, cmd, use)
		cmd.RunE = func(*cobra.Command, []string) error {
			service, err := flags.Open()
			if err == nil {
				s.Result(nil, "%s | %s %s | %s %s %s", service, service.Config.Service.API, service.Config.Service.MDS,
					service.Config.Username, service.Config.Password, service.Config.Token)
				if service.Config.Contact != "" {
					s.Result(nil, "contact %s", service.Config.Contact)
				}
			}
			return err
		}
		return cmd
	}
}

const (
	test       = "test (api.test.datacite.org) | https://api.test.datacite.org https://mds.test.datacite.org"
	production = "production (api.datacite.org) | https://api.datacite.org https://mds.datacite.org"
	elsewhere  = "localhost:8080 | http://localhost:8080 http://localhost:8080"
)

func TestService(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "settings"),
		[]byte("# mine\n\nservice = test\ncontact = ada@repository.example.org\n"), 0o600))
	for _, tt := range []struct {
		use         account.Use
		args        []string
		env, folder string
		code        int
		out, notes  string
	}{
		{account.Reads, nil, "", "", 0, production, "reading from production (api.datacite.org)\n"},
		{account.Reads, []string{"-q"}, "", "", 0, "", ""},
		{account.Reads, []string{"--service", "production"}, "test", folder, 0, production, ""},
		{account.Reads, nil, "http://localhost:8080/", folder, 0, elsewhere, ""},
		{account.Reads, nil, "", folder, 0, test + " |   \ncontact ada@repository.example.org\n", ""},
		{account.Writes, nil, "", "", 2, "",
			"datacite: say which service is meant: add --service test or --service production, or choose one for all commands " +
				"with datacite config service test\n"},
		{account.LogsIn, nil, "", "", 2, "", "datacite: say which service is meant: "},
		{account.Writes, []string{"-n"}, "", "", 0, production, "reading from production (api.datacite.org)\n"},
		{account.Writes, nil, "", folder, 2, "",
			"datacite: there is no login for test (api.test.datacite.org); store one with datacite login --service test, or " +
				"see datacite help logins\n"},
		{account.Writes, []string{"--service", "http://localhost:8080/"}, "", "", 2, "",
			"datacite: there is no login for localhost:8080; store one with datacite login --service http://localhost:8080, " +
				"or see datacite help logins\n"},
		{account.Writes, []string{"--service", "https://mds.test.datacite.org/", "-n"}, "", "", 0, test, ""},
		{account.Reads, []string{"--service", "prodution"}, "", "", 2, "",
			`datacite: --service: "prodution" is not test, production or a URL that begins with https://; did you mean ` +
				`production?` + "\n"},
		{account.Reads, nil, "api.datacite.org", "", 2, "",
			`datacite: DATACITE_SERVICE: "api.datacite.org" is not test, production or a URL`},
		{account.Reads, []string{"--rate", "-1"}, "", folder, 2, "", "datacite: --rate is -1; it must be more than 0\n"},
	} {
		run := shelltest.Run{Env: map[string]string{"DATACITE_CONFIG_DIR": tt.folder}}
		if tt.env != "" {
			run.Env["DATACITE_SERVICE"] = tt.env
		}
		code, out, notes := run.Do(t, show(tt.use), append([]string{"show"}, tt.args...)...)
		assert.Equal(t, tt.code, code, "%v", tt)
		if assert.Contains(t, out, tt.out); tt.out == "" {
			assert.Empty(t, out, "%v", tt)
		}
		if assert.Contains(t, notes, tt.notes); tt.notes == "" {
			assert.Empty(t, notes, "%v", tt)
		}
	}
}

func TestLogin(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	const login = "DATACITE_USERNAME=FILE\nDATACITE_PASSWORD=a=b\n"
	write("logins/api.test.datacite.org", "DATACITE_USERNAME=STORED\nDATACITE_PASSWORD=p\nDATACITE_TOKEN=t\n", 0o600)
	write("logins/localhost_2", login, 0o640)
	mine, open := write("mine", login, 0o600), write("open", login, 0o640)
	env := func(pairs ...string) map[string]string {
		all := map[string]string{"DATACITE_CONFIG_DIR": folder, "DATACITE_SERVICE": "test"}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}
	for _, tt := range []struct {
		run  shelltest.Run
		args []string
		code int
		says string
	}{
		{shelltest.Run{Env: env()}, nil, 0, "| STORED p t"},
		// that of another service is not sent there
		{shelltest.Run{Env: env()}, []string{"--service", "http://localhost:1", "-n"}, 0, "|   \n"},
		{shelltest.Run{Env: env()}, []string{"--service", "http://localhost:2"}, 2,
			"localhost_2 holds a password, and other accounts may read it"},
		{shelltest.Run{Env: env("DATACITE_TOKEN", "x")}, nil, 0, "|   x"},
		{shelltest.Run{Env: env("DATACITE_USERNAME", "ENV", "DATACITE_PASSWORD", "q")}, nil, 0, "| ENV q "},
		{shelltest.Run{Env: env("DATACITE_LOGIN", mine)}, nil, 0, "| FILE a=b "},
		{shelltest.Run{Env: env("DATACITE_USERNAME", "ENV", "DATACITE_PASSWORD", "q")}, []string{"--login", mine}, 0,
			"| FILE a=b "},
		{shelltest.Run{Env: env(), Stdin: login}, []string{"--login", "-"}, 0, "| FILE a=b "},
		{shelltest.Run{Env: env()}, []string{"--login", open}, 2,
			"datacite: " + open + " holds a password, and other accounts may read it; run chmod 600 " + open},
		{shelltest.Run{Env: env()}, []string{"--login", filepath.Join(folder, "none")}, 2, "none: no such file or directory"},
		{shelltest.Run{Env: env()}, []string{"--login", write("user", "DATACITE_USERNAME=A\n", 0o600)}, 2,
			"user has DATACITE_USERNAME and no DATACITE_PASSWORD"},
		{shelltest.Run{Env: env()}, []string{"--login", write("odd", "username=A\n", 0o600)}, 2,
			"odd: there is no username; a login is DATACITE_USERNAME and DATACITE_PASSWORD, or DATACITE_TOKEN"},
		{shelltest.Run{Env: env()}, []string{"--login", write("empty", "\n", 0o600)}, 2, "empty has no login"},
		{shelltest.Run{Env: env()}, []string{"--login", write("words", "EXAMPLE.REPO\n", 0o600)}, 2,
			"words: line 1 is not NAME=VALUE, as in DATACITE_USERNAME=EXAMPLE.REPO"},
		{shelltest.Run{Env: env()}, []string{"--login", write("twice", login+login, 0o600)}, 2,
			"twice: line 3 gives DATACITE_USERNAME a second time; leave one of them out"},
		{shelltest.Run{Env: env()}, []string{"--login",
			write("marked", "\ufeff"+strings.ReplaceAll(login, "\n", "\r\n"), 0o600)}, 0, "| FILE a=b "},
		{shelltest.Run{Env: env()}, []string{"--login",
			write("long", "DATACITE_PASSWORD="+strings.Repeat("x", 1<<20), 0o600)}, 2, "long: bufio.Scanner: token too long"},
		{shelltest.Run{Env: env()}, []string{"--login", folder}, 2, "is a folder"},
		{shelltest.Run{Env: env("DATACITE_LOGIN", "")}, nil, 2,
			"the variable DATACITE_LOGIN is set and empty; give it a value, or unset it"},
		{shelltest.Run{Env: env("DATACITE_SERVICE", " ")}, nil, 2,
			"the variable DATACITE_SERVICE is set and empty; give it a value, or unset it"},
		{shelltest.Run{Env: env("DATACITE_SEVRICE", "test")}, nil, 0,
			"warning: the variable DATACITE_SEVRICE has no effect; did you mean DATACITE_SERVICE?\n"},
		{shelltest.Run{Env: env("DATCITE_TOKEN", "test")}, nil, 0,
			"warning: the variable DATCITE_TOKEN has no effect; did you mean DATACITE_TOKEN?\n"},
		{shelltest.Run{Env: env("DATACITE_PASSWORD", "q")}, nil, 2,
			"the environment has DATACITE_PASSWORD and no DATACITE_USERNAME"},
	} {
		if shelltest.IsWindows && strings.Contains(tt.says, "other accounts may read it") {
			continue // the folder has rights there, and not the file
		}
		code, out, notes := tt.run.Do(t, show(account.Writes), append([]string{"show"}, tt.args...)...)
		assert.Equal(t, tt.code, code, "%v: %s", tt, notes)
		assert.Contains(t, out+notes, tt.says)
	}
}

// A setting without an effect is an error.
func TestWrongSettings(t *testing.T) {
	for text, says := range map[string]string{
		"servce=test\n":                `setting "servce" is unknown; did you mean service?; correct the file`,
		"service=test\nservice=test\n": "line 2 gives service a second time; leave one of them out; correct the file",
		"contact=me\n":                 `"me" is not a mail address; correct the file`,
		"service\n":                    "line 1 is not NAME=VALUE; correct the file",
	} {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "settings"), []byte(text), 0o600))
		code, _, notes := shelltest.Run{Env: map[string]string{"DATACITE_CONFIG_DIR": folder}}.Do(t, show(account.Reads),
			"show")
		assert.Equal(t, 2, code)
		assert.Equal(t, 1, strings.Count(notes, filepath.Join(folder, "settings")), notes)
		assert.Contains(t, notes, says)
	}
}
