package testkit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// Links within the repository must lead somewhere.
func TestReadmeLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`\]\(([^):]+)\)|(testdata/[\w./-]+)`).FindAllSubmatch(text, -1) {
		path := string(m[1]) + string(m[2])
		_, err := os.Stat(filepath.Join(root, path))
		assert.NoError(t, err, path)
	}
}
