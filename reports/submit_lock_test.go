package reports_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/reports"
)

var (
	crowds    = flag.Int("crowds", 1, "how often several processes submit one report together")
	processes = flag.Int("processes", 4, "how many these are")
)

// TestMain lets the test binary be a process that submits a report: see
// submitAsProcess.
func TestMain(m *testing.M) {
	if url := os.Getenv("SUBMIT_TO"); url != "" {
		os.Exit(submitAsProcess(url, os.Getenv("SUBMIT_TOKEN"), os.Getenv("SUBMIT_TEMP")))
	}
	locks, err := os.MkdirTemp("", "locks-*") // records stay where they are
	if err != nil {
		panic(err)
	}
	os.Setenv("DATACITE_LOCK_DIR", locks)
	code := m.Run()
	os.RemoveAll(locks)
	os.Exit(code)
}

const crowdProcessing = 3 * time.Second

// submitAsProcess submits six datasets and says how it ended.
func submitAsProcess(url, token, temp string) int {
	c, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: url}, Token: token})
	if err == nil {
		var receipt *reports.Receipt
		receipt, err = c.Submit(context.Background(), header("Example", time.October), datasets(6),
			&reports.SubmitOptions{MaxDatasets: 1, LockDir: temp, MaxProcessing: crowdProcessing})
		switch {
		case err == nil:
			fmt.Println("sent", receipt.Sent)
			return 0
		case errors.Is(err, reports.ErrBusy) && strings.Contains(err.Error(), "another run on this machine"): // known at once
			fmt.Println("busy")
			return 0
		}
	}
	fmt.Println(err)
	return 1
}

// Several processes submit one report at once: one does the work, the others end
// at once or find it done. So it is when the one that works is killed.
func TestACrowdOfProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	executable, err := os.Executable()
	require.NoError(t, err)
	for _, behaviour := range behaviours {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s killed=%v", behaviour, killed), func(t *testing.T) {
				for range *crowds {
					var begun atomic.Int64 // requests
					srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, WriteTime: 40 * time.Millisecond,
						Faults: func(n int, _ *http.Request) *datacitetest.Fault {
							begun.Store(int64(n))
							return nil
						}})
					temp := t.TempDir()
					start := func() (*exec.Cmd, *bytes.Buffer) {
						cmd := exec.Command(executable)
						var out bytes.Buffer
						cmd.Stdout, cmd.Stderr = &out, &out
						cmd.Env = append(os.Environ(), "SUBMIT_TO="+srv.URL, "SUBMIT_TEMP="+temp,
							"SUBMIT_TOKEN="+srv.Token(srv.Now().Add(year)))
						require.NoError(t, cmd.Start())
						return cmd, &out
					}
					if killed {
						first, _ := start()
						time.Sleep(time.Duration(rand.Int64N(int64(600 * time.Millisecond))))
						_ = first.Process.Kill()
						_ = first.Wait()
						// a slow machine could be at work on the last one for longer than crowdProcessing
						require.Eventually(t, func() bool {
							return int64(len(srv.Requests())) == begun.Load()
						}, 5*time.Minute, 10*time.Millisecond)
					}
					var crowd sync.WaitGroup
					said := make([]string, *processes)
					for i := range said {
						cmd, out := start()
						crowd.Go(func() {
							assert.NoError(t, cmd.Wait(), out)
							said[i] = out.String()
						})
					}
					crowd.Wait()
					sent := 0
					for _, s := range said {
						if strings.HasPrefix(s, "sent") && s != "sent 0\n" {
							sent++
						}
					}
					assert.LessOrEqual(t, sent, 1, said)
					c := srv.Reports()
					r, err := c.Get(t.Context(), reports.DeriveID(header("Example", time.October)))
					require.NoError(t, err)
					assert.ElementsMatch(t, names(all(6)), names(r.Datasets), said)
					srv.Close()
				}
			})
		}
	}
}

// Two calls at once that write one report, of whatever kind: one is refused before it sends
// anything. The deployed service would leave a report that nobody can read.
func TestWritesOfOneReportAtOnce(t *testing.T) {
	calls := map[string]func(*testing.T, *reports.Client) error{
		"Submit": func(t *testing.T, c *reports.Client) error {
			_, err := c.Submit(t.Context(), header("EXAMPLE", time.October), datasets(2), nil)
			return err
		},
	}
	for name, h := range map[string]reports.Header{"": header("Example", time.October),
		", compressed": packed(header("Example", time.October))} {
		r := &reports.Report{Header: h, Datasets: all(2)}
		calls["Create"+name] = func(t *testing.T, c *reports.Client) error { _, err := c.Create(t.Context(), r); return err }
		calls["Put"+name] = func(t *testing.T, c *reports.Client) error { _, err := c.Put(t.Context(), id, r); return err }
	}
	for first, write := range calls {
		for second, other := range calls {
			t.Run(first+" and "+second, func(t *testing.T) {
				onNetwork(t, datacitetest.Options{}, func(t *testing.T, n *network, c *reports.Client) {
					wrote := false
					n.before = func(r *http.Request) error {
						if r.Method == http.MethodGet || wrote {
							return nil
						}
						wrote = true
						err := other(t, c)
						require.ErrorIs(t, err, reports.ErrBusy)
						assert.True(t, datacite.Temporary(err))
						return nil
					}
					require.NoError(t, write(t, c))
					assert.True(t, wrote)
					assert.Len(t, writes(n.srv), 1)
				})
			})
		}
	}
}

// Runs with temporary folders of their own share the lock and the record.
func TestRunsWithOtherFoldersForTemporaryFiles(t *testing.T) {
	srv := server(t)
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	_, err := srv.Reports().Submit(t.Context(), header("Example", time.October),
		func(yield func(reports.Dataset, error) bool) {
			testkit.SetTemp(t, t.TempDir())
			_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), datasets(1),
				&reports.SubmitOptions{TempDir: t.TempDir()})
			require.ErrorIs(t, err, reports.ErrBusy)
			yield(dataset(0), nil)
		}, &reports.SubmitOptions{TempDir: t.TempDir()})
	require.NoError(t, err)
}

// One report has one lock, however its service and its creator are written.
func TestOneReportOneLock(t *testing.T) {
	srv := server(t)
	token := srv.Token(srv.Now().Add(year))
	dir := t.TempDir()
	submit := func(url string, h reports.Header, src func(yield func(reports.Dataset, error) bool)) error {
		c, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: url}, Token: token})
		require.NoError(t, err)
		_, err = c.Submit(t.Context(), h, src, &reports.SubmitOptions{LockDir: dir})
		return err
	}
	upper, accents := header("EXAMPLE", time.October), header("Exámple", time.October)
	upper.ReportingPeriod.BeginDate = upper.ReportingPeriod.EndDate
	require.NoError(t, submit(srv.URL, header("Example", time.October), func(yield func(reports.Dataset, error) bool) {
		for _, url := range []string{srv.URL, srv.URL + "/", strings.Replace(srv.URL, "http", "HTTP", 1)} {
			require.ErrorIs(t, submit(url, upper, datasets(1)), reports.ErrBusy, url)
		}
		require.ErrorIs(t, submit(srv.URL, accents, datasets(1)), reports.ErrBusy)
		require.NoError(t, submit(srv.URL, header("Example", time.September), datasets(1)), "another month")
		yield(dataset(0), nil)
	}))
}

// A run that is killed while it sends a subset leaves the time of that request, so that the next
// run waits for its end. It says how long and why.
func TestAKilledRunLeavesTheTimeOfItsLastRequest(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows copies no file that is locked")
	}
	for killed := 1; killed <= 3; killed++ {
		onNetwork(t, datacitetest.Options{}, func(t *testing.T, n *network, c *reports.Client) {
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			dir, left := t.TempDir(), filepath.Join(t.TempDir(), "left")
			sent := 0
			n.before = func(r *http.Request) error {
				if r.Method == http.MethodGet {
					return nil
				}
				if sent++; sent == killed {
					require.NoError(t, os.CopyFS(left, os.DirFS(dir)))
					kill()
					return errLost
				}
				return nil
			}
			_, err := c.Submit(ctx, header("Example", time.October), datasets(6),
				&reports.SubmitOptions{MaxDatasets: 2, LockDir: dir})
			require.Error(t, err)
			require.Equal(t, killed, sent)

			require.NoError(t, filepath.WalkDir(left, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					return os.Chmod(path, 0o600)
				}
				return cmp.Or(err, os.Chmod(path, 0o700))
			}))
			until, start := map[string]time.Time{}, time.Now()
			opts := &reports.SubmitOptions{MaxDatasets: 2, LockDir: left, Progress: func(p reports.Progress) {
				until[p.Reason] = p.Until
			}}
			receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), opts)
			require.NoError(t, err)
			assert.WithinDuration(t, start.Add(5*time.Minute),
				until["the last request of an earlier run may still be in progress"], time.Minute, "killed at write %d", killed)
			assert.Equal(t, all(6), stored(t, c, receipt.ReportID))
		})
	}
}

// A wait that may outlive the token is a warning before it begins, once, with the time; what comes after
// it is refused. A source may have another token by then.
func TestAWaitThatOutlivesTheToken(t *testing.T) {
	for name, tt := range map[string]struct {
		left   time.Duration
		source bool
		warned bool
	}{
		"it expires before the end":     {2 * time.Minute, false, true},
		"it lasts":                      {time.Hour, false, false},
		"the source may have a new one": {2 * time.Minute, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			onNetwork(t, datacitetest.Options{WriteTime: 20 * time.Second}, func(t *testing.T, n *network, _ *reports.Client) {
				lost := once(http.MethodPut)
				n.before = func(r *http.Request) error {
					if lost(r) {
						return errLost
					}
					return nil
				}
				end := time.Now().Add(tt.left)
				token := n.srv.Token(end)
				cfg := &datacite.Config{Token: token, HTTPClient: &http.Client{Transport: n}}
				if tt.source {
					cfg.Token, cfg.TokenSource = "", func(context.Context) (string, error) { return token, nil }
				}
				var events []string
				_, err := client(t, n.srv, cfg).Submit(t.Context(), header("Example", time.October), datasets(1),
					&reports.SubmitOptions{
						Warn: func(f datacite.Finding) {
							if f.Path == "Config.Token" {
								assert.Equal(t, datacite.Finding{Path: "Config.Token", Code: "date", Reason: f.Reason, Warning: true}, f)
								events = append(events, f.Reason)
							}
						},
						Progress: func(p reports.Progress) {
							if p.Stage == reports.StageWaiting {
								events = append(events, "waiting")
							}
						},
					})
				warned := events[0] != "waiting"
				assert.Equal(t, tt.warned, warned)
				if warned {
					assert.Contains(t, events[0],
						"expires at "+end.UTC().Format("2006-01-02 15:04:05")+" UTC, and the run may wait until ")
					assert.NotContains(t, events[1:], events[0], "once")
					require.ErrorIs(t, err, reports.ErrTokenExpired)
				}
			})
		})
	}
}

// The service may still be working on a report when the response of Create or Put is lost.
// Two writes at once can break it: a compressed one is not sent again, and Submit waits.
func TestSubmitWaitsForALostCreateOrPut(t *testing.T) {
	plain := report("Example", 1)
	compressed := &reports.Report{Header: packed(plain.Header), Datasets: plain.Datasets}
	for _, r := range []*reports.Report{plain, compressed} {
		for name, write := range map[string]func(context.Context, *reports.Client) error{
			"Create": func(ctx context.Context, c *reports.Client) error { _, err := c.Create(ctx, r); return err },
			"Put":    func(ctx context.Context, c *reports.Client) error { _, err := c.Put(ctx, id, r); return err },
		} {
			t.Run(fmt.Sprint(name, ", compressed ", r == compressed), func(t *testing.T) {
				onNetwork(t, datacitetest.Options{}, func(t *testing.T, n *network, c *reports.Client) {
					n.after = func(r *http.Request) (*http.Response, error) {
						if r.Method != http.MethodGet {
							return nil, errLost
						}
						return nil, nil
					}
					require.ErrorIs(t, write(t.Context(), c), datacite.ErrUnclear)
					if r == compressed {
						require.Len(t, writes(n.srv), 1)
					}
					n.after = nil
					began, sent := time.Now(), len(writes(n.srv))
					var waited time.Duration
					n.before = func(r *http.Request) error {
						if r.Method != http.MethodGet && waited == 0 {
							waited = time.Since(began)
						}
						return nil
					}
					_, err := c.Submit(t.Context(), header("Example", time.October), datasets(2), nil)
					require.NoError(t, err)
					assert.Greater(t, len(writes(n.srv)), sent)
					assert.Greater(t, waited, 4*time.Minute, "SubmitOptions.MaxProcessing")
				})
			})
		}
	}
}

// onMachines runs a test in virtual time, with both behaviours. Each folder is a
// machine.
func onMachines(t *testing.T, test func(t *testing.T, srv *datacitetest.Server, one, other string)) {
	t.Helper()
	for _, behaviour := range behaviours {
		one, other := t.TempDir(), t.TempDir()
		t.Run(string(behaviour), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviour}), one, other)
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
		assert.ErrorContains(t, err, "no run may send anything before "+start.Add(5*time.Minute).Format(time.RFC3339)+
			", because another program may be writing to the report; nothing was sent")
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
		assert.GreaterOrEqual(t, time.Since(start), 5*time.Minute,
			"but when it was seen, another machine might have been at it")
	})
}
