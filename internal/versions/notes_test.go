package versions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

const id = "2d8a0c6d-6b1f-4f0e-8d5e-6a0a2f6f2b6a"

func written(t *testing.T, numbers ...Number) []byte {
	t.Helper()
	var notes bytes.Buffer
	require.NoError(t, write(&notes, numbers))
	return notes.Bytes()
}

func write(w io.Writer, numbers []Number) error {
	return WriteNotes(w, id, func(note func(*Number) error) error {
		for _, n := range numbers {
			if err := note(&n); err != nil {
				return err
			}
		}
		return nil
	})
}

var (
	full = Number{Name: "10.5072/a", Metric: "views", In: []int{Earlier}, Count: 7, About: text("its dataset"),
		Replaced: true}
	sparse = Number{Name: "10.5072/b", In: []int{Earlier}}
)

func TestNotes(t *testing.T) {
	var numbers []Number
	data := written(t, full, sparse)
	take := func(n *Number) error {
		numbers = append(numbers, *n)
		return nil
	}
	require.NoError(t, ReadNotes(bytes.NewReader(data), id, take))
	require.Equal(t, []Number{full, sparse}, numbers)
	require.ErrorIs(t, ReadNotes(bytes.NewReader(data), "another report", take), ErrNotes)
	enough := errors.New("enough")
	require.ErrorIs(t, ReadNotes(bytes.NewReader(data), id, func(*Number) error { return enough }), enough)
	for _, odd := range []Number{{In: []int{Earlier}}, {Name: "10.5072/a"}, {Name: "10.5072/a", In: []int{Stored}},
		{Name: "10.5072/a", In: []int{Stored, Earlier}}} {
		require.ErrorIs(t, ReadNotes(bytes.NewReader(written(t, odd)), id, take), ErrNotes, "%v", odd)
	}
}

// A disk that fails within the notes is not damage, after which the run would go on without them.
func TestNotesThatCannotBeRead(t *testing.T) {
	notes := written(t, full)
	read := func(r io.Reader) error { return ReadNotes(r, id, func(*Number) error { return nil }) }
	for n := range len(notes) {
		start := notes[:n]
		require.ErrorIs(t, read(bytes.NewReader(start)), ErrNotes)
		failed := &fs.PathError{Op: "read", Path: "a.notes", Err: os.ErrDeadlineExceeded}
		require.ErrorIs(t, read(io.MultiReader(bytes.NewReader(start), iotest.ErrReader(failed))), failed, n)
	}
}

// A disk is a writer that is full after some bytes.
type disk struct{ left int }

var errFull = errors.New("the disk is full")

func (d *disk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestNotesThatCannotBeWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	many := make([]Number, 10_000)
	for i := range many {
		many[i] = Number{Name: fmt.Sprintf("10.5072/%x", random.Uint64()), In: []int{Earlier}}
	}
	for _, numbers := range [][]Number{{full}, many} {
		size := len(written(t, numbers...))
		for left := range 8 {
			require.ErrorIs(t, write(&disk{left * (size - 1) / 7}, numbers), errFull)
		}
		require.NoError(t, write(&disk{size}, numbers))
	}
	require.Error(t, write(&disk{1000}, []Number{{Name: "10.5072/a", About: json.RawMessage(`{`)}}))
	require.ErrorIs(t, WriteNotes(io.Discard, id, func(func(*Number) error) error { return fs.ErrClosed }), fs.ErrClosed)
}
