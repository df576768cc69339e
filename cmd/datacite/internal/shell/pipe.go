//go:build !plan9

package shell

import (
	"errors"
	"os/signal"
	"syscall"
)

// ignorePipes makes a closed pipe the error of a write, where it would end the program.
func ignorePipes() { signal.Ignore(syscall.SIGPIPE) }

func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
