package reports_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// onMachines tells a story in virtual time, with both behaviours. Each folder is a
// machine.
func onMachines(t *testing.T, story func(t *testing.T, srv *datacitetest.Server, one, other string)) {
	t.Helper()
	for _, behaviour := range behaviours {
		one, other := t.TempDir(), t.TempDir()
		t.Run(string(behaviour), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				story(t, datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviour}), one, other)
			})
		})
	}
}

// A cron job on another machine may run for four minutes, and has to wait five: the
// second run goes on where the first stopped waiting.
func TestAWaitThatSeveralRunsShare(t *testing.T) {
	onMachines(t, func(t *testing.T, srv *datacitetest.Server, one, other string) {
		h := header("Example", time.October)
		_, err := srv.Reports().Submit(t.Context(), h, datasets(6), &reports.SubmitOptions{MaxDatasets: 3, LockDir: one})
		require.NoError(t, err)
		before := len(writes(srv))
		start := time.Now()
		run := func() (*reports.Receipt, error) {
			ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
			defer stop()
			return srv.Reports().Submit(ctx, h, datasets(12), &reports.SubmitOptions{MaxDatasets: 3, LockDir: other})
		}
		_, err = run()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, writes(srv), before)
		assert.ErrorContains(t, err, "no run may send anything before "+start.Add(5*time.Minute).Format(time.RFC3339)+", because another program may be writing to the report; nothing was sent")
		receipt, err := run()
		require.NoError(t, err)
		assert.Equal(t, 2, receipt.Sent)
		assert.Less(t, time.Since(start), 6*time.Minute)
		assert.Equal(t, all(12), stored(t, srv.Reports(), receipt.ReportID))
	})
}

// What changed since an earlier run began to wait is another program at work, and the
// wait begins anew.
func TestAWaitThatAnotherProgramEnds(t *testing.T) {
	onMachines(t, func(t *testing.T, srv *datacitetest.Server, one, other string) {
		h := header("Example", time.October)
		submit := func(machine string, n int, limit time.Duration) error {
			ctx, stop := context.WithTimeout(t.Context(), limit)
			defer stop()
			_, err := srv.Reports().Submit(ctx, h, datasets(n), &reports.SubmitOptions{MaxDatasets: 3, LockDir: machine})
			return err
		}
		require.NoError(t, submit(one, 3, time.Hour))
		require.ErrorIs(t, submit(other, 12, 4*time.Minute), context.DeadlineExceeded)
		require.NoError(t, submit(one, 6, time.Hour))
		start := time.Now()
		require.NoError(t, submit(other, 12, time.Hour))
		assert.GreaterOrEqual(t, time.Since(start), 5*time.Minute)
	})
}

// On the machine that finished it, a report grows without a wait.
func TestAReportThatGrows(t *testing.T) {
	onMachines(t, func(t *testing.T, srv *datacitetest.Server, one, other string) {
		h := header("Example", time.October)
		opts := &reports.SubmitOptions{MaxDatasets: 3, LockDir: one}
		start := time.Now()
		for n := 3; n <= 12; n += 3 {
			receipt, err := srv.Reports().Submit(t.Context(), h, datasets(n), opts)
			require.NoError(t, err)
			assert.Equal(t, 1, receipt.Sent)
		}
		assert.Zero(t, time.Since(start))
		opts.LockDir = other
		_, err := srv.Reports().Submit(t.Context(), h, datasets(12), opts)
		require.NoError(t, err)
		assert.Zero(t, time.Since(start), "there is nothing to send")
		_, err = srv.Reports().Submit(t.Context(), h, datasets(15), opts)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(start), 5*time.Minute, "but when it was seen, another machine might have been at it")
	})
}

// MaxOutage holds also when it is less than MaxProcessing, and a report is not called
// broken that may merely be in the making.
func TestAShortOutage(t *testing.T) {
	for _, behaviour := range behaviours {
		onNetwork(t, datacitetest.Options{Behaviour: behaviour}, func(t *testing.T, n *network, c *reports.Client) {
			n.after = func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return nil, errLost
				}
				return nil, nil
			}
			posted := false
			n.before = func(r *http.Request) error {
				if posted = posted || r.Method == http.MethodPost; posted && r.Method == http.MethodGet {
					return errLost
				}
				return nil
			}
			start := time.Now()
			_, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 3, MaxOutage: 5 * time.Second})
			e, ok := errors.AsType[*reports.SubmitError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, reports.Unclear, e.State)
			assert.Less(t, time.Since(start), time.Minute)
		})
	}
}
