package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// A disk that fails within the notes is not damage, after which the run would go on without them.
func TestNotesThatCannotBeRead(t *testing.T) {
	var notes bytes.Buffer
	packed := gzip.NewWriter(&notes)
	s := &submission{id: "2d8a0c6d-6b1f-4f0e-8d5e-6a0a2f6f2b6a"}
	_, err := io.WriteString(packed, s.firstLine())
	require.NoError(t, err)
	require.NoError(t, json.NewEncoder(packed).Encode(&number{Name: "10.5072/a", In: []int{inEarlier}}))
	require.NoError(t, packed.Close())
	read := func(r io.Reader) error { return s.parseNotes(r, func(*number) error { return nil }) }
	require.NoError(t, read(bytes.NewReader(notes.Bytes())))
	for n := range notes.Len() {
		start := notes.Bytes()[:n]
		require.ErrorIs(t, read(bytes.NewReader(start)), errNotes)
		failed := &fs.PathError{Op: "read", Path: "a.notes", Err: os.ErrDeadlineExceeded}
		require.ErrorIs(t, read(io.MultiReader(bytes.NewReader(start), iotest.ErrReader(failed))), failed, n)
	}
}
