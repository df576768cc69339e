package reports_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
)

// corrections submits reports for one month, and notes the warnings of numbers that
// records continue to show.
type corrections struct {
	t    *testing.T
	c    *reports.Client
	opts reports.SubmitOptions
	said []string
}

func (s *corrections) submit(datasets ...reports.Dataset) *reports.Receipt {
	s.t.Helper()
	s.said = nil
	s.opts.LockDir, s.opts.AllowInconsistent = cmp.Or(s.opts.LockDir, s.t.TempDir()), true
	s.opts.Warn = func(f datacite.Finding) {
		if f.Code == "left" || f.Code == "reported-twice" {
			assert.True(s.t, f.Warning, f.Reason)
			assert.Equal(s.t, "report-datasets", f.Path)
			s.said = append(s.said, f.Reason)
		}
	}
	receipt, err := s.c.Submit(s.t.Context(), header("Example", time.October), reports.Source(datasets), &s.opts)
	require.NoError(s.t, err)
	return receipt
}

// TestACorrectionThatDropsDatasets says which numbers records continue to show, and sends
// zeros for them with ZeroDropped.
func TestACorrectionThatDropsDatasets(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		s := corrections{t: t, c: srv.Reports()}
		a, b, c := counted("10.5072/a", views(3),
			downloads(2)), counted("10.5072/B", views(1)), counted("10.5072/c", downloads(0))
		b.DatasetID = append(b.DatasetID, reports.TypedValue{Type: "uri", Value: "https://example.org/b"})
		first := s.submit(a, b, c)
		holds := func(want ...reports.Dataset) {
			t.Helper()
			assert.ElementsMatch(t, want, stored(t, s.c, first.ReportID))
		}
		assert.Empty(t, s.said)
		assert.Zero(t, first.Kept)

		receipt := s.submit(counted("10.5072/a", views(4)))
		assert.Equal(t, []string{
			"lack the unique-dataset-requests of 10.5072/a that the stored report has; its record continues to show 2 for " +
				"1999-10 unless a report has the count 0",
			"lack the unique-dataset-investigations of 10.5072/b that the stored report has; its record continues to show 1 " +
				"for 1999-10 unless a report has the count 0",
		}, s.said, "the 0 of c is no number that anybody sees")
		assert.EqualValues(t, 2, receipt.Kept)

		s.submit(a, b, c)
		s.opts.ZeroDropped = true
		receipt = s.submit(counted("10.5072/a", views(4)))
		assert.Empty(t, s.said)
		assert.Zero(t, receipt.Kept)
		assert.EqualValues(t, 3, receipt.Zeros)
		holds(counted("10.5072/a", views(4)), counted("10.5072/a", downloads(0)), counted("10.5072/B", views(0)),
			counted("10.5072/c", downloads(0)))
		require.NoError(t, s.c.Verify(t.Context(), receipt))

		// Again: nothing is sent.
		again := s.submit(counted("10.5072/a", views(4)))
		assert.Zero(t, again.Sent)
		assert.Equal(t, receipt.Subsets, again.Subsets)

		// Zeros are replaced when the dataset is used after all.
		s.submit(counted("10.5072/a", views(4), downloads(1)), b)
		holds(counted("10.5072/a", views(4), downloads(1)), b, c)
	})
}

// TestAReportThatHasLessIsRefused: a log was missing, and records would show less.
func TestAReportThatHasLessIsRefused(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		s := corrections{t: t, c: srv.Reports()}
		s.opts.RefuseLower = true
		first := s.submit(counted("10.5072/a", views(3), downloads(2)), counted("10.5072/B", views(9)))
		requests := len(srv.Requests())
		for name, tt := range map[string]struct {
			now   []reports.Dataset
			lower []reports.LowerNumber
		}{
			"a lower count": {[]reports.Dataset{counted("10.5072/a", views(5), downloads(1)),
				counted("10.5072/b", views(9))}, []reports.LowerNumber{
				{DOI: "10.5072/a", Metric: reports.MetricUniqueDatasetRequests, Stored: 2, Now: 1}}},
			"a dataset is gone": {[]reports.Dataset{counted("10.5072/a", views(3), downloads(2))},
				[]reports.LowerNumber{{DOI: "10.5072/b", Metric: reports.MetricUniqueDatasetInvestigations, Stored: 9}}},
			"downloads are gone": {[]reports.Dataset{counted("10.5072/a", views(3)), counted("10.5072/b", views(9))},
				[]reports.LowerNumber{{DOI: "10.5072/a", Metric: reports.MetricUniqueDatasetRequests, Stored: 2}}},
			"other datasets only": {[]reports.Dataset{counted("10.5072/a", views(2), downloads(2)),
				counted("10.5072/b", views(8)), counted("10.5072/c",
					views(8))}, []reports.LowerNumber{
				{DOI: "10.5072/a", Metric: reports.MetricUniqueDatasetInvestigations, Stored: 3, Now: 2},
				{DOI: "10.5072/b", Metric: reports.MetricUniqueDatasetInvestigations, Stored: 9, Now: 8}}},
		} {
			for _, zeros := range []bool{false, true} {
				opts := s.opts
				opts.ZeroDropped = zeros
				_, err := s.c.Submit(t.Context(), header("Example", time.October), reports.Source(tt.now), &opts)
				lower, ok := errors.AsType[*reports.LowerError](err)
				require.True(t, ok, "%s: %v", name, err)
				assert.EqualValues(t, 3, lower.Stored, name)
				assert.EqualValues(t, len(tt.lower), lower.Lower, name)
				assert.Equal(t, tt.lower, lower.First, name)
				require.ErrorIs(t, err, datacite.ErrConflict)
				assert.ErrorContains(t, err, "nothing was sent")
				few := fmt.Sprintf("the stored report has 3 counts that DOI records show, and this one has less in %d", lower.Lower)
				assert.ErrorContains(t, err, fmt.Sprintf("%s, such as the %s of %s: %d, not %d; is a log missing?", few,
					tt.lower[0].Metric, tt.lower[0].DOI, tt.lower[0].Now, tt.lower[0].Stored))
				lower.First = nil
				assert.EqualError(t, lower, few+"; is a log missing?")
			}
		}
		for _, r := range srv.Requests()[requests:] {
			assert.Equal(t, http.MethodGet, r.Method)
		}
		more := []reports.Dataset{counted("10.5072/a", views(4), downloads(2)), counted("10.5072/b", views(9)),
			counted("10.5072/c", views(1))}
		assert.Equal(t, first.ReportID, s.submit(more...).ReportID)
		assert.Zero(t, s.submit(more...).Sent)
		s.opts.RefuseLower = false
		s.submit(counted("10.5072/a", views(1), downloads(1)))
	})
}

// TestTheEndOfAMonthThatIsNotOver: a later report of the month moves the end, also if nothing was used.
func TestTheEndOfAMonthThatIsNotOver(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/a","state":"findable"}`)))
		c, locks, data := srv.Reports(), t.TempDir(), []reports.Dataset{counted("10.5072/a", views(3))}
		send := func(last reports.Date) (*reports.Receipt, []reports.Exception) {
			h := header("Example", time.October)
			require.NoError(t, h.EndOn(last))
			r, err := c.Submit(t.Context(), h, reports.Source(data),
				&reports.SubmitOptions{LockDir: locks, AllowInconsistent: true})
			require.NoError(t, err)
			require.NoError(t, c.Verify(t.Context(), r))
			s, err := c.Get(t.Context(), r.ReportID)
			require.NoError(t, err)
			assert.Equal(t, reports.Period{BeginDate: "1999-10-01", EndDate: last}, s.Header.ReportingPeriod)
			return r, s.Header.Exceptions
		}
		first, noted := send("1999-10-14")
		require.Len(t, noted, 2)
		assert.Equal(t, reports.Exception{Code: reports.ExceptionPartial, Severity: "warning",
			Message: "Partial Data Returned", Data: "usage from 1999-10-01 to 1999-10-31 is available only to " +
				"1999-10-14"}, noted[0])
		assert.Equal(t, reports.ExceptionCompressed, noted[1].Code, "the service looks for it in any place")
		if srv.Behaviour == datacitetest.Deployed {
			record, err := srv.DOIs().Get(t.Context(), "10.5072/a", nil)
			require.NoError(t, err)
			assert.Equal(t, dois.Series{{YearMonth: "1999-10", Total: 3}}, record.ViewsOverTime)
		}
		for _, last := range []reports.Date{"1999-10-15", "1999-10-31"} {
			next, noted := send(last)
			assert.Equal(t, first.ReportID, next.ReportID)
			assert.Equal(t, 1, next.Sent)
			assert.Equal(t, last != "1999-10-31", noted[0].Code == reports.ExceptionPartial)
		}
	})
	h := header("Example", time.October)
	for _, day := range []reports.Date{"", "1999-09-30", "1999-11-01", "1999-10-32"} {
		require.ErrorIs(t, h.EndOn(day), datacite.ErrInvalid, day)
	}
	assert.Equal(t, header("Example", time.October), h)
	require.ErrorContains(t, new(reports.Header).EndOn("1999-10-15"), "reporting-period.begin-date: is \"\"")
	other := reports.Exception{Code: 3071}
	h.Exceptions = []reports.Exception{other}
	for _, last := range []reports.Date{"1999-10-01", "1999-10-15", "1999-10-31"} {
		require.NoError(t, h.EndOn(last))
		assert.Equal(t, other, h.Exceptions[0])
	}
	assert.Len(t, h.Exceptions, 1, "those of days before are gone")
}

// TestTheSameMonthUnderAnotherName is noticed if asked.
func TestTheSameMonthUnderAnotherName(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.Reports()
		old, err := c.Submit(t.Context(), header("Old Name", time.October),
			reports.Source([]reports.Dataset{counted("10.5072/a", views(3), downloads(1)),
				counted("10.5072/b", views(3))}), &reports.SubmitOptions{LockDir: t.TempDir()})
		require.NoError(t, err)
		_, err = c.Submit(t.Context(), header("Old Name", time.November),
			reports.Source([]reports.Dataset{counted("10.5072/a", views(3))}), &reports.SubmitOptions{LockDir: t.TempDir()})
		require.NoError(t, err)

		s := corrections{t: t, c: c}
		s.submit(counted("10.5072/c", views(3)))
		s.opts.CompareOthers = true
		listed := len(srv.Requests())
		s.submit(counted("10.5072/c", views(3)))
		assert.Empty(t, s.said)
		lists := 0
		for _, r := range srv.Requests()[listed:] {
			if r.URL.Query().Has("client-id") {
				lists++
			}
		}
		assert.Equal(t, 1, lists, "read at once, it is not requested again")
		s.submit(counted("10.5072/A", views(5), downloads(1)))
		assert.Contains(t, s.said, fmt.Sprintf(
			"report %s of \"Old Name\" has 2 of the same numbers for that month, such as one of 10.5072/a; records show the "+
				"sum", old.ReportID))

		s.opts.RefuseOthers, s.opts.LockDir, s.said = true, t.TempDir(), nil
		before := srv.Requests()
		_, err = c.Submit(t.Context(), header("New Name", time.October),
			reports.Source([]reports.Dataset{counted("10.5072/b", views(5))}), &s.opts)
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.Equal(t, datacite.Code("reported-twice"), datacite.Findings(err)[0].Code)
		assert.ErrorContains(t, err, fmt.Sprintf(
			"report %s of \"Old Name\" has 1 of the same numbers for that month, such as one of 10.5072/b", old.ReportID))
		assert.Empty(t, s.said)
		for _, r := range srv.Requests()[len(before):] {
			assert.Equal(t, http.MethodGet, r.Method)
		}
		_, err = c.Submit(t.Context(), header("New Name", time.October),
			reports.Source([]reports.Dataset{counted("10.5072/d", views(5))}), &s.opts)
		require.NoError(t, err)
	})
}

// What CompareOthers cannot read is said, and holds nothing up: it is advice.
func TestOtherReportsThatCannotBeRead(t *testing.T) {
	other, numbers := header("Old Name",
		time.October), []reports.Dataset{counted("10.5072/a", views(3)), counted("10.5072/b", views(3))}
	id := reports.DeriveID(other)
	sum := fmt.Sprintf("report %s of \"Old Name\" has 2 of the same numbers for that month, such as one of 10.5072/b; "+
		"records show the sum", id)
	cannot := "cannot be compared completely with report " + id + " of the same month: "
	list := func(r *http.Request) bool { return r.URL.Query().Has("client-id") }
	one := func(r *http.Request) bool { return r.URL.Path == "/reports/"+id }
	for name, tt := range map[string]struct {
		at     func(*http.Request) bool
		times  int
		status int
		body   string
		end    error // of the body; io.EOF: it only looks complete
		says   string
	}{
		"500 for good":             {one, 1000, 500, `{"status":400,"title":"invalid base64"}`, io.EOF, cannot + "GET "},
		"cut twice":                {one, 2, 200, "", io.EOF, sum},
		"cut three times":          {one, 3, 200, "", io.EOF, cannot + "reports: stored report is damaged: GET "},
		"cut each time":            {one, 1000, 200, "", io.EOF, cannot + "reports: stored report is damaged: GET "},
		"damaged":                  {one, 1000, 200, "damaged", io.EOF, cannot + "reports: stored report is damaged: GET "},
		"the connection lost each": {one, 1000, 200, "", io.ErrUnexpectedEOF, cannot + "GET "},
		"the list: 500 for good": {list, 1000, 500, `{}`, io.EOF,
			"cannot be compared with the other reports of the account: "},
	} {
		t.Run(name, func(t *testing.T) {
			onNetwork(t, datacitetest.Options{}, func(t *testing.T, n *network, c *reports.Client) {
				_, err := c.Submit(t.Context(), other, reports.Source(numbers), &reports.SubmitOptions{MaxDatasets: 1})
				require.NoError(t, err)
				left, open := tt.times, new(atomic.Int32)
				n.instead = func(r *http.Request) *http.Response {
					if !tt.at(r) || left == 0 {
						return nil
					}
					left--
					res, err := n.srv.HTTPClient().Transport.RoundTrip(r)
					require.NoError(t, err)
					whole, err := io.ReadAll(res.Body)
					require.NoError(t, err)
					require.NoError(t, res.Body.Close())
					body := cmp.Or(tt.body, string(whole[:2*len(whole)/3]))
					if tt.body == "damaged" {
						body = strings.Replace(string(whole), `"checksum":"`, `"checksum":"0`, 1)
					}
					open.Add(1)
					return &http.Response{StatusCode: tt.status, Request: r, Header: http.Header{},
						Body: closing{io.MultiReader(strings.NewReader(body), iotest.ErrReader(tt.end)), sync.OnceFunc(func() {
							open.Add(-1)
						})}}
				}
				sent := len(writes(n.srv))
				_, err = c.Submit(t.Context(), header("Example", time.October), reports.Source(numbers),
					&reports.SubmitOptions{RefuseOthers: true, Warn: func(datacite.Finding) {}})
				require.ErrorContains(t, err, cmp.Or(map[bool]string{true: sum}[tt.says == sum],
					"looking for other reports of the account: "))
				assert.ErrorContains(t, err, "nothing was sent")
				assert.Len(t, writes(n.srv), sent, "an option that refuses, refuses")
				left = tt.times
				s := corrections{t: t, c: c, opts: reports.SubmitOptions{CompareOthers: true}}
				receipt := s.submit(numbers...)
				assert.EqualValues(t, 2, receipt.Datasets)
				require.NotEmpty(t, s.said)
				assert.Contains(t, s.said[0], tt.says)
				if tt.says == sum {
					assert.Len(t, s.said, 1)
				}
				assert.Zero(t, open.Load(), "responses that are not closed")
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	srv := deployedServer(t)
	_, err := srv.Reports().Submit(ctx, other, datasets(1),
		&reports.SubmitOptions{CompareOthers: true, Warn: func(datacite.Finding) {}, Progress: func(reports.Progress) {
			cancel()
		}})
	require.ErrorIs(t, err, context.Canceled)
}

// closing is a body that calls a function when it is closed.
type closing struct {
	io.Reader
	close func()
}

func (c closing) Close() error { c.close(); return nil }

// TestIdentifiersAreSentReadable: a DOI that the service would not find is sent bare and
// first, by Submit, Create and Put alike, and the caller's data are left alone.
func TestIdentifiersAreSentReadable(t *testing.T) {
	ids := map[string]string{
		"DOI:10.5072/Kit": "10.5072/Kit", "info:doi/10.5072/kit": "10.5072/kit", "www.doi.org/10.5072/kit": "10.5072/kit",
		" 10.5072/kit\n":                "10.5072/kit",
		"https://doi.org/10.5072%2Fkit": "10.5072/kit", "https://doi.org/10.5072/KIT": "https://doi.org/10.5072/KIT", "doi:10.5072/kit": "doi:10.5072/kit",
		"10.5072/a<b": "10.5072/a<b", "no doi": "no doi", "10.123456/a": "10.123456/a",
	}
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.Reports()
		for i, id := range slices.Sorted(maps.Keys(ids)) {
			for _, first := range []bool{true, false} {
				d := counted(id, views(3))
				want := []reports.TypedValue{{Type: "doi", Value: ids[id]}}
				if uri := (reports.TypedValue{Type: "uri", Value: "https://example.org/a"}); !first {
					d.DatasetID = []reports.TypedValue{uri, d.DatasetID[0]}
					if want = append(want, uri); id == "10.5072/a<b" || id == "no doi" || id == "10.123456/a" {
						slices.Reverse(want)
					}
				}
				sent := slices.Clone(d.DatasetID)
				check := func(id string, err error) {
					require.NoError(t, err)
					assert.Equal(t, want, stored(t, c, id)[0].DatasetID)
					assert.Equal(t, sent, d.DatasetID)
				}
				r := &reports.Report{Header: header(fmt.Sprint("Example ", first, i), time.October), Datasets: []reports.Dataset{d}}
				receipt, err := c.Submit(t.Context(), r.Header, reports.Source(r.Datasets),
					&reports.SubmitOptions{LockDir: t.TempDir()})
				require.NoError(t, err)
				check(receipt.ReportID, err)
				put, err := c.Put(t.Context(), receipt.ReportID, r)
				check(put.ID, err)
				r.Header.CreatedBy += " again"
				created, err := c.Create(t.Context(), r)
				require.NoError(t, err)
				assert.False(t, created.Existing)
				check(created.ID, err)
				unseen := slices.ContainsFunc(created.Warnings, func(f datacite.Finding) bool {
					return f.Code != "corrected" && f.Code != "zero"
				})
				assert.Equal(t, id == "10.5072/a<b" || id == "no doi" || id == "10.123456/a", unseen, id)
			}
		}
	})
}

// TestOtherReportsUnderReadFaults: whatever requests fail, CompareOthers names each report of the
// account that has the same numbers, or could not be compared.
func TestOtherReportsUnderReadFaults(t *testing.T) {
	submitted, unlisted := 0, 0
	for i := range uint64(*schedules) {
		seed := *firstSeed + i
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			locks := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var bad atomic.Bool
				srv := datacitetest.NewServer(&datacitetest.Options{
					NoPort: true, Faults: datacitetest.Schedule(seed, 0.5+float64(seed%5)/20).When(func(r *http.Request) bool {
						return bad.Load() && !datacitetest.Writes(r) && !r.URL.Query().Has("created-by")
					}),
				})
				same := reports.Source([]reports.Dataset{counted("10.5072/a", views(3))})
				var ids []string
				for n := range 1 + seed%3 {
					receipt, err := srv.Reports().Submit(t.Context(), header(fmt.Sprint("Old Name ", n), time.October), same,
						&reports.SubmitOptions{LockDir: locks})
					require.NoError(t, err)
					ids = append(ids, receipt.ReportID)
				}
				bad.Store(true)
				var said []string
				_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), same,
					&reports.SubmitOptions{LockDir: locks, CompareOthers: true, Warn: func(f datacite.Finding) {
						said = append(said, f.Reason)
					}})
				bad.Store(false)
				time.Sleep(time.Hour) // until the service has sent its last response
				if err != nil {
					return // which says that nothing was sent, or what
				}
				submitted++
				all := strings.Join(said, "\n")
				if strings.Contains(all, "cannot be compared with the other reports of the account") {
					unlisted++ // nobody knows the ids
					return
				}
				for _, id := range ids {
					assert.Contains(t, all, id)
				}
			})
		}) {
			return
		}
	}
	assert.Less(t, *schedules/2, submitted)
	assert.LessOrEqual(t, unlisted, *schedules/500, "the list is requested until it is read")
}
