package datacitetest_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
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
)

const related = `{"doi":"10.5072/new","titles":[{"title":"Glacier"}],"relatedIdentifiers":[{"relatedIdentifier":"10.5072/old","relatedIdentifierType":"DOI","relationType":"IsNewVersionOf"},
	{"relatedIdentifier":"10.5072/old","relatedIdentifierType":"DOI","relationType":"Cites"}]}`

// What a server holds at a checkpoint is there again after a reset, and in another server that restores what
// it has saved; both go on from there.
func TestResetAndRestore(t *testing.T) {
	on(t, datacitetest.Options{Faults: always(datacitetest.FaultDropBefore)},
		func(t *testing.T, srv *datacitetest.Server) {
			srv.SetFaults(nil)
			began := srv.Now()
			_, err := srv.MDS().Register(t.Context(), "10.5072/old", "https://repo.example.org/old", glacier(), nil)
			require.NoError(t, err)
			require.NoError(t, srv.PutRecordJSON([]byte(related)))
			kept, err := srv.PutReport(usage(3))
			require.NoError(t, err)
			key := srv.IssueKey()
			srv.Advance(time.Hour)
			record, report := body(t, srv, "/dois/10.5072/old"), body(t, srv, "/reports/"+kept)
			isBack := func(back *datacitetest.Server, later string) {
				assert.Equal(t, []string{"10.5072/new", "10.5072/old"}, back.Names())
				assert.Less(t, back.Now().Sub(began), 12*time.Hour)
				assert.GreaterOrEqual(t, back.Now().Sub(began), time.Hour)
				assert.Equal(t, strings.ReplaceAll(record, srv.URL, ""),
					strings.ReplaceAll(body(t, back, "/dois/10.5072/old"), back.URL, ""), "and no request fails")
				assert.Equal(t, report, body(t, back, "/reports/"+kept))
				assert.Len(t, back.StoredReports(), 1)
				for _, tt := range []struct {
					key string
					err error
				}{{key, nil}, {later, datacite.ErrUnauthorized}} {
					client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: back.URL}, Token: tt.key,
						HTTPClient: back.HTTPClient()})
					require.NoError(t, err)
					_, err = client.Get(t.Context(), "10.5072/old", nil)
					require.ErrorIs(t, err, tt.err)
				}
				found, err := back.DOIs().List(t.Context(), nil)
				require.NoError(t, err)
				assert.Equal(t, 2, found.Total)
				address, err := back.Resolve(t.Context(), "10.5072/old")
				require.NoError(t, err)
				assert.Equal(t, "https://repo.example.org/old", address)
			}
			change := func(srv *datacitetest.Server) (later string) {
				_, err := srv.MDS().Register(t.Context(), "10.5072/mine", "https://repo.example.org/mine", glacier(), nil)
				require.NoError(t, err)
				_, err = srv.DOIs().Update(t.Context(), "10.5072/old", &dois.Draft{URL: "https://repo.example.org/changed"})
				require.NoError(t, err)
				_, err = srv.Reports().Put(t.Context(), kept, usage(4))
				require.NoError(t, err)
				_, err = srv.PutReport(usage(5))
				require.NoError(t, err)
				srv.Advance(24 * time.Hour)
				return srv.IssueKey()
			}

			var saved bytes.Buffer
			require.NoError(t, srv.Save(&saved))
			next := datacitetest.NewServer(&datacitetest.Options{Behaviour: srv.Behaviour, NoPort: true})
			defer next.Close()
			require.NoError(t, next.Restore(bytes.NewReader(saved.Bytes())))
			isBack(next, srv.IssueKey())
			change(next)
			for _, other := range []string{"", "{", `{"doi":"10.5072/a"}`} {
				assert.ErrorContains(t, next.Restore(strings.NewReader(other)), "datacite: r: ")
			}
			other := map[datacitetest.Behaviour]datacitetest.Behaviour{datacitetest.Documented: datacitetest.Deployed,
				datacitetest.Deployed: datacitetest.Documented}
			third := datacitetest.NewServer(&datacitetest.Options{Behaviour: other[srv.Behaviour], NoPort: true})
			defer third.Close()
			assert.ErrorContains(t, third.Restore(&saved), "other behaviour")

			srv.Checkpoint()
			for range 2 {
				later := change(srv)
				srv.SetFaults(always(datacitetest.FaultDropBefore))
				srv.Reset()
				assert.Empty(t, srv.Requests())
				isBack(srv, later)
				change(srv)
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
			_, err := srv.DOIs().Do(t.Context(),
				&datacite.Request{Method: http.MethodPost, Path: "/dois", Body: []byte("{}"), ContentType: "application/json"})
			return err
		}
		down := &datacitetest.Fault{Kind: datacitetest.FaultDropBefore}
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
				_, _ = srv.MDS().Register(t.Context(), fmt.Sprint("10.5072/", i), "https://repo.example.org/", glacier(), nil)
				srv.SetFaults(datacitetest.Schedule(uint64(i), 0.1))
				_, _ = srv.AwaitRequest(ended, func(*datacitetest.Request) bool { return true })
				srv.Checkpoint()
				srv.Reset()
			}
		})
	}
	work.Wait()
}

// Each reset of 10,000 DOIs takes milliseconds, and the first write after it, too.
func BenchmarkReset(b *testing.B) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		b.Run(string(behaviour), func(b *testing.B) {
			srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: behaviour})
			defer srv.Close()
			for i := range 10_000 {
				require.NoError(b, srv.PutRecordJSON(fmt.Appendf(nil,
					`{"doi":"10.5072/%d","titles":[{"title":"Glacier %d"}],"url":"https://repo.example.org/%d"}`, i, i, i)))
			}
			srv.Checkpoint()
			for b.Loop() {
				srv.Reset()
				require.NoError(b, srv.PutRecordJSON([]byte(related)))
			}
		})
	}
}
