package shell

import "os"

// TempVariable names the folder for temporary files.
const TempVariable = "TMPDIR"

// ignorePipes has no signal to ignore.
func ignorePipes() {}

// isClosedPipe does not tell a closed pipe from another failure: that is a text of the kernel.
func isClosedPipe(error) bool { return false }

func takesEscapes(*os.File) bool { return true }

func noSuspend() (again func()) { return func() {} }
