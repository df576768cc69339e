// Package shelltest runs commands in tests, in this process and as one of its own.
package shelltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A Run is how a command is started. Its zero value has no environment and no settings.
type Run struct {
	Env    map[string]string
	Stdin  string
	Stdout io.Writer       // nil means what Do returns
	Ctx    context.Context // nil means that of the test

	srv *datacitetest.Server // of At
}

// At is a run whose environment has the service and its login.
func At(srv *datacitetest.Server) Run {
	return Run{srv: srv, Env: map[string]string{
		"DATACITE_SERVICE": srv.URL, "DATACITE_USERNAME": datacitetest.Username, "DATACITE_PASSWORD": datacitetest.Password,
	}}
}

// Anonymous is a run whose environment has the service alone.
func Anonymous(srv *datacitetest.Server) Run {
	return Run{Env: map[string]string{"DATACITE_SERVICE": srv.URL}}
}

// Writes are the requests to a service so far that were to change something.
func Writes(srv *datacitetest.Server) (n int) {
	for _, r := range srv.Requests() {
		if datacitetest.Writes(&http.Request{Method: r.Method, URL: r.URL}) {
			n++
		}
	}
	return n
}

// Do runs a command in this process. Requests are repeated after milliseconds. What a Run of At calls
// registered or repaired is compared with what is stored.
func (r Run) Do(t testing.TB, command shell.Maker, args ...string) (code int, out, notes string) {
	t.Helper()
	if r.Ctx == nil {
		r.Ctx = t.Context()
	}
	env := maps.Clone(r.Env)
	if env == nil {
		env = map[string]string{}
	}
	if env["DATACITE_CONFIG_DIR"] == "" {
		env["DATACITE_CONFIG_DIR"] = t.TempDir()
	}
	var o, n bytes.Buffer
	s := &shell.Shell{
		Args: args, Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader(r.Stdin), Stdout: &o,
		Stderr: &n,
	}
	if r.Stdout != nil {
		s.Stdout = r.Stdout
	}
	for name, value := range env {
		s.Environ = append(s.Environ, name+"="+value)
	}
	s.Config.MaxWait = 5 * time.Millisecond
	before := claimed(args)
	code = s.Run(r.Ctx, command)
	if r.srv != nil && r.Stdout == nil && !slices.Contains(args, "--dry-run") {
		held(t, r.srv, before, args, o.String())
	}
	return code, o.String(), Plain(n.String())
}

// patience ends what hangs. On a busy machine anything else may take its time.
const patience = 5 * time.Minute

// asProcess is the variable with which a test binary is the program.
const asProcess = "DATACITE_TEST_PROCESS"

// Main runs the tests of a package, or is the program itself when a test starts it as a
// process: func TestMain(m *testing.M) { shelltest.Main(m, Command) }.
func Main(m *testing.M, commands ...shell.Maker) {
	if os.Getenv(asProcess) != "" {
		first := commands[0]
		commands[0] = func(s *shell.Shell) *cobra.Command {
			s.Config.MaxWait = 5 * time.Millisecond
			return first(s)
		}
		shell.Main("", commands...)
	}
	os.Exit(m.Run())
}

// Process is the program as a process of its own, which is not started yet.
func (r Run) Process(t testing.TB, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd, stdout, stderr = exec.Command(os.Args[0], args...), &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "DATACITE_")
	}), asProcess+"=1")
	if r.Env["DATACITE_CONFIG_DIR"] == "" {
		cmd.Env = append(cmd.Env, "DATACITE_CONFIG_DIR="+t.TempDir())
	}
	for name, value := range r.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(r.Stdin), stdout, stderr
	return cmd, stdout, stderr
}

// ExitCode is that of a process that has ended.
func ExitCode(t testing.TB, err error) int {
	t.Helper()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// Serve starts the embedded service.
func Serve(t testing.TB, opts *datacitetest.Options) *datacitetest.Server {
	srv := datacitetest.NewServer(opts)
	t.Cleanup(srv.Close)
	return srv
}

// File writes a file in a folder of its own.
func File(t testing.TB, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Read reads a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}
