package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// upgrade does the steps that a database does not have yet: all of them in one
// transaction, so a program that is killed meanwhile leaves the database as it was.
// PRAGMA user_version is how many steps a database has.
func upgrade(ctx context.Context, db *DB, path string, steps []string) error {
	if done, err := version(ctx, db, path, steps); err != nil || done == len(steps) {
		return err
	}
	return Change(ctx, db, func(tx *sql.Tx) error {
		done, err := version(ctx, tx, path, steps) // another process may have been first
		if err != nil || done == len(steps) {
			return err
		}
		tables, err := Column[string](ctx, tx, `SELECT name FROM sqlite_schema`)
		if err != nil {
			return err
		}
		if len(tables) > 0 { // it is not new
			if err := Copy(ctx, path, fmt.Sprintf("%s.version-%d", path, done)); err != nil {
				return fmt.Errorf("%s was not upgraded, because no copy could be made: %w", path, err)
			}
		}
		for i, step := range steps[done:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return fmt.Errorf("%s was not upgraded: step %d: %w", path, done+i+1, err)
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(steps)))
		return err
	})
}

// version returns how many steps a database has. More than this program knows are an
// error: it would write what a newer program cannot read.
func version(ctx context.Context, db Querier, path string, steps []string) (int, error) {
	done, err := Column[int](ctx, db, `PRAGMA user_version`)
	if err != nil {
		return 0, err
	}
	if done[0] > len(steps) {
		err = fmt.Errorf("%s has version %d, and this program can read versions up to %d: start the newer program that upgraded it, or restore the folder from a backup made before", path, done[0], len(steps))
	}
	return done[0], err
}
