//go:build !plan9

package shelltest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

// A Terminal has a process that a person uses.
type Terminal struct {
	t      testing.TB
	cmd    *exec.Cmd
	master *os.File
	before *term.State
	ended  chan struct{}

	mu      sync.Mutex
	printed strings.Builder
	seen    int // what Until has passed
}

// Terminal starts the program on a terminal of its own, which is so many columns wide.
func (r Run) Terminal(t testing.TB, columns int, args ...string) *Terminal {
	t.Helper()
	cmd, _, _ := r.Process(t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, nil
	cmd.Env = append(cmd.Env, "TERM=xterm")
	for name, value := range r.Env {
		cmd.Env = append(cmd.Env, name+"="+value) // TERM, too
	}
	x := &Terminal{t: t, cmd: cmd, ended: make(chan struct{})}
	master, terminal, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, terminal.Close())
	require.NoError(t, master.Close())
	x.master, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: uint16(columns)})
	require.NoError(t, err)
	x.before, err = term.GetState(int(x.master.Fd()))
	require.NoError(t, err)
	go func() {
		defer close(x.ended)
		for buf := make([]byte, 4096); ; {
			n, err := x.master.Read(buf)
			x.mu.Lock()
			x.printed.Write(buf[:n])
			x.mu.Unlock()
			if err != nil { // the process has ended
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = x.master.Close()
	})
	return x
}

// Until waits until something is printed, after what Until has waited for before.
func (x *Terminal) Until(text string) {
	x.t.Helper()
	require.Eventually(x.t, func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		at := strings.Index(x.printed.String()[x.seen:], text)
		if at >= 0 {
			x.seen += at + len(text)
		}
		return at >= 0
	}, patience, time.Millisecond, "%q is not printed", text)
}

// Type types a text; "\x03" is Ctrl-C.
func (x *Terminal) Type(text string) {
	x.t.Helper()
	_, err := io.WriteString(x.master, text)
	require.NoError(x.t, err)
}

// Resize makes the terminal so many columns wide.
func (x *Terminal) Resize(columns int) {
	x.t.Helper()
	require.NoError(x.t, pty.Setsize(x.master, &pty.Winsize{Rows: 24, Cols: uint16(columns)}))
}

// Signal sends the process a signal.
func (x *Terminal) Signal(signal os.Signal) {
	x.t.Helper()
	require.NoError(x.t, x.cmd.Process.Signal(signal))
}

// Hides reports whether the terminal does not show what is typed.
func (x *Terminal) Hides() bool {
	now, err := term.GetState(int(x.master.Fd()))
	require.NoError(x.t, err)
	return fmt.Sprint(now) != fmt.Sprint(x.before)
}

// End waits for the end of the process, and returns its exit code and all that was printed.
func (x *Terminal) End() (code int, printed string) {
	x.t.Helper()
	select {
	case <-x.ended:
	case <-time.After(patience):
		x.t.Fatalf("%q does not end; printed:\n%s", x.cmd.Args, x.printed.String())
	}
	code = ExitCode(x.t, x.cmd.Wait())
	return code, x.printed.String()
}

// style is what a terminal shows in colours.
var style = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Screen is what somebody sees at the end of what was printed, and the width of the widest line that
// was drawn. Lines that are wider than the terminal are not wrapped.
func Screen(printed string) (lines string, widest int) {
	var all []string
	for line := range strings.SplitSeq(strings.ReplaceAll(style.ReplaceAllLiteralString(printed, ""), "\r\n", "\n"),
		"\n") {
		now := ""
		for part := range strings.SplitSeq(line, "\r") {
			text, cleared := strings.CutSuffix(part, "\x1b[K")
			widest = max(widest, runewidth.StringWidth(text))
			if !cleared && len(text) < len(now) {
				text += now[len(text):]
			}
			now = text
		}
		all = append(all, now)
	}
	return strings.Join(all, "\n"), widest
}
