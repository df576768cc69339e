// Package accounts knows the curators: their passwords, as hashes, and their sessions.
// A repository with a single sign-on has another package in its place.
package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

var (
	// ErrWrong means that the name or the password is wrong.
	ErrWrong = errors.New("the name or the password is wrong")
	// ErrTooMany means that somebody has tried too often.
	ErrTooMany = errors.New("too many wrong passwords; try again in a quarter of an hour")
	// ErrPassword means that a password is too short or too long.
	ErrPassword = fmt.Errorf("a password has %d characters or more, and %d bytes at most", minPassword, maxPassword)
)

const (
	minPassword = 12
	maxPassword = 72 // bcrypt reads no more
	lifetime    = 12 * time.Hour
	maxWrong    = 10 // from one address, in the pause
	pause       = 15 * time.Minute
)

// steps brought the database from nothing to its present form; see package store.
var steps = []string{`
CREATE TABLE IF NOT EXISTS curator (name TEXT PRIMARY KEY, hash BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS session (
	token   BLOB PRIMARY KEY, -- hash of what the browser has
	curator TEXT NOT NULL REFERENCES curator ON DELETE CASCADE,
	expires INTEGER NOT NULL  -- seconds since 1970
);
`, `ALTER TABLE curator ADD COLUMN administrator INTEGER NOT NULL DEFAULT 0`}

// Accounts are the curators of a repository.
type Accounts struct {
	db    *sql.DB
	cost  int
	busy  chan struct{} // bcrypt takes a processor for a quarter of a second
	decoy []byte        // compared with when the name is unknown, so that both take the same time

	mu    sync.Mutex
	wrong map[string][]time.Time // by address
}

// Open opens the database of the accounts. The cost is that of bcrypt; 0 means 12.
func Open(path string, cost int) (*Accounts, error) {
	if cost == 0 {
		cost = 12
	}
	decoy, err := bcrypt.GenerateFromPassword([]byte(rand.Text()), cost)
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(path, steps...)
	if err != nil {
		return nil, err
	}
	return &Accounts{db: db, cost: cost, busy: make(chan struct{}, 2), decoy: decoy, wrong: map[string][]time.Time{}}, nil
}

// Close closes the database.
func (a *Accounts) Close() error { return a.db.Close() }

// Add adds a curator, or gives one that exists another password and ends the sessions.
func (a *Accounts) Add(ctx context.Context, name, password string) error {
	if utf8.RuneCountInString(password) < minPassword || len(password) > maxPassword {
		return ErrPassword
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), a.cost)
	if err != nil {
		return err
	}
	return sqlite.Change(ctx, a.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM session WHERE curator = ?`, name); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO curator (name, hash) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET hash = ?2`, name, hash)
		return err
	})
}

// A Curator is somebody who may log in.
type Curator struct {
	Name          string
	Administrator bool // sees how the repository works, and may have failed work tried again
}

// Curators returns all curators.
func (a *Accounts) Curators(ctx context.Context) (all []Curator, err error) {
	rows, err := a.db.QueryContext(ctx, `SELECT name, administrator FROM curator ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Curator
		if err := rows.Scan(&c.Name, &c.Administrator); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// SetAdministrator makes a curator an administrator, or no longer.
func (a *Accounts) SetAdministrator(ctx context.Context, name string, administrator bool) error {
	return a.one(ctx, name, `UPDATE curator SET administrator = ?2 WHERE name = ?1`, name, administrator)
}

// Remove ends an account and its sessions. The datasets stay.
func (a *Accounts) Remove(ctx context.Context, name string) error {
	return a.one(ctx, name, `DELETE FROM curator WHERE name = ?1`, name)
}

// one changes the curator with this name.
func (a *Accounts) one(ctx context.Context, name, statement string, args ...any) error {
	res, err := a.db.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fmt.Errorf("there is no curator %q", name))
	}
	return nil
}

// Login begins a session and returns its token, or ErrWrong, or ErrTooMany if the
// address has tried too often.
func (a *Accounts) Login(ctx context.Context, name, password, address string) (token string, err error) {
	if err := a.check(ctx, name, password, address); err != nil {
		return "", err
	}
	token = rand.Text()
	_, err = a.db.ExecContext(ctx, `INSERT INTO session VALUES (?, ?, ?)`, hash(token), name, time.Now().Add(lifetime).Unix())
	if err == nil {
		_, err = a.db.ExecContext(ctx, `DELETE FROM session WHERE expires < ?`, time.Now().Unix())
	}
	return token, err
}

// Change gives a curator another password. All sessions end.
func (a *Accounts) Change(ctx context.Context, name, old, password, address string) error {
	if err := a.check(ctx, name, old, address); err != nil {
		return err
	}
	return a.Add(ctx, name, password)
}

// Curator returns the curator whose session has this token, nobody if there is no such session.
func (a *Accounts) Curator(ctx context.Context, token string) (c Curator, err error) {
	err = a.db.QueryRowContext(ctx, `SELECT name, administrator FROM session JOIN curator ON name = curator WHERE token = ? AND expires >= ?`,
		hash(token), time.Now().Unix()).Scan(&c.Name, &c.Administrator)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return c, err
}

// Logout ends a session.
func (a *Accounts) Logout(ctx context.Context, token string) error {
	_, err := a.db.ExecContext(ctx, `DELETE FROM session WHERE token = ?`, hash(token))
	return err
}

// hash needs no salt: a token is as random as a key.
func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// check tells whether a password is right, not too often for the same address.
func (a *Accounts) check(ctx context.Context, name, password, address string) error {
	if a.tried(address, false) >= maxWrong {
		return ErrTooMany
	}
	var stored []byte
	switch err := a.db.QueryRowContext(ctx, `SELECT hash FROM curator WHERE name = ?`, name).Scan(&stored); {
	case errors.Is(err, sql.ErrNoRows):
		stored = a.decoy
	case err != nil:
		return err
	}
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if bcrypt.CompareHashAndPassword(stored, []byte(password)) != nil {
		a.tried(address, true)
		return ErrWrong
	}
	return nil
}

// tried returns how many wrong passwords came from an address lately. They are known
// in memory only.
func (a *Accounts) tried(address string, again bool) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if again {
		a.wrong[address] = append(a.wrong[address], now)
	}
	for from, times := range a.wrong {
		for len(times) > 0 && now.Sub(times[0]) > pause {
			times = times[1:]
		}
		if a.wrong[from] = times; len(times) == 0 {
			delete(a.wrong, from)
		}
	}
	return len(a.wrong[address])
}
