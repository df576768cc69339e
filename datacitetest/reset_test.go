package datacitetest_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
)

const related = `{"doi":"10.5072/new","titles":[{"title":"Glacier"}],"relatedIdentifiers":[{"relatedIdentifier":"10.5072/old","relatedIdentifierType":"DOI","relationType":"IsNewVersionOf"},
	{"relatedIdentifier":"10.5072/old","relatedIdentifierType":"DOI","relationType":"Cites"}]}`

// Reset leaves nothing of what came after the checkpoint, and the checkpoint survives what is done to it.
func TestReset(t *testing.T) {
	on(t, datacitetest.Options{Faults: always(datacitetest.DropBefore)}, func(t *testing.T, srv *datacitetest.Server) {
		srv.SetFaults(nil)
		began := srv.Now()
		_, err := srv.MDS().Register(t.Context(), "10.5072/old", "https://repo.example.org/old", glacier())
		require.NoError(t, err)
		require.NoError(t, srv.PutRecordJSON([]byte(related)))
		kept, err := srv.PutReport(usage(3))
		require.NoError(t, err)
		key := srv.IssueKey()
		srv.Advance(time.Hour)
		srv.Checkpoint()
		record, report := body(t, srv, "/dois/10.5072/old"), body(t, srv, "/reports/"+kept)
		for range 2 {
			_, err := srv.MDS().Register(t.Context(), "10.5072/mine", "https://repo.example.org/mine", glacier())
			require.NoError(t, err)
			_, err = srv.DOIs().Update(t.Context(), "10.5072/old", &dois.Draft{URL: "https://repo.example.org/changed"})
			require.NoError(t, err)
			_, err = srv.Reports().Put(t.Context(), kept, usage(4))
			require.NoError(t, err)
			_, err = srv.PutReport(usage(5))
			require.NoError(t, err)
			later := srv.IssueKey()
			srv.Advance(24 * time.Hour)
			srv.SetFaults(always(datacitetest.DropBefore))

			srv.Reset()
			assert.Empty(t, srv.Requests())
			assert.Equal(t, []string{"10.5072/new", "10.5072/old"}, srv.Names())
			assert.Less(t, srv.Now().Sub(began), 12*time.Hour, "the clock is back")
			assert.GreaterOrEqual(t, srv.Now().Sub(began), time.Hour)
			assert.Equal(t, record, body(t, srv, "/dois/10.5072/old"), "and no request fails")
			assert.Equal(t, report, body(t, srv, "/reports/"+kept))
			assert.Len(t, srv.StoredReports(), 1)
			for _, tt := range []struct {
				key string
				err error
			}{{key, nil}, {later, datacite.ErrUnauthorized}} {
				client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: tt.key, HTTPClient: srv.HTTPClient()})
				require.NoError(t, err)
				_, err = client.Get(t.Context(), "10.5072/old", nil)
				require.ErrorIs(t, err, tt.err)
			}
			found, err := srv.DOIs().List(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, 2, found.Total)
			_, err = srv.Reports().Put(t.Context(), kept, usage(4))
			require.NoError(t, err, "it goes on from there")
			srv.Reset()
		}
	})
	t.Run("of an empty server", func(t *testing.T) {
		on(t, datacitetest.Options{}, func(t *testing.T, srv *datacitetest.Server) {
			require.NoError(t, srv.PutRecordJSON([]byte(related)))
			srv.Reset()
			assert.Empty(t, srv.Names())
			srv.Reset()
		})
	})
}

// A request that is under way during a reset is responded to, and does not reach into the next test.
func TestResetDuringARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, WriteTime: time.Minute})
		defer srv.Close()
		var work sync.WaitGroup
		work.Go(func() {
			_, err := srv.Reports().Create(t.Context(), usage(3))
			assert.NoError(t, err)
		})
		synctest.Wait()
		srv.Reset()
		work.Wait()
		assert.Empty(t, srv.StoredReports())
		assert.Empty(t, srv.Requests())
	})
}

func TestSetFaults(t *testing.T) {
	on(t, datacitetest.Options{}, func(t *testing.T, srv *datacitetest.Server) {
		list := func() error {
			_, err := srv.DOIs().Do(t.Context(), &datacite.Request{Method: http.MethodPost, Path: "/dois", Body: []byte("{}"), ContentType: "application/json"})
			return err
		}
		down := &datacitetest.Fault{Kind: datacitetest.DropBefore}
		for range 2 {
			srv.SetFaults(datacitetest.First(down))
			require.ErrorIs(t, list(), datacite.ErrUnclear, "the first again")
			require.NotErrorIs(t, list(), datacite.ErrUnclear)
		}
		srv.SetFaults(datacitetest.First(down))
		srv.SetFaults(nil)
		require.NotErrorIs(t, list(), datacite.ErrUnclear)
		var numbers []int
		for _, r := range srv.Requests() {
			numbers = append(numbers, r.Number)
		}
		assert.Equal(t, []int{1, 2, 3, 4, 5}, numbers)
	})
}

func TestAwaitRequest(t *testing.T) {
	on(t, datacitetest.Options{}, func(t *testing.T, srv *datacitetest.Server) {
		read := func(n int) { body(t, srv, fmt.Sprint("/dois/10.5072/", n)) }
		read(1)
		second := func() func(*datacitetest.Request) bool {
			n := 0
			return func(*datacitetest.Request) bool {
				n++
				return n == 2
			}
		}
		var work sync.WaitGroup
		defer work.Wait()
		work.Go(func() { read(2) })
		r, err := srv.AwaitRequest(t.Context(), second())
		require.NoError(t, err)
		assert.Equal(t, "/dois/10.5072/2", r.URL.EscapedPath())
		assert.Equal(t, 2, r.Number)
		r, err = srv.AwaitRequest(t.Context(), second())
		require.NoError(t, err, "it is there already")
		assert.Equal(t, 2, r.Number)

		waits := make(chan bool)
		work.Go(func() {
			<-waits
			srv.Reset()
			read(3)
			read(4)
		})
		asked := 0
		r, err = srv.AwaitRequest(t.Context(), func(r *datacitetest.Request) bool {
			if asked++; asked == 2 {
				close(waits)
			}
			return r.URL.EscapedPath() == "/dois/10.5072/4"
		})
		require.NoError(t, err, "in spite of a reset")
		assert.Equal(t, 2, r.Number)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = srv.AwaitRequest(ctx, func(*datacitetest.Request) bool { return false })
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Many tests may use one server: nothing here is for a single goroutine.
func TestResetIsSafe(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer srv.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for range 20 {
				_, _ = srv.MDS().Register(t.Context(), fmt.Sprint("10.5072/", i), "https://repo.example.org/", glacier())
				srv.SetFaults(datacitetest.Schedule(uint64(i), 0.1))
				_, _ = srv.AwaitRequest(ended, func(*datacitetest.Request) bool { return true })
				srv.Checkpoint()
				srv.Reset()
			}
		})
	}
	work.Wait()
}

// Each reset of 10,000 DOIs takes milliseconds.
func BenchmarkReset(b *testing.B) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		b.Run(string(behaviour), func(b *testing.B) {
			srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviour})
			defer srv.Close()
			for i := range 10_000 {
				require.NoError(b, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/%d","titles":[{"title":"Glacier %d"}],"url":"https://repo.example.org/%d"}`, i, i, i)))
			}
			srv.Checkpoint()
			for b.Loop() {
				srv.Reset()
			}
		})
	}
}
