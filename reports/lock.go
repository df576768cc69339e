package reports

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/datacite-go/datacite-go/internal/transport"
)

// A lock keeps two runs of one user from submitting one report at once on this
// machine, from before the source is read until the end. The operating system
// frees it when a run dies. A record beside it tells when a request was under
// way whose end nobody has seen, so that the next run does not get in its way.
type lock struct {
	folder string // private to the user, for temporary files too
	file   *flock.Flock

	mu     sync.Mutex
	record string    // path
	open   bool      // a request is under way, or its answer was lost
	noted  time.Time // in the record
}

// lock takes the lock of a report, or fails with ErrBusy.
func (c *Client) lock(h Header, tempDir string) (*lock, error) {
	folder, err := privateFolder(cmp.Or(tempDir, os.TempDir()))
	if err != nil {
		return nil, fmt.Errorf("the folder for temporary files (SubmitOptions.TempDir, or TMPDIR in the environment) cannot be used: %w", err)
	}
	begin := string(h.ReportingPeriod.BeginDate)
	month := begin[:min(len(begin), len("2006-01"))]
	name := sha256.Sum256([]byte(c.core.BaseURL() + "\n" + strings.ToLower(h.CreatedBy) + "\n" + month))
	path := filepath.Join(folder, fmt.Sprintf("submit-%x", name[:8]))
	l := &lock{folder: folder, file: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600)), record: path + "-request"}
	switch taken, err := l.take(path); {
	case err != nil:
		return nil, fmt.Errorf("the lock of the report cannot be taken: %w", err)
	case !taken:
		return nil, fmt.Errorf("%w: another run on this machine is submitting the report of %q for %s", ErrBusy, h.CreatedBy, month)
	}
	return l, nil
}

// take takes the lock, unless the run that had it has removed the file meanwhile:
// then it is the lock of a file that nobody else sees, and there is another one.
func (l *lock) take(path string) (bool, error) {
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

// release frees the lock. The record stays while a request may be under way.
func (l *lock) release() {
	_ = os.Remove(l.file.Path()) // while it is held; where an open file cannot be removed, it stays
	_ = l.file.Close()
}

// privateFolder makes the folder that only this user can read and write.
func privateFolder(parent string) (string, error) {
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

// lastRequest is when a request was under way whose end no earlier run has seen;
// zero if there is none.
func (l *lock) lastRequest() (time.Time, error) {
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
	l.open = true
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		at = info.ModTime() // damaged; the system knows when it was written
	}
	if now := time.Now(); at.After(now) {
		at = now // a clock was set back
	}
	return at, nil
}

// underWay records that a request is under way now.
func (l *lock) underWay() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = true
	return l.note(time.Now())
}

// note replaces the record in one step: a run that dies leaves the old one or
// the new one. The caller has the mutex.
func (l *lock) note(at time.Time) error {
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

// ended removes the record: no request is under way any more.
func (l *lock) ended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		_ = os.Remove(l.record) // if it stays, the next run waits in vain, and that is all
	}
	l.open = false
}

// watch makes the record follow a body that takes long to send, since the
// service begins its work when it has all of it.
func (l *lock) watch(b transport.Body) transport.Body { return &watchedBody{b, l} }

type watchedBody struct {
	transport.Body
	lock *lock
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
