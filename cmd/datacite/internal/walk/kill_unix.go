//go:build unix

package walk

import (
	"os"
	"syscall"
)

// kill ends a shell and the processes of its group.
func kill(shell *os.Process) { _ = syscall.Kill(-shell.Pid, syscall.SIGKILL) }
