package shelltest

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// IsWindows is for what a test cannot expect there, such as modes of files.
const IsWindows = runtime.GOOS == "windows"

// NeedsSignals skips a test where one process sends another no signals: Ctrl-C comes from the console there.
func NeedsSignals(t testing.TB) {
	if IsWindows {
		t.Skip("Windows sends a process no signals")
	}
}

// Symlink makes a symbolic link. Where Windows makes none, the test is skipped.
func Symlink(t testing.TB, to, name string) {
	t.Helper()
	err := os.Symlink(to, name)
	if err == nil {
		_, err = os.Lstat(name) // wine says that it has made one
	}
	if err != nil && IsWindows {
		t.Skip("no symbolic links can be made here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// SetTemp makes a folder that of temporary files.
func SetTemp(t testing.TB, folder string) {
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder) // on Windows
}

// usual are texts of errors of Windows, by their numbers, as other systems have them.
var usual = map[syscall.Errno]string{
	2: "no such file or directory", 3: "no such file or directory", 112: "no space left on device",
	10061: "connection refused",
}

// Plain is a text in which the errors of Windows are those of other systems.
func Plain(text string) string {
	if !IsWindows {
		return text
	}
	for number, says := range usual {
		text = strings.ReplaceAll(text, number.Error(), says)
	}
	return strings.ReplaceAll(text, "GetFileAttributesEx ", "stat ")
}

// Slashes is a text in which paths have slashes.
func Slashes(text string) string {
	if !IsWindows {
		return text
	}
	return strings.ReplaceAll(text, `\`, "/")
}
