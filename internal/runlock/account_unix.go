//go:build unix

package runlock

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// account returns the id of this account.
func account() (string, error) { return strconv.Itoa(os.Getuid()), nil }

// isOwn reports whether a file belongs to this account.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// isSafe reports whether a folder keeps other accounts from replacing the files of
// this one.
func isSafe(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o022 == 0 || info.Mode()&fs.ModeSticky != 0
}
