package versions

import (
	"bytes"
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
	const id = "2d8a0c6d-6b1f-4f0e-8d5e-6a0a2f6f2b6a"
	require.NoError(t, WriteNotes(&notes, id, func(note func(*Number) error) error {
		return note(&Number{Name: "10.5072/a", In: []int{Earlier}})
	}))
	read := func(r io.Reader) error { return ReadNotes(r, id, func(*Number) error { return nil }) }
	require.NoError(t, read(bytes.NewReader(notes.Bytes())))
	for n := range notes.Len() {
		start := notes.Bytes()[:n]
		require.ErrorIs(t, read(bytes.NewReader(start)), ErrNotes)
		failed := &fs.PathError{Op: "read", Path: "a.notes", Err: os.ErrDeadlineExceeded}
		require.ErrorIs(t, read(io.MultiReader(bytes.NewReader(start), iotest.ErrReader(failed))), failed, n)
	}
}
