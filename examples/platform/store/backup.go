package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

// A Backup is a copy of a store's folder, which a store can be opened in.
type Backup struct {
	Files, Copied int // that the datasets have; of those, how many were not in the folder yet
}

// errGone means that the owner of a draft removed a file while it was to be copied.
var errGone = errors.New("a file was removed in the meantime")

// Copy copies the store of a folder to another one, while a process uses it: everything as
// it is at one moment. The other folder may have an earlier copy, of which files are kept
// that are still needed. If Copy is interrupted, the earlier copy is still whole.
func Copy(ctx context.Context, folder, to string) (b Backup, err error) {
	if err := os.MkdirAll(filepath.Join(to, "files"), 0o700); err != nil {
		return b, err
	}
	lock, err := take(to)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	next := filepath.Join(to, "next.db")
	defer os.Remove(next) // nothing is there after the Rename
	for ctx.Err() == nil {
		if err := sqlite.Copy(ctx, filepath.Join(folder, database), next); err != nil {
			return b, err
		}
		names, err := fileNames(ctx, next)
		if err != nil {
			return b, err
		}
		copied, err := copyFiles(ctx, folder, to, names)
		b.Copied += copied
		if errors.Is(err, errGone) {
			continue // a later moment does not have it any more
		}
		if err != nil {
			return b, err
		}
		b.Files = len(names)
		if err := copyNotes(folder, to); err != nil {
			return b, err
		}
		if err := errors.Join(sqlite.SyncFolder(filepath.Join(to, "files")), os.Rename(next, filepath.Join(to, database)),
			sqlite.SyncFolder(to)); err != nil {
			return b, err
		}
		return b, removeOthers(to, names)
	}
	return b, ctx.Err()
}

// fileNames are those of the files that the versions of a database have.
func fileNames(ctx context.Context, path string) (map[string]bool, error) {
	db, err := sqlite.Read(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return hashes(ctx, db, `SELECT DISTINCT value ->> 'SHA256' FROM version, json_each(version.files)`)
}

// copyFiles copies the files that the other folder lacks. Their names are hashes of their
// bytes, so one that is there is right.
func copyFiles(ctx context.Context, folder, to string, names map[string]bool) (copied int, err error) {
	for name := range names {
		path := filepath.Join(to, "files", name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		err := copyFile(filepath.Join(folder, "files", name), path)
		if errors.Is(err, fs.ErrNotExist) {
			err = errGone
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return copied, err
		}
		copied++
	}
	return copied, nil
}

// copyNotes copies what the clients keep in the folder from one run to the next.
func copyNotes(folder, to string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "datacite-go-") || strings.HasSuffix(e.Name(), ".lock") {
			continue
		}
		err := copyFile(filepath.Join(folder, e.Name()), filepath.Join(to, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyFile copies a file, which has its name when it is complete.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	temporary, err := newFile(filepath.Dir(to), func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
	defer os.Remove(temporary) // nothing is there after the Rename
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return os.Rename(temporary, to)
}
