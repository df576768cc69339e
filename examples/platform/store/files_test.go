package store

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// there are the names of the files that a store has.
func (s *Store) there(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.folder, "files"))
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A file is kept as long as a version has it or an upload of it is not over, and what is not taken leaves nothing.
func TestFilesAreKeptWhileTheyAreNeeded(t *testing.T) {
	s := open(t)
	receive := func(most int64) (dataset.File, error) { return s.Receive("a.csv", strings.NewReader("ice"), most) }
	_, err := receive(2)
	assert.ErrorIs(t, err, ErrTooLarge)
	s.Room = math.MaxInt64
	_, err = receive(3)
	assert.ErrorIs(t, err, ErrFull)
	assert.ErrorIs(t, s.Healthy(t.Context()), ErrFull)
	s.Room = Room
	assert.NoError(t, s.Healthy(t.Context()))
	assert.Empty(t, s.there(t))

	f, err := receive(3)
	require.NoError(t, err)
	again, err := receive(3)
	require.NoError(t, err)
	assert.Equal(t, f, again)
	assert.EqualValues(t, 3, f.Size)
	assert.Zero(t, s.promised.Load(), "nothing is being written")
	require.NoError(t, s.Release(t.Context(), []dataset.File{f}))
	assert.Equal(t, []string{f.SHA256}, s.there(t), "the other upload of it is not over")
	require.NoError(t, s.Release(t.Context(), []dataset.File{f}))
	assert.Empty(t, s.there(t))
	assert.Empty(t, s.arriving)
	require.NoError(t, s.drop(t.Context(), []dataset.File{f}), "it is not there any more")

	f, err = receive(3)
	require.NoError(t, err)
	id, err := s.Create(t.Context(), "ada", "", prefix, dataset.About{})
	require.NoError(t, err)
	change := func(files ...dataset.File) {
		require.NoError(t, s.ChangeFiles(t.Context(), s.get(t, id).Last(),
			func([]dataset.File) ([]dataset.File, error) { return files, nil }))
	}
	change(f)
	require.NoError(t, s.Release(t.Context(), []dataset.File{f}))
	assert.Equal(t, []string{f.SHA256}, s.there(t), "a version has it")
	change()
	assert.Empty(t, s.there(t))
}
