package versions

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
)

// Notes are gzip of a line and of numbers as JSON. Gzip's checksum shows damage.

// firstLine is what notes of a report begin with. An operator may have deleted an earlier
// report, and numbers of one id cannot be replaced under another.
func firstLine(id string) string { return "datacite-go notes 2 " + id + "\n" }

// WriteNotes writes notes of the numbers with which each calls its parameter.
func WriteNotes(w io.Writer, id string, each func(note func(n *Number) error) error) error {
	buffered := bufio.NewWriterSize(w, 64<<10) // it keeps its first error, which Flush returns
	packed, _ := gzip.NewWriterLevel(buffered, gzip.BestSpeed)
	_, _ = io.WriteString(packed, firstLine(id))
	lines := json.NewEncoder(packed)
	if err := each(func(n *Number) error { return lines.Encode(n) }); err != nil {
		return err
	}
	_ = packed.Close()
	return buffered.Flush()
}

// ErrNotes: the notes are damaged, or those of another report.
var ErrNotes = errors.New("reports: notes of earlier versions are damaged")

// Unread reports whether a file of notes could not be read. That it does not exist is no such failure.
func Unread(err error) bool {
	_, failed := errors.AsType[*fs.PathError](err)
	return failed && !errors.Is(err, fs.ErrNotExist)
}

// ReadNotes calls f for each number of the notes of a report.
func ReadNotes(file io.Reader, id string, f func(n *Number) error) error {
	var r *bufio.Reader
	var line []byte
	unpacked, err := gzip.NewReader(bufio.NewReaderSize(file, 64<<10))
	if err == nil {
		r = bufio.NewReader(unpacked)
		line, err = r.ReadSlice('\n')
	}
	switch {
	case Unread(err):
		return err
	case err != nil || string(line) != firstLine(id):
		return ErrNotes
	}
	lines := json.NewDecoder(r)
	for {
		var n Number
		switch err := lines.Decode(&n); {
		case err == io.EOF: // and the checksum is right
			return nil
		case Unread(err):
			return err
		case err != nil || n.Name == "" || !slices.Equal(n.In, []int{Earlier}):
			return ErrNotes
		}
		if err := f(&n); err != nil {
			return err
		}
	}
}
