//go:build unix

package shell

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// TempVariable names the folder for temporary files.
const TempVariable = "TMPDIR"

// ignorePipes makes a closed pipe the error of a write, where it would end the program.
func ignorePipes() { signal.Ignore(syscall.SIGPIPE) }

func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// takesEscapes: every terminal does.
func takesEscapes(*os.File) bool { return true }

// noSuspend makes Ctrl-Z do nothing until again is called: a shell would get a terminal that shows
// nothing, or give one back that shows the rest of a password.
func noSuspend() (again func()) {
	signal.Ignore(syscall.SIGTSTP)
	return func() { signal.Reset(syscall.SIGTSTP) }
}
