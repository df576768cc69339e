package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

// ErrFull means that the disk has hardly any room left.
var ErrFull = errors.New("the disk is nearly full")

// Room is what uploads leave free on the disk, unless Store.Room is something else.
const Room = 100_000_000

// promise takes room on the disk for bytes that will be written. ErrFull means that less than uploads leave
// would be left.
func (s *Store) promise(bytes int64) error {
	s.room.Lock()
	defer s.room.Unlock()
	free, total, err := s.Disk()
	if err == nil && total > 0 && free-s.promised.Load()-bytes < s.Room {
		err = ErrFull
	}
	if err == nil {
		s.promised.Add(bytes)
	}
	return err
}

// Healthy returns an error if the store cannot do its work: the database cannot be
// written, or the disk is nearly full.
func (s *Store) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err := s.promise(0)
	if err == nil {
		err = sqlite.Reserve(s.folder)
	}
	// it begins by taking the lock of writers
	return errors.Join(err, sqlite.Change(ctx, s.db, func(*sql.Tx) error { return nil }))
}

// Totals are how much of everything there is.
type Totals struct {
	Datasets, Waiting, Failed, Accesses int64
	Files, Bytes                        int64
	Counted, Displayed                  Used // in all months; by the records of the service
}

// Totals counts what the store has.
func (s *Store) Totals(ctx context.Context) (t Totals, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM dataset), (SELECT count(*) FROM outbox), (SELECT count(*) FROM outbox WHERE tries > 0), (SELECT count(*) FROM access),
		(SELECT coalesce(sum(views), 0) FROM used), (SELECT coalesce(sum(downloads), 0) FROM used),
		(SELECT coalesce(sum(views), 0) FROM displayed), (SELECT coalesce(sum(downloads), 0) FROM displayed)`).
		Scan(&t.Datasets, &t.Waiting, &t.Failed, &t.Accesses, &t.Counted.Views, &t.Counted.Downloads, &t.Displayed.Views,
			&t.Displayed.Downloads)
	if err != nil {
		return t, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(size), 0) FROM (
		SELECT DISTINCT value ->> 'SHA256', value ->> 'Size' AS size FROM version, json_each(version.files))`).Scan(&t.Files,
		&t.Bytes)
	return t, err
}
