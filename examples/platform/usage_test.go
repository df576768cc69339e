package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/store"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// A visit is a request that may count.
type visit struct{ method, path, from, forwarded, agent, ranges string }

func (c *person) visit(v visit) (status int) {
	r := httptest.NewRequest(v.method, v.path, nil)
	r.Host = "repository.example.org"
	r.RemoteAddr = v.from + ":4711"
	r.Header.Set("User-Agent", v.agent)
	r.Header.Set("X-Forwarded-For", v.forwarded)
	if v.ranges != "" {
		r.Header.Set("Range", v.ranges)
	}
	w := httptest.NewRecorder()
	c.platform.pages.Handler().ServeHTTP(w, r)
	return w.Code
}

// stored returns the counts in the last report that the service has.
func stored(t *testing.T, srv *datacitetest.Server) map[string]int64 {
	t.Helper()
	all := srv.StoredReports()
	require.NotEmpty(t, all)
	report, err := all[len(all)-1].Report()
	require.NoError(t, err)
	counts := map[string]int64{}
	for _, d := range report.Datasets {
		for _, i := range d.Performance[0].Instance {
			counts[string(i.MetricType)+" "+string(i.AccessMethod)] += i.Count
		}
	}
	return counts
}

func TestUsage(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		c := open(t, srv, func(c *Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")} }).as("ada")
		path := c.draft(fields("Glacier"))
		file := path + "/files/lengths.csv"
		c.visit(visit{"GET", path, "203.0.113.1", "", firefox, ""}) // it is a draft
		c.decide(path+"/publish", nil)
		_, v := c.settled(path)
		before, _, err := c.platform.store.Usage(t.Context(), v.DOI)
		require.NoError(t, err)
		assert.Zero(t, before)
		// The curator was led to the page: one person.
		for i := range 10 { // ten readers behind one proxy
			c.visit(visit{"GET", path, "192.0.2.1", fmt.Sprint("198.51.100.", i), firefox, ""})
			c.visit(visit{"GET", path, "192.0.2.1", fmt.Sprint("198.51.100.", i), firefox, ""}) // a double click
			// Whoever is not behind the proxy is one, whatever they write.
			c.visit(visit{"GET", path, "203.0.113.7", fmt.Sprint("198.51.100.", 100+i), firefox, ""})
			c.visit(visit{"HEAD", file, "203.0.113.8", "", firefox, ""})
			c.visit(visit{"GET", path, "203.0.113.8", "", "Googlebot/2.1", ""})
		}
		assert.Equal(t, 200, c.visit(visit{"GET", file, "203.0.113.9", "", firefox, ""}))
		assert.Equal(t, 206, c.visit(visit{"GET", file, "203.0.113.10", "", firefox, "bytes=0-1"}))
		assert.Equal(t, 416, c.visit(visit{"GET", file, "203.0.113.11", "", firefox, "bytes=99-"}))
		c.visit(visit{"GET", file, "203.0.113.9", "", "curl/8", ""})

		c.background(c.platform.counter.Count)
		own, shown, err := c.platform.store.Usage(t.Context(), v.DOI)
		require.NoError(t, err)
		assert.Equal(t, store.Used{Views: 14, Downloads: 2}, own)
		assert.Zero(t, shown)
		_, page := c.get(path)
		assert.Contains(t, page, "14 views, 2 downloads")
		for e, err := range c.platform.store.Accesses(t.Context(), time.Unix(0, 0), time.Now().AddDate(1, 0, 0)) {
			require.NoError(t, err)
			assert.Equal(t, v.DOI, e.DOI)
			assert.True(t, strings.HasPrefix(e.Address, "fd"), "no address is stored, but a pseudonym: %s", e.Address)
		}

		// The service shows what it makes of the report, if it is one that does.
		want := own
		c.background(c.platform.reportSoFar)
		if strings.HasSuffix(t.Name(), string(datacitetest.Documented)) {
			want = store.Used{Views: 12, Downloads: 1}
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
				`{"doi":%q,"state":"findable","url":"http://repository.example.org%s","titles":[{"title":"Glacier"}],`+
					`"viewCount":12,"downloadCount":1}`, v.DOI, path)))
		}
		srv.ProcessUsage()
		c.background(c.platform.outbox.Check)
		_, shown, err = c.platform.store.Usage(t.Context(), v.DOI)
		require.NoError(t, err)
		assert.Equal(t, want, shown)

		c.settled(path)
		c.decide(path+"/withdraw", map[string]string{"reason": "Wrong."})
		months, err := c.platform.store.Months(t.Context())
		require.NoError(t, err)
		c.visit(visit{"GET", path, "203.0.113.12", "", firefox, ""})
		c.background(c.platform.counter.Count)
		own, _, err = c.platform.store.Usage(t.Context(), v.DOI)
		require.NoError(t, err)
		assert.EqualValues(t, 14, own.Views, "a tombstone is not used")
		assert.Len(t, months, 1)
	})
}

// The report of a month is sent when the month is over, also when a part of it was sent
// before, and when the platform was away for a while.
func TestMonthlyReports(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		c := open(t, srv).as("ada")
		path := c.publish("Glacier")
		_, v := c.settled(path)
		c.database(`UPDATE version SET published = '2000-01-01'`)
		used := func(at time.Time, by string) {
			_, err := c.platform.store.Accessed(t.Context(),
				store.Access{Dataset: v.Dataset, Number: v.Number,
					Event: counter.Event{Time: at, URL: path, Address: by, Agent: firefox, Request: true}})
			require.NoError(t, err)
		}
		now := time.Now().UTC()
		first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
		used(first.AddDate(0, -2, 3), "a")
		used(first.AddDate(0, -2, 4), "b")
		used(first.AddDate(0, -1, 3), "c")

		c.background(func(ctx context.Context) error { return c.platform.counter.ReportDue(ctx, first.Add(time.Hour)) })
		require.Len(t, srv.StoredReports(), 2, "both months that are over, not this one")
		assert.EqualValues(t, 1, stored(t, srv)["total-dataset-requests regular"])

		status, page := c.post("/status/report", nil)
		require.Equal(t, http.StatusOK, status, page)
		require.Eventually(t, func() bool { return len(srv.StoredReports()) == 3 }, patience, 5*time.Millisecond)
		require.Eventually(t, func() bool {
			_, page = c.get("/status")
			return assert.ObjectsAreEqual(3, len(reportsOf(t, c)))
		}, patience, 5*time.Millisecond)
		assert.Contains(t, page, "so far")
		assert.Zero(t, stored(t, srv)["total-dataset-requests regular"])

		used(now, "d") // after the report so far
		over := first.AddDate(0, 1, 0).Add(time.Hour)
		c.background(func(ctx context.Context) error { return c.platform.counter.ReportDue(ctx, over) })
		require.Len(t, srv.StoredReports(), 3)
		assert.EqualValues(t, 1, stored(t, srv)["total-dataset-requests regular"])
		for _, r := range reportsOf(t, c) {
			assert.True(t, r.Complete, r.Month)
		}
		sent := len(srv.Requests())
		c.background(func(ctx context.Context) error { return c.platform.counter.ReportDue(ctx, over) })
		assert.Len(t, srv.Requests(), sent, "all of it was sent")
		months, err := c.platform.store.Months(t.Context())
		require.NoError(t, err)
		assert.Empty(t, months)
		for _, e := range c.accesses() {
			assert.False(t, e.Time.Before(first), "who came is not kept longer than needed: until the month after is reported")
		}
		own, _, err := c.platform.store.Usage(t.Context(), v.DOI)
		require.NoError(t, err)
		assert.EqualValues(t, 4, own.Downloads, "what was counted stays")
	})
}

func reportsOf(t *testing.T, c *person) []store.Report {
	t.Helper()
	all, err := c.platform.store.Reports(t.Context())
	require.NoError(t, err)
	return all
}
