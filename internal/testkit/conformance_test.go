package testkit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rules is how many rules each section of the specification has.
var rules = map[string]int{
	"2.1": 5, "2.2": 3, "2.3": 5, "3.1": 9, "3.2": 2, "4.1": 11, "4.2": 22, "4.2.1": 7, "4.2.2": 9, "4.3": 24, "5": 9,
	"7": 19, "8": 5, "9": 4,
	"Deployed": 23, // the metadata store in operation
}

// testFiles returns the text of a package's tests, with blanks for underscores.
func testFiles(t *testing.T, dir string) string {
	t.Helper()
	files := must(filepath.Glob(filepath.Join("..", "..", dir, "*_test.go")))(t)
	require.NotEmpty(t, files, dir)
	var all strings.Builder
	for _, file := range files {
		data := must(os.ReadFile(file))(t)
		all.Write(data)
	}
	return strings.ReplaceAll(all.String(), "_", " ")
}

// Every rule has a test, and every test that is named exists.
func TestConformance(t *testing.T) {
	text := must(os.ReadFile("../../testdata/conformance.md"))(t)
	named := regexp.MustCompile("`([a-z/]+) (Test\\w+)(?:/([^`]+))?`")
	sources := map[string]string{}
	found := map[string]int{}
	section := ""
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section, _, _ = strings.Cut(strings.TrimPrefix(heading, "["), " ")
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Rule") {
			continue
		}
		found[section]++
		tests := named.FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, tests, "no test for: %s", line)
		for _, m := range tests {
			dir, function, sub := m[1], m[2], m[3]
			if _, ok := sources[dir]; !ok {
				sources[dir] = testFiles(t, dir)
			}
			assert.True(t, strings.Contains(sources[dir], "func "+strings.ReplaceAll(function, "_", " ")+"("), "%s has no test %s", dir, function)
			if sub == "" {
				continue
			}
			// The name of a subtest stands in the source with blanks for underscores.
			sub = strings.ReplaceAll(sub, "_", " ")
			assert.True(t, strings.Contains(sources[dir], `"`+sub+`"`) || strings.Contains(sources[dir], "`"+sub+"`"), "%s %s has no subtest %s", dir, function, sub)
		}
	}
	assert.Equal(t, rules, found, "rules of each section")
}
