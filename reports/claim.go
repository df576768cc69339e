package reports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A claim keeps two runs from submitting one report at once: in this process,
// and, by a file that tells when the last request was sent, on this machine. The
// file outlives a run that was killed, or that does not know what became of its
// last request, so that the next run does not get in the way of a request that
// the service may still be working on.
type claim struct {
	key    [3]string
	path   string
	waited bool // an earlier run's last request was waited for
	open   bool // the last request may still be under way
}

// claims are the reports that this process is submitting.
var claims sync.Map

func (c *Client) claim(ctx context.Context, h Header, o SubmitOptions) (*claim, error) {
	key := [3]string{c.core.BaseURL(), strings.ToLower(h.CreatedBy), string(h.ReportingPeriod.BeginDate)}
	if _, taken := claims.LoadOrStore(key, true); taken {
		return nil, fmt.Errorf("reports.Submit: %w: this process is submitting the report of %q for %s already", ErrBusy, h.CreatedBy, h.ReportingPeriod.BeginDate)
	}
	name := sha256.Sum256([]byte(strings.Join(key[:], "\n")))
	cl := &claim{key: key, path: filepath.Join(cmp.Or(o.TempDir, os.TempDir()), fmt.Sprintf("datacite-submit-%x", name[:8]))}
	if err := cl.wait(ctx, o.Settle); err != nil {
		claims.Delete(key)
		return nil, fmt.Errorf("reports.Submit: %w", err)
	}
	return cl, nil
}

// wait lets the last request of an earlier run come to its end. If there is a
// newer one meanwhile, that run is alive.
func (cl *claim) wait(ctx context.Context, settle time.Duration) error {
	last, err := cl.read()
	if err != nil || last.IsZero() {
		return err
	}
	const step = 5 * time.Second
	for left := settle - time.Since(last); left > 0 && left <= settle; left = settle - time.Since(last) {
		if err := sleep(ctx, min(left, step)); err != nil {
			return err
		}
		now, err := cl.read()
		if err != nil {
			return err
		}
		if !now.Equal(last) {
			return fmt.Errorf("%w: another process of this machine is submitting it", ErrBusy)
		}
	}
	cl.waited = true
	return nil
}

// read returns when the last request was sent; zero if no run left word.
func (cl *claim) read() (time.Time, error) {
	text, err := os.ReadFile(cl.path)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return time.Now(), nil // half written: just now
	}
	return at, nil
}

// sending leaves word that a request is under way.
func (cl *claim) sending() error {
	cl.open = true
	return os.WriteFile(cl.path, []byte(time.Now().Format(time.RFC3339Nano)), 0o600)
}

// settled says that what became of the last request is known.
func (cl *claim) settled() { cl.open = false }

// release ends the claim. The file stays while a request may be under way.
func (cl *claim) release() {
	if !cl.open {
		_ = os.Remove(cl.path) // it may never have been made
	}
	claims.Delete(cl.key)
}
