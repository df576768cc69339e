package harvest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
)

// An output is an archive in the making: JSON lines, in a file or on standard output. A file
// whose name ends in .gz is made of gzip members, one from one saved position to
// the next: it is a gzip file like any other, and it can be cut between two of them.
type output struct {
	state
	name   string   // of the file; the state is in name + ".position"
	file   *os.File // nil for standard output
	out    io.Writer
	member io.WriteCloser // what was written since the last save; nil if nothing was
	made   bool           // the file was not there before
}

// A state says how much of the file belongs to which position.
type state struct {
	Service  string        `json:"service"` // its host
	Position dois.Position `json:"position"`
	Bytes    int64         `json:"bytes"`
	AsOf     time.Time     `json:"asOf,omitzero"` // what changed later may be missing
	Done     bool          `json:"done,omitempty"`
}

// lag is how long a change may take until the service's lists show it.
const lag = 10 * time.Minute

// openOutput begins a file, or opens one where it was saved last and drops
// what was written after that. The name "-" is standard output.
func openOutput(name, host string, stdout io.Writer) (*output, error) {
	o := &output{name: name, out: stdout,
		state: state{Service: host, AsOf: time.Now().Add(-lag).UTC().Truncate(time.Second)}}
	if name == "-" {
		return o, nil
	}
	data, err := o.read()
	switch {
	case errors.Is(err, os.ErrNotExist):
		o.made = true
		switch info, err := os.Stat(name); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case err == nil && info.Size() == 0 && info.Mode().IsRegular():
			o.made = false
		case err == nil && info.IsDir():
			return nil, fmt.Errorf("%s is a folder; give the name of a file", name)
		case err == nil && info.Size() > 0:
			return nil, fmt.Errorf("%s exists, and not from a harvest that can continue; give another file", name)
		}
	case err != nil:
		return nil, err
	default:
		var earlier state
		if err := json.Unmarshal(data, &earlier); err != nil {
			return nil, fmt.Errorf("%s: %w", o.stateName(), err)
		}
		if earlier.Position.Seen > 0 { // or else it begins again
			o.state = earlier
		}
		if o.Service != host {
			return nil, fmt.Errorf("%s was begun with records of %s, and the service is %s; use another file", name, o.Service,
				host)
		}
	}
	if o.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	o.out = o.file
	if err := o.cut(); err != nil {
		return nil, errors.Join(err, o.file.Close())
	}
	if o.Position.Seen == 0 { // from now on, what is in the file is known to be of a harvest
		if err := o.note(o.state); err != nil {
			return nil, errors.Join(err, o.close())
		}
	}
	return o, nil
}

func (o *output) read() ([]byte, error) {
	file, err := shell.OpenState(o.stateName(), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

func (o *output) stateName() string { return o.name + ".position" }

func (o *output) zipped() bool { return strings.EqualFold(filepath.Ext(o.name), ".gz") }

func (o *output) cut() error {
	info, err := o.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < o.Bytes {
		return fmt.Errorf("%s is shorter than when it was saved; remove %s to begin again", o.name, o.stateName())
	}
	start := make([]byte, 2)
	if _, err := o.file.ReadAt(start, 0); err != nil && o.Bytes > 0 {
		return err
	}
	if isZip := bytes.Equal(start, []byte{0x1f, 0x8b}); o.Bytes > 0 && isZip != o.zipped() {
		return fmt.Errorf("%s was begun under another name: one in .gz means gzip, any other plain text", o.name)
	}
	if err := o.file.Truncate(o.Bytes); err != nil {
		return err
	}
	_, err = o.file.Seek(o.Bytes, io.SeekStart)
	return err
}

func (o *output) write(record json.RawMessage) error {
	switch {
	case o.member != nil:
	case o.zipped():
		o.member = gzip.NewWriter(o.out)
	default:
		o.member = plain{bufio.NewWriter(o.out)}
	}
	var line bytes.Buffer
	if err := json.Compact(&line, record); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := o.member.Write(line.Bytes())
	return err
}

// plain text has members that nobody sees.
type plain struct{ *bufio.Writer }

func (p plain) Close() error { return p.Flush() }

// save finishes a member, makes sure that it is on the disk, and then notes the position.
func (o *output) save(at dois.Position) error {
	if o.member != nil {
		if err := o.member.Close(); err != nil {
			return err
		}
		o.member = nil
	}
	if o.file == nil || at.Seen == 0 { // without records, the next call may have other flags
		o.Position = at
		return nil
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	end, err := o.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	now := o.state
	now.Position, now.Bytes = at, end
	return o.note(now)
}

// note writes the state. It takes the place of the last one in a single step, so that a
// crash or a full disk leaves either.
func (o *output) note(now state) error {
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := shell.CheckState(o.stateName()); err != nil {
		return err
	}
	if err := shell.WriteText(o.stateName(), 0o644, string(data)); err != nil {
		return err
	}
	o.state = now
	return nil
}

// close leaves nothing of a harvest that has stored nothing.
func (o *output) close() error {
	switch {
	case o.file == nil:
		return nil
	case o.Position.Seen > 0:
		return o.file.Close()
	}
	err := errors.Join(o.file.Truncate(0), o.file.Close())
	if o.made && !o.Done { // an empty file would be a harvest of nothing
		err = errors.Join(err, os.Remove(o.name))
	}
	if gone := os.Remove(o.stateName()); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// count reads the file back, every record of it, and counts them.
func (o *output) count() (n int, err error) {
	file, err := os.Open(o.name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	for _, err := range archive.NewReader(file, nil).All() {
		if err != nil {
			return n, fmt.Errorf("%s: %w", o.name, err)
		}
		n++
	}
	return n, nil
}
