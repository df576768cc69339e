package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
)

// Copy copies a database as it is at one moment, while others use it. The copy replaces a
// file with its name when it is complete.
func Copy(ctx context.Context, from, to string) error {
	db, err := Read(from)
	if err != nil {
		return err
	}
	if err := errors.Join(keep(ctx, db, to, to), db.Close()); err != nil {
		return fmt.Errorf("copying %s to %s: %w", from, to, err)
	}
	return nil
}

// Read opens a database that is there, whatever its version, for reading only.
func Read(path string) (*sql.DB, error) {
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}).String()+"?mode=ro&_pragma=busy_timeout(10000)")
}
