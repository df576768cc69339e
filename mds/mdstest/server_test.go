package mdstest_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/mds/mdstest"
)

// send asks the server for something as its account and returns the status.
func send(t *testing.T, srv *mdstest.Server, method, path, body string) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth(mdstest.Username, mdstest.Password)
	req.Header.Set("Content-Type", "text/plain")
	res, err := srv.HTTPClient().Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

func TestBehaviours(t *testing.T) {
	for behaviour, status := range map[mdstest.Behaviour]int{"": 412, mdstest.Documented: 412, mdstest.Deployed: 422} {
		srv := mdstest.NewServer(&mdstest.Options{Behaviour: behaviour, NoPort: true})
		got, err := send(t, srv, http.MethodPut, "/doi/10.5072/x", "doi=10.5072/x\nurl=https://example.org/")
		require.NoError(t, err)
		assert.Equal(t, status, got, "a URL before the metadata")
		srv.Close()
	}
	assert.Panics(t, func() { mdstest.NewServer(&mdstest.Options{Behaviour: "other"}) })
}

func TestFaults(t *testing.T) {
	fates := []*mdstest.Fault{
		{Kind: mdstest.DropBefore}, {Kind: mdstest.Status, Status: 502}, {Kind: mdstest.StatusAfter}, nil,
	}
	srv := mdstest.NewServer(&mdstest.Options{NoPort: true, Faults: func(n int, _ *http.Request) *mdstest.Fault { return fates[n-1] }})
	defer srv.Close()
	_, err := send(t, srv, http.MethodGet, "/dois", "")
	require.Error(t, err)
	for _, want := range []int{502, 503, 200} {
		got, err := send(t, srv, http.MethodGet, "/dois", "")
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	assert.Len(t, srv.Requests(), 4)
}

func TestSchedule(t *testing.T) {
	fate, again := mdstest.Schedule(1, 0.5), mdstest.Schedule(1, 0.5)
	failed := 0
	for n := range 1000 {
		f := fate(n, nil)
		assert.Equal(t, f, again(n, nil))
		if f != nil {
			failed++
		}
	}
	assert.InDelta(t, 500, failed, 100)
	synctest.Test(t, func(t *testing.T) {
		srv := mdstest.NewServer(&mdstest.Options{NoPort: true, Faults: func(int, *http.Request) *mdstest.Fault {
			return &mdstest.Fault{Kind: mdstest.Delay, Delay: time.Minute}
		}})
		defer srv.Close()
		started := time.Now()
		_, err := send(t, srv, http.MethodGet, "/dois", "")
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(started))
	})
}
