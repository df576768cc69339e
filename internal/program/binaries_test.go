package program_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

var binaries = flag.Bool("binaries", false, "build the programs, and run them as their users do")

// programs are those that are built and run here; each has an entry in uses.
var programs = []string{"quickstart"}

// A use is a call of a program.
type use struct {
	args   string // %API% and %MDS% are the embedded service
	code   int
	says   string // on standard error
	prints string // on standard output
	repeat string // result that standard error gets if standard output is full
}

var uses = map[string][]use{
	"quickstart": {
		{args: "-datasets 10", prints: "All steps done", repeat: "All steps done"},
		{args: "-datasets 10 -quiet"},
		{args: "-datasets 0", code: 2, says: "-datasets is 0"},
		{args: "-live -api http://127.0.0.1:1 -mds http://127.0.0.1:1", code: 3, says: "connection refused", prints: "Register a DOI"},
	},
}

// TestBinaries runs the programs as their users do.
func TestBinaries(t *testing.T) {
	if !*binaries {
		t.Skip("building the programs takes most of a minute; -args -binaries does")
	}
	folder := t.TempDir()
	args := []string{"build", "-o", folder + string(filepath.Separator)}
	for _, name := range programs {
		args = append(args, "../../examples/"+name)
	}
	output, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "%s", output)
	srv := datacitetest.NewServer(nil)
	t.Cleanup(srv.Close)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil, `{"doi":"10.5072/%s","url":"https://a.example/%[1]s","titles":[{"title":"Glacier"}]}`, name)))
	}
	address := strings.NewReplacer("%API%", srv.URL, "%MDS%", srv.URL)
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			start := func(out *os.File, args string) (code int, printed, said string) {
				command := exec.Command(filepath.Join(folder, name), strings.Fields(address.Replace(args))...)
				command.Dir = filepath.Join("..", "..", "examples", name)
				command.Env = append(os.Environ(), "DATACITE_USERNAME="+datacitetest.Username, "DATACITE_PASSWORD="+datacitetest.Password, "DATACITE_TOKEN="+srv.Token(srv.Now().AddDate(1, 0, 0)), "DATACITE_LOCK_DIR="+folder)
				var stdout, stderr bytes.Buffer
				command.Stdout, command.Stderr = &stdout, &stderr
				if out != nil {
					command.Stdout = out
				}
				err := command.Run()
				if ended, ok := errors.AsType[*exec.ExitError](err); ok {
					return ended.ExitCode(), stdout.String(), stderr.String()
				}
				require.NoError(t, err)
				return 0, stdout.String(), stderr.String()
			}
			code, help, _ := start(nil, "-h")
			assert.Equal(t, 0, code)
			assert.Contains(t, help, "\nExit codes:\n  0  done\n  1  not all done; standard error says what is left and how to go on\n  2  wrong use or input\n  3  the service failed\n")
			assert.Contains(t, help, "\n  -quiet\n")
			for _, use := range uses[name] {
				code, printed, said := start(nil, use.args)
				assert.Equal(t, use.code, code, "%s: %s", use.args, said)
				assert.Contains(t, said, use.says, use.args)
				assert.Contains(t, printed, use.prints, use.args)
				if use.says == "" {
					assert.Empty(t, said, use.args)
				}
				if use.prints == "" {
					assert.Empty(t, printed, use.args)
				}
				if use.code == 0 && use.prints != "" {
					for _, out := range unwritable(t) {
						code, _, said := start(out, use.args)
						assert.Equal(t, 1, code, use.args)
						assert.Contains(t, said, name+": standard output: ", use.args)
						assert.Contains(t, said, use.repeat, use.args)
					}
				}
			}
		})
	}
}

// unwritable are a full disk and a pipe that nobody reads.
func unwritable(t *testing.T) (files []*os.File) {
	t.Helper()
	if runtime.GOOS == "linux" {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		files = append(files, full)
	}
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	files = append(files, write)
	t.Cleanup(func() {
		for _, file := range files {
			_ = file.Close()
		}
	})
	return files
}
