//go:build unix

package runlock_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/runlock"
)

// What follows rests on modes of files, which Windows does not have: there, the folder gives each file to the account
// that made it.

func init() { fifo = func(path string) error { return syscall.Mkfifo(path, 0o600) } }

// A folder in which others could replace the files of a run is refused; one with
// the sticky bit is as good as /tmp.
func TestAFolderThatIsNotSafe(t *testing.T) {
	for _, tt := range []struct {
		name  string
		place func(folder string) error
		fails string
	}{
		{"open to others", func(folder string) error { return os.Chmod(folder, 0o777) }, "other accounts may replace"},
		{"open to a group", func(folder string) error { return os.Chmod(folder, 0o770) }, "other accounts may replace"},
		{"open to others who cannot get there", func(folder string) error {
			return errors.Join(os.Chmod(folder, 0o777), os.Chmod(filepath.Dir(folder), 0o700))
		}, ""},
		{"open to others who get there by another account's folder", func(folder string) error {
			return errors.Join(os.Chmod(folder, 0o777), os.Chmod(filepath.Dir(folder), 0o700),
				os.Chown(filepath.Dir(folder), 65534, 65534))
		}, "other accounts may replace"},
		{"as /tmp is", func(folder string) error { return os.Chmod(folder, 0o777|os.ModeSticky) }, ""},
		{"of a group, with the sticky bit", func(folder string) error { return os.Chmod(folder, 0o770|os.ModeSticky) }, ""},
		{"a file", func(folder string) error { return errors.Join(os.Remove(folder), os.WriteFile(folder, nil, 0o600)) },
			"is not a folder"},
		{"missing", os.Remove, "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			above, err := os.MkdirTemp("/tmp", "") // which all accounts can enter
			require.NoError(t, err)
			defer os.RemoveAll(above)
			folder := filepath.Join(above, "locks")
			require.NoError(t, errors.Join(os.Chmod(above, 0o755), os.Mkdir(folder, 0o700)))
			if err = tt.place(folder); errors.Is(err, fs.ErrPermission) {
				t.Skip("only root gives a folder to another account")
			}
			require.NoError(t, err)
			if l, err := runlock.Take(folder, "a"); tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
			} else if assert.NoError(t, err) {
				l.Release()
			}
		})
	}
}

// Other accounts need no right but to read, whatever the umask.
func TestTheFilesAreReadable(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	f := t.TempDir()
	l := take(t, f, "a")
	defer l.Release()
	require.NoError(t, l.Sending())
	files, err := os.ReadDir(f)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		info, err := file.Info()
		require.NoError(t, err)
		assert.EqualValues(t, 0o644, info.Mode().Perm(), file.Name())
	}
}
