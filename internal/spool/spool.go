// Package spool keeps bytes until they are used: in memory up to a limit, and
// from there on in a temporary file.
package spool

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
)

// A Spool keeps what is written to it. It may be read while it is written.
type Spool struct {
	Memory int64  // most bytes held in memory
	Dir    string // for the temporary file

	mu     sync.Mutex
	memory []byte
	file   *os.File
	end    int64 // of what is in the file
}

func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil && int64(len(s.memory)+len(p)) <= s.Memory {
		s.memory = append(s.memory, p...)
		return len(p), nil
	}
	if s.file == nil {
		file, err := TempFile(s.Dir)
		if err != nil {
			return 0, err
		}
		s.file = file
	}
	n, err := s.file.WriteAt(p, s.end)
	s.end += int64(n)
	return n, err
}

func (s *Spool) ReadAt(p []byte, at int64) (n int, err error) {
	s.mu.Lock()
	memory, file := s.memory, s.file
	s.mu.Unlock()
	if at < int64(len(memory)) {
		n = copy(p, memory[at:])
	}
	if n == len(p) {
		return n, nil
	}
	if file == nil {
		return n, io.EOF
	}
	more, err := file.ReadAt(p[n:], at+int64(n)-int64(len(memory)))
	return n + more, err
}

// Close removes the temporary file.
func (s *Spool) Close() error { return RemoveTemp(s.file) }

// TempFile makes a temporary file. Where the system allows it, its name is gone
// at once, so that a crash leaves nothing behind.
func TempFile(dir string) (*os.File, error) {
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

// RemoveTemp closes and removes a temporary file, if there is one.
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
