package sandbox_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/testkit"
)

var namedTest = regexp.MustCompile("`(Test\\w+)(?:/([^`]+))?`")

// Every rule of the deployed servers has its evidence and a test, and every
// test that is named exists.
func TestRulesOfTheDeployed(t *testing.T) {
	sources := testSources(t)
	for file, atLeast := range map[string]int{"deployed-reports.md": 70, "deployed-store.md": 12, "deployed-dois.md": 8,
		"deployed-records.md": 9, "deployed-usage.md": 40} {
		rules := rulesIn(t, file)
		assert.Greater(t, len(rules), atLeast, file)
		for _, cells := range rules {
			if assert.Len(t, cells, 3, cells[0]) {
				checkRule(t, sources, cells[0], cells[1], cells[2])
			}
		}
	}
}

// testSources are the tests of this package as they are written.
func testSources(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var sources strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		sources.Write(data)
	}
	return sources.String()
}

// Every rule that is known and not supported is listed, with its evidence and what is done
// in its place.
func TestRulesUnsupported(t *testing.T) {
	for _, file := range []string{"deployed-reports.md", "deployed-store.md", "deployed-usage.md"} {
		rules := testkit.Table(t, file, "Not supported")
		assert.GreaterOrEqual(t, len(rules), 10, file)
		for _, cells := range rules {
			if assert.Len(t, cells, 3, cells[0]) {
				assert.NotContains(t, cells, "", cells[0])
			}
		}
	}
}

// rulesIn are the rows of the tables of a file whose first column is a rule.
func rulesIn(t *testing.T, file string) (rules [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../evidence/" + file)
	require.NoError(t, err)
	ofRules := false
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") {
			ofRules = false
		}
		if ofRules && strings.HasPrefix(line, "| ") {
			rules = append(rules, strings.Split(strings.Trim(line, "| \n"), " | "))
		}
		ofRules = ofRules || strings.HasPrefix(line, "| Rule ")
	}
	return rules
}

func checkRule(t *testing.T, sources, rule, evidence, tests string) {
	t.Helper()
	assert.NotEmpty(t, evidence, "no evidence for: %s", rule)
	named := namedTest.FindAllStringSubmatch(tests, -1)
	assert.NotEmpty(t, named, "no test for: %s", rule)
	for _, m := range named {
		assert.True(t, strings.Contains(sources, "func "+m[1]+"(t *testing.T)"), "no test %s, for: %s", m[1], rule)
		// A name may be made of a part that stands in the test and one that does not.
		sub := strings.TrimPrefix(m[2], "taken: ")
		assert.True(t, strings.Contains(sources, `"`+sub), "%s: no subtest %q", m[1], sub)
	}
}
