package account

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// keeper is a shell whose settings and logins are in a folder of its own.
func keeper(t *testing.T) (s *shell.Shell, folder string) {
	t.Helper()
	folder = t.TempDir()
	return &shell.Shell{Getenv: func(name string) string {
		return map[string]string{"DATACITE_CONFIG_DIR": folder}[name]
	}}, folder
}

// FuzzSettings: settings that are read are written as the same, and read again.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"service=test\ncontact = a@example.org\n", "\ufeff# x\r\n\r\nservice=\nservice=test", "service", "=",
		"contact=a@b=c #", "service=https://a.example\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, folder := keeper(t)
		path := filepath.Join(folder, "settings")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		settings, err := Load(s)
		if err != nil {
			require.ErrorContains(t, err, path)
			return
		}
		require.NoError(t, settings.Save(s))
		again, err := Load(s)
		require.NoError(t, err)
		require.Equal(t, settings, again)
	})
}

// FuzzLogin: a login is stored as what it is, or refused.
func FuzzLogin(f *testing.F) {
	f.Add("EXAMPLE.REPO", "pass=word #", "")
	f.Add("EXAMPLE.REPO", "password\n", "")
	f.Add("EXAMPLE.REPO", "\ufeffx", "eyJ.e30.")
	f.Add("EXAMPLE.REPO", "x\nDATACITE_TOKEN=y", "")
	f.Fuzz(func(t *testing.T, username, password, token string) {
		login := Login{username, password, token}
		if login == (Login{}) || login.check("") != nil {
			return
		}
		s, folder := keeper(t)
		path, err := login.Store(s, &Service{Host: "a.example"})
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			require.NoDirExists(t, filepath.Join(folder, "logins"))
			return
		}
		again, err := readLoginFile(path)
		require.NoError(t, err)
		require.Equal(t, login, again)
	})
}
