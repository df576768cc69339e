package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/datacite-go/datacite-go/dois"
)

// An archive is the output: JSON lines in gzip members, one member from one saved
// position to the next. A file of several members is a gzip file like any other,
// and it can be cut between two of them.
type archive struct {
	state
	name   string // of the file; the state is in name + ".position"
	file   *os.File
	member *gzip.Writer // nil at the beginning of a member
}

// A state says how much of the file belongs to which position.
type state struct {
	Position dois.Position `json:"position"`
	Bytes    int64         `json:"bytes"`
}

// openArchive begins a file, or opens one where it was saved last and forgets
// what was written after that.
func openArchive(name string) (*archive, error) {
	a := &archive{name: name}
	data, err := os.ReadFile(a.stateName())
	switch {
	case errors.Is(err, os.ErrNotExist):
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			return nil, fmt.Errorf("%s is there already, and not by a harvest that can continue", name)
		}
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(data, &a.state); err != nil {
			return nil, fmt.Errorf("%s: %w", a.stateName(), err)
		}
	}
	if a.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if err := a.cut(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

func (a *archive) stateName() string { return a.name + ".position" }

func (a *archive) cut() error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < a.Bytes {
		return fmt.Errorf("%s is shorter than when it was saved", a.name)
	}
	if err := a.file.Truncate(a.Bytes); err != nil {
		return err
	}
	_, err = a.file.Seek(a.Bytes, io.SeekStart)
	return err
}

func (a *archive) write(record json.RawMessage) error {
	if a.member == nil {
		a.member = gzip.NewWriter(a.file)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, record); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := a.member.Write(line.Bytes())
	return err
}

// save finishes a member, makes sure that it is on the disk, and then notes the
// position. The note takes the place of the last one in a single step, so that a
// crash leaves either.
func (a *archive) save(at dois.Position) error {
	if a.member != nil {
		if err := a.member.Close(); err != nil {
			return err
		}
		a.member = nil
	}
	if err := a.file.Sync(); err != nil {
		return err
	}
	end, err := a.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	a.state = state{at, end}
	data, err := json.Marshal(a.state)
	if err != nil {
		return err
	}
	next := a.stateName() + ".new"
	if err := os.WriteFile(next, data, 0o644); err != nil {
		return err
	}
	return os.Rename(next, a.stateName())
}

func (a *archive) close() error { return a.file.Close() }

// count reads the file back and counts its records.
func count(name string) (int, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if info, err := file.Stat(); err != nil || info.Size() == 0 {
		return 0, err
	}
	zip, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return 0, err
	}
	n := 0
	chunk := make([]byte, 64<<10)
	for {
		read, err := zip.Read(chunk)
		n += bytes.Count(chunk[:read], []byte{'\n'})
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
	}
}
