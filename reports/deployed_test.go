package reports_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
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
	onNetwork(t, datacitetest.Options{WriteTime: 10 * time.Second}, func(t *testing.T, n *network, c *reports.Client) {
		h, opts := header("Example", time.October), &reports.SubmitOptions{MaxDatasets: 2}
		_, err := c.Submit(t.Context(), h, datasets(2), opts)
		require.NoError(t, err)
		var both sync.WaitGroup
		for i := range 2 {
			both.Go(func() { bypass(t, n.srv, "POST", "/reports", h, all(6)[2+2*i:4+2*i]) })
		}
		both.Wait()

		before, start := len(writes(n.srv)), time.Now()
		_, err = c.Submit(t.Context(), h, datasets(4), opts)
		require.ErrorIs(t, err, reports.ErrBroken)
		assert.ErrorContains(t, err, "has been unreadable for 3")
		e, ok := errors.AsType[*datacite.Error](err)
		require.True(t, ok)
		assert.NotEmpty(t, e.RequestID, "what to quote to the operator")
		assert.GreaterOrEqual(t, time.Since(start), 30*time.Minute, "it may have been a write under way")
		assert.Len(t, writes(n.srv), before)
	})
}

// A report that is being written is unreadable for a moment only.
func TestAReportThatIsBeingWritten(t *testing.T) {
	onNetwork(t, datacitetest.Options{WriteTime: 20 * time.Second}, func(t *testing.T, n *network, c *reports.Client) {
		lost := once(http.MethodPost)
		n.before = func(r *http.Request) error {
			if lost(r) {
				goOn(t, n.srv, r)
				time.Sleep(time.Second)
				return errLost
			}
			return nil
		}
		receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 2})
		require.NoError(t, err)
		assert.Equal(t, all(6), stored(t, c, receipt.ReportID))
		assert.Len(t, writes(n.srv), 3, "nothing was sent twice")
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
			onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
				n.instead = refusing(tt.status, tt.body)
				sent := 0
				n.before = func(r *http.Request) error {
					if r.Method != http.MethodGet {
						sent++
					}
					return nil
				}
				start := time.Now()
				_, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 2})
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
	onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
		n.instead = func(r *http.Request) *http.Response {
			if r.Method != http.MethodPost {
				return nil
			}
			return refusing(503, "<html><title>503 Service Unavailable</title>")(r)
		}
		_, err := c.Submit(t.Context(), header("Example", time.October), datasets(6), &reports.SubmitOptions{MaxDatasets: 2})
		e, ok := errors.AsType[*reports.SubmitError](err)
		require.True(t, ok)
		assert.Equal(t, reports.Incomplete, e.State)
		assert.Len(t, e.Stored, 1)
		require.ErrorIs(t, err, datacite.ErrServer)
		assert.NotContains(t, err.Error(), "not known")
	})
}

// Subsets that another release of a compressor made, or cut elsewhere, have other checksums. A run
// recognises them by their datasets and goes on from there, also if the service shows no checksums
// until something is sent.
func TestAnotherReleaseGoesOn(t *testing.T) {
	for _, tt := range []struct {
		behaviour           datacitetest.Behaviour
		size, datasets, new int // of the second release
	}{{datacitetest.Deployed, 2, 6, 0}, {datacitetest.Deployed, 2, 8, 1}, {datacitetest.Deployed, 3, 14, 3}, {datacitetest.Documented, 3, 14, 3}} {
		onNetwork(t, datacitetest.Options{Behaviour: tt.behaviour}, func(t *testing.T, n *network, c *reports.Client) {
			h := header("Example", time.October)
			first, err := c.Submit(t.Context(), h, datasets(6), &reports.SubmitOptions{MaxDatasets: 2, Level: 1})
			require.NoError(t, err)
			second, err := c.Submit(t.Context(), h, datasets(tt.datasets), &reports.SubmitOptions{MaxDatasets: tt.size, Level: 9, LockDir: t.TempDir()})
			require.NoError(t, err)
			assert.Equal(t, tt.new, second.Sent, "the first 6 datasets were there")
			assert.EqualValues(t, tt.datasets, second.Datasets)
			require.Len(t, second.Subsets, 3+tt.new)
			for _, s := range first.Subsets {
				same := func(o reports.Subset) bool { return o.Checksum == s.Checksum }
				assert.True(t, slices.ContainsFunc(second.Subsets, same), "the receipt has what is stored")
			}
			assert.Equal(t, all(tt.datasets), stored(t, c, second.ReportID))
			require.NoError(t, c.Verify(t.Context(), second))
		})
	}
}
