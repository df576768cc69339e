package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// More requests than are worked on wait, and do not stop the page that a supervisor looks at.
func TestRequestsWait(t *testing.T) {
	p := New(&Pages{})
	for range maxWorking {
		p.working <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
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
}
