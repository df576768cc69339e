//go:build unix

package shell

import (
	"os/signal"
	"syscall"
)

// noSuspend makes Ctrl-Z do nothing until again is called: a shell would get a terminal that shows
// nothing, or give one back that shows the rest of a password.
func noSuspend() (again func()) {
	signal.Ignore(syscall.SIGTSTP)
	return func() { signal.Reset(syscall.SIGTSTP) }
}
