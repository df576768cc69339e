// Package accounts keeps the curators, the hashes of their passwords, and their sessions.
// Replace it if you have single sign-on.
package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

var (
	// ErrWrong means that the name or the password is wrong.
	ErrWrong = errors.New("the name or the password is wrong")
	// ErrTooMany means too many wrong passwords.
	ErrTooMany = errors.New("too many wrong passwords; try again in a quarter of an hour")
	// ErrBusy means too many logins at the same time.
	ErrBusy = errors.New("too many logins at the same time; try again in a minute")
	// ErrName means that a login cannot have this name.
	ErrName = errors.New("a login name has 1 to 100 printable characters and no spaces at its ends")
	// ErrPassword means that a password is too short or too long.
	ErrPassword = fmt.Errorf("a password has at least %d characters and at most %d bytes", minPassword, maxPassword)
)

// Remembered is how long a browser stays known after a login.
const Remembered = 180 * 24 * time.Hour

const (
	maxName     = 100
	minPassword = 12
	maxPassword = 72 // bcrypt reads no more
	lifetime    = 12 * time.Hour
)

// steps brought the database from nothing to its present form; see package store.
var steps = []string{`
CREATE TABLE IF NOT EXISTS curator (name TEXT PRIMARY KEY, hash BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS session (
	token   BLOB PRIMARY KEY, -- hash of what the browser has
	curator TEXT NOT NULL REFERENCES curator ON DELETE CASCADE,
	expires INTEGER NOT NULL  -- seconds since 1970
);
`, `ALTER TABLE curator ADD COLUMN administrator INTEGER NOT NULL DEFAULT 0`, `
-- Browsers in which a curator has logged in.
CREATE TABLE browser (
	token   BLOB PRIMARY KEY, -- hash of what the browser has
	curator TEXT NOT NULL REFERENCES curator ON DELETE CASCADE,
	expires INTEGER NOT NULL  -- seconds since 1970
);
`}

// Accounts are the curators of a repository.
type Accounts struct {
	db    *sqlite.DB
	cost  int
	decoy func() []byte // compared with when the name is unknown, so that both take the same time
	tries *tries
}

// Open opens the database of the accounts. The cost is that of bcrypt; 0 means 12.
func Open(path string, cost int) (*Accounts, error) {
	cost = cmp.Or(cost, 12)
	decoy := sync.OnceValue(func() []byte {
		hash, _ := bcrypt.GenerateFromPassword([]byte(rand.Text()), cost) // an error for wrong costs
		return hash
	})
	db, err := sqlite.Open(path, steps...)
	if err != nil {
		return nil, err
	}
	return &Accounts{db: db, cost: cost, decoy: decoy, tries: newTries()}, nil
}

// Close closes the database.
func (a *Accounts) Close() error { return a.db.Close() }

// Add adds a curator, or gives one that exists another password and ends the sessions.
func (a *Accounts) Add(ctx context.Context, name, password string) error {
	if name == "" || utf8.RuneCountInString(name) > maxName || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return ErrName
	}
	return a.set(ctx, `INSERT INTO curator (name, hash) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET hash = ?2`, name,
		password)
}

// set stores a password, unless the statement changes nothing, and ends the sessions.
func (a *Accounts) set(ctx context.Context, statement, name, password string, args ...any) error {
	if utf8.RuneCountInString(password) < minPassword || len(password) > maxPassword {
		return ErrPassword
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), a.cost)
	if err != nil {
		return err
	}
	return sqlite.Change(ctx, a.db, func(tx *sql.Tx) error {
		if err := sqlite.Do(ctx, tx, `DELETE FROM session WHERE curator = ?`, name); err != nil {
			return err
		}
		return changed(tx.ExecContext(ctx, statement, append([]any{name, hash}, args...)...))
	})
}

// A Curator is somebody who may log in.
type Curator struct {
	Name          string
	Administrator bool // sees how the repository works, and may have failed work tried again
}

// Curators returns all curators.
func (a *Accounts) Curators(ctx context.Context) ([]Curator, error) {
	return sqlite.All(ctx, a.db, func(row *sql.Rows, c *Curator) error { return row.Scan(&c.Name, &c.Administrator) },
		`SELECT name, administrator FROM curator ORDER BY name`)
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
	if err := a.Exists(ctx, name); err != nil {
		return err
	}
	return sqlite.Do(ctx, a.db, statement, args...)
}

// changed is ErrWrong if a statement changed no row: the password was changed since it was
// compared.
func changed(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrWrong)
	}
	return nil
}

// Exists is an error if there is no curator of this name.
func (a *Accounts) Exists(ctx context.Context, name string) error {
	var exists bool
	err := a.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM curator WHERE name = ?)`, name).Scan(&exists)
	if err == nil && !exists {
		err = fmt.Errorf("there is no curator %q", name)
	}
	return err
}

// Login begins a session and returns its token, and one by which the browser is known the
// next time. The error is ErrWrong, ErrTooMany if too many wrong passwords came from there, or
// ErrBusy.
func (a *Accounts) Login(ctx context.Context, name, password string, from From) (session, browser string, err error) {
	stored, err := a.check(ctx, name, password, from)
	if err != nil {
		return "", "", err
	}
	return a.begin(ctx, name, stored, from)
}

// begin creates a session, unless the password has changed since it was compared.
func (a *Accounts) begin(ctx context.Context, name string, stored []byte,
	from From) (session, browser string, err error) {
	session, browser = rand.Text(), rand.Text()
	now := time.Now()
	work := func(tx *sql.Tx) error {
		for _, forget := range []string{`DELETE FROM session WHERE expires < ?1`,
			`DELETE FROM browser WHERE expires < ?1 OR token = ?2`} {
			if err := sqlite.Do(ctx, tx, forget, now.Unix(), hash(from.Browser)); err != nil {
				return err
			}
		}
		if err := sqlite.Do(ctx, tx, `INSERT INTO browser SELECT ?, name, ? FROM curator WHERE name = ?`, hash(browser),
			now.Add(Remembered).Unix(), name); err != nil {
			return err
		}
		return changed(tx.ExecContext(ctx, `INSERT INTO session SELECT ?, name, ? FROM curator WHERE name = ? AND hash = ?`,
			hash(session), now.Add(lifetime).Unix(), name, stored))
	}
	return session, browser, a.db.Freeing(func() error { return sqlite.Change(ctx, a.db, work) })
}

// Change gives a curator another password. All sessions end.
func (a *Accounts) Change(ctx context.Context, name, old, password string, from From) error {
	stored, err := a.check(ctx, name, old, from)
	if err != nil {
		return err
	}
	return a.set(ctx, replace, name, password, stored)
}

const replace = `UPDATE curator SET hash = ?2 WHERE name = ?1 AND hash = ?3`

// Curator returns the curator whose session has this token, nobody if there is no such
// session. If the clock has stepped back, sessions do not last longer: they end.
func (a *Accounts) Curator(ctx context.Context, token string) (c Curator, err error) {
	now := time.Now()
	err = a.db.QueryRowContext(ctx, `SELECT name, administrator FROM session JOIN curator ON name = curator WHERE token `+
		`= ? AND expires BETWEEN ? AND ?`,
		hash(token), now.Unix(), now.Add(lifetime).Unix()).Scan(&c.Name, &c.Administrator)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return c, err
}

// Logout ends a session.
func (a *Accounts) Logout(ctx context.Context, token string) error {
	return sqlite.Do(ctx, a.db, `DELETE FROM session WHERE token = ?`, hash(token))
}

// hash needs no salt: a token is as random as a key.
func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// check compares a password, and returns the hash that it has.
func (a *Accounts) check(ctx context.Context, name, password string, from From) (stored []byte, err error) {
	var known bool
	err = a.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM browser WHERE token = ? AND curator = ? AND expires `+
		`>= ?)`, hash(from.Browser), name, time.Now().Unix()).Scan(&known)
	if err != nil {
		return nil, err
	}
	who := from.Address
	if known {
		who = "browser " + from.Browser
	}
	end, err := a.tries.begin(ctx, who, known)
	if err != nil {
		return nil, err
	}
	right, decoy := false, a.decoy() // the first time for any name
	defer func() { end(right) }()
	switch err := a.db.QueryRowContext(ctx, `SELECT hash FROM curator WHERE name = ?`, name).Scan(&stored); {
	case errors.Is(err, sql.ErrNoRows):
		stored = decoy
	case err != nil:
		return nil, err
	}
	right = bcrypt.CompareHashAndPassword(stored, []byte(password)) == nil && len(password) <= maxPassword
	if !right {
		return nil, ErrWrong
	}
	return stored, nil
}
