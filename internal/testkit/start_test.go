package testkit_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// initLine is what the runtime says of the initialization of a package of this module.
var initLine = regexp.MustCompile(`(?m)^init ` + regexp.QuoteMeta(root) + `(\S*) .* (\d+) allocs$`)

// A program that imports the module starts at once: regular expressions, vocabularies and lists are
// read when they are needed.
func TestProgramsStartAtOnce(t *testing.T) {
	self := must(os.Executable())(t)
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	seen := map[string]bool{}
	for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
		allocs := must(strconv.Atoi(m[2]))(t)
		if seen[m[1]] = true; !strings.HasPrefix(m[1], "/datacitetest/internal") {
			assert.LessOrEqual(t, allocs, 3500, "allocations of %s before main", m[1])
		}
	}
	for _, name := range []string{"/metadata", "/dois", "/mds", "/reports", "/query"} {
		assert.True(t, seen[name], name)
	}
}
