package testkit_test

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/testkit"
)

const (
	root   = "github.com/datacite-go/datacite-go" // package datacite, the vocabulary of all
	module = root + "/"
)

// imports lists each package of the module with the packages of the module that
// it depends on, tests left out.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	packages := must(listed())(t)
	return packages
}

// The go command is asked once for all tests.
var listed = sync.OnceValues(func() (map[string][]string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}", module+"...").Output()
	if err != nil {
		return nil, err
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		var own []string
		for _, dep := range fields[1:] {
			if rest, ok := strings.CutPrefix(dep, module); ok || dep == root {
				own = append(own, rest)
			}
		}
		packages[strings.TrimPrefix(fields[0], module)] = own
	}
	return packages, nil
})

// Imports point one way: the public packages use the internal ones, never the
// other way round, and the embedded service shares nothing with the clients but the
// lexer of JSON and regular expressions, which know no type of theirs.
func TestImportsPointOneWay(t *testing.T) {
	const embedded = "datacitetest/internal/"
	packages := imports(t)
	require.Contains(t, packages, "datacitetest/internal/sandbox")
	for name, deps := range packages {
		for _, dep := range deps {
			if strings.HasPrefix(name, "internal/") {
				assert.True(t, strings.HasPrefix(dep, "internal/") || dep == root, "%s imports the public package %s", name, dep)
			}
			if strings.HasPrefix(name, embedded) {
				lexer := dep == "internal/jsonlex" || slices.Contains(packages["internal/jsonlex"], dep)
				typeless := lexer || dep == "internal/lazy"
				assert.True(t, strings.HasPrefix(dep, embedded) || typeless, "%s shares %s with the clients", name, dep)
			}
			assert.False(t, strings.HasPrefix(dep, "examples/"), "%s imports an example", name)
			if !strings.HasPrefix(name, "examples/") {
				assert.False(t, !strings.HasPrefix(name, "datacitetest") && strings.HasPrefix(dep, "datacitetest"),
					"%s imports what is for tests", name)
			}
		}
	}
	for name, allowed := range map[string][]string{
		"query":                {},
		"metadata":             {},
		"mds":                  {"metadata"},
		"dois":                 {"query", "metadata"},
		"dois/archive":         {"dois", "query", "metadata"},
		"reports":              {"query"},
		"reconcile":            {"dois", "metadata", "query"},
		"datacitetest":         {"dois", "mds", "metadata", "query", "reconcile", "reports"},
		"reports/counter":      {"reports", "query"},
		"reports/counter/logs": {"reports", "reports/counter", "query"},
		"reports/shown":        {"reports", "dois", "doi", "metadata", "query"},
	} {
		require.Contains(t, packages, name)
		for _, dep := range packages[name] {
			inside := dep == root || strings.HasPrefix(dep, "internal/") ||
				slices.ContainsFunc(append(allowed, name), func(of string) bool {
					return strings.HasPrefix(dep, of+"/internal/")
				})
			assert.True(t, inside || slices.Contains(allowed, dep), "%s imports %s", name, dep)
		}
	}
}

// Lists of packages show the first sentence of each.
func TestPackagesSayWhatTheyAreInALine(t *testing.T) {
	for _, folder := range []string{".", "cmd/datacite", "examples/platform", "examples/usagebeam"} {
		list := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...")
		list.Dir = filepath.Join("..", "..", folder)
		out, err := list.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			name, sentence, _ := strings.Cut(strings.TrimSpace(line), "\t")
			assert.LessOrEqual(t, len(sentence), 140, name)
		}
	}
}

// What people copy and run uses what everybody can import: nothing below these folders imports
// internal packages of the root, in any module and in any test.
func TestProgramsImportTheExportedAPI(t *testing.T) {
	for _, folder := range []string{"examples", "cmd"} {
		files, modules := 0, 0
		require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", folder),
			func(path string, d fs.DirEntry, err error) error {
				if d != nil && d.Name() == "go.mod" {
					modules++
				}
				if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
					return err
				}
				files++
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
				if err != nil {
					return err
				}
				for _, i := range file.Imports {
					name := strings.Trim(i.Path.Value, `"`)
					inside, ours := strings.CutPrefix(name, module)
					own := strings.HasPrefix(inside, "cmd/") || strings.HasPrefix(inside, "examples/")
					assert.False(t, ours && !own && strings.Contains("/"+inside+"/", "/internal/"), "%s imports %s", path, name)
				}
				return nil
			}))
		assert.Greater(t, files, 10, folder)
		assert.NotZero(t, modules, folder)
	}
}

// The map in CONTRIBUTING.md has a row for each package of the module, and each of its rows is
// there. A row that ends with /… has all packages below a folder.
func TestTheMapShowsEachPackage(t *testing.T) {
	var rows []string
	for _, section := range []string{"The map", "The embedded service"} {
		for _, row := range testkit.Table(t, "../../CONTRIBUTING.md", section) {
			if strings.HasPrefix(row[0], "**") { // the title of a part
				continue
			}
			assert.NotEmpty(t, row[1], row[0])
			for _, m := range regexp.MustCompile(`[\w./…-]+`).FindAllString(row[0], -1) {
				assert.NoError(t, only(os.Stat(filepath.Join("..", "..", strings.TrimSuffix(m, "/…")))))
				assert.NotContains(t, rows, m, "it stands there twice")
				rows = append(rows, m)
			}
		}
	}
	for name := range imports(t) {
		if name == root {
			name = "."
		}
		assert.True(t, slices.ContainsFunc(rows, func(row string) bool {
			below, all := strings.CutSuffix(row, "…")
			return row == name || all && strings.HasPrefix(name, below)
		}), "the map lacks %s", name)
	}
}

// initLine is what the runtime says of the initialization of a package of this module.
var initLine = regexp.MustCompile(`(?m)^init ` + regexp.QuoteMeta(root) + `(\S*) .* (\d+) allocs$`)

// mostInits are how many allocations a package may make before main, if it makes more than the
// others: each regular expression takes three, which compile it when it is first used.
var mostInits = map[string]int{
	"/metadata": 280, "/dois": 170, "/mds": 120, "/reports": 110,
	"/datacitetest/internal/record": 260, "/datacitetest/internal/dois": 140, "/datacitetest/internal/reports": 130,
}

// A program that imports the module starts at once: regular expressions, vocabularies, tables and
// lists are made when they are needed.
func TestProgramsStartAtOnce(t *testing.T) {
	self := must(os.Executable())(t)
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	seen := map[string]bool{}
	for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
		allocs := must(strconv.Atoi(m[2]))(t)
		seen[m[1]] = true
		if strings.HasPrefix(m[1], "/internal/testkit") {
			continue
		}
		assert.LessOrEqual(t, allocs, cmp.Or(mostInits[m[1]], 75), "allocations of %s before main", m[1])
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(mostInits)),
		[]string{"/query", "/datacitetest/internal/search"}) {
		assert.True(t, seen[name], name)
	}
}
