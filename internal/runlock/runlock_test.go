package runlock_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/runlock"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

var errGone = errors.New("gone")

func take(t *testing.T, folder, key string) *runlock.Lock {
	t.Helper()
	l, err := runlock.Take(folder, key)
	require.NoError(t, err)
	return l
}

// paths are where a run of this account keeps its lock and its record.
func paths(t *testing.T, folder, key string) (lock, record string) {
	t.Helper()
	l := take(t, folder, key)
	defer l.Release()
	require.NoError(t, l.Sending())
	found, err := filepath.Glob(folder + "/*.lock")
	require.NoError(t, err)
	require.Len(t, found, 1)
	records, err := filepath.Glob(strings.TrimSuffix(found[0], "lock") + "*")
	require.NoError(t, err)
	records = slices.DeleteFunc(records, func(path string) bool { return path == found[0] })
	require.Len(t, records, 1)
	return found[0], records[0]
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
func TestTheRecordOfARunThatDidNotEnd(t *testing.T) {
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
		assert.Equal(t, runlock.Record{At: runlock.Idle, State: 1<<64 - 1}, last(),
			"somebody was here, and no request is under way")
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
	_, record := paths(t, f, "a")
	other := strings.TrimSuffix(record, filepath.Ext(record)) + ".12345"
	l := take(t, f, "a")
	defer l.Release()
	require.NoError(t, l.Note(runlock.Record{At: time.Unix(1000, 0), State: 7}))
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
		require.NoError(t, os.Chown(record, 12345, -1))
		_, _, err := l.Last()
		require.ErrorContains(t, err, "of this account")
	}
}

// Old files of other jobs are removed, unless the job is at work, they are young, or
// they do not belong to this account.
func TestOldFilesOfOtherJobsAreRemoved(t *testing.T) {
	f := t.TempDir()
	_, young := paths(t, f, "young")
	killed, old := paths(t, f, "old")
	_, busy := paths(t, f, "busy")
	_, foreign := paths(t, f, "foreign")
	notes := old + ".notes"
	unfinished, other := filepath.Join(f, "datacite-go-new-1"), filepath.Join(f, "precious")
	for _, path := range []string{notes, killed, unfinished, other} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	for days, paths := range map[int][]string{401: {old, notes, killed, unfinished, busy, foreign, other}, 399: {young}} {
		for _, path := range paths {
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().AddDate(0, 0, -days)))
		}
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

// What is known of the past stays with the record, whatever else it says.
func TestThePastStaysWithTheRecord(t *testing.T) {
	f := t.TempDir()
	last := func(l *runlock.Lock) runlock.Past {
		own, _, err := l.Last()
		require.NoError(t, err)
		return own.Past
	}
	l := take(t, f, "a")
	assert.Equal(t, runlock.Unknown, last(l))
	require.NoError(t, l.SetPast(runlock.Known))
	assert.Equal(t, runlock.Unknown, last(l), "there is no record yet")
	require.NoError(t, l.Sending())
	assert.Equal(t, runlock.Known, last(l))
	require.NoError(t, l.SetPast(runlock.Noted))
	l.Release()

	l = take(t, f, "a")
	assert.Equal(t, runlock.Noted, last(l))
	require.NoError(t, l.Note(runlock.Record{At: runlock.Idle, State: 7}))
	assert.Equal(t, runlock.Noted, last(l))

	l.Release()
	_, record := paths(t, f, "a")
	require.NoError(t, os.WriteFile(record, []byte("5 7\n"), 0o600))
	l = take(t, f, "a")
	defer l.Release()
	own, _, err := l.Last()
	require.NoError(t, err)
	assert.Equal(t, runlock.Record{At: time.Unix(0, 5), State: 7}, own, "of an earlier release")
}

// Notes are replaced as a whole or not at all, and only those of this account are read.
func TestNotesAreReplacedAsAWhole(t *testing.T) {
	f := t.TempDir()
	l := take(t, f, "a")
	defer l.Release()
	text := func() string {
		r, err := l.Notes()
		if errors.Is(err, fs.ErrNotExist) {
			return "none"
		}
		require.NoError(t, err)
		defer r.Close()
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		return string(b)
	}
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, _ = io.WriteString(w, text)
			return err
		}
	}
	assert.Equal(t, "none", text())
	require.NoError(t, l.SetNotes(nil))
	require.NoError(t, l.SetNotes(write("first", nil)))
	require.ErrorIs(t, l.SetNotes(write("second", fs.ErrInvalid)), fs.ErrInvalid)
	assert.Equal(t, "first", text())
	own, others, err := l.Last()
	require.NoError(t, err)
	assert.Zero(t, own)
	assert.Zero(t, others, "notes are no record")

	found, err := filepath.Glob(f + "/*.notes")
	require.NoError(t, err)
	require.Len(t, found, 1)
	info, err := os.Stat(found[0])
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // where the folder has rights, and not the file
		assert.EqualValues(t, 0o600, info.Mode().Perm(), "nobody else needs them")
	}
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(found[0], 12345, -1))
		_, err = l.Notes()
		require.ErrorContains(t, err, "of this account")
	}
	require.NoError(t, l.SetNotes(nil))
	assert.Equal(t, "none", text())
	precious := filepath.Join(f, "precious")
	require.NoError(t, os.WriteFile(precious, []byte("precious"), 0o600))
	testkit.Symlink(t, precious, found[0])
	_, err = l.Notes()
	require.ErrorContains(t, err, "not a regular file")
	require.NoError(t, l.SetNotes(write("mine", nil)))
	assert.Equal(t, "mine", text())
	kept, err := os.ReadFile(precious)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(kept))
}

// fifo makes a FIFO.
var fifo = func(string) error { return errors.ErrUnsupported }

// What lies where the lock or its record should be is neither followed nor
// waited for, and an empty or damaged record does not lock a job for ever.
func TestStrangeFilesAtTheLock(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(elsewhere, []byte("precious"), 0o600))
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	directory := func(path string) error { return os.Mkdir(path, 0o700) }
	link := func(path string) error { return os.Symlink(elsewhere, path) }
	const lock, record, irregular = 0, 1, "is not a regular file"
	for _, tt := range []struct {
		name  string
		file  int
		place func(path string) error
		fails string
	}{
		{"a directory", lock, directory, irregular},
		{"a FIFO", lock, fifo, irregular},
		{"a symbolic link", lock, link, irregular},
		{"a lock that another account left", lock,
			func(path string) error { return errors.Join(write("")(path), os.Chown(path, 12345, -1)) }, ""},
		{"a record that is a directory", record, directory, irregular},
		{"a record that is a FIFO", record, fifo, irregular},
		{"a record that is a symbolic link", record, link, irregular},
		{"an empty record", record, write(""), ""},
		{"a damaged record", record, write("2026-11-22T1"), ""},
		{"an endless record", record, write(strings.Repeat("x", 1<<20)), ""},
		{"a record from the future", record, write("32503680000000000000 0"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := t.TempDir()
			var at [2]string
			at[lock], at[record] = paths(t, f, "a")
			require.NoError(t, os.Remove(at[record]))
			err := tt.place(at[tt.file])
			if _, missing := os.Lstat(at[tt.file]); err != nil || missing != nil {
				t.Skip("this account, or this system, cannot place it: ", err)
			}
			var own runlock.Record
			l, err := runlock.Take(f, "a")
			if err == nil {
				defer l.Release()
				own, _, err = l.Last()
			}
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				return
			}
			require.NoError(t, err)
			if tt.file == record {
				assert.WithinDuration(t, time.Now(), own.At, time.Minute, "it is waited for, and not for ever")
			}
		})
	}
	kept, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(kept))

	f := t.TempDir()
	_, unread := paths(t, f, "a")
	defer runlock.SetOpen(func(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })()
	l := take(t, f, "a")
	defer l.Release()
	_, _, err = l.Last()
	require.ErrorContains(t, err, "read "+unread+": ", "that it cannot be read is no damage")
}

// The folder is the same for all accounts and environments, unless the operator
// names one.
func TestAllAccountsUseTheSameFolder(t *testing.T) {
	testkit.SetTemp(t, t.TempDir())
	shared := "/tmp"
	if runtime.GOOS == "windows" {
		shared = os.Getenv("ProgramData")
	}
	own := func() (string, error) { return "/own", errGone }
	for _, tt := range []struct {
		env, want string
		own       func() (string, error)
		err       error
	}{
		{"", shared, nil, nil}, {"", "/own", own, errGone}, {"/srv/locks", "/srv/locks", nil, nil},
		{"/srv/locks", "/srv/locks", own, nil},
	} {
		t.Setenv("DATACITE_LOCK_DIR", tt.env)
		folder, err := runlock.Folder(tt.own)
		assert.Equal(t, tt.want, folder)
		assert.Equal(t, tt.err, err)
	}
}
