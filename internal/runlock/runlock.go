// Package runlock keeps two runs on this machine from doing the same job at once, and
// lets a run know what an earlier one left behind.
//
// The runs may belong to different accounts. The lock is an empty file, which its
// holder removes. Beside it each account has a record that only this account can
// write, so another account can delay a run but cannot make it continue too early. Some
// jobs have notes as well, which only their account reads. A later run of the account
// removes records and notes that have not been written for 400 days.
package runlock

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld means that another run holds the lock.
var ErrHeld = errors.New("another run on this machine holds the lock")

// Folder returns the folder that all runs on this machine share, whatever their
// account: DATACITE_LOCK_DIR, or else one in which every account may create files, and
// only remove its own. Before that comes the folder of a service in the same process, which
// own returns unless it is nil.
func Folder(own func() (string, error)) (string, error) {
	if dir := os.Getenv("DATACITE_LOCK_DIR"); dir != "" {
		return dir, nil
	}
	if own != nil {
		return own()
	}
	folder := "/tmp"
	if runtime.GOOS == "windows" {
		folder = os.Getenv("ProgramData")
	}
	return cmp.Or(folder, os.TempDir()), nil
}

// A Record is what a run tells the next one.
type Record struct {
	At    time.Time // when a request may have been in progress, or State was seen
	State uint64    // the state of the job; 0 if At is the time of a request
	Size  int64     // of the job in that state, as far as it is known
	Past  Past      // what the account knows of the job's past; see [Lock.SetPast]
}

// A Past is what an account knows of the past of a job.
type Past int

// What an account may know.
const (
	Unknown Past = iota // not all of it
	Known               // all of it, and there is nothing to note
	Noted               // all of it, together with the notes
)

// Idle is the time of a record that says that no request can be in progress.
var Idle = time.Unix(0, 0)

// kept is how long files stay that nobody writes: a monthly job is corrected within a year.
const kept = 400 * 24 * time.Hour

const (
	prefix = "datacite-go-" // begins the names of all files
	notes  = ".notes"       // ends the name of an account's notes
)

// A Lock is held by one run. The operating system releases it when the process dies.
type Lock struct {
	folder, path string // path is common to all files of the job, before their extension
	file         *flock.Flock
	record       string // path of this account's record

	mu    sync.Mutex
	noted Record // zero if there is none
}

// Take takes the lock of the job that key identifies, in a folder that may be shared
// with other accounts. It does not wait: it fails with [ErrHeld].
func Take(folder, key string) (*Lock, error) {
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a folder", folder)
	case !isSafe(folder, info):
		return nil, fmt.Errorf("other accounts may replace the files of %s (mode %v); it needs the sticky bit, or to be "+
			"writable by its owner alone", folder, info.Mode())
	}
	name := sha256.Sum256([]byte(key))
	return take(folder, fmt.Sprintf("%s%x", prefix, name[:8]))
}

// take takes the lock of the job whose files begin with name.
func take(folder, name string) (*Lock, error) {
	user, err := account()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, name)
	l := &Lock{folder: folder, path: path, record: path + "." + user}
	for taken := false; !taken; {
		if taken, err = l.try(l.path + ".lock"); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// try takes the lock, unless the run that held it removed the file in the
// meantime: then no other run sees that file, and there may be another one.
func (l *Lock) try(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o644)
	if err == nil {
		err = errors.Join(file.Chmod(0o644), file.Close()) // whatever the umask: other accounts must be able to read it
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", path)
	}
	l.file = flock.New(path, flock.SetFlag(os.O_RDONLY))
	switch taken, err := l.file.TryLock(); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !taken:
		return false, ErrHeld
	}
	held, err := l.file.Stat()
	if err != nil {
		return false, errors.Join(err, l.file.Close())
	}
	if there, err := os.Lstat(path); err == nil && os.SameFile(held, there) {
		return true, nil
	}
	return false, l.file.Close()
}

// Release releases the lock and removes its file. The record stays.
func (l *Lock) Release() {
	path := l.file.Path()
	_ = os.Remove(path) // while it is held; where that is not allowed, it stays
	_ = l.file.Close()
	if runtime.GOOS == "windows" { // which removes no file that is open
		_ = os.Remove(path)
	}
}

// Last returns what earlier runs left: the record of this account, and when
// other accounts may have had a request in progress; zero values if there is nothing.
// It also removes old files of other jobs of this account.
func (l *Lock) Last() (own Record, others time.Time, err error) {
	entries, err := os.ReadDir(l.folder)
	if err != nil {
		return own, others, err
	}
	for _, e := range entries {
		path := filepath.Join(l.folder, e.Name())
		switch job, _, _ := strings.Cut(e.Name(), "."); {
		case !strings.HasPrefix(job, prefix) || path == l.file.Path():
			continue
		case filepath.Join(l.folder, job) != l.path:
			l.sweep(path, job)
			continue
		case strings.HasSuffix(path, notes):
			continue
		}
		r, err := read(path, path == l.record)
		switch {
		case err != nil:
			return own, others, err
		case path == l.record:
			own, l.noted = r, r
		case r.State == 0 && r.At.After(others):
			others = r.At
		}
	}
	return own, others, nil
}

// sweep removes a file of another job if it is old and belongs to this account. It does so
// under the lock of that job, which may have used the file again before.
func (l *Lock) sweep(path, job string) {
	if !isOld(path) {
		return
	}
	other, err := take(l.folder, job)
	if err != nil {
		return // the job is at work, or the file is not ours to remove
	}
	defer other.Release()
	if isOld(path) {
		_ = os.Remove(path)
	}
}

// isOld reports whether a file of this account has not been written for long.
func isOld(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && isOwn(info) && time.Since(info.ModTime()) > kept
}

var open = os.Open // tests replace it

// read reads a record, which must belong to this account if own is true.
func read(path string, own bool) (r Record, err error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return r, err
	case !info.Mode().IsRegular() || own && !isOwn(info):
		return r, fmt.Errorf("%s is not a regular file of this account", path)
	}
	file, err := open(path)
	if err != nil {
		return r, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 64))
	if err != nil {
		return r, err
	}
	var nanos int64
	// A record of an earlier release has no Past, which is then Unknown, and no Size.
	if n, err := fmt.Sscanf(string(text), "%d %x %d %d\n", &nanos, &r.State, &r.Past, &r.Size); err != nil && n < 2 {
		return Record{At: info.ModTime()}.notAhead(), nil // damaged; the system knows when it was written
	}
	r.At = time.Unix(0, nanos)
	return r.notAhead(), nil
}

// notAhead corrects a record from the future: the clock was set back.
func (r Record) notAhead() Record {
	if now := time.Now(); r.At.After(now) {
		r.At = now
	}
	return r
}

// Note replaces the record of this account. Its Past is that of [Lock.SetPast].
func (l *Lock) Note(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Past = l.noted.Past
	return l.note(r)
}

// SetPast replaces the Past of the record; if there is no record yet, of the next one.
func (l *Lock) SetPast(p Past) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.noted
	if r.Past = p; r.At.IsZero() {
		l.noted = r
		return nil
	}
	return l.note(r)
}

// Forget makes the Past of the record Unknown.
func (l *Lock) Forget() error {
	if _, _, err := l.Last(); err != nil {
		return err
	}
	return l.SetPast(Unknown)
}

// note replaces the record. The caller holds the mutex.
func (l *Lock) note(r Record) error {
	if same := r; r.At.Equal(l.noted.At) {
		if same.At = l.noted.At; same == l.noted {
			return nil
		}
	}
	err := l.replace(l.record, func(file *os.File) error {
		_, err := fmt.Fprintf(file, "%d %x %d %d\n", r.At.UnixNano(), r.State, r.Past, r.Size)
		return cmp.Or(err, file.Chmod(0o644)) // for the other accounts
	})
	if err == nil {
		l.noted = r
	}
	return err
}

// Notes opens the notes of this account. The error matches [fs.ErrNotExist] if there are
// none. The file is a regular one of this account, or it is an error.
func (l *Lock) Notes() (io.ReadCloser, error) {
	info, err := os.Lstat(l.record + notes)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || !isOwn(info):
		return nil, fmt.Errorf("%s is not a regular file of this account", l.record+notes)
	}
	return os.Open(l.record + notes)
}

// SetNotes replaces the notes of this account by what write writes, and returns when they
// are on the disk. If write is nil, there are no notes any more.
func (l *Lock) SetNotes(write func(io.Writer) error) error {
	if write == nil {
		if err := os.Remove(l.record + notes); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	err := l.replace(l.record+notes, func(file *os.File) error { return cmp.Or(write(file), file.Sync()) })
	if err != nil || runtime.GOOS == "windows" { // which syncs no folder
		return err
	}
	folder, err := os.Open(l.folder)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// replace replaces a file atomically: a run that dies leaves the old one or the new one.
func (l *Lock) replace(path string, write func(*os.File) error) error {
	file, err := os.CreateTemp(l.folder, prefix+"new-*")
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = file.Close()
	} else {
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Sending records that a request is being sent now.
func (l *Lock) Sending() error { return l.Note(Record{At: time.Now()}) }

// A Body is what a request carries.
type Body interface {
	io.ReaderAt
	Size() int64
}

// Watch returns a body that keeps the record current while it is read: sending it may
// take long, and the service begins its work when it has received all of it.
func (l *Lock) Watch(b Body) Body { return &watchedBody{b, l} }

type watchedBody struct {
	Body
	lock *Lock
}

func (b *watchedBody) ReadAt(p []byte, at int64) (int, error) {
	const interval = 5 * time.Second
	l := b.lock
	l.mu.Lock()
	var err error
	if now := time.Now(); l.noted.State == 0 && l.noted.At.After(Idle) && now.Sub(l.noted.At) > interval {
		err = l.note(Record{At: now, Past: l.noted.Past})
	}
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return b.Body.ReadAt(p, at)
}
