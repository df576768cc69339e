package pages

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/examples/platform/accounts"
)

// More requests than are worked on wait, and do not stop the page that a supervisor looks at.
func TestRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(&Pages{Log: slog.New(slog.DiscardHandler)})
		for range maxWorking {
			p.working <- struct{}{}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w := httptest.NewRecorder()
		p.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/login", nil))
		assert.Empty(t, w.Body)
		<-p.working
		for range 2 * maxWorking {
			w = httptest.NewRecorder()
			p.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/login", nil))
			assert.Contains(t, w.Body.String(), "<h1>Log in</h1>")
		}
		assert.Len(t, p.working, maxWorking-1)

		form := func(as string) string {
			ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), curatorKey{}, accounts.Curator{Name: as}),
				time.Minute)
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/new", strings.NewReader("title=Ice"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			p.Handler().ServeHTTP(w, r)
			return w.Body.String()
		}
		for range maxForms {
			p.forms <- struct{}{}
		}
		assert.Empty(t, form("ada"))
		<-p.forms
		assert.Contains(t, form("ada"), "Name at least one creator")
		assert.Len(t, p.forms, maxForms-1)
	})
}
