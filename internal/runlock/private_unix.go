//go:build unix

package runlock

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivate tells whether a folder belongs to this user, and nobody else may
// enter it.
func isPrivate(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
