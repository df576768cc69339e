package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is a file that is being written. It gets its name when it is complete, also through a
// symbolic link; what is not a regular file, such as a pipe, is written to.
type File struct {
	*bufio.Writer
	name string   // without symbolic links
	file *os.File // nil once it is saved
	temp bool     // the file is renamed to name
}

// CreateFile begins a file, so that a bad name is an error before the work begins. Call Save at
// the end, and Discard in any case.
func CreateFile(name string, mode fs.FileMode) (*File, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a folder; give the name of a file")}
	case err == nil && !info.Mode().IsRegular():
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &File{Writer: bufio.NewWriter(file), name: name, file: file}, err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	target := name
	for link, err := os.Readlink(name); err == nil; link, err = os.Readlink(target) { // its end may not exist yet; Stat refuses a circle
		if !filepath.IsAbs(link) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(target))
			if err != nil {
				return nil, err
			}
			link = filepath.Join(folder, link)
		}
		target = link
	}
	if private := mode&0o077 == 0; info != nil && !private {
		mode = info.Mode().Perm() // whoever made the file decided who may read it
	}
	file, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+"-*")
	if err == nil {
		err = file.Chmod(mode)
	}
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fault.Err}
	}
	return &File{Writer: bufio.NewWriter(file), name: target, file: file, temp: true}, err
}

// Discard removes a file that was not saved.
func (f *File) Discard() {
	if f.file == nil {
		return
	}
	_ = f.file.Close()
	if f.temp {
		_ = os.Remove(f.file.Name())
	}
}

// Save puts the file on disk under its name.
func (f *File) Save() error {
	err := f.Flush()
	if err == nil && f.temp {
		err = f.file.Sync()
	}
	if err == nil {
		err = f.file.Close()
	}
	if err == nil && f.temp {
		err = os.Rename(f.file.Name(), f.name)
	}
	if err != nil {
		return err
	}
	f.file = nil
	return nil
}

// WriteOutput calls write with the file of --output, which is saved if write succeeds, or with
// standard output.
func (s *Shell) WriteOutput(write func(io.Writer) error) error {
	if s.Output == "" || s.Output == "-" {
		return write(s.Data())
	}
	const readable = 0o644
	file, err := CreateFile(s.Output, readable)
	if err != nil {
		return Wrong(err)
	}
	defer file.Discard()
	if err := write(file); err != nil {
		return err
	}
	if err := file.Save(); err != nil {
		return Wrong(fmt.Errorf("%s was not written: %w", s.Output, err))
	}
	return nil
}
