package reports_test

import (
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/reportstest"
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

func stored(t *testing.T, c *reports.Client, id string) []reports.Dataset {
	t.Helper()
	r, err := c.Get(t.Context(), id)
	require.NoError(t, err)
	return r.Datasets
}

func TestSubmitInSubsets(t *testing.T) {
	srv := server(t)
	c := srv.Client()
	var progress []reports.Progress
	h := header("Example", time.October)
	receipt, err := c.Submit(t.Context(), h, datasets(25), &reports.SubmitOptions{
		MaxDatasets: 10, HelpURL: "https://example.org/help", Progress: func(p reports.Progress) { progress = append(progress, p) },
	})
	require.NoError(t, err)
	assert.Equal(t, reports.DeriveID(h), receipt.ReportID)
	assert.EqualValues(t, 25, receipt.Datasets)
	require.Len(t, receipt.Subsets, 3)
	assert.Equal(t, 5, receipt.Subsets[2].Datasets)
	require.Len(t, progress, 3)
	assert.Equal(t, reports.Progress{ReportID: receipt.ReportID, Subsets: 2, Of: 3, Datasets: 20, Bytes: receipt.Subsets[0].Bytes + receipt.Subsets[1].Bytes}, progress[1])

	var sent []string
	for _, r := range srv.Requests() {
		if r.Method != "GET" {
			sent = append(sent, r.Method+" "+r.Path)
			assert.Equal(t, "application/gzip", r.Header.Get("Content-Type"))
			assert.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
		}
	}
	assert.Equal(t, []string{"PUT /reports/" + receipt.ReportID, "POST /reports", "POST /reports"}, sent, "one PUT, then POSTs (§4.1)")

	report, err := c.Get(t.Context(), receipt.ReportID)
	require.NoError(t, err)
	assert.Equal(t, []reports.Exception{{Code: 69, Severity: "warning", Message: "Report is compressed using gzip", HelpURL: "https://example.org/help", Data: "usage data needs to be uncompressed"}}, report.Header.Exceptions)
	assert.Empty(t, h.Exceptions, "the caller's header is not changed")
	var want []reports.Dataset
	for d := range datasets(25) {
		want = append(want, d)
	}
	assert.Equal(t, want, report.Datasets)
	require.NoError(t, c.Verify(t.Context(), receipt))
}

func TestSubmitAgainEndsWithTheSameReport(t *testing.T) {
	c := server(t).Client()
	opts := &reports.SubmitOptions{MaxDatasets: 10}
	first, err := c.Submit(t.Context(), header("Example", time.October), datasets(25), opts)
	require.NoError(t, err)
	second, err := c.Submit(t.Context(), header("Example", time.October), datasets(25), opts)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Len(t, stored(t, c, first.ReportID), 25)

	fewer, err := c.Submit(t.Context(), header("Example", time.October), datasets(3), opts)
	require.NoError(t, err)
	assert.Equal(t, first.ReportID, fewer.ReportID)
	assert.Len(t, stored(t, c, first.ReportID), 3)
	assert.ErrorIs(t, c.Verify(t.Context(), first), reports.ErrIncomplete)
}

func TestSubmitTakesTheReportThatIsThere(t *testing.T) {
	c := server(t).Client()
	there, err := c.Create(t.Context(), report("Example", 1))
	require.NoError(t, err)
	receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(2), nil)
	require.NoError(t, err)
	assert.Equal(t, there.ID, receipt.ReportID)
	assert.Len(t, stored(t, c, there.ID), 2)

	_, err = c.Submit(t.Context(), header("Example", time.October), datasets(2), &reports.SubmitOptions{ID: id})
	require.ErrorIs(t, err, reports.ErrConflict, "its later subsets would land in the other report")
	receipt, err = c.Submit(t.Context(), header("Another", time.October), datasets(2), &reports.SubmitOptions{ID: id})
	require.NoError(t, err)
	assert.Equal(t, id, receipt.ReportID)
}

func TestSubmitCutsByBytes(t *testing.T) {
	c := server(t).Client()
	receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(100), &reports.SubmitOptions{MaxBytes: 1500})
	require.NoError(t, err)
	assert.Greater(t, len(receipt.Subsets), 1)
	for _, s := range receipt.Subsets {
		assert.LessOrEqual(t, s.Bytes, int64(1500))
	}
	assert.Len(t, stored(t, c, receipt.ReportID), 100)

	_, err = c.Submit(t.Context(), header("Example", time.October), datasets(1), &reports.SubmitOptions{MaxBytes: 100})
	require.ErrorIs(t, err, reports.ErrInvalid)
	assert.ErrorContains(t, err, "more than the 100 of a subset")
}

func TestNothingIsSentBeforeAllIsChecked(t *testing.T) {
	srv := server(t)
	c := srv.Client()
	database := errors.New("database is down")
	failing := func(yield func(reports.Dataset, error) bool) {
		if yield(dataset(0), nil) && yield(dataset(1), nil) {
			yield(reports.Dataset{}, database)
		}
	}
	bad := func(yield func(reports.Dataset, error) bool) {
		for d := range datasets(500) {
			d.DataType = "book"
			if !yield(d, nil) {
				return
			}
		}
	}
	h := header("Example", time.October)
	_, err := c.Submit(t.Context(), h, failing, &reports.SubmitOptions{MaxDatasets: 1})
	require.ErrorIs(t, err, database)
	assert.ErrorContains(t, err, "dataset 2 of the source")
	_, err = c.Submit(t.Context(), h, bad, nil)
	v, ok := errors.AsType[*reports.ValidationError](err)
	require.True(t, ok)
	assert.Len(t, v.Faults, 100, "a bounded list")
	_, err = c.Submit(t.Context(), h, datasets(0), nil)
	require.ErrorIs(t, err, reports.ErrInvalid)
	_, err = c.Submit(t.Context(), reports.Header{}, datasets(1), nil)
	require.ErrorIs(t, err, reports.ErrInvalid)
	for _, opts := range []*reports.SubmitOptions{{MaxDatasets: 50_001}, {MaxDatasets: -1}, {MaxBytes: -1}, {Workers: -1}, {ID: "x"}} {
		_, err = c.Submit(t.Context(), h, datasets(1), opts)
		require.ErrorIs(t, err, reports.ErrInvalid)
	}
	assert.Empty(t, srv.Requests())
}

// A subset whose answer is lost must not be sent again: the service would add
// it a second time.
func TestSubmitStopsAtALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := reportstest.NewServer(&reportstest.Options{NoPort: true})
		posts := 0
		loses := roundTripper(func(r *http.Request) (*http.Response, error) {
			res, err := srv.HTTPClient().Transport.RoundTrip(r)
			if r.Method == "POST" {
				if posts++; posts == 2 {
					res.Body.Close()
					return nil, errors.New("connection reset by peer")
				}
			}
			return res, err
		})
		c, err := reports.NewClient(srv.URL, &reports.ClientOptions{
			Token: srv.Token(time.Now().AddDate(1, 0, 0)), HTTPClient: &http.Client{Transport: loses},
		})
		require.NoError(t, err)
		h := header("Example", time.October)
		_, err = c.Submit(t.Context(), h, datasets(40), &reports.SubmitOptions{MaxDatasets: 10})
		e, ok := errors.AsType[*reports.SubmitError](err)
		require.True(t, ok)
		assert.Len(t, e.Stored, 2)
		assert.Equal(t, 4, e.Of)
		assert.True(t, e.Unclear)
		require.ErrorIs(t, err, reports.ErrUnclear)
		require.ErrorIs(t, err, reports.ErrIncomplete)
		assert.ErrorContains(t, err, "is incomplete: 2 of 4 subsets stored, the next one may be stored")
		assert.Equal(t, 2, posts)
		assert.Len(t, stored(t, c, e.ReportID), 30, "it was in fact stored, once")

		receipt, err := c.Submit(t.Context(), h, datasets(40), &reports.SubmitOptions{MaxDatasets: 10})
		require.NoError(t, err)
		assert.Len(t, stored(t, c, receipt.ReportID), 40)
	})
}

func TestReadFileIsASourceForSubmit(t *testing.T) {
	c := server(t).Client()
	h, src, err := reports.ReadFile(strings.NewReader(`{"report-header":{"report-name":"Dataset Report","report-id":"dsr","release":"rd1","created-by":"Example","created":"2026-11-01",
	  "reporting-period":{"begin-date":"2026-10-01","end-date":"2026-10-31"}},"report-datasets":[{"dataset-title":"a","data-type":"dataset","platform":"p","publisher":"q","dataset-id":[{"type":"doi","value":"10.5072/a"}]}]}`))
	require.NoError(t, err)
	receipt, err := c.Submit(t.Context(), h, src, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 1, receipt.Datasets)
}

func TestOpenReadsWithoutHoldingTheReport(t *testing.T) {
	c := server(t).Client()
	receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(30), &reports.SubmitOptions{MaxDatasets: 10})
	require.NoError(t, err)
	r, err := c.Open(t.Context(), receipt.ReportID)
	require.NoError(t, err)
	assert.Equal(t, "Example", r.Header.CreatedBy)
	n := 0
	for d, err := range r.Datasets() {
		require.NoError(t, err)
		require.Equal(t, dataset(n), d)
		if n++; n == 7 {
			break
		}
	}
	require.NoError(t, r.Close())
}

// The deployed service keeps a compressed report in subsets and shows them so.
func TestReadingSubsets(t *testing.T) {
	answer := compressedAnswer(t, []int{0, 1}, []int{2, 3})

	deployed := answering(t, 200, "application/json", answer)
	r, err := deployed.Open(t.Context(), id)
	require.NoError(t, err)
	n := 0
	for d, err := range r.Datasets() {
		require.NoError(t, err)
		require.Equal(t, dataset(n), d)
		n++
	}
	assert.Equal(t, 4, n)
	assert.Len(t, r.Subsets, 2)
	assert.Equal(t, 2, r.Subsets[1].Datasets)
	require.NoError(t, r.Close())

	_, err = answering(t, 200, "application/json", strings.Replace(answer, `"checksum":"`, `"checksum":"0`, 1)).Get(t.Context(), id)
	require.ErrorIs(t, err, reports.ErrUnreadable)
	assert.ErrorContains(t, err, "checksum")

	// A report that shows its datasets has a subset too, made by the service.
	both := strings.Replace(answer, `"report-datasets":[]`, `"report-datasets":[{"yop":"2010"}]`, 1)
	got, err := answering(t, 200, "application/json", both).Get(t.Context(), id)
	require.NoError(t, err)
	assert.Len(t, got.Datasets, 1, "never counted twice")
}

func TestEach(t *testing.T) {
	n := 0
	for d, err := range reports.Each([]reports.Dataset{dataset(0), dataset(1)}) {
		require.NoError(t, err)
		require.Equal(t, dataset(n), d)
		n++
	}
	assert.Equal(t, 2, n)
}

var _ io.Closer = (*reports.Reader)(nil)
