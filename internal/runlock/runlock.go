// Package runlock keeps two runs of one user from doing one job at once on this
// machine, and lets a run know what an earlier one left under way.
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
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// ErrHeld: another run has the lock.
var ErrHeld = errors.New("another run on this machine holds the lock")

// A Lock is held by one run. The operating system frees it when the run dies. A
// record beside it tells the next run whether a request may be under way.
type Lock struct {
	folder string
	file   *flock.Flock

	mu     sync.Mutex
	record string    // path
	open   bool      // a request is under way, or its answer was lost
	noted  time.Time // in the record
}

// Take takes the lock of the job that key names, in a private [Folder], or fails
// with [ErrHeld] at once.
func Take(folder, key string) (*Lock, error) {
	name := sha256.Sum256([]byte(key))
	path := filepath.Join(folder, fmt.Sprintf("submit-%x", name[:8]))
	l := &Lock{folder: folder, file: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600)), record: path + "-request"}
	taken, err := l.take(path)
	if err == nil && !taken {
		err = ErrHeld
	}
	return l, err
}

// take takes the lock, unless the run that had it has removed the file in the meantime:
// then it is the lock of a file that no other run sees, and there is another one.
func (l *Lock) take(path string) (bool, error) {
	for {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return false, fmt.Errorf("%s is no regular file", path)
		}
		taken, err := l.file.TryLock()
		if err != nil || !taken {
			return false, err
		}
		held, err := l.file.Stat()
		if err != nil {
			return false, errors.Join(err, l.file.Close())
		}
		if there, err := os.Lstat(path); err == nil && os.SameFile(held, there) {
			return true, nil
		}
		if err := l.file.Close(); err != nil {
			return false, err
		}
	}
}

// Release frees the lock. The record stays while a request may be under way.
func (l *Lock) Release() {
	_ = os.Remove(l.file.Path()) // while it is held; where an open file cannot be removed, it stays
	_ = l.file.Close()
}

// Folder makes the folder below parent that only this user can read and write.
func Folder(parent string) (string, error) {
	folder := filepath.Join(parent, "datacite-go")
	if uid := os.Getuid(); uid >= 0 {
		folder = fmt.Sprintf("%s-%d", folder, uid)
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(folder) // a link is not followed: it could be somebody else's
	switch {
	case err != nil:
		return "", err
	case !info.IsDir() || !isPrivate(info):
		return "", fmt.Errorf("%s is not a folder of this user alone (mode %v)", folder, info.Mode())
	}
	return folder, nil
}

// LastRequest is when a request was under way whose end no earlier run has seen.
// It is long ago if an earlier run has seen them all, and zero if there was none.
func (l *Lock) LastRequest() (time.Time, error) {
	info, err := os.Lstat(l.record)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	case !info.Mode().IsRegular():
		return time.Time{}, fmt.Errorf("%s is no regular file", l.record)
	}
	file, err := os.Open(l.record)
	if err != nil {
		return time.Time{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 64))
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		at = info.ModTime() // damaged; the system knows when it was written
	}
	if now := time.Now(); at.After(now) {
		at = now // a clock was set back
	}
	l.open = true
	return at, nil
}

// UnderWay records that a request is under way now.
func (l *Lock) UnderWay() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = true
	return l.note(time.Now())
}

// note replaces the record in one step: a run that dies leaves the old one or
// the new one. The caller has the mutex.
func (l *Lock) note(at time.Time) error {
	file, err := os.CreateTemp(l.folder, "request-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(at.Format(time.RFC3339Nano))
	err = cmp.Or(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), l.record)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	l.noted = at
	return nil
}

// Ended records that no request is under way any more. The record stays, so that
// the next run knows that what it finds was left by one of this machine.
func (l *Lock) Ended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		_ = l.note(time.Unix(0, 0)) // if it fails, the next run only waits longer
	}
	l.open = false
}

// Forget removes the record, since the job is done.
func (l *Lock) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = false
	_ = os.Remove(l.record) // there may be none
}

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
	if now := time.Now(); l.open && now.Sub(l.noted) > often {
		if err := l.note(now); err != nil {
			l.mu.Unlock()
			return 0, err
		}
	}
	l.mu.Unlock()
	return b.Body.ReadAt(p, at)
}
