package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// Lock keeps a second run from writing the same file. The path is that of a file beside it, which
// release removes if it is empty; a lock on a file that was removed counts for nothing. A symbolic
// link there is refused.
func Lock(path, file string) (release func(), err error) {
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
				if info, err := os.Stat(path); err == nil && info.Size() == 0 {
					_ = os.Remove(path) // nothing was noted
				}
				_ = held.Close()
			}, nil
		}
		_ = held.Close()
	}
}
