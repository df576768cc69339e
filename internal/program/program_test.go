package program_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/program"
)

func greet(_ context.Context, p *program.Program) error {
	name := p.Flags().String("name", "world", "")
	if _, _, err := p.Parse("Greet.\n"); err != nil {
		return err
	}
	p.Say("greeting %s", *name)
	p.Progress("1 of 1")
	return p.Result("hello %s\n", *name)
}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		args        []string
		code        int
		out, errors string
	}{
		{nil, 0, "hello world\n", "greeting world\n"},
		{[]string{"-name", "ada"}, 0, "hello ada\n", "greeting ada\n"},
		{[]string{"-quiet"}, 0, "", ""},
		{[]string{"-nome", "x"}, 2, "", "greet: flag provided but not defined: -nome; -h shows the flags; an argument that starts with - goes after --\n"},
	} {
		var out, notes bytes.Buffer
		p := &program.Program{Name: "greet", Args: tt.args, Stdout: &out, Stderr: &notes}
		assert.Equal(t, tt.code, p.Run(t.Context(), greet), tt.args)
		assert.Equal(t, tt.out, out.String(), tt.args)
		assert.Equal(t, tt.errors, notes.String(), tt.args)
	}
}

// Messages name flags and environment variables, not what a program is made of.
func TestMessages(t *testing.T) {
	made := func(cfg datacite.Config) error {
		_, err := dois.NewClient(cfg)
		return err
	}
	for want, err := range map[string]error{
		"-api: is not a URL that starts with https://":           made(datacite.Config{Service: datacite.Service{API: "localhost:8080"}}),
		`-api: "api.example.org" does not start with https://`:   made(datacite.Config{Service: datacite.Service{API: "api.example.org"}}),
		"-api: is empty; give a URL that starts with https://":   made(datacite.Config{}),
		"DATACITE_PASSWORD: is empty":                            made(datacite.Config{Service: datacite.Test, Username: "EXAMPLE.REPO"}),
		"DATACITE_USERNAME: is empty":                            made(datacite.Config{Service: datacite.Test, Password: "secret"}),
		"it failed: GET https://a.example/dois: 404 Not Found: ": fmt.Errorf("it failed: %w", &datacite.Error{Op: "dois.Audit", Method: "GET", URL: "https://a.example/dois", StatusCode: 404}),
	} {
		assert.Equal(t, want, program.Message(err))
	}
}

// A wrong login is an error, although the service ignores it when records are read.
func TestCheckLogin(t *testing.T) {
	for _, tt := range []struct {
		behaviour          datacitetest.Behaviour
		username, password string
		code               int
	}{
		{datacitetest.Deployed, datacitetest.Username, datacitetest.Password, program.ExitDone},
		{datacitetest.Deployed, datacitetest.Username, "wrong", program.ExitWrong},
		{datacitetest.Deployed, "EXMPLE.REPO", datacitetest.Password, program.ExitWrong},
		{datacitetest.Documented, datacitetest.Username, datacitetest.Password, program.ExitDone},
	} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: tt.behaviour})
		client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Username: tt.username, Password: tt.password})
		require.NoError(t, err)
		err = program.CheckLogin(t.Context(), client)
		assert.Equal(t, tt.code, program.Code(err), "%+v: %v", tt, err)
		srv.Close()
	}
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://127.0.0.1:1"}, Username: "A.B", Password: "x", MaxAttempts: 1})
	require.NoError(t, err)
	assert.Equal(t, program.ExitFailed, program.Code(program.CheckLogin(t.Context(), client)))
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	p := &program.Program{Name: "greet", Args: []string{"-h"}, Stdout: &out}
	assert.Equal(t, 0, p.Run(t.Context(), greet))
	for _, part := range []string{"Greet.\n", "Exit codes:\n  0  done\n  1  not all done", "\n  2  ", "\n  3  ", "-quiet", "-name"} {
		assert.Contains(t, out.String(), part)
	}
}

// Elsewhere than on a terminal, progress is a line every 30 seconds.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, quiet := range []bool{false, true} {
			var notes bytes.Buffer
			p := &program.Program{Name: "count", Stdout: &bytes.Buffer{}, Stderr: &notes}
			if quiet {
				p.Args = []string{"-quiet"}
			}
			assert.Equal(t, 0, p.Run(t.Context(), func(_ context.Context, p *program.Program) error {
				_, _, err := p.Parse("Count.\n")
				for i := range 65 {
					p.Progress("%d of 65", i)
					time.Sleep(time.Second)
				}
				return err
			}))
			assert.Equal(t, map[bool]string{false: "30 of 65\n60 of 65\n", true: ""}[quiet], notes.String())
		}
	})
}

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestResultsThatCannotBeWrittenAreRepeated(t *testing.T) {
	var notes bytes.Buffer
	p := &program.Program{Name: "greet", Stdout: full{}, Stderr: &notes}
	assert.Equal(t, 1, p.Run(t.Context(), greet))
	assert.Equal(t, "greeting world\nhello world\ngreet: standard output: no space left on device; the rest is above\n", notes.String())
	notes.Reset()
	p = &program.Program{Name: "greet", Args: []string{"-h"}, Stdout: full{}, Stderr: &notes}
	assert.Equal(t, 1, p.Run(t.Context(), greet), "help, too")
}

func TestCode(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{flag.ErrHelp, 0},
		{errors.New("a flag"), 2},
		{&fs.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}, 2},
		{&datacite.ValidationError{}, 2},
		{&datacite.Error{StatusCode: 401}, 2},
		{&datacite.Error{StatusCode: 422}, 2},
		{&datacite.Error{StatusCode: 503}, 3},
		{&datacite.Error{StatusCode: 501}, 3},
		{&datacite.Error{Err: errors.New("connection refused")}, 3},
		{fmt.Errorf("a step: %w", datacite.ErrIncomplete), 3},
		{fmt.Errorf("a step: %w", context.Canceled), 1},
		{fmt.Errorf("rows: %w", program.NotAllDone(&datacite.Error{StatusCode: 503})), 1},
		{program.Failed(errors.New("a resolver")), 3},
	} {
		assert.Equal(t, tt.code, program.Code(tt.err), fmt.Sprint(tt.err))
	}
}

// A page gets its name when it is complete.
func TestPage(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "report.html")
	page, err := program.NewPage(name)
	require.NoError(t, err)
	require.Error(t, page.Save(template.Must(template.New("").Parse("{{.Missing}}")), struct{}{}))
	page.Discard()
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left)

	page, err = program.NewPage(name)
	require.NoError(t, err)
	text := template.Must(template.New("").Funcs(template.FuncMap{"style": program.Style}).Parse("<style>{{style}}</style>{{.}}"))
	require.NoError(t, page.Save(text, "<b>"))
	page.Discard()
	html, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(html), ".card {")
	assert.True(t, strings.HasSuffix(string(html), "</style>&lt;b&gt;"))
	_, err = program.NewPage(filepath.Join(folder, "none", "report.html"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.EqualError(t, err, "create "+filepath.Join(folder, "none", "report.html")+": no such file or directory")
	_, err = program.NewPage(folder)
	require.ErrorContains(t, err, "is a folder")
}

// A symbolic link stays one, and its target gets the page, whether it exists or not.
func TestPageThroughALink(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "site"), 0o700))
	target, link, chain := filepath.Join(folder, "site", "report.html"), filepath.Join(folder, "link.html"), filepath.Join(folder, "chain.html")
	require.NoError(t, os.Symlink(filepath.Join("site", "report.html"), link))
	require.NoError(t, os.Symlink(link, chain))
	for _, text := range []string{"first", "second"} {
		page, err := program.NewPage(chain)
		require.NoError(t, err)
		require.NoError(t, page.Save(template.Must(template.New("").Parse("{{.}}")), text))
		info, err := os.Lstat(link)
		require.NoError(t, err)
		assert.Equal(t, fs.ModeSymlink, info.Mode().Type())
		html, err := os.ReadFile(target)
		require.NoError(t, err)
		assert.Equal(t, text, string(html))
	}
	circle := filepath.Join(folder, "circle.html")
	require.NoError(t, os.Symlink(circle, circle))
	_, err := program.NewPage(circle)
	require.Error(t, err)
}

// What is not a regular file, such as a pipe, is written to and stays what it is.
func TestPageToAPipe(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	name := fmt.Sprintf("/dev/fd/%d", out.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("this system has no names for open files")
	}
	page, err := program.NewPage(name)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.NoError(t, page.Save(template.Must(template.New("").Parse("{{.}}")), "all"))
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "all", string(text))
}

func TestTexts(t *testing.T) {
	assert.Equal(t, "1,234,567", program.Number(1234567))
	assert.Equal(t, "−1,000", program.Number(int64(-1000)))
	assert.Equal(t, "1 DOI", program.Count(1, "DOI"))
	assert.Equal(t, "0 DOIs", program.Count(0, "DOI"))
	assert.Equal(t, "1,200 DOIs", program.Count(1200, "DOI"))
	assert.Equal(t, "a?[31mb?c", program.Clean("a\x1b[31mb\nc"))
}
