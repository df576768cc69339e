package program_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/program"
)

func greet(_ context.Context, p *program.Program) error {
	name := p.Flags().String("name", "world", "")
	if _, _, err := p.Parse("Greet.\n"); err != nil {
		return err
	}
	p.Say("greeting %s", *name)
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

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	p := &program.Program{Name: "greet", Args: []string{"-h"}, Stdout: &out}
	assert.Equal(t, 0, p.Run(t.Context(), greet))
	for _, part := range []string{"Greet.\n", "Exit codes:\n  0  done\n  1  not all done", "\n  2  ", "\n  3  ", "-quiet", "-name"} {
		assert.Contains(t, out.String(), part)
	}
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
