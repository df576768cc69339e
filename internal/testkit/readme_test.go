package testkit_test

import (
	"flag"
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

var binaries = flag.Bool("binaries", false, "copy the examples out, build them, and run them as their users do")

// copied are the examples that people copy. The README shows the first.
var copied = []string{"register", "search", "reportusage", "publish"}

// The README shows an example as it stands in its file. Each fits on a page.
func TestExamplesToCopyAreThoseOfTheReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	readme := must(os.ReadFile(filepath.Join(root, "README.md")))(t)
	shown := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindAllSubmatch(readme, -1)
	require.Len(t, shown, 1)
	for i, name := range copied {
		files := must(filepath.Glob(filepath.Join(root, "examples", name, "*.go")))(t)
		require.NotEmpty(t, files, name)
		lines := 0
		for _, file := range files {
			text := must(os.ReadFile(file))(t)
			lines += strings.Count(string(text), "\n")
			if i < len(shown) {
				assert.Equal(t, string(text), string(shown[i][1]), "the README shows %s", file)
			}
		}
		assert.LessOrEqual(t, lines, 60, name)
	}
}

// Copied into a module of their own, they compile, and do their work at a service as specified
// and as deployed, which the environment names.
func TestExamplesRunWhereTheyAreCopied(t *testing.T) {
	if !*binaries {
		t.Skip("building programs takes long; -args -binaries does")
	}
	root := must(filepath.Abs(filepath.Join("..", "..")))(t)
	var current atomic.Pointer[datacitetest.Server]
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		current.Load().ServeHTTP(w, r)
	}))
	defer host.Close()
	module := t.TempDir()
	run := func(words ...string) {
		command := exec.Command("go", words...)
		command.Dir = module
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "go %s: %s", strings.Join(words, " "), out)
	}
	run("mod", "init", "example.org/copied")
	run("mod", "edit", "-replace", "github.com/datacite-go/datacite-go="+root)
	sums := must(os.ReadFile(filepath.Join(root, "go.sum")))(t)
	require.NoError(t, os.WriteFile(filepath.Join(module, "go.sum"), sums, 0o600))
	for _, name := range copied {
		require.NoError(t, os.CopyFS(filepath.Join(module, name), os.DirFS(filepath.Join(root, "examples", name))))
	}
	run("mod", "edit", "-require", "github.com/datacite-go/datacite-go@v0.1.0")
	run("vet", "./...")
	run("test", "./...")
	run("build", "-o", filepath.Join(module, "bin")+string(filepath.Separator), "./register", "./search", "./reportusage")

	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) {
			srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: behaviour, NoPort: true})
			defer srv.Close()
			current.Store(srv)
			for i, want := range []string{"10.5072/glacier-1 is findable\n", "10.5072/glacier-1 Glacier length\n",
				" 1 datasets stored as report "} {
				program := exec.Command(filepath.Join(module, "bin", copied[i]))
				program.Env = append(os.Environ(), "DATACITE_SERVICE="+host.URL, "DATACITE_USERNAME="+datacitetest.Username,
					"DATACITE_PASSWORD="+datacitetest.Password,
					"DATACITE_TOKEN="+srv.Token(srv.Now().Add(90*24*time.Hour)), "DATACITE_LOCK_DIR="+t.TempDir())
				out, err := program.CombinedOutput()
				require.NoError(t, err, "%s", out)
				assert.Contains(t, string(out), want)
			}
		})
	}
}

var testName = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")

// Each row of SECURITY.md names tests, which exist by the test below.
func TestThreatsHaveTests(t *testing.T) {
	rows := 0
	for line := range strings.Lines(read(t, "SECURITY.md")) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 3 &&
			!strings.HasPrefix(cells[2], "Shown by") {
			rows++
			assert.Regexp(t, testName, cells[2], "no test for: %s", cells[0])
		}
	}
	assert.Greater(t, rows, 30)
}

// Links within the repository must lead somewhere, and so must the files and tests
// that guides name.
func TestDocumentsLeadSomewhere(t *testing.T) {
	all := texts(t)
	var tests strings.Builder
	for name, text := range all {
		if strings.HasSuffix(name, "_test.go") {
			tests.WriteString(text)
		}
	}
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "cmd/datacite/README.md"}
	for _, folder := range []string{"docs", "docs/development"} {
		pages := must(filepath.Glob(filepath.Join("..", "..", folder, "*.md")))(t)
		require.NotEmpty(t, pages)
		for _, page := range pages {
			names = append(names, folder+"/"+filepath.Base(page))
		}
	}
	for _, name := range names {
		for _, m := range regexp.MustCompile(
			"\\]\\(([^):]+)\\)|[^/\\w](testdata/[\\w./-]+)|`([a-z./-]+/[\\w-]+\\.go)`").FindAllStringSubmatch(all[name], -1) {
			path, _, _ := strings.Cut(strings.TrimSuffix(m[1]+m[2]+m[3], "."), "#")
			if m[1] != "" { // a link
				path = filepath.Join(filepath.Dir(name), path)
			}
			assert.NoError(t, only(os.Stat(filepath.Join("..", "..", path))), "%s: %s", name, path)
		}
		for _, m := range testName.FindAllStringSubmatch(all[name], -1) {
			assert.True(t, strings.Contains(tests.String(), "func "+m[1]+"(t *testing.T)"), "%s: %s", name, m[1])
		}
	}
}
