// Package sqlite opens the databases of the repository.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // SQLite without cgo
)

// A DB is a database with one connection for writing and several for reading, so that SQLite
// never reports that the database is locked.
type DB struct {
	*sql.DB // for reading only
	writer  *sql.DB
	folder  string
}

// readers is how many connections read at once. Each has a cache of its own.
const readers = 8

// Open opens a database that only this account of the machine may read. Its steps are
// the SQL that brought it from nothing to its present form: those that a file does not
// have yet are done. Released steps never change; a new form is a new step at the end.
func Open(path string, steps ...string) (*DB, error) {
	file, err := private(path, os.O_CREATE) // SQLite gives its other files the same mode
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	const settings = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=secure_delete(1)"
	writer, err1 := sql.Open("sqlite", path+settings+"&_txlock=immediate")
	reader, err2 := sql.Open("sqlite", path+settings+"&_pragma=query_only(1)")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers) // a new one reads the schema first
	db := &DB{reader, writer, filepath.Dir(path)}
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

// Close closes all connections.
func (db *DB) Close() error { return errors.Join(db.DB.Close(), db.writer.Close()) }

// ExecContext changes something.
func (db *DB) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return db.writer.ExecContext(ctx, query, args...)
}

// A Querier is a database, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// All returns the rows of a query, as scan reads them.
func All[T any](ctx context.Context, db Querier, scan func(*sql.Rows, *T) error, query string, args ...any) (all []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var value T
		if err := scan(rows, &value); err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, rows.Err()
}

// Column returns the only column of a query.
func Column[T any](ctx context.Context, db Querier, query string, args ...any) ([]T, error) {
	return All(ctx, db, func(row *sql.Rows, value *T) error { return row.Scan(value) }, query, args...)
}

// Do executes a statement in a database, or in a transaction.
func Do(ctx context.Context, db interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
}, statement string, args ...any) error {
	_, err := db.ExecContext(ctx, statement, args...)
	return err
}

// Change runs a transaction.
func Change(ctx context.Context, db *DB, work func(*sql.Tx) error) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
