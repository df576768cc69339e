// Package sqlite opens the databases of the repository.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"

	_ "modernc.org/sqlite" // SQLite without cgo
)

// Open opens a database that only this account of the machine may read. Its steps are
// the SQL that brought it from nothing to its present form: those that a file does not
// have yet are done. Released steps never change; a new form is a new step at the end.
func Open(path string, steps ...string) (*sql.DB, error) {
	file, err := private(path, os.O_CREATE) // SQLite gives its other files the same mode
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if err := upgrade(context.Background(), db, path, steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// private opens a file that only this account of the machine may read.
func private(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Chmod(0o600); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
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
