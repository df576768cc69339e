package reports_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
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

func datasets(n int) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for i := range n {
			if !yield(dataset(i), nil) {
				return
			}
		}
	}
}

// stored are the datasets of a report in the order in which they were made: the
// service keeps none.
func stored(t *testing.T, c *reports.Client, id string) []reports.Dataset {
	t.Helper()
	r, err := c.Get(t.Context(), id)
	require.NoError(t, err)
	return inOrder(r.Datasets)
}

func inOrder(datasets []reports.Dataset) []reports.Dataset {
	slices.SortStableFunc(datasets, func(a, b reports.Dataset) int {
		x, y := a.DatasetID[0].Value, b.DatasetID[0].Value
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
	return datasets
}

func all(n int) []reports.Dataset {
	var list []reports.Dataset
	for d := range datasets(n) {
		list = append(list, d)
	}
	return list
}

// writes lists what a server was asked to change.
func writes(srv *datacitetest.Server) []string {
	var sent []string
	for _, r := range srv.Requests() {
		if r.Method != http.MethodGet {
			sent = append(sent, r.Method+" "+r.URL.EscapedPath())
		}
	}
	return sent
}

func TestSubmitInSubsets(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.Reports()
		var progress []reports.Progress
		h := header("Example", time.October)
		receipt, err := c.Submit(t.Context(), h, datasets(25), &reports.SubmitOptions{
			MaxDatasets: 10, HelpURL: "https://example.org/help",
			Progress: func(p reports.Progress) { progress = append(progress, p) },
		})
		require.NoError(t, err)
		assert.Equal(t, reports.DeriveID(h), receipt.ReportID)
		assert.EqualValues(t, 25, receipt.Datasets)
		assert.Equal(t, 3, receipt.Sent)
		require.Len(t, receipt.Subsets, 3)
		assert.Equal(t, 5, receipt.Subsets[2].Datasets)
		require.Len(t, progress, 6)
		assert.Equal(t, reports.Progress{Stage: reports.StageBuilding, Subsets: 1, Datasets: 10,
			Bytes: receipt.Subsets[0].Bytes}, progress[0])
		assert.Equal(t, reports.Progress{Stage: reports.StageSending, ReportID: receipt.ReportID, Subsets: 2, Total: 3,
			Datasets: 20, Bytes: receipt.Subsets[0].Bytes + receipt.Subsets[1].Bytes}, progress[4])

		for _, r := range srv.Requests() {
			if r.Method != "GET" {
				assert.Equal(t, "application/gzip", r.Header.Get("Content-Type"))
				assert.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
			}
		}
		assert.Equal(t, []string{"PUT /reports/" + receipt.ReportID, "POST /reports", "POST /reports"}, writes(srv),
			"one PUT, then POSTs (§4.1)")

		report, err := c.Get(t.Context(), receipt.ReportID)
		require.NoError(t, err)
		assert.Equal(t, []reports.Exception{
			{Code: 69, Severity: "warning", Message: "Report is compressed using gzip", HelpURL: "https://example.org/help",
				Data: "usage data needs to be uncompressed"}}, report.Header.Exceptions)
		assert.Empty(t, h.Exceptions, "the caller's header is not changed")
		assert.Equal(t, all(25), inOrder(report.Datasets))
		require.NoError(t, c.Verify(t.Context(), receipt))
	})
}

func TestFewerDatasetsReplaceAll(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.Reports()
		first, err := c.Submit(t.Context(), header("Example", time.October), datasets(25),
			&reports.SubmitOptions{MaxDatasets: 10})
		require.NoError(t, err)
		fewer, err := c.Submit(t.Context(), header("Example", time.October), datasets(3), nil)
		require.NoError(t, err)
		assert.Equal(t, first.ReportID, fewer.ReportID)
		assert.Len(t, stored(t, c, first.ReportID), 3, "the report holds exactly the datasets given")
		assert.ErrorIs(t, c.Verify(t.Context(), first), datacite.ErrIncomplete)
	})
}

func TestSubmitTakesTheReportThatIsThere(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.Reports()
		there, err := c.Create(t.Context(), report("Example", 1))
		require.NoError(t, err)
		receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(2), nil)
		require.NoError(t, err)
		assert.Equal(t, there.ID, receipt.ReportID)
		assert.Len(t, stored(t, c, there.ID), 2)

		later := header("Example", time.October)
		later.Created = "2026-11-30"
		again, err := c.Submit(t.Context(), later, datasets(2), nil)
		require.NoError(t, err)
		assert.Zero(t, again.Sent, "the same data on another day")
		assert.Equal(t, receipt.Header.Created, again.Header.Created, "as stored")
		require.NoError(t, c.Verify(t.Context(), again))
		receipt, err = c.Submit(t.Context(), later, datasets(3), nil)
		require.NoError(t, err)
		assert.Equal(t, []any{1, later.Created}, []any{receipt.Sent, receipt.Header.Created})
		require.NoError(t, c.Verify(t.Context(), receipt))

		token := srv.Token(srv.Now().Add(year))
		later.ReportID = "dsr " + token
		var said []string
		_, err = client(t, srv, &datacite.Config{Token: token}).Submit(t.Context(), later, datasets(3),
			&reports.SubmitOptions{Warn: func(f datacite.Finding) { said = append(said, f.String()) }})
		require.NoError(t, err)
		assert.Contains(t, said, `warning: report-header.report-id: is "dsr REDACTED"; the stored report keeps "dsr"`)
		receipt.Header.ReportID = token
		err = client(t, srv, &datacite.Config{Token: token}).Verify(t.Context(), receipt)
		require.ErrorIs(t, err, datacite.ErrIncomplete)
		assert.NotContains(t, err.Error(), token)

		_, err = c.Submit(t.Context(), header("Example", time.October), datasets(2), &reports.SubmitOptions{ID: id})
		require.ErrorIs(t, err, datacite.ErrConflict, "its later subsets would land in the other report")
		receipt, err = c.Submit(t.Context(), header("Another", time.October), datasets(2), &reports.SubmitOptions{ID: id})
		require.NoError(t, err)
		assert.Equal(t, id, receipt.ReportID)
	})
}

func TestNothingIsSentBeforeAllIsChecked(t *testing.T) {
	srv := server(t)
	database := errors.New("database is down")
	failing := func(yield func(reports.Dataset, error) bool) {
		_ = yield(dataset(0), nil) && yield(dataset(1), nil) && yield(reports.Dataset{}, database)
	}
	h := header("Example", time.October)
	for name, tt := range map[string]struct {
		h      reports.Header
		src    iter.Seq2[reports.Dataset, error]
		opts   *reports.SubmitOptions
		want   error
		faults int
		says   string
	}{
		"the source fails": {h, failing, &reports.SubmitOptions{MaxDatasets: 1}, database, 0, "database is down"},
		"a bounded list":   {h, bad(500), nil, datacite.ErrInvalid, 100, "report-datasets[1].data-type: is \"book\""},
		"no datasets": {h, datasets(0), nil, datacite.ErrInvalid, 1,
			"report-datasets: is empty; the service accepts no report without datasets"},
		"no source": {h, nil, nil, datacite.ErrInvalid, 1, "src: is nil"},
		"no header": {reports.Header{}, datasets(1), nil, datacite.ErrInvalid, 6, "report-header.report-id: is empty"},
		"large subsets": {h, datasets(1), &reports.SubmitOptions{MaxDatasets: 50_001}, datacite.ErrInvalid, 1,
			"SubmitOptions.MaxDatasets: is 50001, not between 1 and 50000"},
		"negative options": {h, datasets(1),
			&reports.SubmitOptions{MaxDatasets: -1, Level: -1, MaxProcessing: -1,
				MaxOutage: -1}, datacite.ErrInvalid, 4, "SubmitOptions.Level: is -1, not between 1 and 9"},
		"a negative wait": {h, datasets(1), &reports.SubmitOptions{MaxProcessing: -1}, datacite.ErrInvalid, 1,
			"SubmitOptions.MaxProcessing: is -1"},
		"a negative outage": {h, datasets(1), &reports.SubmitOptions{MaxOutage: -1}, datacite.ErrInvalid, 1,
			"SubmitOptions.MaxOutage: is -1"},
		"level 10": {h, datasets(1), &reports.SubmitOptions{Level: 10}, datacite.ErrInvalid, 1, "SubmitOptions.Level: is 10"},
		"no UUID": {h, datasets(1), &reports.SubmitOptions{ID: "x"}, datacite.ErrInvalid, 1,
			"SubmitOptions.ID: \"x\" is not a UUID"},
		"no Warn": {h, datasets(1), &reports.SubmitOptions{CompareOthers: true}, datacite.ErrInvalid, 1,
			"SubmitOptions.CompareOthers: needs SubmitOptions.Warn"},
	} {
		_, err := srv.Reports().Submit(t.Context(), tt.h, tt.src, tt.opts)
		require.ErrorIs(t, err, tt.want, name)
		assert.Len(t, datacite.Findings(err), tt.faults, name)
		assert.ErrorContains(t, err, tt.says, name)
	}
	assert.Empty(t, srv.Requests())
}

// bad yields datasets of which every second breaks a rule.
func bad(n int) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		for i := range n {
			d := dataset(i)
			if i%2 == 1 {
				d.DataType = "book"
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// TestDatasetsCanBeLeftOut: LeaveOut is called with each fault, and those that it does not accept stop
// the submission.
func TestDatasetsCanBeLeftOut(t *testing.T) {
	for _, refused := range []int{0, 2} {
		srv := server(t)
		var leftOut []string
		receipt, err := srv.Reports().Submit(t.Context(), header("Example", time.October), bad(10), &reports.SubmitOptions{
			LeaveOut: func(err error) bool {
				require.ErrorIs(t, err, datacite.ErrInvalid)
				require.Len(t, datacite.Findings(err), 1)
				leftOut = append(leftOut, err.Error())
				return len(leftOut) != refused
			},
		})
		require.Len(t, leftOut, 5)
		assert.Contains(t, leftOut[1], "dataset "+dataset(3).DatasetID[0].Value+": datacite: report-datasets[3].data-type: ",
			"datasets are counted as in the source")
		if refused > 0 {
			require.Len(t, datacite.Findings(err), 1)
			assert.Equal(t, "report-datasets[3].data-type", datacite.Findings(err)[0].Path)
			assert.Empty(t, writes(srv))
			continue
		}
		require.NoError(t, err)
		assert.EqualValues(t, 5, receipt.Datasets)
		assert.Len(t, stored(t, srv.Reports(), receipt.ReportID), 5)
	}
}

func TestWarnings(t *testing.T) {
	d := dataset(0)
	d.Performance[0].Instance[0].CountryCounts[1] = reports.CountryCount{Country: "xk", Count: 1}
	d.Performance[0].Instance[1].Count = 0
	d.Publisher = "Mus\ufffde"
	bare := d
	bare.DatasetID, bare.Performance = []reports.TypedValue{{Type: "doi", Value: "DOI:10.5072/bare"}}, nil
	codes, warned := map[datacite.Code]int{}, []string(nil)
	_, err := server(t).Reports().Submit(t.Context(), header("Example", time.October),
		reports.Source([]reports.Dataset{d, bare}), &reports.SubmitOptions{
			Warn: func(f datacite.Finding) { warned = append(warned, f.String()); codes[f.Code]++ },
		})
	require.NoError(t, err, "a warning stops nothing")
	assert.Equal(t, map[datacite.Code]int{"vocabulary": 1, "incomplete": 1, "zero": 1, "encoding": 2, "corrected": 1},
		codes)
	want := []string{
		`warning: report-datasets[0].performance[0].instance[0].country-counts["xk"]: is not a country code of ISO 3166-1; ` +
			`an uncompressed report with it is refused`,
		`warning: report-datasets[0].performance[0].instance[0].country-counts: add up to 5, and the count is 7`,
		`warning: report-datasets[0].performance[0].instance[1].count: is 0, which is needed only to remove an earlier ` +
			`number`,
		"warning: report-datasets[0].publisher: has the character U+FFFD, which stands where a program lost what was written",
		`warning: report-datasets[1].dataset-id[0].value: is "DOI:10.5072/bare", in which the service does not find the ` +
			`DOI; Submit, Create and Put send "10.5072/bare" first`,
	}
	assert.Equal(t, want, warned[:len(want)])

	r := report("Example", 1)
	r.Header.ReportingPeriod = reports.Period{BeginDate: "1999-11-01T00:30:00+02:00", EndDate: "1999-11-30"}
	require.Len(t, r.Findings(), 1)
	assert.Equal(t, "warning: report-header.reporting-period.begin-date: is 1999-11-01T00:30:00+02:00; records show the "+
		"counts under its month in UTC, 1999-10", r.Findings()[0].String())
	r = report("Example", 1)
	r.Datasets = []reports.Dataset{d, d}
	r.Header.Created = "soon"
	findings := r.Findings()
	require.Len(t, findings, 10)
	assert.False(t, findings[0].Warning)
	assert.True(t, findings[9].Warning)
	assert.Contains(t, findings[9].String(), "is that of report-datasets[0]")
}

// A network leads to a service in memory, and lets a test intervene.
type network struct {
	srv     *datacitetest.Server
	before  func(*http.Request) error                   // an error is a connection that was lost before anything arrived
	instead func(*http.Request) *http.Response          // a response that does not come from the service
	after   func(*http.Request) (*http.Response, error) // both nil: the service's own response gets through
}

var errLost = errors.New("connection reset by peer")

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.before != nil {
		if err := n.before(r); err != nil {
			return nil, err
		}
	}
	if n.instead != nil {
		if res := n.instead(r); res != nil {
			return res, nil
		}
	}
	res, err := n.srv.HTTPClient().Transport.RoundTrip(r)
	if err != nil || n.after == nil {
		return res, err
	}
	other, err := n.after(r)
	if other == nil && err == nil {
		return res, nil
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	return other, err
}

// onNetwork runs a test in virtual time, with locks of its own.
func onNetwork(t *testing.T, o datacitetest.Options, test func(t *testing.T, n *network, c *reports.Client)) {
	t.Helper()
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		o.NoPort = true
		n := &network{srv: datacitetest.NewServer(&o)}
		test(t, n, client(t, n.srv, &datacite.Config{Token: n.srv.Token(n.srv.Now().Add(year)),
			HTTPClient: &http.Client{Transport: n}}))
	})
}

var documented = datacitetest.Options{Behaviour: datacitetest.Documented}

// once is true the first time that a request has the method.
func once(method string) func(*http.Request) bool {
	done := false
	return func(r *http.Request) bool {
		if done || r.Method != method {
			return false
		}
		done = true
		return true
	}
}

// TestAServiceThatGoesAway is waited for as long as MaxOutage says, also if that is less than MaxProcessing.
func TestAServiceThatGoesAway(t *testing.T) {
	for _, behaviour := range behaviours {
		for _, outage := range []time.Duration{time.Hour, 5 * time.Second} {
			onNetwork(t, datacitetest.Options{Behaviour: behaviour}, func(t *testing.T, n *network, c *reports.Client) {
				posts := 0
				n.before = func(r *http.Request) error {
					if r.Method == "POST" {
						posts++
					}
					if posts >= 2 {
						return errLost
					}
					return nil
				}
				h := header("Example", time.October)
				opts := &reports.SubmitOptions{MaxDatasets: 10, MaxOutage: outage}
				start := time.Now()
				_, err := c.Submit(t.Context(), h, datasets(40), opts)
				e, ok := errors.AsType[*reports.SubmitError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, reports.SubmitUnclear, e.State, "not broken: it may be in the making")
				assert.Len(t, e.Stored, 2)
				assert.Equal(t, 4, e.Total)
				require.ErrorIs(t, err, datacite.ErrUnclear)
				require.ErrorIs(t, err, errLost)
				assert.ErrorContains(t, err, "is unclear: 2 of 4 subsets stored")
				assert.ErrorContains(t, err, "run it again; it waits and looks first")
				assert.InDelta(t, outage, time.Since(start), float64(2*time.Minute))
				assert.GreaterOrEqual(t, time.Since(start), outage)

				n.before = nil
				receipt, err := c.Submit(t.Context(), h, datasets(40), opts)
				require.NoError(t, err)
				assert.Equal(t, 2, receipt.Sent, "it went on where it stopped")
				assert.Equal(t, all(40), stored(t, c, receipt.ReportID))
			})
		}
	}
}

// TestAServiceThatIsAwayAtFirst is waited for, and the wait is announced.
func TestAServiceThatIsAwayAtFirst(t *testing.T) {
	for _, away := range []time.Duration{20 * time.Minute, 2 * time.Hour} {
		onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
			start := time.Now()
			n.before = func(*http.Request) error {
				if time.Since(start) < away {
					return errLost
				}
				return nil
			}
			var said []reports.Progress
			receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(4),
				&reports.SubmitOptions{MaxOutage: time.Hour, Progress: func(p reports.Progress) {
					if p.Stage == reports.StageWaiting {
						said = append(said, p)
					}
				}})
			require.NotEmpty(t, said)
			assert.Contains(t, said[0].Reason,
				"the service cannot be reached, or fails: reports.Submit: looking for an existing report: GET ")
			assert.Contains(t, said[0].Reason, errLost.Error())
			assert.WithinDuration(t, start.Add(time.Hour), said[0].Until, 2*time.Minute)
			if away > time.Hour {
				require.ErrorIs(t, err, errLost)
				assert.GreaterOrEqual(t, time.Since(start), time.Hour)
				assert.Less(t, time.Since(start), 70*time.Minute)
				assert.Empty(t, writes(n.srv))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, 1, receipt.Sent)
		})
	}
}

// TestAServiceThatHangs is waited for no longer than one that cannot be reached: the clock of an outage
// runs through all attempts and looks.
func TestAServiceThatHangs(t *testing.T) {
	for name, hangs := range map[string]func(*http.Request) bool{
		"the search":       func(*http.Request) bool { return true },
		"the report":       func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/reports/") },
		"the other report": func(r *http.Request) bool { return r.URL.Query().Has("client-id") },
	} {
		for _, outage := range []time.Duration{2 * time.Minute, 30 * time.Minute} {
			onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
				n.before = func(r *http.Request) error {
					if !hangs(r) {
						return nil
					}
					<-r.Context().Done()
					return r.Context().Err()
				}
				start := time.Now()
				_, err := c.Submit(t.Context(), header("Example", time.October), datasets(4),
					&reports.SubmitOptions{MaxOutage: outage, RefuseOthers: true, Warn: func(datacite.Finding) {}})
				require.ErrorContains(t, err, "no response: nothing sent or received for", name)
				assert.ErrorContains(t, err, "nothing was sent")
				assert.True(t, datacite.Temporary(err), "%v", err)
				assert.GreaterOrEqual(t, time.Since(start), outage)
				assert.Less(t, time.Since(start), outage+outage/5+time.Minute, name)
			})
		}
	}
}

// TestASlowServiceIsNoOutage: the clock of an outage begins with the first request that fails, not with
// the search that it is part of, and a response ends it.
func TestASlowServiceIsNoOutage(t *testing.T) {
	for _, away := range []time.Duration{0, 100 * time.Second, time.Hour} {
		onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
			opts := &reports.SubmitOptions{MaxOutage: 5 * time.Minute, RefuseOthers: true, Warn: func(datacite.Finding) {}}
			for i := range 8 {
				_, err := c.Submit(t.Context(), header(fmt.Sprint("Other ", i), time.October),
					reports.Source([]reports.Dataset{counted(fmt.Sprint("10.5072/other-", i), views(1))}), nil)
				require.NoError(t, err)
			}
			var failed time.Time
			asked := 0
			n.before = func(r *http.Request) error {
				if asked++; asked == 10 {
					failed = time.Now()
				}
				if asked >= 10 && time.Since(failed) < away {
					return errLost
				}
				time.Sleep(50 * time.Second)
				return r.Context().Err()
			}
			_, err := c.Submit(t.Context(), header("Example", time.October), datasets(4), opts)
			require.GreaterOrEqual(t, asked, 10, "%v", err)
			if away < opts.MaxOutage {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, errLost)
			assert.GreaterOrEqual(t, time.Since(failed), opts.MaxOutage)
			assert.Less(t, time.Since(failed), 2*opts.MaxOutage)
		})
	}
}

// TestAnotherHost is no service that is away: it is said at once.
func TestAnotherHost(t *testing.T) {
	for name, tt := range map[string]struct {
		status     int
		kind, body string
		waits      bool
	}{
		"too large":                  {200, "application/json", "", false},
		"the report: 500":            {500, "application/json", "{}", true},
		"the report: 429":            {429, "application/json", "{}", true},
		"the report: another report": {200, "application/json", `{"report":{"id":"` + id + `"}}`, true},
		"a login page":               {200, "text/html", "<html><body>Log in</body></html>", false},
		"a text":                     {200, "text/plain", "It works!", false},
		"another JSON":               {200, "application/json", `{"status":"ok"}`, false},
		"no such page":               {404, "text/html", "<html><h1>404 Not Found</h1></html>", false},
		"a busy gateway":             {503, "text/html", "<html><h1>503</h1></html>", true},
		"a cut list":                 {200, "application/json", `{"reports":[`, true},
		"a cut list after a blank":   {200, "application/json", "\n" + `{"reports":[`, true},
		"too many":                   {403, "text/html", "<html><h1>403</h1></html>", true},
		"a moved service":            {302, "text/html", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
				n.instead = func(r *http.Request) *http.Response {
					if (name == "too large" || strings.HasPrefix(name, "the report: ")) && r.URL.Query().Has("created-by") {
						return nil
					}
					if name == "too large" {
						tt.body = `{"report":{"id":"` + strings.Repeat("x", 2<<20)
					}
					return &http.Response{StatusCode: tt.status, Request: r, Header: http.Header{"Content-Type": {tt.kind}},
						Body: io.NopCloser(strings.NewReader(tt.body))}
				}
				if name == "too large" {
					c = client(t, n.srv, &datacite.Config{Token: n.srv.Token(n.srv.Now().Add(year)),
						HTTPClient: &http.Client{Transport: n}, MaxReport: 1 << 20})
				}
				start := time.Now()
				_, err := c.Submit(t.Context(), header("Example", time.October), datasets(4), nil)
				require.ErrorContains(t, err, "nothing was sent")
				assert.Equal(t, tt.waits, time.Since(start) >= 30*time.Minute, "%v: %v", time.Since(start), err)
			})
		})
	}
}

// TestASecondRunNoticesTheFirst on another machine, which sends a subset while it waits. On the same
// machine see TestWritesOfOneReportAtOnce.
func TestASecondRunNoticesTheFirst(t *testing.T) {
	onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
		h := header("Example", time.October)
		first, err := c.Submit(t.Context(), h, datasets(10), nil)
		require.NoError(t, err)
		go func() {
			time.Sleep(time.Minute)
			bypass(t, n.srv, "POST", "/reports", h, all(20)[10:])
		}()
		before := len(writes(n.srv))
		_, err = c.Submit(t.Context(), h, datasets(30), &reports.SubmitOptions{MaxDatasets: 10, LockDir: t.TempDir()})
		require.ErrorIs(t, err, reports.ErrBusy)
		assert.ErrorContains(t, err, "changed while nothing was sent")
		assert.Len(t, writes(n.srv), before+1, "only the other run wrote")
		assert.Equal(t, all(20), stored(t, c, first.ReportID))
	})
}

// TestAWriteWithoutAConnection is made again when there is one: nothing can be in progress.
func TestAWriteWithoutAConnection(t *testing.T) {
	onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
		refused := 0
		n.before = func(r *http.Request) error {
			if r.Method != http.MethodPost || refused == 20 {
				return nil
			}
			refused++
			return &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		}
		start := time.Now()
		receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(4),
			&reports.SubmitOptions{MaxDatasets: 2})
		require.NoError(t, err)
		assert.Equal(t, 20, refused)
		assert.Less(t, time.Since(start), 5*time.Minute)
		assert.Equal(t, all(4), stored(t, c, receipt.ReportID))
	})
}

// TestAWriteThatNeverArrives is sent five times. What became of the last one is known by then; only a PUT
// may have removed the old report.
func TestAWriteThatNeverArrives(t *testing.T) {
	for method, tt := range map[string]struct {
		state reports.SubmitState
		sent  []string
	}{
		http.MethodPut:  {reports.SubmitUnclear, slices.Repeat([]string{"PUT"}, 5)},
		http.MethodPost: {reports.SubmitIncomplete, append([]string{"PUT"}, slices.Repeat([]string{"POST"}, 5)...)},
	} {
		onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
			var sent []string
			n.before = func(r *http.Request) error {
				if r.Method == http.MethodGet {
					return nil
				}
				if sent = append(sent, r.Method); r.Method == method {
					return errLost
				}
				return nil
			}
			_, err := c.Submit(t.Context(), header("Example", time.October), datasets(4), &reports.SubmitOptions{MaxDatasets: 2})
			e, ok := errors.AsType[*reports.SubmitError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, tt.state, e.State)
			assert.Equal(t, tt.sent, sent)
			require.ErrorIs(t, err, errLost)
			assert.NotContains(t, err.Error(), "not known")
		})
	}
}

// TestARecordThatCannotBeWritten ends a run whose last request may still be at work: the next run would not know of it.
func TestARecordThatCannotBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no folder with files that are open")
	}
	dir := t.TempDir()
	onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
		first := once(http.MethodPost)
		n.before = func(r *http.Request) error {
			if !first(r) {
				return nil
			}
			_, err := io.Copy(io.Discard, r.Body)
			time.Sleep(time.Minute)
			return errors.Join(errLost, err, os.RemoveAll(dir))
		}
		start := time.Now()
		_, err := c.Submit(t.Context(), header("Example", time.October), datasets(2),
			&reports.SubmitOptions{LockDir: dir, MaxDatasets: 1})
		e, ok := errors.AsType[*reports.SubmitError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, reports.SubmitUnclear, e.State)
		require.ErrorIs(t, err, errLost)
		require.ErrorIs(t, err, os.ErrNotExist)
		assert.Equal(t, time.Minute, time.Since(start).Round(time.Minute), "it does not wait")
	})
}

// TestARunIsDisturbed by another program, whose subset comes between its own.
func TestARunIsDisturbed(t *testing.T) {
	onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
		h := header("Example", time.October)
		posted := once(http.MethodPost)
		n.before = func(r *http.Request) error {
			if !posted(r) {
				return nil
			}
			bypass(t, n.srv, "POST", "/reports", h, all(20)[10:])
			return errLost
		}
		_, err := c.Submit(t.Context(), h, datasets(4), &reports.SubmitOptions{MaxDatasets: 2})
		require.ErrorIs(t, err, reports.ErrBusy)
		assert.ErrorContains(t, err, "the service holds something other than the first 1 subsets of this report")
		e, ok := errors.AsType[*reports.SubmitError](err)
		require.True(t, ok)
		assert.Equal(t, reports.SubmitDisturbed, e.State)
		assert.Equal(t, []string{"PUT", "POST"}, methods(writes(n.srv)))
	})
}

// TestASubsetInAnotherReport ends the run: what follows would go there, too.
func TestASubsetInAnotherReport(t *testing.T) {
	onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
		n.instead = func(r *http.Request) *http.Response {
			if r.Method != http.MethodPost {
				return nil
			}
			return without(201, `{"report":{"id":"`+id+`","report-header":{},"report-datasets":[]}}`)(r)
		}
		_, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 2})
		require.ErrorIs(t, err, datacite.ErrConflict)
		assert.ErrorContains(t, err, "the service put subset 2 into the report \""+id+"\", not ")
		assert.Equal(t, []string{"PUT"}, methods(writes(n.srv)))
	})
}

func methods(writes []string) (list []string) {
	for _, w := range writes {
		method, _, _ := strings.Cut(w, " ")
		list = append(list, method)
	}
	return list
}

func TestNoFilesAreLeft(t *testing.T) {
	dir := t.TempDir()
	c := server(t).Reports()
	locks := t.TempDir()
	receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(100),
		&reports.SubmitOptions{MaxDatasets: 10, TempDir: dir, LockDir: locks})
	require.NoError(t, err)
	assert.Equal(t, all(100), stored(t, c, receipt.ReportID))
	left, err := filepath.Glob(dir + "/*")
	require.NoError(t, err)
	assert.Empty(t, left, "no temporary file")
	left, err = filepath.Glob(locks + "/*.lock")
	require.NoError(t, err)
	assert.Empty(t, left, "no lock")

	_, err = c.Submit(t.Context(), header("Another", time.October), datasets(100),
		&reports.SubmitOptions{MaxDatasets: 10, TempDir: dir + "/none"})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = c.Submit(t.Context(), header("Another", time.October), func(func(reports.Dataset, error) bool) {
		t.Error("known before the source is read")
	}, &reports.SubmitOptions{LockDir: dir + "/none"})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "SubmitOptions.LockDir")
}

// TestDiskThatFails takes the folder away while subsets are built: nothing is
// sent, because the record of the first request cannot be made.
func TestDiskThatFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no folder with files that are open")
	}
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		dir := t.TempDir()
		_, err := srv.Reports().Submit(t.Context(), header("Example", time.October),
			func(yield func(reports.Dataset, error) bool) {
				for i := range 1000 {
					if i == 25 {
						for os.RemoveAll(dir) != nil { // while something is written there
						}
					}
					if !yield(dataset(i), nil) {
						return
					}
				}
			}, &reports.SubmitOptions{MaxDatasets: 10, TempDir: dir, LockDir: dir})
		require.ErrorIs(t, err, os.ErrNotExist)
		assert.Empty(t, writes(srv), "nothing was sent")
	})
}

func TestTokenIsRenewedOnce(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		asked := 0
		good := srv.Token(srv.Now().Add(year))
		c := client(t, srv, &datacite.Config{TokenSource: func(context.Context) (string, error) {
			if asked++; asked == 1 {
				return "garbled", nil
			}
			return good, nil
		}})
		_, err := c.Put(t.Context(), id, report("Example", 1))
		require.NoError(t, err)
		assert.Equal(t, 2, asked)

		bad := client(t, srv, &datacite.Config{TokenSource: func(context.Context) (string, error) {
			asked++
			return "garbled", nil
		}})
		asked = 0
		_, err = bad.Put(t.Context(), id, report("Example", 1))
		require.ErrorIs(t, err, datacite.ErrUnauthorized)
		assert.Equal(t, 2, asked, "once more, not for ever")
	})
}

func TestATokenThatExpiresSoonIsAWarning(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		for left, warned := range map[time.Duration]int{29 * 24 * time.Hour: 1, 31 * 24 * time.Hour: 0} {
			var log bytes.Buffer
			c := client(t, srv, &datacite.Config{
				Token:  srv.Token(srv.Now().Add(left)),
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
			})
			_, err := c.List(t.Context(), nil)
			require.NoError(t, err)
			assert.Empty(t, log.String(), "reading needs no token")
			for range 2 {
				_, err = c.Put(t.Context(), id, report("Example", 1))
				require.NoError(t, err)
			}
			assert.Equal(t, warned, strings.Count(log.String(), "token expires soon"), "once, not for each request")
			assert.Equal(t, warned, strings.Count(log.String(), " expires="))
		}
	})
}

// TestADryRunSaysWhatIsSent: it finds all faults and makes the same subsets, without a request, a
// token or a lock.
func TestADryRunSaysWhatIsSent(t *testing.T) {
	srv, locks := server(t), t.TempDir()
	nobody, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL},
		HTTPClient: srv.HTTPClient()})
	require.NoError(t, err)
	h, opts := header("Example", time.October), reports.SubmitOptions{MaxDatasets: 3, LockDir: locks, DryRun: true}
	planned, err := nobody.Submit(t.Context(), h, datasets(7), &opts)
	require.NoError(t, err)
	bad := dataset(0)
	bad.DataType = "book"
	_, err = nobody.Submit(t.Context(), h, reports.Source([]reports.Dataset{bad}), &opts)
	require.ErrorContains(t, err, "report-datasets[0].data-type")
	for _, o := range []reports.SubmitOptions{
		{Level: 1, MaxDatasets: 1, MaxProcessing: 1, MaxOutage: 1}, {Level: 9, MaxDatasets: reports.MaxDatasets},
	} {
		o.DryRun = true
		_, err := nobody.Submit(t.Context(), h, datasets(1), &o)
		require.NoError(t, err)
	}
	assert.Empty(t, srv.Requests())
	left, err := os.ReadDir(locks)
	require.NoError(t, err)
	assert.Empty(t, left)

	opts.DryRun = false
	sent, err := srv.Reports().Submit(t.Context(), h, datasets(7), &opts)
	require.NoError(t, err)
	assert.Equal(t, 3, sent.Sent)
	sent.Sent = 0
	assert.Equal(t, planned, sent)
}
