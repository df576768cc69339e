package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// Copy copies a database as it is at one moment, while others use it. The copy has its
// name, and replaces a file with that name, when it is complete.
func Copy(ctx context.Context, from, to string) error {
	db, err := Read(from)
	if err != nil {
		return err
	}
	if err := errors.Join(keep(ctx, db, to), db.Close()); err != nil {
		return fmt.Errorf("copying %s to %s: %w", from, to, err)
	}
	return nil
}

func keep(ctx context.Context, db *sql.DB, name string) error {
	unfinished := name + ".unfinished"
	file, err := private(unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY) // VACUUM keeps the mode of an empty file
	if err != nil {
		return err
	}
	defer os.Remove(unfinished) // nothing is there after the Rename
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, unfinished)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(unfinished, name); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	_ = folder.Sync() // not every system can
	return folder.Close()
}

// Read opens a database that is there, whatever its version, for reading only.
func Read(path string) (*sql.DB, error) {
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}).String()+"?mode=ro&_pragma=busy_timeout(10000)")
}
