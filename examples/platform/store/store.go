// Package store keeps datasets, their files, and the outbox of what must be registered. Every
// confirmed change survives a crash at any moment.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

var (
	// ErrNotFound means that there is no such dataset.
	ErrNotFound = errors.New("not found")
	// ErrChanged means that somebody else changed the dataset in the meantime.
	ErrChanged = errors.New("the dataset has changed in the meantime")
	// ErrSent means that a form was sent before.
	ErrSent = errors.New("the form was sent before")
)

// A Store is the repository's own database, and the folder of its files.
type Store struct {
	db     *sqlite.DB
	folder string
	Room   int64                      // bytes of the disk that uploads leave free
	lock   *flock.Flock               // held by the process that has the folder
	choose func(prefix string) string // a DOI at random

	public atomic.Int64 // see Public

	room     sync.Mutex   // of whoever takes room on the disk
	promised atomic.Int64 // bytes of the disk that arriving files have taken, and not written yet

	mu       sync.Mutex     // of the folder of files
	arriving map[string]int // files that were received, and not released, by hash
}

// Open opens the store in a folder, which it creates if necessary. Other accounts of the machine
// must not be able to read the folder. Only one process at a time may open it, since Open removes
// files that belong to no version.
func Open(folder string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(folder, "files"), 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may read %s, where drafts are kept: run chmod 700 %[1]s", folder)
	}
	lock, err := take(folder)
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(filepath.Join(folder, database), steps...)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	s := &Store{db: db, folder: folder, Room: Room, lock: lock, choose: doi.New, arriving: map[string]int{}}
	err = errors.Join(s.reindex(context.Background()), s.sweep())
	if reserving := sqlite.Reserve(folder); !sqlite.Full(reserving) { // a full disk is what Healthy reports
		err = errors.Join(err, reserving)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// take locks a folder for this process.
func take(folder string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(folder, "lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err == nil && !got {
		err = fmt.Errorf("another process uses %s; stop it first", folder)
	}
	return lock, err
}

// database is the file name of the store's database.
const database = "platform.db"

// Close closes the database and unlocks the folder.
func (s *Store) Close() error { return errors.Join(s.db.Close(), s.lock.Unlock()) }

// One statement, so that a dataset and its versions are of the same moment.
const columns = `SELECT d.id, d.owner, d.doi, d.claimed, d.revision, o.dataset IS NOT NULL, coalesce(o.due, 0), coalesce(o.tries, 0), coalesce(o.problem, ''),
	v.number, v.doi, v.claimed, v.state, v.shown, v.published, v.withdrawn, v.reason, v.review, v.revision, v.about, v.files
	FROM dataset d JOIN version v ON v.dataset = d.id LEFT JOIN outbox o ON o.dataset = d.id `

// datasets returns the datasets that match a condition, newest first unless the condition has
// an order, in which the rows of a dataset must be adjacent.
func datasets(ctx context.Context, db sqlite.Querier, condition string,
	args ...any) (all []*dataset.Dataset, err error) {
	if !strings.Contains(condition, "ORDER BY o.due") {
		condition += " ORDER BY d.id DESC, v.number"
	}
	rows, err := sqlite.All(ctx, db, scanVersion, columns+condition, args...)
	for _, d := range rows {
		if len(all) == 0 || all[len(all)-1].ID != d.ID {
			all = append(all, d)
		} else {
			last := all[len(all)-1]
			last.Versions = append(last.Versions, d.Versions...)
		}
	}
	return all, err
}

// scanVersion reads a dataset with one of its versions.
func scanVersion(row *sql.Rows, into **dataset.Dataset) error {
	var d dataset.Dataset
	var v dataset.Version
	var about, files []byte
	var due int64
	if err := row.Scan(&d.ID, &d.Owner, &d.DOI, &d.Claimed, &d.Revision, &d.Pending, &due, &d.Tries, &d.Problem,
		&v.Number, &v.DOI, &v.Claimed, &v.State, &v.Shown, &v.Published, &v.Withdrawn, &v.Reason, &v.Review, &v.Revision, &about, &files); err != nil {
		return err
	}
	v.Dataset, d.Due, d.Versions, *into = d.ID, time.UnixMilli(due), []*dataset.Version{&v}, &d
	return errors.Join(json.Unmarshal(about, &v.About), json.Unmarshal(files, &v.Files))
}

// Dataset returns a dataset, or ErrNotFound.
func (s *Store) Dataset(ctx context.Context, id int64) (*dataset.Dataset, error) {
	return one(ctx, s.db, "WHERE d.id = ?", id)
}

// Find returns the dataset that has a DOI with a suffix, and the version, which is nil for
// the concept DOI; or ErrNotFound.
func (s *Store) Find(ctx context.Context, suffix string) (*dataset.Dataset, *dataset.Version, error) {
	d, err := one(ctx, s.db, "WHERE d.id IN (SELECT id FROM dataset WHERE "+suffixOf+
		" = ?1 UNION SELECT dataset FROM version WHERE "+suffixOf+" = ?1)", suffix)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range d.Versions {
		if strings.HasSuffix(v.DOI, "/"+suffix) {
			return d, v, nil
		}
	}
	return d, nil, nil
}

// Numbered returns the dataset that had a number in its address, before addresses had the
// suffix of the DOI, and its version, which is nil for the number 0; or ErrNotFound.
func (s *Store) Numbered(ctx context.Context, id int64, number int) (*dataset.Dataset, *dataset.Version, error) {
	d, err := one(ctx, s.db, "WHERE d.id IN (SELECT dataset FROM version WHERE numbered AND dataset = ?1 AND ?2 IN (0, "+
		"number))", id, number)
	if err != nil {
		return nil, nil, err
	}
	return d, d.Version(number), nil
}

// UnderReview returns the draft that has a secret address for reviewers, or ErrNotFound.
func (s *Store) UnderReview(ctx context.Context, secret string) (*dataset.Dataset, *dataset.Version, error) {
	d, err := one(ctx, s.db, "WHERE d.id = (SELECT dataset FROM version WHERE review = ? AND review <> '' AND state = "+
		"'draft')", secret)
	if err != nil {
		return nil, nil, err
	}
	return d, d.Last(), nil
}

func one(ctx context.Context, db sqlite.Querier, condition string, args ...any) (*dataset.Dataset, error) {
	found, err := datasets(ctx, db, condition, args...)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// AllPublic returns the datasets that have a DOI, or will have one soon.
func (s *Store) AllPublic(ctx context.Context) ([]*dataset.Dataset, error) {
	return datasets(ctx, s.db, "WHERE d.id IN (SELECT dataset FROM version WHERE state <> 'draft')")
}

// Create stores a new dataset with a draft of its first version and new DOIs, and returns its
// id. If the owner has a dataset of the same form already, it returns the id of that and ErrSent;
// "" is no form.
func (s *Store) Create(ctx context.Context, owner, form, prefix string, about dataset.About) (id int64, err error) {
	err = sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		ids, err := sqlite.Column[int64](ctx, tx, `SELECT id FROM dataset WHERE owner = ? AND form = ? AND form <> ''`, owner,
			form)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			id = ids[0]
			return ErrSent
		}
		name, err := s.newName(ctx, tx, prefix)
		if err != nil {
			return err
		}
		ids, err = sqlite.Column[int64](ctx, tx, `INSERT INTO dataset (owner, form, doi) VALUES (?, ?, ?) RETURNING id`,
			owner, form, name)
		if err != nil {
			return err
		}
		id = ids[0]
		return s.insertVersion(ctx, tx, prefix, &dataset.Version{Dataset: id, Number: 1, About: about})
	})
	return id, err
}

// suffixOf is the suffix of a DOI, which has an index.
const suffixOf = "substr(doi, instr(doi, '/') + 1)"

// newName chooses a DOI whose suffix is not in use. Among 100,000 datasets, one choice in 5,000
// is in use.
func (s *Store) newName(ctx context.Context, tx *sql.Tx, prefix string) (name string, err error) {
	for used := true; used && err == nil; {
		name = s.choose(prefix)
		_, suffix := doi.Split(name)
		err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM dataset WHERE "+suffixOf+
			" = ?1) OR EXISTS (SELECT 1 FROM version WHERE "+suffixOf+" = ?1)", suffix).Scan(&used)
	}
	return name, err
}

func (s *Store) insertVersion(ctx context.Context, tx *sql.Tx, prefix string, v *dataset.Version) error {
	name, err := s.newName(ctx, tx, prefix)
	about, err1 := json.Marshal(v.About)
	files, err2 := json.Marshal(append([]dataset.File{}, v.Files...))
	if err := errors.Join(err, err1, err2); err != nil {
		return err
	}
	if err = sqlite.Do(ctx, tx, `INSERT INTO version (dataset, number, doi, about, files) VALUES (?, ?, ?, ?, ?)`,
		v.Dataset, v.Number, name, about, files); err != nil {
		return err
	}
	return enqueue(ctx, tx, v.Dataset) // which reserves the DOI
}

// change changes a dataset, unless it was changed since it was read. A public change is put
// into the outbox and the index in the same transaction.
func (s *Store) change(ctx context.Context, d *dataset.Dataset, public bool, work func(*sql.Tx) error) error {
	return s.commit(ctx, func(tx *sql.Tx) error {
		current, err := sqlite.Column[int](ctx, tx, `SELECT revision FROM dataset WHERE id = ?`, d.ID)
		if err != nil {
			return err
		}
		if !slices.Equal(current, []int{d.Revision}) {
			return ErrChanged
		}
		if err := work(tx); err != nil {
			return err
		}
		return s.touch(ctx, tx, d.ID, public)
	})
}

// commit runs a transaction that may change public pages.
func (s *Store) commit(ctx context.Context, work func(*sql.Tx) error) error {
	defer s.public.Add(1) // afterwards: whoever sees the new number sees the change
	return sqlite.Change(ctx, s.db, work)
}

// Public returns a number that grows with each change of public pages.
func (s *Store) Public() int64 { return s.public.Load() }

// touch increases the revision of a dataset.
func (s *Store) touch(ctx context.Context, tx *sql.Tx, id int64, public bool) error {
	err := sqlite.Do(ctx, tx, `UPDATE dataset SET revision = revision + 1, changed = iif(?, ?, changed) WHERE id = ?`,
		public, time.Now().UTC().Format(time.RFC3339), id)
	if err != nil || !public {
		return err
	}
	return errors.Join(enqueue(ctx, tx, id), index(ctx, tx, id))
}

// Edit stores the metadata of a version, unless they were edited since the version was read.
// Other changes, such as an upload, do not conflict with it.
func (s *Store) Edit(ctx context.Context, v *dataset.Version, about dataset.About) error {
	data, err := json.Marshal(about)
	if err != nil {
		return err
	}
	return s.commit(ctx, func(tx *sql.Tx) error {
		states, err := sqlite.Column[dataset.State](ctx, tx,
			`UPDATE version SET about = ?, revision = revision + 1 WHERE dataset = ? AND number = ? AND revision = ? `+
				`RETURNING state`,
			data, v.Dataset, v.Number, v.Revision)
		if err != nil {
			return err
		}
		if len(states) == 0 {
			return ErrChanged
		}
		return s.touch(ctx, tx, v.Dataset, states[0] != dataset.Draft)
	})
}

// AddVersion adds a draft with metadata and files of the last version, which is not a draft.
func (s *Store) AddVersion(ctx context.Context, d *dataset.Dataset, prefix string) error {
	next := &dataset.Version{Dataset: d.ID, Number: d.Last().Number + 1, About: d.Last().About, Files: d.Last().Files}
	if !next.Embargoed(time.Now()) {
		next.About.Embargo = "" // it is over
	}
	return s.change(ctx, d, false, func(tx *sql.Tx) error { return s.insertVersion(ctx, tx, prefix, next) })
}

// Discard removes the draft that is the last version, and a dataset that had no other. Files
// that only the draft has are deleted.
func (s *Store) Discard(ctx context.Context, d *dataset.Dataset) error {
	err := s.db.Freeing(func() error {
		return s.change(ctx, d, false, func(tx *sql.Tx) error {
			err := sqlite.Do(ctx, tx, `DELETE FROM version WHERE dataset = ? AND number = ? AND state = 'draft'`, d.ID,
				d.Last().Number)
			if err != nil || len(d.Versions) > 1 {
				return err
			}
			return sqlite.Do(ctx, tx, `DELETE FROM outbox WHERE dataset = ?1; DELETE FROM dataset WHERE id = ?1`, d.ID)
		})
	})
	if err != nil {
		return err
	}
	return s.drop(ctx, d.Last().Files)
}

// ChangeFiles changes the list of files of a draft. The work gets the current list, so that
// parallel uploads do not conflict. Files that no version has any more are deleted.
func (s *Store) ChangeFiles(ctx context.Context, v *dataset.Version,
	work func([]dataset.File) ([]dataset.File, error)) error {
	return s.contents(ctx, v, dataset.Draft, func(v *dataset.Version) (err error) {
		v.Files, err = work(slices.Clone(v.Files))
		return err
	})
}

// Erase deletes the files and the description of a withdrawn version, also from the free pages
// of the database.
func (s *Store) Erase(ctx context.Context, v *dataset.Version) error {
	err := s.contents(ctx, v, dataset.Withdrawn, func(v *dataset.Version) error {
		v.Files, v.About = nil, v.Says()
		return nil
	})
	if err != nil {
		return err
	}
	return sqlite.Do(ctx, s.db, `PRAGMA wal_checkpoint(TRUNCATE)`) // readers that are busy delay it until the next one
}

// contents changes files and metadata of a version that has a state.
func (s *Store) contents(ctx context.Context, v *dataset.Version, state dataset.State,
	work func(*dataset.Version) error) error {
	if err := sqlite.SyncFolder(filepath.Join(s.folder, "files")); err != nil { // once for all that were received
		return err
	}
	var before, after []dataset.File
	err := s.db.Freeing(func() error {
		return s.commit(ctx, func(tx *sql.Tx) error {
			d, err := one(ctx, tx, "WHERE d.id = ?", v.Dataset)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			if d == nil || d.Version(v.Number) == nil || d.Version(v.Number).State != state {
				return ErrChanged
			}
			now := d.Version(v.Number)
			before = now.Files
			if err := work(now); err != nil {
				return err
			}
			after = now.Files
			about, err1 := json.Marshal(now.About)
			files, err2 := json.Marshal(append([]dataset.File{}, after...))
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if err := sqlite.Do(ctx, tx, `UPDATE version SET about = ?, files = ? WHERE dataset = ? AND number = ?`, about,
				files, v.Dataset, v.Number); err != nil {
				return err
			}
			return s.touch(ctx, tx, v.Dataset, state != dataset.Draft)
		})
	})
	if err != nil {
		return err
	}
	return s.drop(ctx, slices.DeleteFunc(slices.Clone(before), func(f dataset.File) bool {
		return slices.Contains(after, f)
	}))
}

// Decide stores the state of a version, its date and its reason.
func (s *Store) Decide(ctx context.Context, d *dataset.Dataset, decided *dataset.Version) error {
	return s.change(ctx, d, true, func(tx *sql.Tx) error {
		return sqlite.Do(ctx, tx, `UPDATE version SET state = ?, reason = ?, withdrawn = ?, published = ? WHERE dataset = `+
			`? AND number = ?`,
			decided.State, decided.Reason, decided.Withdrawn, decided.Published, d.ID, decided.Number)
	})
}

// SetReview sets the secret address of a draft for reviewers; "" removes it.
func (s *Store) SetReview(ctx context.Context, d *dataset.Dataset, draft *dataset.Version, secret string) error {
	return s.change(ctx, d, false, func(tx *sql.Tx) error {
		return sqlite.Do(ctx, tx, `UPDATE version SET review = ? WHERE dataset = ? AND number = ? AND state = 'draft'`,
			secret, d.ID, draft.Number)
	})
}

// Give transfers all datasets of a curator to another one, and returns their number.
func (s *Store) Give(ctx context.Context, from, to string) (given int64, err error) {
	res, err := s.db.ExecContext(ctx, `UPDATE dataset SET owner = ?, form = '', revision = revision + 1 WHERE owner = ?`,
		to, from)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
