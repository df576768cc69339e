package testkit

import (
	"os"
	"runtime"
	"testing"
)

// Symlink makes a symbolic link. Where this account or this system makes none, the test is skipped.
func Symlink(t testing.TB, to, name string) {
	t.Helper()
	err := os.Symlink(to, name)
	if err == nil {
		_, err = os.Lstat(name) // wine says that it has made one
	}
	if err != nil && runtime.GOOS == "windows" {
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
