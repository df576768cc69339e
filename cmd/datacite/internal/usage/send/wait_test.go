package send

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A loss is a request that fails once with a connection that is lost.
type loss struct {
	method  string
	arrives bool // the work is done, and only the answer is lost
	stored  int  // subsets that are surely stored then
}

func (l loss) String() string {
	if l.arrives {
		return "the answer to a " + l.method
	}
	return "a " + l.method
}

// slowly tells a story of a loss, with both behaviours and in virtual time. The
// deployed service works 20 seconds on a subset.
func slowly(t *testing.T, l loss, story func(t *testing.T, srv *service, file string)) {
	t.Helper()
	kind := datacitetest.FaultDropBefore
	if l.arrives {
		kind = datacitetest.FaultDropAfter
	}
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(fmt.Sprintf("%v, %s", l, behaviour), func(t *testing.T) {
			t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
			synctest.Test(t, func(t *testing.T) {
				srv := datacitetest.NewServer(&datacitetest.Options{
					Behaviour: behaviour, NoPort: true, WriteTime: 20 * time.Second,
					Faults: datacitetest.First(&datacitetest.Fault{Kind: kind}).When(func(r *http.Request) bool {
						return r.Method == l.method
					}),
				})
				defer srv.Close()
				token := srv.Token(srv.Now().Add(365 * 24 * time.Hour))
				story(t, &service{srv, token, srv.HTTPClient()}, shelltest.File(t, "report.json", report(t, 3, nil)))
			})
		})
	}
}

// submits submits a report in three subsets, with the usual processing time.
func (s *service) submits(ctx context.Context, file string) result {
	return s.runsAt(ctx, s.URL, "", "--max-processing", "5m", "--max-datasets", "1", file)
}

// interrupted returns a context that ends as after Ctrl-C.
func interrupted(t *testing.T, after time.Duration) context.Context {
	t.Helper()
	ctx, interrupt := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(after, func() { interrupt(errors.New("interrupt signal received")) })
	t.Cleanup(func() { timer.Stop() })
	return ctx
}

const lostAnswer = `the response to the last request was lost, and the service may still be working on it\n`

func TestALostAnswer(t *testing.T) {
	for _, l := range []loss{
		{method: http.MethodPut, arrives: true}, {method: http.MethodPut},
		{method: http.MethodPost, arrives: true}, {method: http.MethodPost},
	} {
		slowly(t, l, func(t *testing.T, srv *service, file string) {
			start := time.Now()
			got := srv.submits(t.Context(), file)
			require.Equal(t, shell.ExitDone, got.code, got.errors)
			assert.Equal(t, []string{"10.5072/d0", "10.5072/d1", "10.5072/d2"}, srv.held(t))
			assert.Regexp(t, `waiting until 00:05:[024]0 at the latest \((4m59s|5m0s)\): `+lostAnswer, got.errors)
			assert.Equal(t, 1, strings.Count(got.errors, "waiting"), got.errors)
			if l.method == http.MethodPost && l.arrives { // a look shows it
				return
			}
			assert.GreaterOrEqual(t, time.Since(start), 5*time.Minute)
			assert.Less(t, strings.Count(got.errors, "\n"), 12, got.errors)
		})
	}
}

// That a wait may outlive the token is said before the wait, with the time.
func TestAWaitThatOutlivesTheToken(t *testing.T) {
	slowly(t, loss{method: http.MethodPut}, func(t *testing.T, srv *service, file string) {
		srv.token = srv.Token(time.Now().Add(2 * time.Minute))
		got := srv.runsAt(t.Context(), srv.URL, "", "--quiet", "--max-processing", "5m", "--max-datasets", "1", file)
		assert.NotEqual(t, shell.ExitDone, got.code)
		const said = `warning: the token expires at 2000-01-01 00:02:00 UTC, and the run may wait until 2000-01-01 ` +
			`00:05:00 UTC`
		require.Equal(t, 1, strings.Count(got.errors, said), got.errors)
		assert.Less(t, strings.Index(got.errors, said), strings.Index(got.errors, "The token has expired"), got.errors)
	})
}

func TestInterruptedWhileWaiting(t *testing.T) {
	for _, l := range []loss{
		{method: http.MethodPut, arrives: true}, {method: http.MethodPut}, {method: http.MethodPost, stored: 1},
	} {
		slowly(t, l, func(t *testing.T, srv *service, file string) {
			const earlierRun = `the last request of an earlier run may still be in progress\n`
			first := srv.submits(interrupted(t, time.Minute), file)
			require.Equal(t, shell.ExitInterrupted, first.code, first.errors)
			assert.Regexp(t, lostAnswer, first.errors)
			assert.Contains(t, first.errors, "is unclear")
			assert.Contains(t, first.errors, "interrupt signal received")
			assert.Contains(t, first.errors, fmt.Sprintf(": %d of 3 subsets, %s\n", l.stored, shell.Count(l.stored, "dataset")))
			assert.Contains(t, first.errors, "Run the same command again")
			sent := shelltest.Writes(srv.Server)

			second := srv.submits(interrupted(t, time.Minute), file)
			require.Equal(t, shell.ExitInterrupted, second.code, second.errors)
			assert.Regexp(t, `waiting until 00:05:[024]0 at the latest \(4m[24]?0s\): `+earlierRun, second.errors)
			assert.Contains(t, second.errors, "This run changed nothing on the service.")
			assert.Contains(t, second.errors, "Run the same command again")
			assert.Equal(t, sent, shelltest.Writes(srv.Server))

			third := srv.submits(t.Context(), file)
			require.Equal(t, shell.ExitDone, third.code, third.errors)
			assert.Regexp(t, `waiting until 00:05:[024]0 at the latest \(3m[24]?0s\): `+earlierRun, third.errors)
			there := l.stored
			if l.arrives {
				there++
			}
			assert.Contains(t, third.out, fmt.Sprintf("already there  %d of 3 subsets", there))
			assert.Equal(t, []string{"10.5072/d0", "10.5072/d1", "10.5072/d2"}, srv.held(t), "nothing twice")
		})
	}
}
