package datacitetest_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// always is a fault of each write.
func always(kind datacitetest.FaultKind) datacitetest.Faults {
	return datacitetest.Faults(func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: kind}
	}).When(datacitetest.Writes)
}

// submit sends a report with the options of somebody who does not think of tests.
func submit(ctx context.Context, cfg datacite.Config, n int, locks string) error {
	client, err := reports.NewClient(cfg)
	if err != nil {
		return err
	}
	report := usage(n)
	_, err = client.Submit(ctx, report.Header, reports.Source(report.Datasets),
		&reports.SubmitOptions{MaxDatasets: 2, LockDir: locks})
	return err
}

func ensureAll(ctx context.Context, cfg datacite.Config) (failed []error, err error) {
	client, err := reconcile.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	for done, err := range client.EnsureAll(ctx, func(yield func(reconcile.Desired, error) bool) {
		_ = yield(reconcile.Desired{DOI: "10.5072/a", URL: "https://repo.example.org/a", XML: glacier().Data}, nil) &&
			yield(reconcile.Desired{DOI: "10.5072/b", URL: "https://repo.example.org/b", XML: glacier().Data}, nil)
	}, nil) {
		if err != nil {
			return nil, err
		}
		if done.Err != nil {
			failed = append(failed, done.Err)
		}
	}
	return failed, nil
}

// Code under test that knows nothing of tests ends soon, whatever fails: each of these took
// minutes with the pauses of operation.
func TestWaitsAreShort(t *testing.T) {
	t.Parallel()
	for _, noPort := range []bool{true, false} {
		for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
			for _, kind := range []datacitetest.FaultKind{
				datacitetest.FaultDropBefore, datacitetest.FaultDropDuring, datacitetest.FaultDropAfter,
				datacitetest.FaultCutResponse, datacitetest.FaultStatus, datacitetest.FaultStatusAfter,
			} {
				t.Run(string(behaviour)+" "+string(kind), func(t *testing.T) {
					t.Parallel()
					srv := datacitetest.NewServer(&datacitetest.Options{NoPort: noPort, Behaviour: behaviour, Faults: always(kind)})
					defer srv.Close()
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
					defer cancel()
					_ = submit(ctx, srv.Config(), 5, t.TempDir())
					_, err := ensureAll(ctx, srv.Config())
					require.NoError(t, err)
					require.NoError(t, ctx.Err())
				})
			}
		}
	}
}

// A run that is killed while its write is on the way, and one that is never sure of its
// own, do not keep the next one from its work.
func TestAnInterruptedSubmitGoesOnSoon(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	first, kill := context.WithCancel(ctx)
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true,
		Faults: func(n int, r *http.Request) *datacitetest.Fault {
			if first.Err() == nil && r.Method == http.MethodPost {
				kill()
			}
			return nil
		}})
	defer srv.Close()
	locks := t.TempDir()
	require.Error(t, submit(first, srv.Config(), 5, locks))
	require.NoError(t, submit(ctx, srv.Config(), 5, locks))
	assert.Len(t, srv.StoredReports()[0].Subsets, 3)
}

// The pauses are short for the server alone: with another address, and within
// testing/synctest, they are those of operation.
func TestPausesOfOperation(t *testing.T) {
	t.Parallel()
	down := always(datacitetest.FaultStatus)
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Faults: down})
		defer srv.Close()
		begun := time.Now()
		failed, err := ensureAll(t.Context(), srv.Config())
		require.NoError(t, err)
		assert.Len(t, failed, 2)
		assert.GreaterOrEqual(t, time.Since(begun), time.Minute)
	})
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Faults: down})
	defer srv.Close()
	cfg := srv.Config()
	cfg.Service.API = "http://localhost:1"
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := ensureAll(ctx, cfg)
	assert.ErrorIs(t, err, context.DeadlineExceeded, "between two rounds")
}

// Of a long body the server logs the beginning, and the size.
func TestRequestsHaveTheBeginningOfTheBody(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 40<<10)
	on(t, datacitetest.Options{}, func(t *testing.T, srv *datacitetest.Server) {
		send(t, srv, http.MethodPost, "/reports", srv.Token(srv.Now().Add(time.Hour)), bytes.NewReader(large))
		requests := srv.Requests()
		require.Len(t, requests, 1)
		assert.EqualValues(t, len(large), requests[0].Bytes)
		assert.Len(t, requests[0].Body, 16<<10)
	})
}

// What runs on one machine note for each other stays with the server, and goes with it.
func TestLocksAreTheServersOwn(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("DATACITE_LOCK_DIR", "")
	testkit.SetTemp(t, temp)
	noted := func(pattern string) []string {
		found, err := filepath.Glob(filepath.Join(temp, pattern))
		require.NoError(t, err)
		return found
	}
	run := func(t *testing.T, noPort bool) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: noPort})
		defer srv.Close()
		require.NoError(t, submit(t.Context(), srv.Config(), 5, ""))
		require.NoError(t, submit(t.Context(), srv.Config(), 4, ""))
		_, err := srv.As(srv.Config().Username).Reports().Create(t.Context(), usage(1))
		require.NoError(t, err)
		assert.NotEmpty(t, noted("datacitetest-locks-*/datacite-go-*"))
		srv.Close()
		assert.Empty(t, noted("datacitetest-*"))
		require.ErrorContains(t, submit(t.Context(), srv.Config(), 5, ""), "the server is closed")
	}
	run(t, true)
	run(t, false)
	synctest.Test(t, func(t *testing.T) { run(t, true) })

	shared := t.TempDir()
	t.Setenv("DATACITE_LOCK_DIR", shared)
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	require.NoError(t, submit(t.Context(), srv.Config(), 5, ""))
	found, err := os.ReadDir(shared)
	require.NoError(t, err)
	assert.NotEmpty(t, found, "whoever names a folder tests with that")
}
