package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// reserved is the size of the file that is deleted on a full disk, since even deleting needs a few
// free pages.
const reserved = 4 << 20

// Reserve creates the file in the folder of a database, unless it exists.
func Reserve(folder string) error {
	file, err := os.OpenFile(reserve(folder), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, reserved)) // and not a hole
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func reserve(folder string) string { return filepath.Join(folder, "reserve") }

// Freeing does work that frees room, or that is necessary before anything can be deleted. If the
// disk is full, it deletes the file of Reserve and tries again.
func (db *DB) Freeing(work func() error) error {
	err := work()
	if !Full(err) || os.Remove(reserve(db.folder)) != nil {
		return err
	}
	return work()
}

// Full reports whether an error means that the disk is full.
func Full(err error) bool {
	if e, ok := errors.AsType[*driver.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_FULL {
		return true
	}
	return errors.Is(err, syscall.ENOSPC)
}
