//go:build linux || darwin || freebsd

package store

import "syscall"

// Disk returns how many bytes of the disk that has the folder are free for this account of
// the machine, and how many there are.
func (s *Store) Disk() (free, total int64, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.folder, &fs); err != nil {
		return 0, 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), int64(fs.Blocks) * int64(fs.Bsize), nil
}
