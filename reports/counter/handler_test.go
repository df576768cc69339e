package counter_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// A platform stores the accesses that count, whichever way its handlers respond.
func TestHandlerStoresAccessesThatCount(t *testing.T) {
	file := t.TempDir() + "/table.csv"
	require.NoError(t, os.WriteFile(file, []byte("a,b\n"), 0o600))
	page := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }
	for name, c := range map[string]struct {
		method  string
		serve   http.HandlerFunc
		counted bool
	}{
		"page":            {serve: page, counted: true},
		"nothing written": {serve: func(http.ResponseWriter, *http.Request) {}, counted: true},
		"file": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, file)
		}, counted: true},
		"not modified": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotModified)
		}, counted: true},
		"search by POST": {method: http.MethodPost, serve: page, counted: true},
		"HEAD":           {method: http.MethodHead, serve: page},
		"missing":        {serve: http.NotFound},
		"redirect": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusSeeOther)
		}},
		"failed afterwards": {serve: func(w http.ResponseWriter, r *http.Request) {
			page(w, r)
			w.WriteHeader(http.StatusBadGateway)
		}, counted: true},
		"failed after its status": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.WriteHeader(http.StatusBadGateway)
		}, counted: true},
		"failed at once": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			page(w, r)
		}},
		"hints before": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			http.NotFound(w, r)
		}},
		"hints before a page": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			page(w, r)
		}, counted: true},
		"another protocol": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusSwitchingProtocols)
		}},
		"flushed": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
		}, counted: true},
		"flushed, the newer": {serve: func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
		}, counted: true},
		"failed after a flush": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.WriteHeader(http.StatusBadGateway)
		}, counted: true},
		"broken off": {serve: func(w http.ResponseWriter, r *http.Request) { page(w, r); panic(http.ErrAbortHandler) }},
		"taken over": {serve: func(w http.ResponseWriter, _ *http.Request) {
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = buffered.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				_ = errors.Join(buffered.Flush(), conn.Close())
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var stored []counter.Event
			handler := counter.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.True(t, counter.Accessed(r, func(e *counter.Event) { e.DOI, e.Request = "10.5072/a", true }))
				c.serve(w, r)
			}), func(_ context.Context, e counter.Event) error {
				stored = append(stored, e)
				return nil
			}, nil)
			finished := make(chan struct{}, 1) // a server does not wait for a connection that was handed over
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func() { finished <- struct{}{} }()
				handler.ServeHTTP(w, r)
			}))
			srv.Config.ErrorLog = log.New(io.Discard, "", 0)
			srv.Start()
			method := c.method
			if method == "" {
				method = http.MethodGet
			}
			request, err := http.NewRequestWithContext(t.Context(), method, srv.URL+"/a?b=c", nil)
			require.NoError(t, err)
			client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			plain := httptest.NewUnstartedServer(c.serve)
			plain.Config.ErrorLog = srv.Config.ErrorLog
			plain.Start()
			defer plain.Close()
			alone, err := http.NewRequestWithContext(t.Context(), method, plain.URL+"/a?b=c", nil)
			require.NoError(t, err)
			if response, err := client.Do(request); err == nil {
				_ = response.Body.Close()
				unwrapped, err := client.Do(alone)
				require.NoError(t, err)
				_ = unwrapped.Body.Close()
				assert.Equal(t, unwrapped.Status, response.Status, "as without the handler")
			}
			<-finished
			srv.Close()
			if !c.counted {
				assert.Empty(t, stored)
				return
			}
			require.Len(t, stored, 1)
			e := stored[0]
			assert.Equal(t, []any{"10.5072/a", true, "127.0.0.1", "Go-http-client/1.1"},
				[]any{e.DOI, e.Request, e.Address, e.Agent})
			assert.True(t, strings.HasSuffix(e.URL, "/a?b=c"), e.URL)
		})
	}
}

// Files go out without being copied through the program.
func TestHandlerLetsTheServerSendFiles(t *testing.T) {
	w := &sender{ResponseRecorder: httptest.NewRecorder()}
	counter.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.Copy(w, io.LimitReader(strings.NewReader("a,b\n"), 4))
		assert.NoError(t, err)
	}), nil, nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	assert.True(t, w.sent)
}

// What the server's writer cannot do, the handler's cannot, and says so; the access counts all the same.
func TestHandlerOfAServerThatCanDoLess(t *testing.T) {
	stored := 0
	counter.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counter.Accessed(r, func(e *counter.Event) { e.DOI = "10.5072/a" })
		_, _, err := http.NewResponseController(w).Hijack()
		require.ErrorIs(t, err, http.ErrNotSupported)
		require.ErrorIs(t, http.NewResponseController(w).Flush(), http.ErrNotSupported)
		_, err = io.WriteString(w, "page")
		require.NoError(t, err)
	}), func(context.Context, counter.Event) error { stored++; return nil }, nil).ServeHTTP(
		struct{ http.ResponseWriter }{httptest.NewRecorder()}, httptest.NewRequest(http.MethodGet, "/a", nil))
	assert.Equal(t, 1, stored)
}

type sender struct {
	*httptest.ResponseRecorder
	sent bool
}

func (s *sender) ReadFrom(r io.Reader) (int64, error) {
	s.sent = true
	return io.Copy(s.ResponseRecorder, r)
}

// An access that cannot be stored, or counted when it is, is passed to Failed.
func TestAnAccessThatCannotBeStored(t *testing.T) {
	doi := func(name string) func(*counter.Event) { return func(e *counter.Event) { e.DOI = name } }
	for want, complete := range map[string]func(*counter.Event){
		"10.5072/a: disk full": doi("10.5072/a"),
		`42: datacite: doi: is "42", not a DOI such as 10.5072/abc`: doi("42"),
		": datacite: doi: is missing":                               doi(""),
		" : datacite: doi: is missing":                              nil,
		`10.5072/b: datacite: country: is "Mars"`: func(e *counter.Event) {
			e.DOI, e.Country = "10.5072/b", "Mars"
		},
		"10.5072/c: datacite: time: is missing": func(e *counter.Event) { *e = counter.Event{DOI: "10.5072/c"} },
	} {
		var failed, stored []string
		handler := counter.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			counter.Accessed(r, complete)
		}), func(_ context.Context, e counter.Event) error {
			stored = append(stored, e.DOI)
			return errors.New("disk full")
		}, &counter.HandlerOptions{Failed: func(e counter.Event, err error) {
			failed = append(failed, e.DOI+": "+err.Error())
			for _, f := range datacite.Findings(err) {
				assert.Equal(t, map[bool]datacite.Code{true: "missing", false: f.Code}[f.Reason == "is missing"], f.Code)
			}
		}})
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a", nil))
		var logged bytes.Buffer
		before := slog.Default()
		slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
		counter.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { counter.Accessed(r, complete) }),
			func(context.Context, counter.Event) error { return errors.New("disk full") },
			nil).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a", nil))
		slog.SetDefault(before)
		assert.Contains(t, logged.String(), `level=ERROR msg="counter: an access is not counted" error=`)
		assert.NotContains(t, logged.String(), "192.0.2.1", "without the event")
		require.Len(t, failed, 1, want)
		assert.Contains(t, failed[0], strings.TrimSpace(want))
		assert.Equal(t, strings.Contains(want, "disk"), len(stored) > 0, want)
	}
}

func TestAccessedOutsideAHandler(t *testing.T) {
	assert.False(t, counter.Accessed(httptest.NewRequest(http.MethodGet, "/a", nil), func(*counter.Event) {}))
}

// Behind a proxy, what is stored is a pseudonym of the visitor, not of the proxy.
func TestHandlerStoresPseudonyms(t *testing.T) {
	var stored []string
	var names counter.Pseudonyms
	handler := counter.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		counter.Accessed(r, func(e *counter.Event) { e.DOI = "10.5072/a" })
	}), func(_ context.Context, e counter.Event) error {
		stored = append(stored, e.Address)
		return nil
	}, &counter.HandlerOptions{Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Pseudonyms: &names})
	for _, visitor := range []string{"203.0.113.1", "203.0.113.2", "203.0.113.1"} {
		r := httptest.NewRequest(http.MethodGet, "/a", nil) // from 192.0.2.1
		r.Header.Set("X-Forwarded-For", visitor)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	assert.Equal(t, []string{names.Address("203.0.113.1", time.Now()), names.Address("203.0.113.2", time.Now()),
		stored[0]}, stored)
}

func TestAPseudonymLastsADay(t *testing.T) {
	var p counter.Pseudonyms
	noon := time.Date(2026, 10, 14, 12, 0, 0, 0, time.UTC)
	first := p.Address("192.0.2.1", noon)
	require.NotNil(t, net.ParseIP(first), "an address, so that it can stand in a log")
	assert.Equal(t, first, p.Address("192.0.2.1", noon.Add(11*time.Hour)))
	assert.NotEqual(t, first, p.Address("192.0.2.2", noon))
	assert.NotEqual(t, first, p.Address("192.0.2.1", noon.Add(12*time.Hour)))
	assert.Equal(t, first, p.Address("192.0.2.1", noon), "a request that began before midnight")
	p.Address("192.0.2.1", noon.Add(48*time.Hour))
	assert.NotEqual(t, first, p.Address("192.0.2.1", noon), "its key is gone")
	assert.Regexp(t, "^fd[0-9a-f]{2}:", first, "a private address")
	assert.NotEqual(t, first, new(counter.Pseudonyms).Address("192.0.2.1", noon))
	assert.Empty(t, p.Address("", noon), "nobody is nobody")

	one, two := &counter.Pseudonyms{Key: []byte("secret")}, &counter.Pseudonyms{Key: []byte("secret")}
	assert.Equal(t, one.Address("192.0.2.1", noon), two.Address("192.0.2.1", noon), "on two servers, or after a restart")
	assert.NotEqual(t, one.Address("192.0.2.1", noon), two.Address("192.0.2.1", noon.Add(24*time.Hour)))
	berlin := &counter.Pseudonyms{Location: zone(t, "Europe/Berlin"), Key: []byte("secret")}
	assert.NotEqual(t, berlin.Address("192.0.2.1", noon), berlin.Address("192.0.2.1", noon.Add(10*time.Hour)),
		"midnight in Berlin")
}

// Counted by pseudonyms, the numbers are those of the addresses.
func TestPseudonymsCountAsAddresses(t *testing.T) {
	zones := zones(t)
	for seed := range uint64(max(1, *randomLogs/20)) {
		l := makeLog(rand.New(rand.NewPCG(seed, 11)), zones)
		p := counter.Pseudonyms{Location: l.zone, Key: []byte("secret")}
		opts := &counter.Options{Location: l.zone, Period: l.period}
		want := count(t, l.events, opts)
		for i := range l.events {
			l.events[i].Address = p.Address(l.events[i].Address, l.events[i].Time)
		}
		require.Equal(t, want, count(t, l.events, opts), "seed %d", seed)
	}
}
