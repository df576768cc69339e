package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A File is a file that is being written. It gets its name when it is complete, also through a
// symbolic link; what is not a regular file, such as a pipe, is written to.
type File struct {
	Name string // as it was given

	buffer *bufio.Writer
	target string   // without symbolic links
	file   *os.File // nil once it is saved
	temp   bool     // the file is renamed to target
}

// CreateFile begins a file, so that a bad name is an error before the work begins. Call Save at
// the end, and Discard in any case.
func CreateFile(name string, mode fs.FileMode) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a folder; give the name of a file")}
	case err == nil && !info.Mode().IsRegular():
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &File{Name: name, buffer: bufio.NewWriter(file), target: name, file: file}, err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	target, err := linked(name)
	if err != nil {
		return nil, err
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
	return &File{Name: name, buffer: bufio.NewWriter(file), target: target, file: file, temp: true}, err
}

// checkName refuses names that Windows keeps for devices, such as aux.csv. What is written to NUL is
// meant to be nowhere.
func checkName(name string) error {
	if base := filepath.Base(name); !filepath.IsLocal(filepath.Join("in", base)) && !strings.EqualFold(name, "NUL") {
		return fmt.Errorf("%s: Windows keeps the name %s for a device; give another name", name, base)
	}
	return nil
}

// linked is where symbolic links lead. Nothing may be there yet; Stat refuses a circle.
func linked(name string) (target string, err error) {
	target = name
	for link, err := os.Readlink(name); err == nil; link, err = os.Readlink(target) {
		if !filepath.IsAbs(link) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(target))
			if err != nil {
				return "", err
			}
			link = filepath.Join(folder, link)
		}
		target = link
	}
	return target, nil
}

// IsSame reports whether two names are of one file, or would be: of files that are not there yet, names are the same
// if they differ only in case or in the form of Unicode, as for Windows and macOS.
func IsSame(a, b string) bool {
	info := func(name string) fs.FileInfo {
		there, _ := os.Stat(name) // nil is the same as nothing
		return there
	}
	if x, y := info(a), info(b); x != nil || y != nil {
		return os.SameFile(x, y)
	}
	a, _ = linked(a)
	b, _ = linked(b)
	same := strings.EqualFold(norm.NFC.String(filepath.Base(a)), norm.NFC.String(filepath.Base(b)))
	return same && os.SameFile(info(filepath.Dir(a)), info(filepath.Dir(b)))
}

func (f *File) Write(data []byte) (int, error) {
	n, err := f.buffer.Write(data)
	return n, f.failed(err)
}

// failed names the file in an error, as it was given.
func (f *File) failed(err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		err = fault.Err
	}
	return Refused(fmt.Errorf("%s was not written: %w", f.Name, err))
}

// Discard removes a file that was not saved. It does nothing for a nil file.
func (f *File) Discard() {
	if f == nil || f.file == nil {
		return
	}
	_ = f.file.Close()
	if f.temp {
		_ = os.Remove(f.file.Name())
	}
}

// Save puts the file on disk under its name.
func (f *File) Save() error {
	err := f.buffer.Flush()
	if err == nil && f.temp {
		err = f.file.Sync()
	}
	if err == nil {
		err = f.file.Close()
	}
	if err == nil && f.temp {
		if err = os.Rename(f.file.Name(), f.target); err != nil && runtime.GOOS == "windows" {
			err = fmt.Errorf("%w; close it in other programs, such as Excel", err)
		}
	}
	if err != nil {
		return f.failed(err)
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
	return WriteFile(s.Output, readable, write)
}

// SyncFolder makes the entries of a file's folder survive a crash of the machine.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = folder.Sync() // not supported everywhere
	return folder.Close()
}

// WriteFile writes a file that gets its name when it is complete.
func WriteFile(name string, mode fs.FileMode, write func(io.Writer) error) error {
	file, err := CreateFile(name, mode)
	if err != nil {
		return Wrong(err)
	}
	defer file.Discard()
	if err := write(file); err != nil {
		return err
	}
	return file.Save()
}

// WriteText writes a file whose content is a text.
func WriteText(name string, mode fs.FileMode, text string) error {
	return WriteFile(name, mode, func(to io.Writer) error {
		_, err := io.WriteString(to, text)
		return err
	})
}

// Files begins the file of --output and that of a page for people, nil for one that is not
// wanted. Neither may replace the other.
func (s *Shell) Files(page string) (table, html *File, err error) {
	if page == "-" {
		return nil, nil, Wrong(errors.New("--html needs the name of a file; standard output is for the differences"))
	}
	if page != "" && s.Output != "" && IsSame(page, s.Output) {
		return nil, nil, Wrong(fmt.Errorf("--html and --output are both %s; give two files", page))
	}
	const readable = 0o644
	if page != "" {
		html, err = CreateFile(page, readable)
	}
	if err == nil && s.Output != "" && s.Output != "-" {
		table, err = CreateFile(s.Output, readable)
	}
	if err != nil {
		html.Discard()
		return nil, nil, Wrong(err)
	}
	return table, html, nil
}

// Keep saves a file, unless it is nil, and prints that it is written.
func (s *Shell) Keep(file *File) error {
	if file == nil {
		return nil
	}
	if err := file.Save(); err != nil {
		return err
	}
	s.Say("%s is written", file.Name)
	return nil
}
