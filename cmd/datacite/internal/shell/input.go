package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/datacite-go/datacite-go/doi"
)

// Stdinput returns standard input for an argument that is "-". It can be read once: a second "-"
// would find nothing, and look like an empty file.
func (s *Shell) Stdinput() (io.Reader, error) {
	if s.read {
		return nil, Wrong(errors.New("standard input can be read once, and two arguments are -; name a file for one of them"))
	}
	s.read = true
	return s.Stdin, nil
}

// An Input is a file that is read, or standard input. It is an [io.Seeker] and an [io.ReaderAt]
// that fail where it can be read only once.
type Input struct {
	Name string // for messages

	src  io.Reader
	disk *os.File // nil if it can be read only once
	own  io.Closer
	size int64 // 0 if not known
	at   atomic.Int64
}

// OpenInput opens a file. "-" is standard input.
func (s *Shell) OpenInput(name string) (*Input, error) {
	in := &Input{Name: name}
	if name == "-" {
		src, err := s.Stdinput()
		if err != nil {
			return nil, err
		}
		in.Name, in.src = "standard input", src
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, Wrong(err)
		}
		in.src, in.own = file, file
	}
	if file, ok := in.src.(*os.File); ok {
		info, err := file.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a folder; give the name of a file", name)
		}
		if err != nil {
			in.Close()
			return nil, Wrong(err)
		}
		if info.Mode().IsRegular() {
			in.disk, in.size = file, info.Size()
			return in, nil
		}
	}
	in.src = bufio.NewReaderSize(in.src, 64<<10)
	return in, nil
}

// Peek returns up to n bytes at the start, which are read again afterwards. Reading tells the
// error.
func (in *Input) Peek(n int) []byte {
	if buffered, ok := in.src.(*bufio.Reader); ok {
		start, _ := buffered.Peek(n)
		return start
	}
	start := make([]byte, n)
	now, _ := in.disk.Seek(0, io.SeekCurrent)
	n, _ = in.disk.ReadAt(start, now)
	return start[:n]
}

func (in *Input) Read(p []byte) (int, error) {
	n, err := in.src.Read(p)
	in.at.Add(int64(n))
	return n, err
}

var errOnce = errors.New("it can be read only once")

// Seek fails for standard input, unless that is a file.
func (in *Input) Seek(offset int64, whence int) (int64, error) {
	if in.disk == nil {
		return 0, errOnce
	}
	at, err := in.disk.Seek(offset, whence)
	in.at.Store(at)
	return at, err
}

// ReadAt is for .xlsx.
func (in *Input) ReadAt(p []byte, off int64) (int, error) {
	if in.disk == nil {
		return 0, errOnce
	}
	return in.disk.ReadAt(p, off)
}

// Fraction is how much of the file has been read; negative if that is not known.
func (in *Input) Fraction() float64 {
	if in.size == 0 {
		return -1
	}
	return min(1, float64(in.at.Load())/float64(in.size))
}

// Close closes the file. Standard input stays open.
func (in *Input) Close() {
	if in.own != nil {
		_ = in.own.Close() // it was only read
	}
}

// DOIs are the names that arguments are; standard input, one per line, takes the place of "-".
func (s *Shell) DOIs(args []string) (names []string, err error) {
	for _, arg := range args {
		if arg != "-" {
			names = append(names, arg)
			continue
		}
		in, err := s.Stdinput()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		names = append(names, strings.Fields(string(data))...)
	}
	if len(names) == 0 {
		return nil, errors.New("standard input has no DOI")
	}
	for i, name := range names {
		if names[i], err = doi.Parse(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}
