// Package runlock keeps two runs from doing one job at once on this machine, and
// lets a run know what an earlier one left.
//
// The runs may belong to different accounts. The lock is a file that is never
// written to. Beside it each account has a record that nobody else may write, so
// another account can delay a run, and never make it go on too early.
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

// ErrHeld: another run has the lock.
var ErrHeld = errors.New("another run on this machine holds the lock")

// Folder is the one that all runs on this machine share, whatever their account:
// that of DATACITE_LOCK_DIR, or else one where programs may leave files, and nobody
// can remove those of others.
func Folder() string {
	folder := "/tmp"
	if runtime.GOOS == "windows" {
		folder = os.Getenv("ProgramData")
	}
	return cmp.Or(os.Getenv("DATACITE_LOCK_DIR"), folder, os.TempDir())
}

// A Record is what a run leaves to the next one.
type Record struct {
	At    time.Time // when a request may have been under way, or State was seen
	State uint64    // what the job had come to; 0 if At is that of a request
}

// Idle is the time of a record when no request can be under way.
var Idle = time.Unix(0, 0)

// A Lock is held by one run. The operating system frees it when the run dies.
type Lock struct {
	folder, path string // path is that of all its files, without what tells them apart
	file         *flock.Flock
	record       string // path of this account's record

	mu    sync.Mutex
	noted Record // zero: none
}

// Take takes the lock of the job that key names, in a folder that may be shared
// with other accounts, or fails with [ErrHeld] at once.
func Take(folder, key string) (*Lock, error) {
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir() || !isSafe(info):
		return nil, fmt.Errorf("%s is not a folder in which nobody else can replace a file (mode %v)", folder, info.Mode())
	}
	user, err := account()
	if err != nil {
		return nil, err
	}
	name := sha256.Sum256([]byte(key))
	path := filepath.Join(folder, fmt.Sprintf("datacite-go-%x", name[:8]))
	l := &Lock{folder: folder, path: path, record: path + "." + user}
	for taken := false; !taken; {
		if taken, err = l.take(l.path + ".lock"); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// take takes the lock, unless the run that had it removed the file in the
// meantime: then no other run sees that file, and there may be another one.
func (l *Lock) take(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o644)
	if err == nil {
		err = errors.Join(file.Chmod(0o644), file.Close()) // whatever the umask: other accounts have to read it
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is no regular file", path)
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

// Release frees the lock. The record stays.
func (l *Lock) Release() {
	_ = os.Remove(l.file.Path()) // while it is held; where that is not allowed, it stays
	_ = l.file.Close()
}

// Last returns what earlier runs left: the record of this account, and when the
// other accounts may have had a request under way; zero if there is none.
func (l *Lock) Last() (own Record, others time.Time, err error) {
	entries, err := os.ReadDir(l.folder)
	if err != nil {
		return own, others, err
	}
	for _, e := range entries {
		path := filepath.Join(l.folder, e.Name())
		if !strings.HasPrefix(path, l.path+".") || path == l.file.Path() {
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

// read reads a record, of this account if own.
func read(path string, own bool) (r Record, err error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return r, err
	case !info.Mode().IsRegular() || own && !isOwn(info):
		return r, fmt.Errorf("%s is no regular file of this account", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer file.Close()
	var nanos int64
	if _, err := fmt.Fscanf(io.LimitReader(file, 64), "%d %x\n", &nanos, &r.State); err != nil {
		return Record{At: info.ModTime()}.past(), nil // damaged; the system knows when it was written
	}
	r.At = time.Unix(0, nanos)
	return r.past(), nil
}

// past mends the record of a clock that was set back.
func (r Record) past() Record {
	if now := time.Now(); r.At.After(now) {
		r.At = now
	}
	return r
}

// Note replaces the record of this account.
func (l *Lock) Note(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.note(r)
}

// note replaces the record in one step: a run that dies leaves the old one or
// the new one. The caller has the mutex.
func (l *Lock) note(r Record) error {
	if r.State == l.noted.State && r.At.Equal(l.noted.At) {
		return nil
	}
	file, err := os.CreateTemp(l.folder, "datacite-go-new-*")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%d %x\n", r.At.UnixNano(), r.State)
	err = cmp.Or(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), l.record)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	l.noted = r
	return nil
}

// UnderWay records that a request is under way now.
func (l *Lock) UnderWay() error { return l.Note(Record{At: time.Now()}) }

// A Body is what a request carries.
type Body interface {
	io.ReaderAt
	Size() int64
}

// Watch makes the record follow a body that takes long to send, since the
// service begins its work when it has all of it.
func (l *Lock) Watch(b Body) Body { return &watchedBody{b, l} }

type watchedBody struct {
	Body
	lock *Lock
}

func (b *watchedBody) ReadAt(p []byte, at int64) (int, error) {
	const often = 5 * time.Second
	l := b.lock
	l.mu.Lock()
	var err error
	if now := time.Now(); l.noted.State == 0 && l.noted.At.After(Idle) && now.Sub(l.noted.At) > often {
		err = l.note(Record{At: now})
	}
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return b.Body.ReadAt(p, at)
}
