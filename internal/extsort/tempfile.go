package extsort

import (
	"errors"
	"os"
	"runtime"
)

// CreateTemp makes a temporary file in dir. Where the system allows it, the file has no
// name, so that it is gone when the process ends.
func CreateTemp(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "datacite-report-*")
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" {
		if err := os.Remove(file.Name()); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return file, nil
}

// RemoveTemp closes and removes a temporary file. It does nothing if file is nil.
func RemoveTemp(file *os.File) error {
	if file == nil {
		return nil
	}
	err := file.Close()
	if runtime.GOOS == "windows" {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}
