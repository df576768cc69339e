package sandbox_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every rule of the deployed reports server has its evidence and a test, and
// every test that is named exists.
func TestRulesOfDeployedReports(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var sources strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		sources.Write(data)
	}
	text, err := os.ReadFile("../../testdata/deployed-reports.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`(Test\\w+)(?:/([^`]+))?`")
	rules := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Rule") {
			continue
		}
		rules++
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !assert.Len(t, cells, 3, line) {
			continue
		}
		assert.NotEmpty(t, cells[1], "no evidence for: %s", cells[0])
		tests := named.FindAllStringSubmatch(cells[2], -1)
		assert.NotEmpty(t, tests, "no test for: %s", cells[0])
		for _, m := range tests {
			assert.True(t, strings.Contains(sources.String(), "func "+m[1]+"(t *testing.T)"), "no test %s, for: %s", m[1], cells[0])
			// A name may be made of a part that stands in the test and one that does not.
			sub := strings.TrimPrefix(m[2], "taken: ")
			assert.True(t, strings.Contains(sources.String(), `"`+sub), "%s: no subtest %q", m[1], sub)
		}
	}
	assert.Greater(t, rules, 70)
}
