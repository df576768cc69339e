package transport_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

func TestCallOptions(t *testing.T) {
	with := func(ctx context.Context, attempts int, timeout time.Duration) context.Context {
		return datacite.WithCallOptions(ctx, &datacite.CallOptions{MaxAttempts: attempts, Timeout: timeout})
	}
	for _, tt := range []struct {
		name     string
		ctx      func(context.Context) context.Context
		attempts int
		silence  time.Duration
	}{
		{"none", func(ctx context.Context) context.Context { return ctx }, 3, time.Minute},
		{"nil", func(ctx context.Context) context.Context { return datacite.WithCallOptions(ctx, nil) }, 3, time.Minute},
		{"fewer attempts", func(ctx context.Context) context.Context { return with(ctx, 1, 0) }, 1, time.Minute},
		{"more attempts", func(ctx context.Context) context.Context { return with(ctx, 7, 0) }, 7, time.Minute},
		{"less time", func(ctx context.Context) context.Context { return with(ctx, 0, time.Second) }, 3, time.Second},
		{"more time", func(ctx context.Context) context.Context { return with(ctx, 0, time.Hour) }, 3, time.Hour},
		{"both, one after the other", func(ctx context.Context) context.Context {
			return with(with(ctx, 2, 0), 0, time.Second)
		}, 2, time.Second},
		{"the inner one counts", func(ctx context.Context) context.Context {
			return with(with(ctx, 2, time.Hour), 4, time.Second)
		}, 4, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &script{steps: []step{silent}}
				c := client(t, net, func(c *config) { c.MaxAttempts, c.Timeout = 3, time.Minute })
				ctx := tt.ctx(t.Context())
				assert.Equal(t, tt.attempts, c.MaxAttempts(ctx))
				require.ErrorContains(t, failure(c.Do(ctx, get())),
					"no response: nothing sent or received for "+tt.silence.String())
				assert.Len(t, net.seen, tt.attempts)
			})
		})
	}
}

func TestNegativeCallOptionsAreRefused(t *testing.T) {
	net := &script{steps: []step{ok(`{}`)}}
	ctx := datacite.WithCallOptions(t.Context(), &datacite.CallOptions{MaxAttempts: -1, Timeout: -1})
	_, err := client(t, net, nil).Do(ctx, get())
	require.ErrorIs(t, err, datacite.ErrInvalid)
	require.ErrorContains(t, err, "CallOptions.MaxAttempts: is negative")
	require.ErrorContains(t, err, "CallOptions.Timeout: is negative")
	assert.Empty(t, net.seen)
	var none context.Context // a mistake of the caller, which the call names
	assert.Nil(t, datacite.WithCallOptions(none, &datacite.CallOptions{MaxAttempts: 1}))
}

// The outcome of each request, over its attempts and pauses: a success after a refusal, a failure, and one that was
// never sent.
func TestDoneReceivesTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []datacite.RequestResult
		ctx := datacite.WithCallOptions(t.Context(), &datacite.CallOptions{Done: func(r datacite.RequestResult) {
			got = append(got, r)
		}})
		ctx = datacite.WithCallOptions(ctx, &datacite.CallOptions{MaxAttempts: 2}) // keeps it
		busy := respond(503, "text/plain", "busy", "Retry-After", "7")
		named := respond(200, "application/json", `{}`, "X-Request-Id", "r-1", "Set-Cookie", "session=1")
		c := client(t, &script{steps: []step{busy, named, busy, busy}}, nil)

		_, err := c.Do(ctx, get())
		require.NoError(t, err)
		_, err = c.Do(ctx, get())
		require.Error(t, err)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, never := c.Do(ended, get())
		require.Error(t, never)

		require.Len(t, got, 3)
		assert.Equal(t, "r-1", got[0].RequestID)
		assert.Empty(t, got[0].Header.Get("Set-Cookie"))
		assert.Equal(t, "r-1", got[0].Header.Get("X-Request-Id"))
		for i, want := range []datacite.RequestResult{{StatusCode: 200, Attempts: 2, Duration: 7 * time.Second},
			{StatusCode: 503, Attempts: 2, Duration: 7 * time.Second, Err: err}, {Err: never}} {
			want.Op, want.RequestID, want.Header = get().Op, got[i].RequestID, got[i].Header
			assert.Equal(t, want, got[i])
		}
	})
}

// The transport, the limiter and the log learn which operation a request belongs to; a source of tokens,
// which may send requests of its own, does not.
func TestOperationOfARequest(t *testing.T) {
	var seen []string
	note := func(ctx context.Context) error {
		seen = append(seen, datacite.Operation(ctx))
		return nil
	}
	net := responding(func(req *http.Request) (*http.Response, error) {
		_ = note(req.Context())
		return respond(200, "application/json", `{}`)(req)
	})
	c := client(t, net, func(c *config) {
		c.Limiter = limiting(note)
		c.Authorize = transport.Bearer(func(ctx context.Context) (string, error) { return "abc.def.ghi", note(ctx) })
	})
	r := get()
	r.Access = transport.Required
	must(c.Do(t.Context(), r))(t)
	assert.Equal(t, []string{"", "dois.Get", "dois.Get"}, seen)
	assert.Empty(t, datacite.Operation(t.Context()))
	var none context.Context
	assert.Empty(t, datacite.Operation(none), "no panic")
}

type limiting func(context.Context) error

func (l limiting) Wait(ctx context.Context) error { return l(ctx) }

// An error has the header of the response that it is about, and says when the service wants to be asked
// again.
func TestErrorHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := func(c *config) { c.MaxAttempts = 1 }
		failure := func(s step, r transport.Request) *datacite.Error {
			_, err := client(t, &script{steps: []step{s}}, one).Do(t.Context(), r)
			e, is := errors.AsType[*datacite.Error](err)
			require.True(t, is, "%v", err)
			return e
		}
		now := time.Now()
		for value, want := range map[string]time.Time{
			"120": now.Add(2 * time.Minute), "0": now, "": {}, "soon": {}, "-5": {},
			now.Add(time.Hour).UTC().Format(http.TimeFormat): now.Add(time.Hour).Truncate(time.Second),
		} {
			for _, status := range []int{429, 503, 403, 200} {
				e := failure(respond(status, "text/html", "<html>", "Retry-After", value, "X-RateLimit-Remaining", "0"), get())
				assert.True(t, want.Equal(e.RetryAt), "%q: %v", value, e.RetryAt)
				assert.Equal(t, "0", e.Header.Get("X-RateLimit-Remaining"))
				assert.Equal(t, value, e.Header.Get("Retry-After"))
			}
		}
		assert.Nil(t, failure(lost(refusedDial), get()).Header, "no response, no header")
		assert.Zero(t, failure(lost(refusedDial), get()).RetryAt)

		e := failure(respond(400, "text/plain", "no", "Set-Cookie", "session=1", "X-Long", strings.Repeat("x", 1<<20),
			"X-Short", "y\x1b[31m"), get())
		assert.NotContains(t, e.Header, "Set-Cookie", "who has the cookie is in the session")
		assert.Less(t, len(e.Header.Get("X-Long")), 1<<10)
		assert.Equal(t, "y [31m", e.Header.Get("X-Short"))

		many := func(req *http.Request) (*http.Response, error) {
			res, err := respond(400, "text/plain", "no")(req)
			for i := range 100_000 {
				res.Header.Add("X-"+strings.Repeat("a", i%50), "value")
			}
			return res, err
		}
		size := 0
		for name, values := range failure(many, get()).Header {
			size += len(name) + len(strings.Join(values, ""))
		}
		assert.LessOrEqual(t, size, 16<<10)
	})
}

// The client does not wait longer than MaxWait, and tells the caller what it was asked to.
func TestRetryAtIsThatOfTheLastResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &script{steps: []step{respond(503, "", "", "Retry-After", "3600"), respond(503, "", "", "Retry-After", "600")}}
		_, err := client(t, net, func(c *config) { c.MaxAttempts, c.MaxWait = 2, time.Second }).Do(t.Context(), get())
		e, _ := errors.AsType[*datacite.Error](err)
		assert.Equal(t, time.Now().Add(10*time.Minute), e.RetryAt)

		net = &script{steps: []step{respond(503, "", "", "Retry-After", "3600"), lost(refusedDial)}}
		_, err = client(t, net, func(c *config) { c.MaxAttempts, c.MaxWait = 2, time.Second }).Do(t.Context(), get())
		e, _ = errors.AsType[*datacite.Error](err)
		assert.Zero(t, e.RetryAt)
	})
}
