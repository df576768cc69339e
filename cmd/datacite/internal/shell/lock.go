package shell

import (
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

// Lock keeps a second run from writing the same file. The path is that of a file beside it, which
// release removes if it is empty; a lock on a file that was removed counts for nothing.
func Lock(path, file string) (release func(), err error) {
	for {
		held := flock.New(path, flock.SetPermissions(0o600))
		locked, err := held.TryLock()
		if err != nil {
			return nil, Wrong(err)
		}
		if !locked {
			return nil, Refused(fmt.Errorf("another run writes %s; wait until it has ended", file))
		}
		mine, err := held.Stat()
		there, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(mine, there) {
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
