package sqlite

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	driver "modernc.org/sqlite"
)

// pathVariable names a database that a child of the test upgrades, and killVariable has
// an x for each call of kill() until it dies.
const (
	pathVariable = "SQLITE_PATH"
	killVariable = "SQLITE_KILL"
)

var (
	first = `CREATE TABLE stone (name TEXT NOT NULL, photograph BLOB)`
	both  = []string{first, `ALTER TABLE stone ADD COLUMN weight INTEGER NOT NULL DEFAULT 1; UPDATE stone SET weight = kill(name)`}
)

func TestMain(m *testing.M) {
	calls, at := 0, len(os.Getenv(killVariable))
	driver.MustRegisterDeterministicScalarFunction("kill", 1, func(*driver.FunctionContext, []sqldriver.Value) (sqldriver.Value, error) {
		if calls++; calls == at {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
		}
		return int64(7), nil
	})
	if path := os.Getenv(pathVariable); path != "" {
		_, _ = Open(path, both...)
		return
	}
	os.Exit(m.Run())
}

func stones(t *testing.T, db *DB) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM stone`).Scan(&n))
	return n
}

// made returns the path of a database of the first version with some rows.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stones.db")
	db, err := Open(path, both[:1]...)
	require.NoError(t, err)
	for _, name := range []string{"gneiss", "granite", "basalt"} {
		_, err = db.ExecContext(t.Context(), `INSERT INTO stone VALUES (?, zeroblob(4000000))`, name)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is copied when a database is made")
	return path
}

func TestUpgrade(t *testing.T) {
	path := made(t)
	require.NoError(t, os.WriteFile(path+".version-1.unfinished", []byte("of a copy that broke off"), 0o644))
	db, err := Open(path, both...)
	require.NoError(t, err)
	var weight int
	require.NoError(t, db.QueryRow(`SELECT sum(weight) FROM stone`).Scan(&weight))
	assert.Equal(t, 21, weight)
	require.NoError(t, db.Close())
	assert.NoFileExists(t, path+".version-1.unfinished")

	// The program before the upgrade refuses it, and works with the copy.
	_, err = Open(path, both[:1]...)
	assert.ErrorContains(t, err, path+" has version 2, and this program can read versions up to 1: start the newer program")
	info, err := os.Stat(path + ".version-1")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	db, err = Open(path+".version-1", both[:1]...)
	require.NoError(t, err)
	assert.Equal(t, 3, stones(t, db))
	require.NoError(t, db.Close())
}

func TestAStepThatFails(t *testing.T) {
	path := made(t)
	_, err := Open(path, both[0], both[1], `CREATE TABLE stone (again)`)
	assert.ErrorContains(t, err, "was not upgraded: step 3: ")
	db, err := Open(path, both[:1]...)
	require.NoError(t, err, "none of the steps was done")
	assert.Equal(t, 3, stones(t, db))
	require.NoError(t, db.Close())
}

// Whenever an upgrade is killed, while it copies or between two rows that it changes, the
// next one begins again, with the same result.
func TestKilledInTheMiddleOfAnUpgrade(t *testing.T) {
	child := func(path, at string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), pathVariable+"="+path, killVariable+"="+at)
		return c
	}
	check := func(path string) {
		t.Helper()
		old, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		var version int
		require.NoError(t, old.QueryRow(`PRAGMA user_version`).Scan(&version))
		assert.Equal(t, 1, version, "it is as it was")
		require.NoError(t, old.Close())

		db, err := Open(path, both...)
		require.NoError(t, err)
		var weight int
		require.NoError(t, db.QueryRow(`SELECT sum(weight) FROM stone`).Scan(&weight))
		assert.Equal(t, 21, weight)
		require.NoError(t, db.Close())
		db, err = Open(path+".version-1", both[:1]...)
		require.NoError(t, err)
		assert.Equal(t, 3, stones(t, db))
		require.NoError(t, db.Close())
		entries, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		assert.Len(t, entries, 2, "nothing else is left")
	}
	for _, at := range []string{"x", "xx", "xxx"} {
		path := made(t)
		require.ErrorContains(t, child(path, at).Run(), "killed")
		check(path)
	}
	for copying := false; !copying; {
		path := made(t)
		c := child(path, "")
		require.NoError(t, c.Start())
		for ; !copying; time.Sleep(time.Millisecond) {
			info, err := os.Stat(path + ".version-1.unfinished")
			copying = err == nil && info.Size() > 0
			if _, err := os.Stat(path + ".version-1"); err == nil {
				break // too late: once more
			}
		}
		require.NoError(t, c.Process.Kill())
		_ = c.Wait()
		if _, err := os.Stat(path + ".version-1.unfinished"); err != nil {
			copying = false
			continue
		}
		check(path)
	}
}
