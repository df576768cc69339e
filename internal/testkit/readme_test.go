package testkit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The programs that the README shows must compile.
func TestReadmeProgramsCompile(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	programs := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, programs, 3)
	for _, program := range programs {
		file := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(file, program[1], 0o600))
		vet := exec.Command("go", "vet", file)
		vet.Dir = root
		out, err := vet.CombinedOutput()
		assert.NoError(t, err, "%s", out)
		unformatted, err := exec.Command("gofmt", "-l", file).Output()
		require.NoError(t, err)
		assert.Empty(t, string(unformatted))
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
