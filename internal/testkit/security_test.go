package testkit_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testName = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")

// TestThreatsHaveTests: each row of SECURITY.md names tests, which exist.
func TestThreatsHaveTests(t *testing.T) {
	var sources strings.Builder
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		sources.Write(data)
		return err
	}))
	text, err := os.ReadFile("../../SECURITY.md")
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 3 || cells[2] == "Shown by" {
			continue
		}
		rows++
		named := testName.FindAllStringSubmatch(cells[2], -1)
		assert.NotEmpty(t, named, "no test for: %s", cells[0])
		for _, m := range named {
			assert.True(t, strings.Contains(sources.String(), "func "+m[1]+"(t *testing.T)"), "%s, for: %s", m[1], cells[0])
		}
	}
	assert.Greater(t, rows, 30)
}
