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
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/dois"
)

// An archive is the output: JSON lines, in a file or on standard output. A file
// whose name ends in .gz is made of gzip members, one from one saved position to
// the next: it is a gzip file like any other, and it can be cut between two of them.
type archive struct {
	state
	name   string   // of the file; the state is in name + ".position"
	file   *os.File // nil for standard output
	out    io.Writer
	member io.WriteCloser // what was written since the last save; nil if nothing was
}

// A state says how much of the file belongs to which position.
type state struct {
	Position dois.Position `json:"position"`
	Bytes    int64         `json:"bytes"`
	AsOf     time.Time     `json:"asOf,omitzero"` // what changed later may be missing
	Done     bool          `json:"done,omitempty"`
}

// lag is how long a change may take until the service's lists show it.
const lag = 10 * time.Minute

// openArchive begins a file, or opens one where it was saved last and forgets
// what was written after that. The name "-" is standard output.
func openArchive(name string, stdout io.Writer) (*archive, error) {
	a := &archive{name: name, out: stdout, state: state{AsOf: time.Now().Add(-lag).UTC().Truncate(time.Second)}}
	if name == "-" {
		return a, nil
	}
	data, err := os.ReadFile(a.stateName())
	switch {
	case errors.Is(err, os.ErrNotExist):
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			return nil, fmt.Errorf("%s is there already, and not by a harvest that can continue", name)
		}
	case err != nil:
		return nil, err
	default:
		a.state = state{}
		if err := json.Unmarshal(data, &a.state); err != nil {
			return nil, fmt.Errorf("%s: %w", a.stateName(), err)
		}
	}
	if a.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	a.out = a.file
	if err := a.cut(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

func (a *archive) stateName() string { return a.name + ".position" }

func (a *archive) zipped() bool { return strings.HasSuffix(a.name, ".gz") }

func (a *archive) cut() error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < a.Bytes {
		return fmt.Errorf("%s is shorter than when it was saved; remove %s to begin anew", a.name, a.stateName())
	}
	start := make([]byte, 2)
	if _, err := a.file.ReadAt(start, 0); err != nil && a.Bytes > 0 {
		return err
	}
	if isZip := bytes.Equal(start, []byte{0x1f, 0x8b}); a.Bytes > 0 && isZip != a.zipped() {
		return fmt.Errorf("%s was begun under another name: one in .gz means gzip, any other plain text", a.name)
	}
	if err := a.file.Truncate(a.Bytes); err != nil {
		return err
	}
	_, err = a.file.Seek(a.Bytes, io.SeekStart)
	return err
}

func (a *archive) write(record json.RawMessage) error {
	switch {
	case a.member != nil:
	case a.zipped():
		a.member = gzip.NewWriter(a.out)
	default:
		a.member = plain{bufio.NewWriter(a.out)}
	}
	var line bytes.Buffer
	if err := json.Compact(&line, record); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := a.member.Write(line.Bytes())
	return err
}

// plain text has members that nobody sees.
type plain struct{ *bufio.Writer }

func (p plain) Close() error { return p.Flush() }

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
	if a.file == nil || at.Seen == 0 { // without records, the next call may have other flags
		a.Position = at
		return nil
	}
	if err := a.file.Sync(); err != nil {
		return err
	}
	end, err := a.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	a.Position, a.Bytes = at, end
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

func (a *archive) close() error {
	if a.file == nil {
		return nil
	}
	return a.file.Close()
}

// count reads the file back, every record of it, and counts them.
func (a *archive) count() (n int, err error) {
	file, err := os.Open(a.name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	for _, err := range dois.NewReader(file, nil).All() {
		if err != nil {
			return n, fmt.Errorf("%s: %w", a.name, err)
		}
		n++
	}
	return n, nil
}
