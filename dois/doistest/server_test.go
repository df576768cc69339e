package doistest_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/doistest"
)

// send asks the server for something as its account and returns the status.
func send(t *testing.T, srv *doistest.Server, method, path, body string) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth(doistest.Username, doistest.Password)
	req.Header.Set("Content-Type", "text/plain")
	res, err := srv.HTTPClient().Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

func TestBehaviours(t *testing.T) {
	for behaviour, status := range map[doistest.Behaviour]int{"": 412, doistest.Documented: 412, doistest.Deployed: 422} {
		srv := doistest.NewServer(&doistest.Options{Behaviour: behaviour, NoPort: true})
		got, err := send(t, srv, http.MethodPut, "/doi/10.5072/x", "doi=10.5072/x\nurl=https://example.org/")
		require.NoError(t, err)
		assert.Equal(t, status, got, "a URL before the metadata")
		srv.Close()
	}
	assert.Panics(t, func() { doistest.NewServer(&doistest.Options{Behaviour: "other"}) })
}

func TestFaults(t *testing.T) {
	fates := []*doistest.Fault{
		{Kind: doistest.DropBefore}, {Kind: doistest.Status, Status: 502}, {Kind: doistest.StatusAfter}, nil,
	}
	srv := doistest.NewServer(&doistest.Options{NoPort: true, Faults: func(n int, _ *http.Request) *doistest.Fault { return fates[n-1] }})
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
	fate, again := doistest.Schedule(1, 0.5), doistest.Schedule(1, 0.5)
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
		srv := doistest.NewServer(&doistest.Options{NoPort: true, Faults: func(int, *http.Request) *doistest.Fault {
			return &doistest.Fault{Kind: doistest.Delay, Delay: time.Minute}
		}})
		defer srv.Close()
		started := time.Now()
		_, err := send(t, srv, http.MethodGet, "/dois", "")
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(started))
	})
}

// Lists lag behind, a single record does not.
func TestIndexLag(t *testing.T) {
	srv := doistest.NewServer(&doistest.Options{Behaviour: doistest.Deployed, NoPort: true, IndexLag: time.Minute})
	defer srv.Close()
	made, err := srv.Client().Create(t.Context(), &dois.Draft{Prefix: doistest.Prefix})
	require.NoError(t, err)
	total := func() int {
		list, err := srv.Client().List(t.Context(), nil)
		require.NoError(t, err)
		return list.Total
	}
	assert.Equal(t, 0, total())
	_, err = srv.Client().Get(t.Context(), made.DOI, nil)
	require.NoError(t, err)
	srv.Advance(time.Minute)
	assert.Equal(t, 1, total())
}
