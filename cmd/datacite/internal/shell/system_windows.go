package shell

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TempVariable names the folder for temporary files.
const TempVariable = "TMP"

// ignorePipes has no signal to ignore.
func ignorePipes() {}

func isClosedPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// takesEscapes lets a console draw what it shows as text otherwise, and reports whether it can: some
// of Windows Server 2016 cannot.
func takesEscapes(console *os.File) bool {
	var mode uint32
	handle := windows.Handle(console.Fd())
	return windows.GetConsoleMode(handle, &mode) == nil &&
		windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// noSuspend: Ctrl-Z suspends nothing.
func noSuspend() (again func()) { return func() {} }
