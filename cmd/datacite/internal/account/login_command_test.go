package account_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

func TestMain(m *testing.M) { shelltest.Main(m, account.LoginCommand) }

// A login is stored when the service accepts it.
func TestLoginCommand(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
		folder := t.TempDir()
		run := shelltest.Anonymous(srv)
		run.Env["DATACITE_CONFIG_DIR"] = folder
		for _, wrong := range []string{"DATACITE_USERNAME=EXAMPLE.REPO\nDATACITE_PASSWORD=wrong\n",
			"DATACITE_USERNAME=EXMPLE.REPO\nDATACITE_PASSWORD=x\n"} {
			run.Stdin = wrong
			code, out, notes := run.Do(t, account.LoginCommand, "login", "--login", "-")
			assert.Equal(t, 2, code, notes)
			assert.Empty(t, out)
			assert.Contains(t, notes, " refuses the login of EX")
			assert.NotContains(t, notes, "wrong", "the password")
			assert.NoDirExists(t, filepath.Join(folder, "logins"))
		}
		run.Stdin = ""
		code, _, notes := run.Do(t, account.LoginCommand, "login")
		assert.Equal(t, 2, code)
		assert.Equal(t, "datacite: standard input is not a terminal; give the login with --login FILE, --login - or the "+
			"environment\n", notes)

		run.Stdin = "DATACITE_USERNAME=" + datacitetest.Username + "\nDATACITE_PASSWORD=" + datacitetest.Password
		code, out, notes := run.Do(t, account.LoginCommand, "login", "--login", "-")
		require.Zero(t, code, notes)
		assert.Contains(t, out, " accepts the login of EXAMPLE.REPO; it is stored in "+folder)
		files, err := filepath.Glob(filepath.Join(folder, "logins", "*"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		info, err := os.Stat(files[0])
		require.NoError(t, err)
		if !shelltest.IsWindows { // where the folder has rights
			assert.Equal(t, os.FileMode(0o600), info.Mode())
		}

		code, out, _ = run.Do(t, account.LoginCommand, "login", "--forget")
		assert.Zero(t, code)
		assert.Contains(t, out, "is removed")
		assert.NoFileExists(t, files[0])
		_, _, notes = run.Do(t, account.LoginCommand, "login", "--forget")
		assert.Contains(t, notes, "no login was stored for ")
	}
}

// A token is tested without writing, and the result says what is not known.
func TestToken(t *testing.T) {
	next := time.Now().AddDate(1, 0, 0).UTC()
	for _, tt := range []struct {
		behaviour datacitetest.Behaviour
		token     func(*datacitetest.Server) string
		code      int
		says      string
	}{
		{datacitetest.Deployed, func(srv *datacitetest.Server) string { return srv.Token(next) }, 0,
			" accepts the token of example.repo; it expires at " + shell.Moment(next) + "; it is stored in "},
		{datacitetest.Documented, func(srv *datacitetest.Server) string { return srv.Token(next) }, 0,
			" accepts the token of example.repo; it expires at " + shell.Moment(next) + "; it is stored in "},
		{datacitetest.Deployed, func(srv *datacitetest.Server) string { return srv.Token(time.Now().AddDate(0, 0, -1)) }, 2,
			"the token expired at " + time.Now().AddDate(0, 0, -1).UTC().Format(time.DateOnly)},
		{datacitetest.Deployed, func(*datacitetest.Server) string { return "secret" }, 2, "token: "},
		{datacitetest.Deployed, func(srv *datacitetest.Server) string { return srv.IssueKey() }, 2,
			"an API key, which the service does not accept for reports"},
	} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: tt.behaviour})
		run, folder := shelltest.Anonymous(srv), t.TempDir()
		run.Env["DATACITE_CONFIG_DIR"], run.Stdin = folder, "DATACITE_TOKEN="+tt.token(srv)
		code, out, notes := run.Do(t, account.LoginCommand, "login", "--login", "-")
		assert.Equal(t, tt.code, code, notes)
		assert.Contains(t, out+notes, tt.says)
		assert.NotContains(t, out+notes, tt.token(srv))
		for _, r := range srv.Requests() {
			assert.Equal(t, "GET", r.Method)
		}
		if tt.code != 0 {
			assert.NoDirExists(t, filepath.Join(folder, "logins"))
		}
	}
}

// A token that the service does not know names nobody, and no login is accepted by a host that is
// not the service.
func TestProof(t *testing.T) {
	seen, at := datacitetest.NewServer(nil), time.Now().AddDate(1, 0, 0)
	t.Cleanup(seen.Close)
	header, status, body := http.Header{}, 200, ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client sees it
	}))
	defer srv.Close()
	const name = "DATACITE_USERNAME=A.B\nDATACITE_PASSWORD=a secret\n"
	for _, tt := range []struct {
		login  string
		header http.Header
		status int
		code   int
		says   string
	}{
		{name, http.Header{"X-Credential-Username": {"a.b"}}, 200, 0, " accepts the login of A.B; it is stored in "},
		{name, http.Header{"X-Credential-Username": {""}}, 200, 2, " refuses the login of A.B"},
		{name, http.Header{"X-Credential-Username": {"c.d"}}, 200, 2, " refuses the login of A.B"},
		{name, http.Header{"X-Anonymous-Consumer": {"true"}}, 200, 2, " refuses the login of A.B"},
		{name, nil, 200, 0, " does not say whether it accepts the login of A.B; it is stored in "},
		{name, nil, 401, 2, " refuses the login of A.B"},
		{name, nil, 404, 3, "404 Not Found: "},
		{name, nil, 202, 3, `it is not that of a DataCite service, as it has no list named "data"`},
		{name, nil, 501, 3, "501 Not Implemented"},
		{"DATACITE_TOKEN=" + seen.Token(at), http.Header{"X-Credential-Username": {""}}, 200, 2, " refuses the token"},
		{"DATACITE_TOKEN=" + seen.Token(at), http.Header{"X-Anonymous-Consumer": {"true"}}, 200, 2, " refuses the token"},
		{"DATACITE_TOKEN=" + seen.Token(at), nil, 401, 2, " refuses the token"},
		{"DATACITE_TOKEN=" + seen.Token(at), nil, 202, 3,
			`it is not that of a DataCite service, as it has no list named "reports"`},
		{name + "DATACITE_TOKEN=" + seen.Token(at), http.Header{"X-Credential-Username": {"a.b"}}, 200, 0,
			" accepts the login of A.B; " + strings.TrimPrefix(srv.URL,
				"http://") + " accepts the token of a.b; it expires at "},
	} {
		header, status, body = tt.header, tt.status, `{"data":[],"reports":[]}`
		if tt.status == 202 {
			body = `{"status":"ok"}` // of another API
		}
		run := shelltest.Run{Env: map[string]string{"DATACITE_SERVICE": srv.URL}, Stdin: tt.login}
		code, out, notes := run.Do(t, account.LoginCommand, "login", "--login", "-")
		assert.Equal(t, tt.code, code, "%v: %s", tt, notes)
		assert.Contains(t, out+notes, tt.says)
	}
}
