//go:build unix

package runlock

import (
	"io/fs"
	"os"
	"path/filepath"
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
// this one: by its own mode, or since a folder above it lets no other account in. The
// usual umask of 002 makes folders that a group may write to.
func isSafe(folder string, info fs.FileInfo) bool {
	if info.Mode().Perm()&0o022 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return true
	}
	path, err := filepath.Abs(folder)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	for err == nil && !(isOwn(info) && info.Mode().Perm()&0o011 == 0) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	return err == nil && isOwn(info) && info.Mode().Perm()&0o011 == 0
}
