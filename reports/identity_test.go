package reports_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports"
)

func deployedServer(t *testing.T) *datacitetest.Server {
	t.Helper()
	return serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed,
		Accounts: []datacitetest.Account{{}, {Username: "OTHER.REPO"}}})
}

// Without a fault, reports of any number of subsets are stored at the first call,
// whatever order the service shows them in, and sending them again sends nothing.
func TestManySubsets(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		for n, times := range map[int]int{1: 3, 2: 3, 3: 5, 5: 5, 8: 5, 20: 3} {
			for i := range max(1, times**schedules/500) {
				h := header(fmt.Sprintf("Example %d-%d", n, i), time.October)
				opts := &reports.SubmitOptions{MaxDatasets: 2, LockDir: t.TempDir()}
				first, err := srv.Reports().Submit(t.Context(), h, datasets(2*n), opts)
				require.NoError(t, err, "%d subsets", n)
				require.Equal(t, n, first.Sent)
				asked := srv.Requests()
				require.Equal(t, n, len(asked)-slices.IndexFunc(asked, func(r datacitetest.Request) bool {
					return r.Method == "PUT" && strings.HasSuffix(r.URL.EscapedPath(), first.ReportID)
				}),
					"each response says enough")
				require.NoError(t, srv.Reports().Verify(t.Context(), first))
				second, err := srv.Reports().Submit(t.Context(), h, datasets(2*n), opts)
				require.NoError(t, err, "%d subsets", n)
				require.Zero(t, second.Sent)
				require.Equal(t, first.Subsets, second.Subsets)
				require.Equal(t, all(2*n), stored(t, srv.Reports(), first.ReportID))
			}
		}
	})
}

// The deployed service would let any account replace the report.
func TestSomebodyElsesReport(t *testing.T) {
	srv := deployedServer(t)
	h := header("Example", time.October)
	receipt, err := srv.Reports().Submit(t.Context(), h, datasets(5), nil)
	require.NoError(t, err)
	before := len(writes(srv))

	_, err = srv.As("OTHER.REPO").Reports().Submit(t.Context(), h, datasets(3), nil)
	require.ErrorIs(t, err, datacite.ErrConflict)
	assert.ErrorContains(t, err, `the account of report `+receipt.ReportID+
		` is "example.repo", not "other.repo"; nothing was sent`)
	_, err = srv.As("OTHER.REPO").Reports().Submit(t.Context(), header("Another", time.October), datasets(3),
		&reports.SubmitOptions{ID: receipt.ReportID})
	require.ErrorIs(t, err, datacite.ErrConflict)
	_, err = srv.Reports().Submit(t.Context(), header("Another", time.October), datasets(3),
		&reports.SubmitOptions{ID: receipt.ReportID})
	require.ErrorIs(t, err, datacite.ErrConflict, "our own report, of another creator")
	_, err = srv.Reports().Submit(t.Context(), header("Example", time.September), datasets(3),
		&reports.SubmitOptions{ID: receipt.ReportID})
	require.ErrorIs(t, err, datacite.ErrConflict, "and of another month")
	assert.Len(t, writes(srv), before)
	require.NoError(t, srv.Reports().Verify(t.Context(), receipt))
}

// The deployed service finds a report by month and without regard to case and
// accents, and never changes its name.
func TestTheReportThatAPOSTWouldReach(t *testing.T) {
	srv := deployedServer(t)
	c := srv.Reports()
	var others []string
	for _, period := range []reports.Period{reports.Month(1997, time.October), reports.Month(1999, time.November)} {
		h := header("Example", time.October)
		h.ReportingPeriod = period
		receipt, err := c.Submit(t.Context(), h, datasets(1), nil)
		require.NoError(t, err)
		others = append(others, "/reports/"+receipt.ReportID)
	}
	requests := len(srv.Requests())
	first, err := c.Submit(t.Context(), header("Example", time.October), datasets(5),
		&reports.SubmitOptions{MaxDatasets: 2})
	require.NoError(t, err)
	for _, name := range []string{"EXAMPLE", "Éxample"} {
		h := header(name, time.October)
		h.ReportingPeriod.BeginDate = "1999-10-02"
		var warned []string
		opts := &reports.SubmitOptions{MaxDatasets: 2, Warn: func(f datacite.Finding) { warned = append(warned, f.String()) }}
		receipt, err := c.Submit(t.Context(), h, datasets(7), opts)
		require.NoError(t, err)
		assert.Equal(t, first.ReportID, receipt.ReportID)
		assert.Equal(t, "Example", receipt.Header.CreatedBy, "as stored")
		assert.Equal(t, []string{fmt.Sprintf(`warning: report-header.created-by: is %q; the stored report keeps "Example"`,
			name)}, warned)
		require.NoError(t, c.Verify(t.Context(), receipt))
		assert.Len(t, stored(t, c, first.ReportID), 7)

		before := len(writes(srv))
		found, err := c.Create(t.Context(), &reports.Report{Header: packed(h), Datasets: all(3)})
		require.NoError(t, err)
		assert.True(t, found.Existing)
		assert.Equal(t, first.ReportID, found.ID)
		assert.Len(t, writes(srv), before, "a compressed POST would have added to it")
	}

	for _, r := range srv.Requests()[requests:] {
		assert.NotContains(t, others, r.URL.Path, "they are of other months")
	}

	// A PUT that moves the period leaves the report where it was for the service.
	_, err = c.Put(t.Context(), first.ReportID,
		&reports.Report{Header: header("Example", time.September), Datasets: all(1)})
	require.NoError(t, err)
	before := len(writes(srv))
	_, err = c.Submit(t.Context(), header("Example", time.September), datasets(5), nil)
	require.ErrorIs(t, err, datacite.ErrConflict)
	assert.ErrorContains(t, err, `the month of report `+first.ReportID+` is "1999-10", not "1999-9"`)
	assert.Len(t, writes(srv), before)
	earlier := header("Example", time.October)
	earlier.ReportingPeriod = reports.Month(1998, time.October)
	_, err = c.Put(t.Context(), first.ReportID, &reports.Report{Header: earlier, Datasets: all(1)})
	require.NoError(t, err)
	before = len(writes(srv))
	_, err = c.Submit(t.Context(), earlier, datasets(5), nil)
	assert.ErrorContains(t, err, `the month of report `+first.ReportID+` is "1999-10", not "1998-10"`)
	assert.Len(t, writes(srv), before)
}

// By the specification, another begin date is another report.
func TestTwoReportsOfOneMonth(t *testing.T) {
	c := server(t).Reports()
	first, err := c.Submit(t.Context(), header("Example", time.October), datasets(5), nil)
	require.NoError(t, err)
	h := header("Example", time.October)
	h.ReportingPeriod.BeginDate = "1999-10-02"
	second, err := c.Submit(t.Context(), h, datasets(3), nil)
	require.NoError(t, err)
	assert.NotEqual(t, first.ReportID, second.ReportID)
	require.NoError(t, c.Verify(t.Context(), first))
}

// The deployed service keeps what a PUT leaves out, the note of compression too.
func TestPutReplacesACompressedReport(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.Reports()
		h := header("Example", time.October)
		h.ReportFilters, h.ReportAttributes = []reports.NameValue{
			{Name: "a", Value: "b"}}, []reports.NameValue{{Name: "c", Value: "d"}}
		receipt, err := c.Submit(t.Context(), h, datasets(5), nil)
		require.NoError(t, err)
		plain := report("Example", 2)
		_, err = c.Put(t.Context(), receipt.ReportID, plain)
		require.NoError(t, err)
		got, err := c.Get(t.Context(), receipt.ReportID)
		require.NoError(t, err)
		assert.Equal(t, plain.Datasets, got.Datasets)
		assert.Empty(t, got.Header.Exceptions)
		assert.Empty(t, got.Header.ReportFilters)
		assert.Empty(t, got.Header.ReportAttributes)
	})
	dropping := responding(t, 200, "application/json",
		`{"report":{"id":"`+id+`","report-header":{},"report-datasets":[],"report-subsets":[]}}`)
	_, err := dropping.Put(t.Context(), id, report("Example", 2))
	require.ErrorIs(t, err, datacite.ErrIncomplete, "a response that shows that the data were dropped")
}

// Somebody creates the report between Create's look and its POST.
func TestACompressedCreateThatWasAdded(t *testing.T) {
	onNetwork(t, datacitetest.Options{}, func(t *testing.T, n *network, c *reports.Client) {
		h, first := header("Example", time.October), once(http.MethodPost)
		n.before = func(r *http.Request) error {
			if first(r) {
				_, err := n.srv.Reports().Submit(t.Context(), h, datasets(5), &reports.SubmitOptions{LockDir: t.TempDir()})
				require.NoError(t, err)
			}
			return nil
		}
		_, err := c.Create(t.Context(), &reports.Report{Header: packed(h), Datasets: all(1)})
		require.ErrorIs(t, err, datacite.ErrConflict)
		assert.ErrorContains(t, err, "holds 2 subsets")

		other := refusing(201, `{"report":{"id":"`+id+`","report-header":{},"report-subsets":[`+part(inner("x"))+`]}}`)
		n.instead = func(r *http.Request) *http.Response {
			if r.Method == http.MethodGet {
				return nil
			}
			return other(r)
		}
		_, err = c.Put(t.Context(), id, &reports.Report{Header: packed(h), Datasets: all(1)})
		require.ErrorIs(t, err, datacite.ErrConflict)
		assert.ErrorContains(t, err, "holds 1 subsets instead of this one")
	})
}

// TestANameThatDiffersIsSaidOnce, however often the run looks at the report.
func TestANameThatDiffersIsSaidOnce(t *testing.T) {
	onNetwork(t, datacitetest.Options{}, func(t *testing.T, n *network, c *reports.Client) {
		opts := &reports.SubmitOptions{MaxDatasets: 1}
		_, err := c.Submit(t.Context(), header("Example", time.October), datasets(1), opts)
		require.NoError(t, err)
		lost := once(http.MethodPost)
		n.after = func(r *http.Request) (*http.Response, error) {
			if lost(r) {
				return nil, errLost
			}
			return nil, nil
		}
		warned := 0
		opts.Warn = func(f datacite.Finding) {
			if f.Path == "report-header.created-by" {
				warned++
			}
		}
		_, err = c.Submit(t.Context(), header("EXAMPLE", time.October), datasets(3), opts)
		require.NoError(t, err)
		assert.Equal(t, 1, warned)
	})
}

// A gateway that says "too many requests", or names a time to come back, may hide
// work that was done. A report of five subsets whose every response is lost to it comes to its
// end by itself.
func TestEveryResponseIsLost(t *testing.T) {
	for _, behaviour := range behaviours {
		for _, status := range []int{429, 503, 504} {
			onNetwork(t, datacitetest.Options{Behaviour: behaviour, WriteTime: 50 * time.Second},
				func(t *testing.T, n *network, c *reports.Client) {
					n.after = func(r *http.Request) (*http.Response, error) {
						if r.Method == http.MethodGet {
							return nil, nil
						}
						return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Retry-After": {"1"}},
							Body: http.NoBody}, nil
					}
					start := time.Now()
					var waits []time.Time
					var reason string
					receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(10), &reports.SubmitOptions{
						MaxDatasets: 2, Progress: func(p reports.Progress) {
							if p.Stage == reports.StageWaiting && !slices.Contains(waits, p.Until) {
								waits, reason = append(waits, p.Until), p.Reason
							}
						},
					})
					require.NoError(t, err)
					assert.Len(t, writes(n.srv), 5, "nothing was sent twice")
					assert.Equal(t, all(10), stored(t, c, receipt.ReportID))
					assert.Less(t, time.Since(start), time.Hour)
					require.Len(t, waits, 5, "no response shows that a write has ended, so each takes MaxProcessing")
					assert.Contains(t, reason, "the response to the last request was lost")

					_, err = c.Create(t.Context(), &reports.Report{Header: packed(header("Another", time.October)), Datasets: all(1)})
					require.ErrorIs(t, err, datacite.ErrUnclear)
					assert.Len(t, writes(n.srv), 6)
				})
		}
	}
}

// One subset without datasets is somebody else's report, not the beginning of ours.
func TestAnEmptySubset(t *testing.T) {
	srv, h := deployedServer(t), header("Example", time.October)
	bypass(t, srv, "PUT", "/reports/"+reports.DeriveID(h), h, []reports.Dataset{})
	receipt, err := srv.Reports().Submit(t.Context(), h, datasets(5), &reports.SubmitOptions{MaxDatasets: 2})
	require.NoError(t, err)
	require.NoError(t, srv.Reports().Verify(t.Context(), receipt))
}

// A list whose pages bring nothing new ends, one that loses a report between two pages does not look
// complete, and a listed id that is no UUID is not put into a path.
func TestListsThatAreNotComplete(t *testing.T) {
	for name, tt := range map[string]struct {
		ids      string // of the pages, one each; the last one again and again
		total    int
		page     query.Page
		says     string
		requests int
	}{
		"one page":             {id, 3, query.Page{Number: 1, Size: 3}, "2 of 3 reports did not appear on any page", 1},
		"the last page":        {id + " b b", 3, query.Page{Size: 1}, "1 of 3 reports did not appear on any page", 3},
		"from the second page": {id, 3, query.Page{Number: 2, Size: 2}, "", 1},
		"nothing new":          {id, 5000, query.Page{}, "page 2 shows only reports of earlier pages", 2},
		"an id that is a path": {"../heartbeat", 1, query.Page{}, "", 1},
	} {
		var asked []string
		c, err := reports.NewClient(datacite.Config{Service: datacite.Test, Token: server(t).Token(time.Now().Add(year)),
			HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				ids := strings.Fields(tt.ids)
				response := fmt.Sprintf(`{"reports":[{"id":%q,"report-header":{"created-by":"Example",`+
					`"reporting-period":{"begin-date":"1999-10-01","end-date":"1999-10-31"}}}],"meta":{"total":%d}}`,
					ids[min(len(asked), len(ids)-1)], tt.total)
				asked = append(asked, r.URL.Query().Get("page[size]"))
				return &http.Response{StatusCode: 200, Request: r, Header: http.Header{},
					Body: io.NopCloser(strings.NewReader(response))}, nil
			})},
		})
		require.NoError(t, err)
		var last error
		seen := map[string]int{}
		for s, err := range c.All(t.Context(), &reports.ListOptions{Page: tt.page}) {
			if last = err; err == nil {
				seen[s.ID]++
				assert.Equal(t, 1, seen[s.ID], "each once")
			}
		}
		assert.Len(t, asked, tt.requests, name)
		if tt.says == "" {
			require.NoError(t, last, name)
		} else {
			require.ErrorIs(t, last, datacite.ErrIncomplete, name)
			require.ErrorContains(t, last, tt.says, name)
		}
		if asked = nil; tt.page.Size == 0 {
			_, err = c.Submit(t.Context(), header("Somebody", time.October), datasets(1),
				&reports.SubmitOptions{LockDir: t.TempDir()})
			require.ErrorContains(t, err, cmp.Or(tt.says, "is not a UUID"))
			assert.Equal(t, "1000", asked[0], "the largest, so that there are few requests")
			assert.Len(t, asked, tt.requests, name)
		}
	}
}

func TestListsWithoutATotal(t *testing.T) {
	for _, tt := range []struct {
		ids  string
		size int
		more bool
		err  error
	}{
		{"[]", 2, false, nil}, {`[{"id":"a"}]`, 2, false, nil}, {`[{"id":"a"},{"id":"b"}]`, 2, true, nil},
		{`[{"id":"a"},{"id":"b"}]`, 0, false, nil}, {`[{"id":"a"},{"id":"b"}]`, 1, false, datacite.ErrTooLarge},
	} {
		page, err := responding(t, 200, "application/json", `{"reports":`+tt.ids+`,"meta":{"total":null}}`).List(t.Context(),
			&reports.ListOptions{Page: query.Page{Number: 3, Size: tt.size}})
		require.ErrorIs(t, err, tt.err)
		if err != nil {
			continue
		}
		assert.Equal(t, -1, page.Total)
		assert.Equal(t, tt.more, page.More)
		assert.Equal(t, tt.more, page.Next == query.Page{Number: 4, Size: tt.size})
	}
}

// A panic in a callback reaches the caller, who may go on.
func TestAPanicInACallback(t *testing.T) {
	srv := server(t)
	for _, stage := range []reports.Stage{reports.StageBuilding, reports.StageSending, ""} {
		submit := func() {
			_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), datasets(6),
				&reports.SubmitOptions{MaxDatasets: 1, Progress: func(p reports.Progress) {
					if p.Stage == stage {
						panic(stage)
					}
				}})
			require.NoError(t, err, "the lock is free")
		}
		if stage == "" {
			submit()
		} else {
			assert.PanicsWithValue(t, stage, submit)
		}
	}
}

// A compressed report is not created over that of another account, as an
// uncompressed one is not.
func TestCreateOverSomebodyElsesReport(t *testing.T) {
	srv := deployedServer(t)
	h := header("Example", time.October)
	receipt, err := srv.Reports().Submit(t.Context(), h, datasets(5), nil)
	require.NoError(t, err)
	before := len(writes(srv))
	for _, h := range []reports.Header{h, packed(h)} {
		_, err := srv.As("OTHER.REPO").Reports().Create(t.Context(), &reports.Report{Header: h, Datasets: all(1)})
		require.ErrorIs(t, err, datacite.ErrConflict)
	}
	assert.Len(t, writes(srv), before+1, "the uncompressed one, which the service refused")
	for _, h := range []reports.Header{h, packed(h)} {
		stored, err := srv.Reports().Create(t.Context(), &reports.Report{Header: h, Datasets: all(1)})
		require.NoError(t, err)
		assert.Equal(t, receipt.ReportID, stored.ID)
		assert.True(t, stored.Existing)
	}
}
