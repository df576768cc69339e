package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// OpenFile opens the files of [OpenState]; tests replace it.
var OpenFile = os.OpenFile

// OpenState opens a file that a command keeps beside the files of its user, such as a journal,
// with the flags of [os.OpenFile]. A symbolic link is refused, wherever it leads: in a folder that
// others can write to, it could lead to a file that is not the command's to change. The caller
// reports the error, which names the file.
func OpenState(name string, flag int, mode fs.FileMode) (*os.File, error) {
	if flag&os.O_CREATE != 0 {
		file, err := OpenFile(name, flag|os.O_EXCL, mode) // which follows no link
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		flag &^= os.O_CREATE
	}
	if err := CheckState(name); err != nil {
		return nil, err
	}
	file, err := OpenFile(name, flag, 0)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err == nil {
		err = sameFile(opened, name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// sameFile refuses a name that is no longer that of the file, or only as a link.
func sameFile(opened fs.FileInfo, name string) error {
	there, err := os.Lstat(name)
	if err == nil && !os.SameFile(opened, there) {
		err = fmt.Errorf("%s was replaced while it was opened", name)
	}
	return err
}

// CheckState refuses what is not a regular file at the place of a file that a command keeps. It
// is no error if there is nothing.
func CheckState(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; remove it, or give another file", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; give another file", name)
	}
	return nil
}
