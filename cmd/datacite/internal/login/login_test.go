package login_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/login"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A login is stored when the service accepts it.
func TestLogin(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour})
		t.Cleanup(srv.Close)
		folder := t.TempDir()
		run := shelltest.Anonymous(srv)
		run.Env["DATACITE_CONFIG_DIR"] = folder
		for _, wrong := range []string{"DATACITE_USERNAME=EXAMPLE.REPO\nDATACITE_PASSWORD=wrong\n", "DATACITE_USERNAME=EXMPLE.REPO\nDATACITE_PASSWORD=x\n"} {
			run.Stdin = wrong
			code, out, notes := run.Do(t, login.Command, "login", "--login", "-")
			if behaviour == datacitetest.Documented && code == 0 {
				continue // it has no request that tests a login
			}
			assert.Equal(t, 2, code, notes)
			assert.Empty(t, out)
			assert.Contains(t, notes, " refuses the login of EX")
			assert.NotContains(t, notes, "wrong", "the password")
			assert.NoDirExists(t, filepath.Join(folder, "logins"))
		}
		run.Stdin = ""
		code, _, notes := run.Do(t, login.Command, "login")
		assert.Equal(t, 2, code)
		assert.Equal(t, "datacite: standard input is not a terminal; give the login with --login FILE, --login - or the environment\n", notes)

		run.Stdin = "DATACITE_USERNAME=" + datacitetest.Username + "\nDATACITE_PASSWORD=" + datacitetest.Password
		code, out, notes := run.Do(t, login.Command, "login", "--login", "-")
		require.Zero(t, code, notes)
		assert.Contains(t, out, " accepts the login of EXAMPLE.REPO; it is stored in "+folder)
		files, err := filepath.Glob(filepath.Join(folder, "logins", "*"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		info, err := os.Stat(files[0])
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())

		code, out, _ = run.Do(t, login.Command, "login", "--forget")
		assert.Zero(t, code)
		assert.Contains(t, out, "is removed")
		assert.NoFileExists(t, files[0])
		_, _, notes = run.Do(t, login.Command, "login", "--forget")
		assert.Contains(t, notes, "no login was stored for ")
	}
}
