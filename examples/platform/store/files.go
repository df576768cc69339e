package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

// ErrTooLarge means that a file is larger than files may be.
var ErrTooLarge = errors.New("the file is too large")

// Receive stores a file of at most so many bytes under its hash. Until ChangeFiles adds it to a
// version, only the caller keeps it from being deleted: call Release after that, or to give up.
func (s *Store) Receive(name string, from io.Reader, most int64) (f dataset.File, err error) {
	hash, leaving := sha256.New(), &leaving{store: s}
	defer func() { s.promised.Add(-leaving.left) }()
	f.Name = name
	temporary, err := newFile(filepath.Join(s.folder, "files"), func(w io.Writer) (err error) {
		leaving.Writer = w
		f.Size, err = io.Copy(io.MultiWriter(leaving, hash), io.LimitReader(from, most+1))
		if err == nil && f.Size > most {
			err = ErrTooLarge
		}
		return err
	})
	defer os.Remove(temporary) // nothing is there after the Rename
	if err != nil {
		return f, err
	}
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(temporary, s.path(f)); err != nil {
		return f, err
	}
	s.arriving[f.SHA256]++
	return f, nil
}

// newFile writes a file under a name of its own until it is complete on the disk.
func newFile(folder string, write func(io.Writer) error) (name string, err error) {
	file, err := os.CreateTemp(folder, "new-*") // with mode 0600
	if err != nil {
		return "", err
	}
	if err = write(file); err == nil {
		err = file.Sync()
	}
	return file.Name(), errors.Join(err, file.Close())
}

// leaving writes as long as enough of the disk is free. It takes room before it writes, so that files that
// arrive at the same time do not count on the same room.
type leaving struct {
	io.Writer
	store *Store
	left  int64 // of the room that was taken
}

func (w *leaving) Write(data []byte) (int, error) {
	if room := max(1<<20, int64(len(data))); w.left < int64(len(data)) {
		if err := w.store.promise(room); err != nil {
			return 0, err
		}
		w.left += room
	}
	n, err := w.Writer.Write(data)
	w.left -= int64(n)
	w.store.promised.Add(-int64(n))
	return n, err
}

// Release ends the protection of received files. Those that no version has are deleted.
func (s *Store) Release(ctx context.Context, files []dataset.File) error {
	s.mu.Lock()
	for _, f := range files {
		if s.arriving[f.SHA256]--; s.arriving[f.SHA256] == 0 {
			delete(s.arriving, f.SHA256)
		}
	}
	s.mu.Unlock()
	return s.drop(ctx, files)
}

// drop deletes those of the files that no version has and that are not protected. What a killed
// process leaves is deleted by the next Open.
func (s *Store) drop(ctx context.Context, files []dataset.File) error {
	hashes := []string{}
	for _, f := range files {
		hashes = append(hashes, f.SHA256)
	}
	list, err := json.Marshal(hashes)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	unneeded, err := sqlite.Column[string](context.WithoutCancel(ctx), s.db,
		`SELECT DISTINCT value FROM json_each(?) WHERE value NOT IN (SELECT sha256 FROM file)`, string(list))
	if err != nil {
		return err
	}
	for _, hash := range unneeded {
		if s.arriving[hash] > 0 {
			continue
		}
		if err := os.Remove(s.path(dataset.File{SHA256: hash})); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// OpenFile opens a file for reading.
func (s *Store) OpenFile(f dataset.File) (*os.File, error) { return os.Open(s.path(f)) }

func (s *Store) path(f dataset.File) string { return filepath.Join(s.folder, "files", f.SHA256) }

// sweep removes the files that belong to no version.
func (s *Store) sweep() error {
	kept, err := hashes(context.Background(), s.db, `SELECT DISTINCT sha256 FROM file`)
	if err != nil {
		return err
	}
	return removeOthers(s.folder, kept)
}

// hashes are those of the files that versions have, and so the names under which they are stored.
func hashes(ctx context.Context, db sqlite.Querier, query string) (map[string]bool, error) {
	all := map[string]bool{}
	for hash, err := range sqlite.Rows(ctx, db, func(row *sql.Rows, hash *string) error { return row.Scan(hash) }, query) {
		if err != nil {
			return nil, err
		}
		all[hash] = true
	}
	return all, nil
}

// removeOthers removes the files of a folder's datasets that are not kept, and those that
// were not complete.
func removeOthers(folder string, kept map[string]bool) error {
	entries, err := os.ReadDir(filepath.Join(folder, "files"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(e.Name()) != 2*sha256.Size && !strings.HasPrefix(e.Name(), "new-") || kept[e.Name()] {
			continue // not ours, or needed
		}
		if err := os.Remove(filepath.Join(folder, "files", e.Name())); err != nil {
			return err
		}
	}
	return nil
}
