package reports_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// Two compressed POSTs at once break a report of the deployed service for good.
// Submit notices, changes nothing, and says whom to ask.
func TestABrokenReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: datacitetest.Deployed, WriteTime: 10 * time.Second})
		c, h := srv.Reports(), header("Example", time.October)
		opts := &reports.SubmitOptions{MaxDatasets: 2, LockDir: t.TempDir()}
		_, err := c.Submit(t.Context(), h, datasets(2), opts)
		require.NoError(t, err)

		token := srv.Token(srv.Now().Add(year))
		var both sync.WaitGroup
		for i := range 2 {
			r := &reports.Report{Header: h, Datasets: all(6)[2+2*i : 4+2*i]}
			r.Header.Exceptions = []reports.Exception{{Code: reports.CodeCompressed}}
			body := compressed(t, r)
			both.Go(func() {
				req, _ := http.NewRequest("POST", srv.URL+"/reports", strings.NewReader(body))
				req.Header = http.Header{"Content-Type": {"application/gzip"}, "Content-Encoding": {"gzip"}, "Authorization": {"Bearer " + token}}
				res, err := srv.HTTPClient().Do(req)
				if assert.NoError(t, err) {
					assert.Equal(t, 201, res.StatusCode)
					io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			})
		}
		both.Wait()

		before := len(writes(srv))
		start := time.Now()
		_, err = c.Submit(t.Context(), h, datasets(4), opts)
		require.ErrorIs(t, err, reports.ErrBroken)
		assert.ErrorContains(t, err, "has been unreadable for 3")
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.NotEmpty(t, e.RequestID, "what to quote to the operator")
		assert.GreaterOrEqual(t, time.Since(start), 30*time.Minute, "it may have been a write under way")
		assert.Len(t, writes(srv), before)
	})
}

// A report that is being written is unreadable for a moment only.
func TestAReportThatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: datacitetest.Deployed, WriteTime: 20 * time.Second})
		lost := 0
		n := &network{srv: srv, before: func(r *http.Request) error {
			if r.Method == "POST" && lost == 0 {
				lost++
				goOn(t, srv, r)
				time.Sleep(time.Second)
				return errLost
			}
			return nil
		}}
		c, err := reports.NewClient(datacite.Config{
			Service: datacite.Service{API: srv.URL},
			Token:   srv.Token(srv.Now().Add(year)), HTTPClient: &http.Client{Transport: n},
		})
		require.NoError(t, err)
		receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 2, LockDir: t.TempDir()})
		require.NoError(t, err)
		assert.Equal(t, all(6), stored(t, c, receipt.ReportID))
		assert.Len(t, writes(srv), 3, "nothing was sent twice")
	})
}

// goOn gives a request to the service with nobody waiting for the response.
func goOn(t *testing.T, srv *datacitetest.Server, r *http.Request) {
	go func() {
		if res, err := srv.HTTPClient().Transport.RoundTrip(r.Clone(t.Context())); err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
}

// refusing lets everything pass but writes, to which it responds itself.
func refusing(status int, body string) func(r *http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		if r.Method == http.MethodGet {
			return nil
		}
		return &http.Response{StatusCode: status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	}
}

func TestRefusalsAreNotRepeated(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   error
		says   string
	}{
		{"409, another account has it", 409, `{"errors":[{"status":"409","title":"The resource already exists."}]}`, datacite.ErrConflict, "under another id or for another account"},
		{"413, too large for a gateway", 413, `<html><title>413 Request Entity Too Large</title>`, datacite.ErrTooLarge, "set SubmitOptions.MaxDatasets below 2"},
		{"422", 422, `{"report_id":["can't be blank"]}`, datacite.ErrInvalid, "report_id: can't be blank"},
		{"500 about the request itself", 500, `{"status":400,"title":"invalid date"}`, datacite.ErrServer, "invalid date"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onNetwork(t, func(t *testing.T, n *network, c *reports.Client) {
				n.instead = refusing(tt.status, tt.body)
				sent := 0
				n.before = func(r *http.Request) error {
					if r.Method != http.MethodGet {
						sent++
					}
					return nil
				}
				start := time.Now()
				_, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 2, LockDir: t.TempDir()})
				require.ErrorIs(t, err, tt.want)
				assert.ErrorContains(t, err, tt.says)
				e, ok := errors.AsType[*reports.SubmitError](err)
				require.True(t, ok)
				assert.Equal(t, reports.Untouched, e.State)
				assert.NotContains(t, err.Error(), "not known", "it is: nothing was stored")
				assert.Equal(t, 1, sent)
				assert.Less(t, time.Since(start), time.Minute)
			})
		})
	}
}

// A subset that never arrives: the looks show what is stored, so the error of the last try
// does not say that nobody knows.
func TestASubsetThatNeverArrives(t *testing.T) {
	dir := t.TempDir()
	onNetwork(t, func(t *testing.T, n *network, c *reports.Client) {
		n.instead = func(r *http.Request) *http.Response {
			if r.Method != http.MethodPost {
				return nil
			}
			return refusing(503, "<html><title>503 Service Unavailable</title>")(r)
		}
		_, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 2, LockDir: dir})
		e, ok := errors.AsType[*reports.SubmitError](err)
		require.True(t, ok)
		assert.Equal(t, reports.Incomplete, e.State)
		assert.Len(t, e.Stored, 1)
		require.ErrorIs(t, err, datacite.ErrServer)
		assert.NotContains(t, err.Error(), "not known")
	})
}

// Subsets that another release of a compressor made have other checksums. They
// are recognised by what is in them.
func TestOtherCompressorsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: datacitetest.Deployed})
		c, h := srv.Reports(), header("Example", time.October)
		opts := &reports.SubmitOptions{MaxDatasets: 2, Level: 1, LockDir: t.TempDir()}
		first, err := c.Submit(t.Context(), h, datasets(6), opts)
		require.NoError(t, err)
		opts.Level = 9
		second, err := c.Submit(t.Context(), h, datasets(6), opts)
		require.NoError(t, err)
		assert.Zero(t, second.Sent, "it is the same report")
		assert.ElementsMatch(t, first.Subsets, second.Subsets, "the receipt tells what is stored")
		require.NoError(t, c.Verify(t.Context(), second))
		elsewhere, err := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true}).Reports().Submit(t.Context(), h, datasets(6), &reports.SubmitOptions{MaxDatasets: 2, Level: 9, LockDir: t.TempDir()})
		require.NoError(t, err)
		require.NotEqual(t, first.Subsets[0].Checksum, elsewhere.Subsets[0].Checksum, "or this shows nothing")

		third, err := c.Submit(t.Context(), h, datasets(8), opts)
		require.NoError(t, err)
		assert.Equal(t, 1, third.Sent, "and goes on from there")
		assert.Equal(t, all(8), stored(t, c, third.ReportID))
	})
}

// A run of another release goes on where one stopped, also if the service shows
// no checksums until something is sent.
func TestAnotherReleaseGoesOn(t *testing.T) {
	for _, behaviour := range behaviours {
		t.Run(string(behaviour), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviour})
				c, h := srv.Reports(), header("Example", time.October)
				first, err := c.Submit(t.Context(), h, datasets(6), &reports.SubmitOptions{MaxDatasets: 2, Level: 1, LockDir: t.TempDir()})
				require.NoError(t, err)

				opts := &reports.SubmitOptions{MaxDatasets: 3, Level: 9, LockDir: t.TempDir()}
				second, err := c.Submit(t.Context(), h, datasets(14), opts)
				require.NoError(t, err)
				assert.Equal(t, 3, second.Sent, "9, 12 and 14 datasets; the first 6 were there")
				assert.EqualValues(t, 14, second.Datasets)
				require.Len(t, second.Subsets, 6)
				for _, s := range first.Subsets {
					same := func(o reports.Subset) bool { return o.Checksum == s.Checksum }
					assert.True(t, slices.ContainsFunc(second.Subsets, same), "the receipt tells what is stored")
				}
				assert.Equal(t, all(14), stored(t, c, second.ReportID))
				require.NoError(t, c.Verify(t.Context(), second))
			})
		})
	}
}
