package testkit_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"reflect"
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
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reconcile"
	"github.com/datacite-go/datacite-go/reports"
)

// callables are the functions and methods of clients with a context, by name.
func callables(t *testing.T, line http.RoundTripper) map[string]reflect.Value {
	t.Helper()
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	srv.Close()
	cfg := datacite.Config{
		Service: datacite.Service{API: "https://api.example", MDS: "https://mds.example"}, HTTPClient: &http.Client{Transport: line},
		Username: datacitetest.Username, Password: datacitetest.Password,
	}
	s := &scene{srv: srv}
	var errs [4]error
	s.dois, errs[0] = dois.NewClient(cfg)
	s.mds, errs[1] = mds.NewClient(cfg)
	s.reconcile, errs[3] = reconcile.NewClient(cfg)
	cfg.Token = srv.Token(time.Now().Add(1000 * time.Hour))
	s.reports, errs[2] = reports.NewClient(cfg)
	require.NoError(t, errors.Join(errs[:]...))
	return functions(s)
}

// Whatever a client sends, it sends by the options of the call, and its transport learns for which
// operation.
func TestEveryRequestFollowsTheCall(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	const attempts, timeout = 2, 7 * time.Second
	var mu sync.Mutex
	sent, operations := map[string]int{}, map[string]bool{}
	var longest time.Duration // of an attempt
	silent := roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		sent[r.Header.Get("X-Request-Id")]++
		operations[datacite.Operation(r.Context())] = true
		mu.Unlock()
		start := time.Now()
		<-r.Context().Done()
		mu.Lock()
		longest = max(longest, time.Since(start)) // the others end with a loop that is left
		mu.Unlock()
		return nil, r.Context().Err()
	})
	for _, name := range slices.Sorted(maps.Keys(callables(t, silent))) {
		t.Run(name, func(t *testing.T) {
			clear(sent)
			clear(operations)
			longest = 0
			synctest.Test(t, func(t *testing.T) {
				f := callables(t, silent)[name]
				ctx := datacite.WithCallOptions(t.Context(), &datacite.CallOptions{MaxAttempts: attempts, Timeout: timeout})
				outcomes(ctx, f)
			})
			assert.Equal(t, timeout, longest)
			most := 0
			for _, n := range sent {
				most = max(most, n)
			}
			assert.Positive(t, most)
			assert.LessOrEqual(t, most, attempts, "attempts of one request")
			pkg, _, _ := strings.Cut(name, ".")
			for operation := range operations {
				assert.Regexp(t, `^(dois|mds|reports)\.[A-Z]\w+$`, operation)
				assert.True(t, pkg == "shown" || pkg == "reconcile" || strings.HasPrefix(operation, pkg+"."), operation)
			}
		})
	}
}

// Options of a call that no client could have are refused before anything is sent.
func TestNegativeCallOptions(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	ctx := datacite.WithCallOptions(t.Context(), &datacite.CallOptions{MaxAttempts: -1})
	for name, f := range callables(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		t.Error("sent", r.URL)
		return nil, context.Canceled
	})) {
		said := false
		for _, err := range outcomes(ctx, f) {
			refusal(t, err)
			said = said || strings.Contains(err.Error(), "CallOptions.MaxAttempts: is negative")
		}
		assert.True(t, said, name)
	}
}
