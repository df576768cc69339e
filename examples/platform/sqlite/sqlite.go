// Package sqlite opens the databases of the repository.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite" // SQLite without cgo
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
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
	if err == nil {
		err = file.Close()
	}
	if err != nil {
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

// Rows yields the rows of a query, as scan reads them, until one has an error.
func Rows[T any](ctx context.Context, db Querier, scan func(*sql.Rows, *T) error, query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(value T, err error) bool) {
		rows, err := db.QueryContext(ctx, query, args...)
		if err == nil {
			defer rows.Close()
			for rows.Next() {
				var value T
				err := scan(rows, &value)
				if !yield(value, err) || err != nil {
					return
				}
			}
			err = rows.Err()
		}
		if err != nil {
			yield(*new(T), err)
		}
	}
}

// All returns the rows of a query, as scan reads them.
func All[T any](ctx context.Context, db Querier, scan func(*sql.Rows, *T) error, query string, args ...any) (all []T, err error) {
	for value, err := range Rows(ctx, db, scan, query, args...) {
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, nil
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
	return SyncFolder(filepath.Dir(name))
}

// SyncFolder makes a rename in a folder survive a crash of the machine.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
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

// reserved is the size of the file that is deleted on a full disk, since even deleting needs a few
// free pages.
const reserved = 4 << 20

// Reserve creates the file in the folder of a database, unless it exists.
func Reserve(folder string) error {
	file, err := os.OpenFile(reserve(folder), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, reserved)) // and not a hole
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func reserve(folder string) string { return filepath.Join(folder, "reserve") }

// Freeing does work that frees room, or that is necessary before anything can be deleted. If the
// disk is full, it deletes the file of Reserve and tries again.
func (db *DB) Freeing(work func() error) error {
	err := work()
	if !Full(err) || os.Remove(reserve(db.folder)) != nil {
		return err
	}
	return work()
}

// Full reports whether an error means that the disk is full.
func Full(err error) bool {
	if e, ok := errors.AsType[*driver.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_FULL {
		return true
	}
	return errors.Is(err, syscall.ENOSPC)
}
