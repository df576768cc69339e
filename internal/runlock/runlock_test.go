//go:build unix

package runlock_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/runlock"
)

func take(t *testing.T, folder, key string) *runlock.Lock {
	t.Helper()
	l, err := runlock.Take(folder, key)
	require.NoError(t, err)
	return l
}

func folder(t *testing.T) string {
	t.Helper()
	f, err := runlock.Folder(t.TempDir())
	require.NoError(t, err)
	return f
}

func TestOneRunAtATime(t *testing.T) {
	f := folder(t)
	first := take(t, f, "a")
	_, err := runlock.Take(f, "a")
	require.ErrorIs(t, err, runlock.ErrHeld)
	take(t, f, "b").Release()
	first.Release()
	take(t, f, "a").Release()
	left, err := os.ReadDir(f)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// What the next run learns of a run that did not come to its end.
func TestTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := folder(t)
		last := func() time.Time {
			l := take(t, f, "a")
			defer l.Release()
			at, err := l.LastRequest()
			require.NoError(t, err)
			return at
		}
		assert.Zero(t, last(), "nobody was here")

		l := take(t, f, "a")
		require.NoError(t, l.UnderWay())
		sent := time.Now()
		l.Release() // as if it had been killed
		time.Sleep(time.Minute)
		assert.True(t, sent.Equal(last()))

		l = take(t, f, "a")
		_, err := l.LastRequest()
		require.NoError(t, err)
		l.Ended()
		l.Release()
		assert.Less(t, last().Year(), 1971, "somebody was here, and no request is under way")

		l = take(t, f, "a")
		l.Forget()
		l.Release()
		assert.Zero(t, last())
	})
}

// A body that takes long to send keeps the record young, and one that is read on
// after the request ended leaves it alone.
func TestABodyThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := take(t, folder(t), "a")
		defer l.Release()
		require.NoError(t, l.UnderWay())
		body := l.Watch(bytes.NewReader(make([]byte, 100)))
		for i := range 10 {
			time.Sleep(3 * time.Second)
			_, err := body.ReadAt(make([]byte, 10), int64(10*i))
			require.NoError(t, err)
		}
		at, err := l.LastRequest()
		require.NoError(t, err)
		assert.Less(t, time.Since(at), 6*time.Second)
		l.Ended()
		time.Sleep(time.Minute)
		_, err = body.ReadAt(make([]byte, 10), 0)
		require.NoError(t, err)
		at, err = l.LastRequest()
		require.NoError(t, err)
		assert.Less(t, at.Year(), 1971)
	})
}

func TestTheFolderIsMadeOnce(t *testing.T) {
	parent := t.TempDir()
	first, err := runlock.Folder(parent)
	require.NoError(t, err)
	again, err := runlock.Folder(parent)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	info, err := os.Stat(first)
	require.NoError(t, err)
	assert.EqualValues(t, 0o700, info.Mode().Perm())
	_, err = runlock.Folder(filepath.Join(parent, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
