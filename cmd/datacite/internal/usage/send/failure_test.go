package send

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/reports"
)

// What is wrong with the token is known before anything is sent.
func TestTokens(t *testing.T) {
	srv := newService(t)
	file := shelltest.File(t, "report.json", report(t, 2, nil))
	for _, test := range []struct{ name, token, says string }{
		{"none", "", "there is no login for "},
		{"expired", srv.Token(srv.Now().Add(-time.Hour)), "the token expired at "},
		{"no JWT", "not-a-token", "not a JSON web token"},
		{"in quotes", `"quoted"`, "quote"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := (&service{Server: srv.Server, token: test.token}).runs(t, "", file)
			assert.Equal(t, shell.ExitWrong, got.code, got.errors)
			assert.Contains(t, got.errors, test.says)
			assert.NotContains(t, got.errors, "un the same command again")
			if test.token != "" {
				assert.NotContains(t, got.errors+got.out, strings.Trim(test.token, `"`))
			}
		})
	}
	assert.Empty(t, srv.Requests())
}

// So is whether there are folders for temporary files and for locks. One that is
// missing, is no folder or belongs to others is no reason to try again.
func TestNoFolder(t *testing.T) {
	file := shelltest.File(t, "report.json", report(t, 2, nil))
	temp := "/tmp" // which all accounts can enter
	if shelltest.IsWindows {
		temp = t.TempDir()
	}
	others, err := os.MkdirTemp(temp, "")
	require.NoError(t, err)
	defer os.RemoveAll(others)
	require.NoError(t, os.Chmod(others, 0o777))
	for name, tt := range map[string]struct{ variable, folder, says string }{
		"missing": {shell.TempVariable, file + ".missing",
			"Temporary files go to " + file + ".missing, which has to exist"},
		"a file":                   {shell.TempVariable, file, "Temporary files go to " + file + ", which has to exist"},
		"missing, for locks":       {"DATACITE_LOCK_DIR", file + ".missing", "file or directory"},
		"a file, for locks":        {"DATACITE_LOCK_DIR", file, file + " is not a folder"},
		"open to others for locks": {"DATACITE_LOCK_DIR", others, "other accounts may replace the files of " + others},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.folder == others && shelltest.IsWindows {
				t.Skip("the rights of folders of Windows are not read")
			}
			srv := newService(t)
			t.Setenv(tt.variable, tt.folder)
			got := srv.runs(t, "", file)
			assert.Equal(t, shell.ExitWrong, got.code, got.errors)
			assert.Contains(t, shelltest.Plain(got.errors), tt.says)
			assert.Contains(t, got.errors, "DATACITE_LOCK_DIR names another folder for locks")
			assert.Contains(t, got.errors, "This run changed nothing on the service.")
			assert.NotContains(t, got.errors, "un the same command again")
			assert.Empty(t, srv.Requests())
		})
	}
}

func TestAnotherRunIsAtIt(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *service) {
		file := shelltest.File(t, "report.json", report(t, 2, nil))
		var second result
		url := srv.behind(t, func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				second = srv.runsAt(t.Context(), "http://"+r.Host, "", file)
			}
			return false
		})
		first := srv.runsAt(t.Context(), url, "", file)
		require.Equal(t, shell.ExitDone, first.code, first.errors)
		assert.Equal(t, shell.ExitRefused, second.code, second.errors)
		assert.Contains(t, second.errors, "another run on this machine holds the lock")
		assert.Contains(t, second.errors, "This run changed nothing on the service.")
		assert.Contains(t, second.errors, "Wait until it has ended, then run the same command again")
		assert.Equal(t, 1, shelltest.Writes(srv.Server))
	})
}

func TestTokenThatWillNotLast(t *testing.T) {
	srv := newService(t)
	srv.token = srv.Token(srv.Now().Add(48 * time.Hour))
	got := srv.runs(t, "", "--max-datasets", "1", shelltest.File(t, "report.json", report(t, 3, nil)))
	assert.Equal(t, shell.ExitDone, got.code, got.errors)
	assert.Equal(t, 1, strings.Count(got.errors, "warning: the token expires at"))
}

// What to do after failures that a service is not easily brought to.
func TestAdvice(t *testing.T) {
	const goesOn, operator, otherRun = "again to continue from what is " +
		"stored", "Send its operator the id of the report", "Wait until it has ended"
	full := &fs.PathError{Op: "write", Path: "sorted", Err: syscall.ENOSPC}
	for _, test := range []struct {
		name string
		err  error
		code int
		says string // of the advices
	}{
		{"broken", &reports.SubmitError{State: reports.SubmitBroken, Err: io.EOF}, shell.ExitFailed, operator},
		{"broken before", fmt.Errorf("reports.Submit: %w", reports.ErrBroken), shell.ExitFailed, operator},
		{"disturbed", &reports.SubmitError{State: reports.SubmitDisturbed, Err: io.EOF}, shell.ExitRefused, otherRun},
		{"disturbed before", fmt.Errorf("reports.Submit: %w", reports.ErrBusy), shell.ExitRefused, otherRun},
		{"somebody else's report", fmt.Errorf("reports.Submit: %w", datacite.ErrConflict), shell.ExitRefused, ""},
		{"a list with gaps", fmt.Errorf("reports.All: %w", datacite.ErrIncomplete), shell.ExitFailed, goesOn},
		{"no way to the service", &datacite.Error{Attempts: 5}, shell.ExitFailed, goesOn},
		{"a full disk", fmt.Errorf("reports.Submit: %w", full), shell.ExitWrong, ""},
		{"a full disk, before the first request", &reports.SubmitError{State: reports.SubmitUntouched, Err: full},
			shell.ExitWrong, ""},
		{"a full disk, half way", &reports.SubmitError{State: reports.SubmitIncomplete, Err: full}, shell.ExitRefused,
			goesOn},
	} {
		t.Run(test.name, func(t *testing.T) {
			explained := (&command{}).explained(t.Context(), test.err)
			out := explained.Error()
			assert.Equal(t, test.code, shell.Code(explained), out)
			for _, advice := range []string{goesOn, operator, otherRun} {
				assert.Equal(t, advice == test.says, strings.Contains(out, advice), out)
			}
			stopped, sent := errors.AsType[*reports.SubmitError](test.err)
			changed := sent && stopped.State != reports.SubmitUntouched
			assert.Equal(t, !changed, strings.Contains(out, "This run changed nothing on the service."), out)
			assert.Equal(t, errors.Is(test.err, syscall.ENOSPC), strings.Contains(out, "Temporary files go to"), out)
		})
	}
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
		{"the account, from the start", http.MethodPut, 403, shell.ExitRefused,
			[]string{"403 Forbidden", "The service does not accept the token"}, false},
		{"the account, half way", http.MethodPost, 403, shell.ExitRefused,
			[]string{"1 of 2 subsets", "403 Forbidden", "The service does not accept the token"}, true},
		{"the report", http.MethodPut, 422, shell.ExitRefused, []string{"untouched", "0 of 2 subsets"}, false},
		{"the second subset", http.MethodPost, 413, shell.ExitRefused, []string{"incomplete", "1 of 2 subsets"}, true},
		{"to find the report again", http.MethodGet, 410, shell.ExitRefused, []string{"410"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := newService(t)
			url := srv.behind(t, refuse(test.method, test.status))
			got := srv.runsAt(t.Context(), url, "", "--max-datasets", "1", shelltest.File(t, "report.json", report(t, 2, nil)))
			assert.Equal(t, test.code, got.code, got.errors)
			for _, text := range test.says {
				assert.Contains(t, got.errors, text)
			}
			assert.Equal(t, test.again, strings.Contains(got.errors, "Run the same command again"), got.errors)
			assert.Equal(t, test.status == 403 && test.method == http.MethodPut || test.method == http.MethodGet,
				strings.Contains(got.errors, "This run changed nothing"), got.errors)
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
	got := srv.runsAt(t.Context(), url, "", shelltest.File(t, "report.json", report(t, 2, nil)))
	assert.Equal(t, shell.ExitRefused, got.code, got.errors)
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
	file := shelltest.File(t, "report.json", report(t, 2, nil))
	for _, args := range [][]string{{file}, {"--dry-run", file}, {"--json", "--unknown", file}, {"--help"}} {
		got := srv.runsAt(t.Context(), echo.URL, "", args...)
		assert.NotContains(t, got.out+got.errors, srv.token)
	}
	assert.Contains(t, srv.runsAt(t.Context(), echo.URL, "", file).errors, "no login with Bearer REDACTED")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A service that nobody reaches is waited for, and the message has the cause.
func TestAServiceThatIsAway(t *testing.T) {
	file, token := shelltest.File(t, "report.json", report(t, 1, nil)), newService(t).token
	synctest.Test(t, func(t *testing.T) {
		nobody := &service{token: token,
			http: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
			})}}
		start := time.Now()
		got := nobody.runsAt(t.Context(), "https://service.test", "", "--max-outage", "1h", file)
		assert.Equal(t, shell.ExitFailed, got.code, got.errors)
		assert.InDelta(t, time.Hour, time.Since(start), float64(time.Minute))
		assert.Regexp(t, `waiting until 01:00:00 at the latest \((1h0m0s|59m\d+s)\): the service cannot be reached, or `+
			`fails: .*`+syscall.ECONNREFUSED.Error(), got.errors)
		assert.Contains(t, got.errors, "This run changed nothing on the service.")
	})
}
