package reports_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// A version is what a report says of DOIs: views, downloads or both.
type version map[string]map[reports.MetricType]int64

const (
	v = reports.MetricUniqueDatasetInvestigations
	d = reports.MetricUniqueDatasetRequests
)

func (v version) datasets() (list []reports.Dataset) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		var counts []reports.Instance
		for _, metric := range slices.Sorted(maps.Keys(v[name])) {
			counts = append(counts, reports.Instance{MetricType: metric, AccessMethod: reports.AccessRegular,
				Count: v[name][metric]})
		}
		list = append(list, counted(name, counts...))
	}
	return list
}

// A history is a course of versions of one report at a deployed service, which counts what
// it holds.
type history struct {
	t    *testing.T
	srv  *datacitetest.Server
	c    *reports.Client
	opts reports.SubmitOptions

	said    map[string]bool // numbers that the last run said records continue to show
	unknown int             // how many times it said that there may be more
	late    bool            // some versions are gone before the service reads them
	fault   func(*http.Request) *datacitetest.Fault
}

// newHistory begins a history in virtual time.
func newHistory(t *testing.T, tell func(h *history)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &history{t: t}
		h.srv = datacitetest.NewServer(&datacitetest.Options{NoPort: true,
			Faults: func(_ int, r *http.Request) *datacitetest.Fault {
				if h.fault == nil {
					return nil
				}
				return h.fault(r)
			}})
		h.c, h.opts = h.srv.Reports(), reports.SubmitOptions{LockDir: dir, AllowInconsistent: true, Warn: h.warn}
		tell(h)
	})
}

var lacks = regexp.MustCompile(`^lack the (\S+) of (\S+) that (?:the stored report|an earlier version) has; its ` +
	`record continues to show (\d+) for 1999-10`)

func (h *history) warn(f datacite.Finding) {
	if f.Code != datacite.CodeLeft {
		return
	}
	assert.Equal(h.t, "report-datasets", f.Path)
	if m := lacks.FindStringSubmatch(f.Reason); m != nil {
		h.said[fmt.Sprintf("%s %s %s", m[2], m[1], m[3])] = true
	} else {
		assert.Contains(h.t, f.Reason, "are not in SubmitOptions.LockDir")
		h.unknown++
	}
}

func (h *history) try(ctx context.Context, data version) (*reports.Receipt, error) {
	h.said, h.unknown = map[string]bool{}, 0
	return h.c.Submit(ctx, header("Example", time.October), reports.Source(data.datasets()), &h.opts)
}

// killed submits a version and kills the run after its first write.
func (h *history) killed(data version) {
	h.t.Helper()
	ctx, kill := context.WithCancel(h.t.Context())
	defer kill()
	h.fault = func(r *http.Request) *datacitetest.Fault {
		if r.Method == http.MethodGet {
			return nil
		}
		h.fault = func(*http.Request) *datacitetest.Fault {
			kill()
			return &datacitetest.Fault{Kind: datacitetest.FaultDropBefore}
		}
		return &datacitetest.Fault{Kind: datacitetest.FaultDropAfter}
	}
	_, err := h.try(ctx, data)
	h.fault = nil
	require.Error(h.t, err)
	h.srv.ProcessUsage()
}

// submit submits a version, and compares what the run says with what records show.
func (h *history) submit(data version) *reports.Receipt {
	h.t.Helper()
	receipt, err := h.try(h.t.Context(), data)
	require.NoError(h.t, err)
	h.judge(data, receipt)
	return receipt
}

func (h *history) judge(data version, receipt *reports.Receipt) {
	h.t.Helper()
	h.srv.ProcessUsage()
	show, left := map[string]bool{}, maps.Clone(data)
	for _, e := range h.srv.UsageEvents() {
		if want, ok := data[e.DOI][e.Metric]; ok {
			require.Equal(h.t, want, e.Count, "%v", e)
			delete(left, e.DOI)
		} else if e.Count != 0 {
			show[fmt.Sprintf("%s %s %d", e.DOI, e.Metric, e.Count)] = true
		}
	}
	require.Empty(h.t, left, "what goes in is shown")
	require.EqualValues(h.t, len(h.said), receipt.Kept)
	require.Equal(h.t, receipt.EarlierUnknown, h.unknown == 1)
	if receipt.EarlierUnknown && h.late {
		return
	} else if receipt.EarlierUnknown {
		require.Subset(h.t, slices.Collect(maps.Keys(show)), slices.Collect(maps.Keys(h.said)))
		return
	}
	if h.late {
		require.Subset(h.t, withoutCounts(h.said), withoutCounts(show))
	} else {
		require.Equal(h.t, show, h.said, "what records show beyond the data, and what was said")
	}
	if h.opts.ZeroDropped {
		require.Empty(h.t, show)
	}
}

func withoutCounts(numbers map[string]bool) (list []string) {
	for n := range numbers {
		list = append(list, n[:strings.LastIndex(n, " ")])
	}
	return list
}

var (
	abcd = version{"10.5072/a": {v: 5, d: 1}, "10.5072/b": {v: 5}, "10.5072/c": {v: 5, d: 2}, "10.5072/d": {v: 5}}
	ab   = version{"10.5072/a": {v: 6}, "10.5072/b": {v: 5}}
)

// TestAServerThatDiesInACorrection: what it lost is not forgotten, unless nobody can read the
// report any more.
func TestAServerThatDiesInACorrection(t *testing.T) {
	broken := 0
	for i, step := range steps {
		newHistory(t, func(h *history) {
			h.submit(abcd)
			h.opts.MaxDatasets, h.opts.ZeroDropped = 1, i%2 == 0
			writes := 0
			h.fault = func(r *http.Request) *datacitetest.Fault {
				if r.Method == http.MethodGet {
					return nil
				}
				if writes++; writes > 1 {
					return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 401}
				}
				return &datacitetest.Fault{Kind: datacitetest.FaultCrash, Step: step}
			}
			_, err := h.try(h.t.Context(), ab)
			h.fault = nil
			if require.Error(h.t, err); errors.Is(err, reports.ErrBroken) {
				broken++
				return
			}
			assert.False(h.t, h.submit(version{"10.5072/a": {v: 6}}).EarlierUnknown, step)
		})
	}
	assert.Less(t, broken, len(steps)/2)
}

// TestZerosAfterTheWarning: who reads the warning runs it again with ZeroDropped. Runs
// without it keep the zeros then, and those with other data, too.
func TestZerosAfterTheWarning(t *testing.T) {
	for _, size := range []int{1, 0} {
		newHistory(t, func(h *history) {
			h.opts.MaxDatasets = size
			h.submit(abcd)
			assert.EqualValues(t, 4, h.submit(ab).Kept)
			assert.EqualValues(t, 4, h.submit(ab).Kept, "as long as it is so")

			h.opts.ZeroDropped = true
			receipt := h.submit(ab)
			assert.Positive(t, receipt.Sent)
			assert.EqualValues(t, 3, receipt.Zeros, "datasets")
			all := writes(h.srv)
			for _, w := range all[len(all)-receipt.Sent:] {
				assert.Equal(t, "POST /reports", w, "the data stay where they are")
			}
			require.NoError(t, h.c.Verify(h.t.Context(), receipt))
			assert.Zero(t, h.submit(ab).Sent)
			notes, err := filepath.Glob(h.opts.LockDir + "/*.notes")
			require.NoError(t, err)
			assert.Empty(t, notes, "all numbers are replaced")

			h.opts.ZeroDropped = false
			receipt = h.submit(ab)
			assert.Zero(t, receipt.Sent)
			assert.EqualValues(t, 3, receipt.Zeros)
			assert.EqualValues(t, 3, h.submit(version{"10.5072/a": {v: 7}, "10.5072/b": {v: 5}}).Zeros)
			receipt = h.submit(version{"10.5072/a": {v: 7}, "10.5072/c": {v: 5, d: 1}})
			assert.EqualValues(t, 2, receipt.Zeros, "c is used again")
			assert.EqualValues(t, 1, receipt.Kept, "b")
		})
	}
}

// TestVersionsOfOthers: if another program, machine or account wrote the report, nobody knows
// which numbers its versions had, and each run says so.
func TestVersionsOfOthers(t *testing.T) {
	elsewhere := func(h *history, submit func()) {
		here := h.opts.LockDir
		h.opts.LockDir = h.t.TempDir()
		submit()
		h.opts.LockDir = here
	}
	for name, course := range map[string]func(h *history){
		"a correction began elsewhere": func(h *history) {
			h.submit(abcd)
			h.opts.MaxDatasets = 1
			elsewhere(h, func() { h.killed(ab) })
		},
		"a correction came from elsewhere": func(h *history) {
			h.submit(abcd)
			elsewhere(h, func() { assert.True(h.t, h.submit(ab).EarlierUnknown) })
		},
		"all came from elsewhere": func(h *history) {
			elsewhere(h, func() { h.submit(abcd); h.submit(ab) })
		},
		"put by hand": func(h *history) {
			receipt := h.submit(abcd)
			_, err := h.c.Put(h.t.Context(), receipt.ReportID,
				&reports.Report{Header: header("Example", time.October), Datasets: ab.datasets()})
			require.NoError(h.t, err)
		},
		"put by hand, with as many datasets": func(h *history) {
			h.t.Setenv("DATACITE_LOCK_DIR", h.opts.LockDir)
			receipt := h.submit(abcd)
			others := version{"10.5072/a": {v: 5}, "10.5072/b": {v: 5}, "10.5072/e": {v: 5}, "10.5072/f": {v: 5}}
			_, err := h.c.Put(h.t.Context(), receipt.ReportID,
				&reports.Report{Header: header("Example", time.October), Datasets: others.datasets()})
			require.NoError(h.t, err)
		},
	} {
		for _, zeros := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, zeros %v", name, zeros), func(t *testing.T) {
				newHistory(t, func(h *history) {
					course(h)
					h.opts.ZeroDropped = zeros
					assert.True(t, h.submit(ab).EarlierUnknown)
					assert.True(t, h.submit(ab).EarlierUnknown)
					assert.True(t, h.submit(version{"10.5072/b": {v: 5}}).EarlierUnknown)
				})
			})
		}
	}
}

// TestCorrectionsUnderRandomFaults: versions of a report follow each other, with zeros or
// without, over a network with faults; runs are killed, and some give up. When one
// succeeds, it has said each number that records show and its data lack.
func TestCorrectionsUnderRandomFaults(t *testing.T) {
	outcomes := map[string]int{}
	for i := range uint64(*schedules / 4) {
		seed := *firstSeed + i
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				tr := newTrial(t, seed, dir, []datacitetest.Behaviour{datacitetest.Deployed})
				h := &history{t: t, srv: tr.srv, c: tr.client, opts: tr.opts, late: tr.late}
				h.opts.Warn, h.opts.AllowInconsistent = h.warn, true
				h.random(tr, outcomes)
			})
		}) {
			return
		}
	}
	t.Logf("%d schedules: %v", *schedules/4, outcomes)
}

func (h *history) random(tr *trial, outcomes map[string]int) {
	defer tr.net.wait()
	moved := false // to another folder for locks
	for last := 2 + tr.rand.IntN(4); last >= 0; last-- {
		data := randomVersion(tr.rand)
		for try := 0; ; try++ {
			if try > 6 {
				tr.net.rate = 0
			}
			require.LessOrEqual(h.t, try, 12, "it does not come to an end")
			h.opts.ZeroDropped, h.opts.MaxDatasets = tr.rand.IntN(2) == 0, 1+tr.rand.IntN(6)
			if tr.rand.IntN(3) == 0 {
				h.srv.ProcessUsage()
			}
			if tr.rand.IntN(40) == 0 {
				h.opts.LockDir, moved = filepath.Join(tr.opts.LockDir, fmt.Sprint(last, try)), true
				require.NoError(h.t, os.Mkdir(h.opts.LockDir, 0o700))
				tr.net.wait()
				time.Sleep(time.Hour)
			}
			ctx, kill := context.WithCancel(h.t.Context())
			tr.net.killAfter(tr.rand.IntN(12), kill)
			receipt, err := h.try(ctx, data)
			tr.net.killAfter(-1, nil)
			kill()
			if err == nil {
				require.True(h.t, moved || !receipt.EarlierUnknown)
				if !h.late || last == 0 || tr.rand.IntN(2) == 0 {
					h.judge(data, receipt)
				}
				if tr.net.rate == 0 {
					again, err := h.try(h.t.Context(), data)
					require.NoError(h.t, err)
					require.Zero(h.t, again.Sent)
					require.Equal(h.t, []int64{receipt.Kept, receipt.Zeros}, []int64{again.Kept, again.Zeros})
				}
				outcomes["done"]++
				outcomes["kept"] += int(receipt.Kept)
				outcomes["zeros"] += int(receipt.Zeros)
				if receipt.EarlierUnknown {
					outcomes["unknown"]++
				}
				break
			}
			outcomes["failed"]++
			if last > 0 && tr.rand.IntN(3) == 0 {
				break // other data are next
			}
		}
	}
}

func randomVersion(r *rand.Rand) version {
	data := version{}
	for len(data) == 0 {
		for i := range 7 {
			name := fmt.Sprint("10.5072/", i)
			for _, metric := range []reports.MetricType{v, d} {
				if r.IntN(4) == 0 {
					if data[name] == nil {
						data[name] = map[reports.MetricType]int64{}
					}
					data[name][metric] = r.Int64N(5)
				}
			}
		}
	}
	return data
}

// TestDamagedNotes are not used, and said; strange files in their place are not followed.
func TestDamagedNotes(t *testing.T) {
	precious := filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(precious, []byte("precious"), 0o600))
	for name, damage := range map[string]func(path string) error{
		"removed":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 60) },
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"changed": func(path string) error {
			data, err := os.ReadFile(path)
			data[len(data)/2] ^= 1
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		},
		"a link": func(path string) error { return errors.Join(os.Remove(path), os.Symlink(precious, path)) },
	} {
		t.Run(name, func(t *testing.T) {
			newHistory(t, func(h *history) {
				h.submit(abcd)
				h.submit(ab)
				found, err := filepath.Glob(h.opts.LockDir + "/*.notes")
				require.NoError(t, err)
				require.Len(t, found, 1)
				require.NoError(t, damage(found[0]))
				h.opts.ZeroDropped = true
				receipt := h.submit(ab)
				assert.True(t, receipt.EarlierUnknown)
				assert.Zero(t, receipt.Zeros)
				receipt = h.submit(version{"10.5072/a": {v: 6}})
				assert.True(t, receipt.EarlierUnknown)
				assert.EqualValues(t, 1, receipt.Zeros, "b is known")
			})
		})
	}
}
