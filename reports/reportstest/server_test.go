package reportstest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/reportstest"
)

func october() reports.Header {
	return reports.Header{
		ReportName: "Dataset Master Report", ReportID: "DSR", Release: "rd1", CreatedBy: "Example", Created: "1999-11-01",
		ReportingPeriod: reports.Period{BeginDate: "1999-10-01", EndDate: "1999-10-31"},
	}
}

func report(title string) *reports.Report {
	return &reports.Report{Header: october(), Datasets: []reports.Dataset{{
		Title: title, Platform: "Example", Publisher: "Example", DataType: "dataset",
		DatasetID: []reports.TypedValue{{Type: "doi", Value: "10.5072/1"}},
	}}}
}

// A program can be tried against a service that is out of order.
func ExampleOptions() {
	srv := reportstest.NewServer(&reportstest.Options{
		Behaviour: reportstest.Deployed,
		NoPort:    true,
		Faults: func(n int, _ *http.Request) *reportstest.Fault {
			if n == 1 {
				return &reportstest.Fault{Kind: reportstest.Status, Status: http.StatusBadGateway}
			}
			return nil
		},
	})
	defer srv.Close()
	client, err := reports.NewClient(srv.URL, &reports.ClientOptions{HTTPClient: srv.HTTPClient(), MaxAttempts: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		_, err = client.List(context.Background(), nil)
		fmt.Println(err == nil)
	}
	for _, r := range srv.Requests() {
		fmt.Println(r.Method, r.Path, r.Status)
	}
	// Output:
	// false
	// true
	// GET /reports 502
	// GET /reports 200
}

func TestBehaviours(t *testing.T) {
	for behaviour, status := range map[reportstest.Behaviour]int{"": 401, reportstest.Documented: 401, reportstest.Deployed: 422} {
		srv := reportstest.NewServer(&reportstest.Options{Behaviour: behaviour, NoPort: true})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/reports", http.NoBody)
		require.NoError(t, err)
		res, err := srv.HTTPClient().Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		assert.Equal(t, status, res.StatusCode, "a report without a token")
		srv.Close()
	}
	assert.Panics(t, func() { reportstest.NewServer(&reportstest.Options{Behaviour: "other"}) })
}

// A write takes its time, and is done though nobody waits for it.
func TestWriteTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := reportstest.NewServer(&reportstest.Options{Behaviour: reportstest.Deployed, NoPort: true, WriteTime: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := srv.Client().Create(ctx, report("Alps"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		started := time.Now()
		srv.Close()
		assert.Equal(t, 59*time.Second, time.Since(started))
		res, err := srv.Client().List(t.Context(), nil)
		require.NoError(t, err)
		assert.Len(t, res.Reports, 1)
	})
}

// A token says whose the report is, whether the server knows the account or not.
func TestTokenOf(t *testing.T) {
	for _, behaviour := range []reportstest.Behaviour{reportstest.Documented, reportstest.Deployed} {
		srv := reportstest.NewServer(&reportstest.Options{Behaviour: behaviour, NoPort: true})
		client, err := reports.NewClient(srv.URL, &reports.ClientOptions{
			HTTPClient: srv.HTTPClient(), Token: srv.TokenOf("stranger.repo", time.Now().Add(time.Hour)),
		})
		require.NoError(t, err)
		_, err = client.Create(t.Context(), report("Alps"))
		require.NoError(t, err)
		for id, want := range map[string]int{"stranger.repo": 1, "example.repo": 0} {
			res, err := srv.Client().List(t.Context(), &reports.ListOptions{ClientID: id})
			require.NoError(t, err)
			assert.Len(t, res.Reports, want, "%s %s", behaviour, id)
		}
		srv.Close()
	}
}

// A server can die between two steps of its work.
func TestCrash(t *testing.T) {
	for step, want := range map[reportstest.Step]int{reportstest.Parsed: 0, reportstest.RowInserted: 1} {
		srv := reportstest.NewServer(&reportstest.Options{
			Behaviour: reportstest.Deployed, NoPort: true,
			Faults: func(n int, r *http.Request) *reportstest.Fault {
				if r.Method != http.MethodPost {
					return nil
				}
				return &reportstest.Fault{Kind: reportstest.Crash, Step: step}
			},
		})
		client, err := reports.NewClient(srv.URL, &reports.ClientOptions{
			HTTPClient: srv.HTTPClient(), Token: srv.Token(time.Now().Add(time.Hour)), MaxAttempts: 1,
		})
		require.NoError(t, err)
		_, err = client.Create(t.Context(), report("Alps"))
		require.Error(t, err)
		res, err := client.List(t.Context(), nil)
		require.NoError(t, err)
		assert.Len(t, res.Reports, want, step)
		srv.Close()
	}
}

func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := 0
		for seed := range uint64(50) {
			srv := reportstest.NewServer(&reportstest.Options{NoPort: true, Faults: reportstest.Schedule(seed, 1)})
			client, err := reports.NewClient(srv.URL, &reports.ClientOptions{HTTPClient: srv.HTTPClient(), MaxAttempts: 1})
			require.NoError(t, err)
			if _, err := client.List(t.Context(), nil); err != nil {
				failed++
			}
			srv.Close()
		}
		assert.Greater(t, failed, 30, "all but the late ones")
	})
}
