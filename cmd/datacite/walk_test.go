package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

var walkedWith = flag.String("datacite", "",
	"`program` with which the pages of docs are walked (without it: built from this folder)")

// programPath is a PATH with the program that is walked.
func programPath(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	program := filepath.Join(bin, "datacite")
	if *walkedWith == "" {
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
		require.NoError(t, err, "%s", out)
	} else {
		released, err := filepath.Abs(*walkedWith)
		require.NoError(t, err)
		require.FileExists(t, released)
		require.NoError(t, os.Symlink(released, program))
	}
	return bin + ":" + os.Getenv("PATH")
}

// What the pages of docs show is what happens: their commands run as written, and print what they
// show.
func TestPagesOfDocs(t *testing.T) {
	path := programPath(t)
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range append(pages, "../../README.md", "README.md") {
		t.Run(strings.TrimLeft(page, "./"), func(t *testing.T) {
			text := shelltest.Read(t, page)
			missing, err := walk(t.Context(), string(text), t.TempDir(), append(hosts(t), "PATH="+path, "HOME="+t.TempDir()))
			assert.NoError(t, err)
			for _, program := range slices.Compact(missing) {
				t.Logf("NOT CHECKED: the blocks that need %s", program)
			}
		})
	}
}
