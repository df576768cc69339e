package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/gofrs/flock"
)

// Lock keeps a second run from writing the same file. The lock is a file of its own beside it, which
// nobody reads or writes, because Windows lets nobody do so while it is locked. release removes it; a lock on a
// file that was removed counts for nothing. A symbolic link there is refused.
func Lock(file string) (release func(), err error) {
	path := file + ".lock"
	if err := checkName(file); err != nil {
		return nil, Wrong(err)
	}
	for {
		made, err := OpenState(path, os.O_RDONLY|os.O_CREATE, 0o600)
		if err == nil {
			err = made.Close()
		}
		if err != nil {
			return nil, Wrong(err)
		}
		held := flock.New(path, flock.SetFlag(os.O_RDONLY))
		locked, err := held.TryLock()
		if errors.Is(err, fs.ErrNotExist) { // the other run has ended
			continue
		}
		if err != nil {
			return nil, Wrong(err)
		}
		if !locked {
			return nil, Refused(fmt.Errorf("another run writes %s; wait until it has ended", file))
		}
		mine, err := held.Stat()
		if err == nil && sameFile(mine, path) == nil {
			return func() {
				_ = os.Remove(path) // while it is held, so that it is not the lock of another run
				_ = held.Close()
				if runtime.GOOS == "windows" { // which removes no file that is open, such as that of another run
					_ = os.Remove(path)
				}
			}, nil
		}
		_ = held.Close()
	}
}
