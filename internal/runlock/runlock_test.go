//go:build unix

package runlock_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

func TestOneRunAtATime(t *testing.T) {
	f := t.TempDir()
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
		f := t.TempDir()
		last := func() runlock.Record {
			l := take(t, f, "a")
			defer l.Release()
			own, others, err := l.Last()
			require.NoError(t, err)
			assert.Zero(t, others)
			return own
		}
		assert.Zero(t, last(), "nobody was here")

		l := take(t, f, "a")
		require.NoError(t, l.Sending())
		sent := time.Now()
		l.Release() // as if it had been killed
		time.Sleep(time.Minute)
		assert.True(t, sent.Equal(last().At))
		assert.Zero(t, last().State)

		l = take(t, f, "a")
		require.NoError(t, l.Note(runlock.Record{At: runlock.Idle, State: 1<<64 - 1}))
		l.Release()
		assert.Equal(t, runlock.Record{At: runlock.Idle, State: 1<<64 - 1}, last(), "somebody was here, and no request is under way")
	})
}

// A body that takes long to send keeps the record young, and one that is read on
// after the request ended leaves it alone.
func TestABodyThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := take(t, t.TempDir(), "a")
		defer l.Release()
		at := func() time.Time {
			own, _, err := l.Last()
			require.NoError(t, err)
			return own.At
		}
		require.NoError(t, l.Sending())
		body := l.Watch(bytes.NewReader(make([]byte, 100)))
		for i := range 10 {
			time.Sleep(3 * time.Second)
			_, err := body.ReadAt(make([]byte, 10), int64(10*i))
			require.NoError(t, err)
		}
		assert.Less(t, time.Since(at()), 6*time.Second)
		for _, ended := range []runlock.Record{{At: runlock.Idle}, {At: time.Now(), State: 1}} {
			require.NoError(t, l.Note(ended))
			time.Sleep(time.Minute)
			_, err := body.ReadAt(make([]byte, 10), 0)
			require.NoError(t, err)
			assert.True(t, ended.At.Equal(at()))
		}
	})
}

// Another account can make a run wait, and can neither make it go on nor have it
// write to a file of its choice.
func TestRecordsOfOtherAccounts(t *testing.T) {
	f := t.TempDir()
	l := take(t, f, "a")
	require.NoError(t, l.Note(runlock.Record{At: time.Unix(1000, 0), State: 7}))
	found, err := filepath.Glob(f + "/*." + strconv.Itoa(os.Getuid()))
	require.NoError(t, err)
	require.Len(t, found, 1)
	other := strings.TrimSuffix(found[0], strconv.Itoa(os.Getuid())) + "12345"
	for text, request := range map[string]time.Time{
		"0 0\n":             time.Unix(0, 0),
		"5000000000000 8\n": {}, // what it saw is no reason for us
		"5000000000000 0\n": time.Unix(5000, 0),
	} {
		require.NoError(t, os.WriteFile(other, []byte(text), 0o600))
		own, others, err := l.Last()
		require.NoError(t, err)
		assert.Equal(t, runlock.Record{At: time.Unix(1000, 0), State: 7}, own)
		assert.True(t, request.Equal(others), text)
	}
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(found[0], 12345, -1))
		_, _, err = l.Last()
		require.ErrorContains(t, err, "of this account")
	}
}

// Old files of other jobs are removed, unless the job is at work, they are young, or
// they do not belong to this account.
func TestSweep(t *testing.T) {
	f := t.TempDir()
	record := func(key string) string {
		l := take(t, f, key)
		require.NoError(t, l.Sending())
		found, err := filepath.Glob(f + "/*.lock")
		require.NoError(t, err)
		require.Len(t, found, 1)
		l.Release()
		return strings.TrimSuffix(found[0], "lock") + strconv.Itoa(os.Getuid())
	}
	young, old, busy, foreign := record("young"), record("old"), record("busy"), record("foreign")
	killed := strings.TrimSuffix(old, filepath.Ext(old)) + ".lock"
	unfinished, other := filepath.Join(f, "datacite-go-new-1"), filepath.Join(f, "precious")
	for _, path := range []string{killed, unfinished, other} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	for _, path := range []string{old, busy, foreign, killed, unfinished, other} {
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().AddDate(0, 0, -8)))
	}
	left := []string{young, busy, other}
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(foreign, 12345, -1))
		left = append(left, foreign)
	}
	working := take(t, f, "busy")
	l := take(t, f, "mine")
	_, _, err := l.Last()
	require.NoError(t, err)
	l.Release()
	working.Release()
	found, err := filepath.Glob(f + "/*")
	require.NoError(t, err)
	assert.ElementsMatch(t, left, found)
}

// Other accounts need no right but to read, whatever the umask.
func TestTheFilesAreReadable(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	f := t.TempDir()
	l := take(t, f, "a")
	defer l.Release()
	require.NoError(t, l.Sending())
	files, err := os.ReadDir(f)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		info, err := file.Info()
		require.NoError(t, err)
		assert.EqualValues(t, 0o644, info.Mode().Perm(), file.Name())
	}
}

// The folder is the same for all accounts and environments, unless the operator
// names one.
func TestFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("DATACITE_LOCK_DIR", "")
	assert.Equal(t, "/tmp", runlock.Folder())
	t.Setenv("DATACITE_LOCK_DIR", "/srv/locks")
	assert.Equal(t, "/srv/locks", runlock.Folder())
}
