package accounts

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"
)

const right = "a password of the tests"

func opened(t *testing.T) *Accounts {
	t.Helper()
	a, err := Open(filepath.Join(t.TempDir(), "accounts.db"), bcrypt.MinCost)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close()) })
	require.NoError(t, a.Add(t.Context(), "ada", right))
	require.NoError(t, a.Add(t.Context(), "eve", right))
	return a
}

// While others compare as much as the machine can, from any number of networks, and more of
// them wait than may, the owner of an account logs in where they did before.
func TestTheOwnerGetsIn(t *testing.T) {
	a := opened(t)
	_, browser, err := a.Login(t.Context(), "ada", right, From{Address: "192.0.2.1"})
	require.NoError(t, err)
	others := a.tries.turn[false]
	for range cap(others) {
		others <- struct{}{}
	}
	a.tries.waiting = maxWaiting
	for range maxWrong {
		a.tries.lately["192.0.2.1"] = append(a.tries.lately["192.0.2.1"], time.Now())
	}
	_, _, err = a.Login(t.Context(), "ada", right, From{Address: "192.0.2.2"})
	assert.ErrorIs(t, err, ErrBusy)
	_, _, err = a.Login(t.Context(), "ada", right, From{Address: "192.0.2.1"})
	assert.ErrorIs(t, err, ErrTooMany)
	_, browser, err = a.Login(t.Context(), "ada", right, From{Address: "192.0.2.1", Browser: browser})
	assert.NoError(t, err)

	// The browser of one curator gives no tries at the account of another one.
	_, _, err = a.Login(t.Context(), "eve", right, From{Address: "192.0.2.1", Browser: browser})
	assert.ErrorIs(t, err, ErrTooMany)
	for range maxWrong {
		_, _, err = a.Login(t.Context(), "ada", "a guess of a thief", From{Address: "192.0.2.1", Browser: browser})
		assert.ErrorIs(t, err, ErrWrong)
	}
	_, _, err = a.Login(t.Context(), "ada", right, From{Address: "192.0.2.1", Browser: browser})
	assert.ErrorIs(t, err, ErrTooMany, "nor has it more of them than a network")
}

// Tries are counted before they wait, come back if the password was right or nobody waits
// for the result, and are forgotten after the pause.
func TestTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := newTries()
		turn := tries.turn[false]
		for range cap(turn) {
			turn <- struct{}{}
		}
		ctx, gone := context.WithCancel(t.Context())
		begun := make(chan error, maxWrong+1)
		for range cap(begun) {
			go func() {
				_, err := tries.begin(ctx, "192.0.2.1", false)
				begun <- err
			}()
		}
		assert.ErrorIs(t, <-begun, ErrTooMany)
		synctest.Wait()
		assert.Empty(t, begun, "the others wait")
		gone()
		for range maxWrong {
			assert.ErrorIs(t, <-begun, context.Canceled)
		}
		assert.Zero(t, tries.waiting)
		<-turn
		for range maxWrong {
			for _, right := range []bool{true, false} {
				end, err := tries.begin(t.Context(), "192.0.2.1", false)
				require.NoError(t, err)
				end(right)
			}
		}
		_, err := tries.begin(t.Context(), "192.0.2.1", false)
		assert.ErrorIs(t, err, ErrTooMany)
		time.Sleep(pause + time.Second)
		end, err := tries.begin(t.Context(), "192.0.2.2", false)
		require.NoError(t, err)
		end(true)
		assert.LessOrEqual(t, len(tries.lately), 1, "who tried is not kept")
		_, err = tries.begin(t.Context(), "192.0.2.1", false)
		assert.NoError(t, err)
	})
}

// bcrypt reads the first 72 bytes only.
func TestLongPasswords(t *testing.T) {
	a := opened(t)
	long := strings.Repeat("x", maxPassword)
	require.NoError(t, a.Add(t.Context(), "ada", long))
	_, _, err := a.Login(t.Context(), "ada", long+"y", From{})
	assert.ErrorIs(t, err, ErrWrong)
	_, _, err = a.Login(t.Context(), "ada", long, From{})
	assert.NoError(t, err)
}

// A password that is replaced while it is compared begins no session, and replaces nothing.
func TestAPasswordThatChangesMeanwhile(t *testing.T) {
	a := opened(t)
	stored, err := a.check(t.Context(), "ada", right, From{})
	require.NoError(t, err)
	require.NoError(t, a.Add(t.Context(), "ada", "another password"))
	err = a.set(t.Context(), replace, "ada", "the password of a thief", stored)
	assert.ErrorIs(t, err, ErrWrong)
	_, _, err = a.begin(t.Context(), "ada", stored, From{})
	assert.ErrorIs(t, err, ErrWrong)
	_, _, err = a.Login(t.Context(), "ada", "another password", From{})
	assert.NoError(t, err)
}
