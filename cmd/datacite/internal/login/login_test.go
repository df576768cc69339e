package login_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/login"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

func TestMain(m *testing.M) { shelltest.Main(m, login.Command) }

// Ctrl-C at the question for the password ends the command, and the terminal shows again what is
// typed.
func TestThePasswordIsNotGiven(t *testing.T) {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	cmd, _, notes := shelltest.Anonymous(srv).Process(t, "login")
	master, terminal, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer terminal.Close()
	before, err := term.GetState(int(terminal.Fd()))
	require.NoError(t, err)
	asked, errors := io.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, io.MultiWriter(errors, notes)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(master, datacitetest.Username+"\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(asked).ReadString(')') // … (not shown)
	require.NoError(t, err)
	go io.Copy(io.Discard, asked)
	_, err = io.WriteString(master, "secret\x03")
	require.NoError(t, err)
	assert.Equal(t, 130, shelltest.ExitCode(t, cmd.Wait()))
	assert.Contains(t, notes.String(), "Password (not shown): \n")
	after, err := term.GetState(int(terminal.Fd()))
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

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
