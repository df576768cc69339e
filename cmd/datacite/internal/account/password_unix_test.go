//go:build unix

package account_test

import (
	"bufio"
	"io"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// Ctrl-C at the question for the password ends the command, and the terminal shows again what is
// typed.
func TestThePasswordIsNotGiven(t *testing.T) {
	srv := shelltest.Serve(t, nil)
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
