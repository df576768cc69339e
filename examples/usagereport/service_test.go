package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTokens(t *testing.T) {
	srv := newService(t)
	file := inFile(t, "report.json", report(t, 2, nil))
	for _, test := range []struct{ name, token, says string }{
		{"none", "", "DATACITE_TOKEN"},
		{"expired", srv.Token(time.Now().Add(-time.Hour)), "warning: DATACITE_TOKEN expired on"},
		{"of nobody", "not-a-token", "does not accept the token"},
		{"in quotes", `"quoted"`, "quote"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := (&service{srv.Server, test.token}).runs(t, "", file)
			assert.Equal(t, exitFault, got.code, got.errors)
			assert.Contains(t, got.errors, test.says)
			assert.NotContains(t, got.errors, "Run the same command again")
			if test.token != "" {
				assert.NotContains(t, got.errors+got.out, strings.Trim(test.token, `"`))
			}
		})
	}
	list, err := srv.Client().List(t.Context(), nil)
	assert.NoError(t, err)
	assert.Empty(t, list.Reports)
}

func TestTokenThatWillNotLast(t *testing.T) {
	srv := newService(t)
	srv.token = srv.Token(time.Now().Add(48 * time.Hour))
	got := srv.runs(t, "", "-max-datasets", "1", inFile(t, "report.json", report(t, 3, nil)))
	assert.Equal(t, exitHeld, got.code, got.errors)
	assert.Equal(t, 1, strings.Count(got.errors, "warning: DATACITE_TOKEN is good until"))
}

// refuse answers requests of a method as the service would not.
func refuse(method string, status int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || method == http.MethodGet && r.URL.Path == "/reports" {
			return false
		}
		w.WriteHeader(status)
		return true
	}
}

func TestWhatTheServiceRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		method string
		status int
		code   int
		says   []string
		again  bool
	}{
		{"the account, from the start", http.MethodPut, 403, exitFault, []string{"403 Forbidden", "does not accept the token"}, false},
		{"the account, half way", http.MethodPost, 403, exitIncomplete, []string{"1 of 2 subsets", "403 Forbidden", "does not accept the token"}, true},
		{"the report", http.MethodPut, 422, exitIncomplete, []string{"untouched", "0 of 2 subsets"}, false},
		{"the second subset", http.MethodPost, 413, exitIncomplete, []string{"incomplete", "1 of 2 subsets"}, true},
		{"to find the report again", http.MethodGet, 410, exitIncomplete, []string{"410"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := newService(t)
			url := srv.behind(t, refuse(test.method, test.status))
			got := srv.runsAt(t.Context(), url, "", "-max-datasets", "1", inFile(t, "report.json", report(t, 2, nil)))
			assert.Equal(t, test.code, got.code, got.errors)
			for _, text := range test.says {
				assert.Contains(t, got.errors, text)
			}
			assert.Equal(t, test.again, strings.Contains(got.errors, "Run the same command again"), got.errors)
			assert.Equal(t, test.method == http.MethodGet, strings.Contains(got.errors, "This run changed nothing"), got.errors)
			assert.Empty(t, got.out)
		})
	}
}

func TestStoredReportThatIsNotAsSent(t *testing.T) {
	srv := newService(t)
	stored := false
	url := srv.behind(t, func(w http.ResponseWriter, r *http.Request) bool {
		stored = stored || r.Method == http.MethodPut
		if stored && r.Method == http.MethodGet {
			http.NotFound(w, r)
			return true
		}
		return false
	})
	got := srv.runsAt(t.Context(), url, "", inFile(t, "report.json", report(t, 2, nil)))
	assert.Equal(t, exitIncomplete, got.code, got.errors)
	assert.Contains(t, got.errors, "was stored, all 1 subsets of it, but reading it back failed")
	assert.Contains(t, got.errors, "Run the same command again")
	assert.NotContains(t, got.errors, "changed nothing")
	assert.Empty(t, got.out)
}

func TestNoSecretIsShown(t *testing.T) {
	srv := newService(t)
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			srv.ServeHTTP(w, r)
			return
		}
		http.Error(w, "no login with "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	defer echo.Close()
	file := inFile(t, "report.json", report(t, 2, nil))
	for _, args := range [][]string{{file}, {"-dry-run", file}, {"-json", "-unknown", file}, {"-help"}} {
		got := srv.runsAt(t.Context(), echo.URL, "", args...)
		assert.NotContains(t, got.out+got.errors, srv.token)
	}
	assert.Contains(t, srv.runsAt(t.Context(), echo.URL, "", file).errors, "no login with Bearer REDACTED")
}
