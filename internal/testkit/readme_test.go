package testkit_test

import (
	"flag"
	"fmt"
	"go/format"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
)

var binaries = flag.Bool("binaries", false, "build the programs that the README shows, and run them as their users do")

// readmePrograms are the programs that the README shows.
func readmePrograms(t *testing.T) (root string, programs [][][]byte) {
	t.Helper()
	root = filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	programs = regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, programs, 3)
	return root, programs
}

// The programs that the README shows are written as gofmt writes them.
func TestReadmeProgramsAreFormatted(t *testing.T) {
	_, programs := readmePrograms(t)
	for _, program := range programs {
		formatted, err := format.Source(program[1])
		require.NoError(t, err)
		assert.Equal(t, string(formatted), string(program[1]))
	}
}

// They compile, and do their work at a service as specified and as deployed, once the hosts
// and the account are its own.
func TestReadmeProgramsRun(t *testing.T) {
	if !*binaries {
		t.Skip("building programs takes long; -args -binaries does")
	}
	root, programs := readmePrograms(t)
	var current atomic.Pointer[datacitetest.Server]
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.Load().ServeHTTP(w, r) }))
	defer host.Close()
	service := fmt.Sprintf("datacite.Service{API: %[1]q, MDS: %[1]q}", host.URL)
	own := strings.NewReplacer("datacite.Test", service, "datacite.Production", service, "ORG.REPO", datacitetest.Username)
	var built []string
	for _, program := range programs {
		folder := t.TempDir()
		file, binary := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
		require.NoError(t, os.WriteFile(file, []byte(own.Replace(string(program[1]))), 0o600))
		for _, command := range []*exec.Cmd{exec.Command("go", "vet", file), exec.Command("go", "build", "-o", binary, file)} {
			command.Dir = root
			out, err := command.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		built = append(built, binary)
	}
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, NoPort: true})
			defer srv.Close()
			current.Store(srv)
			for i, want := range []string{"10.5072/glacier-1 is findable\n", "10.5072/glacier-1 Glacier length\n", " 1 datasets stored as report "} {
				program := exec.Command(built[i])
				program.Env = append(os.Environ(), "DATACITE_PASSWORD="+datacitetest.Password,
					"DATACITE_TOKEN="+srv.Token(srv.Now().Add(90*24*time.Hour)), "DATACITE_LOCK_DIR="+t.TempDir())
				out, err := program.CombinedOutput()
				require.NoError(t, err, "%s", out)
				assert.Contains(t, string(out), want)
			}
		})
	}
}

// Links within the repository must lead somewhere, and so must the files and tests
// that the guide for contributors names.
func TestDocumentsLeadSomewhere(t *testing.T) {
	all := texts(t)
	var tests strings.Builder
	for name, text := range all {
		if strings.HasSuffix(name, "_test.go") {
			tests.WriteString(text)
		}
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/guarantees.md", "docs/benchmarks.md", "docs/sandbox.md"} {
		for _, m := range regexp.MustCompile("\\]\\(([^):]+)\\)|(testdata/[\\w./-]+)|`([\\w./-]+/[\\w-]+\\.go)`").FindAllStringSubmatch(all[name], -1) {
			path, _, _ := strings.Cut(strings.TrimSuffix(m[1]+m[2]+m[3], "."), "#")
			if m[1] != "" { // a link
				path = filepath.Join(filepath.Dir(name), path)
			}
			_, err := os.Stat(filepath.Join("..", "..", path))
			assert.NoError(t, err, "%s: %s", name, path)
		}
		for _, m := range testName.FindAllStringSubmatch(all[name], -1) {
			assert.True(t, strings.Contains(tests.String(), "func "+m[1]+"(t *testing.T)"), "%s: %s", name, m[1])
		}
	}
}
