// Package sqlite opens the databases of the repository.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"

	_ "modernc.org/sqlite" // SQLite without cgo
)

// Open opens a database that only this account of the machine may read, and makes what
// it needs.
func Open(path, schema string) (*sql.DB, error) {
	file, err := os.OpenFile(path, os.O_CREATE, 0o600) // SQLite gives its other files the same mode
	if err != nil {
		return nil, err
	}
	if err := errors.Join(file.Chmod(0o600), file.Close()); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Change does several things to a database, all or none.
func Change(ctx context.Context, db *sql.DB, work func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
