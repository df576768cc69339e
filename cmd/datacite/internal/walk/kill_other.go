//go:build !unix && !plan9

package walk

import "os"

// kill ends a shell.
func kill(shell *os.Process) { _ = shell.Kill() }
