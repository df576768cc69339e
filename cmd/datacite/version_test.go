package main

import (
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports/counter"
)

func TestVersionOfEachKindOfBuild(t *testing.T) {
	const hash, date = "0123456789abcdef0123456789abcdef01234567", "2026-11-23T12:00:00Z"
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.time", Value: date}}
	for _, test := range []struct {
		name                  string
		build                 *debug.BuildInfo
		linked                string
		version, commit, date string
	}{
		{"a release", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, hash, "v1.2.3", "0123456789ab", date},
		{"go install of a version", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "", "v1.2.3", "", ""},
		{"a checkout", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.20261123120000-0123456789ab+dirty"},
			Settings: vcs}, "",
			"v1.2.4-0.20261123120000-0123456789ab+dirty", "0123456789ab", date},
		{"a checkout, -buildvcs=false", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "", "devel", "", ""},
		{"a build without modules", nil, "", "devel", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.linked != "" {
				Commit, Date = test.linked, date
				defer func() { Commit, Date = "", "" }()
			}
			got := readVersion(test.build)
			assert.Equal(t, []string{test.version, test.commit, test.date}, []string{got.Version, got.Commit, got.Date})
		})
	}
}

func TestVersionNamesWhatTheCommandKnows(t *testing.T) {
	code, out, _ := shelltest.Run{}.Do(t, versionCommand, "version")
	assert.Zero(t, code)
	assert.Contains(t, out, "metadata schema "+metadata.KernelVersion+", robots of "+counter.RobotsDate)
}

// A command starts at once: what it does not use, such as pages, templates and the sandbox, is not
// made before main. testkit has the bounds of the packages of the SDK.
func TestStartsAtOnce(t *testing.T) {
	cmd, _, stderr := shelltest.Run{Env: map[string]string{"GODEBUG": "inittrace=1"}}.Process(t, "version")
	require.NoError(t, cmd.Run(), stderr)
	all, packages := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S*) .* (\d+) allocs$`).FindAllStringSubmatch(stderr.String(), -1) {
		allocs, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		if all += allocs; strings.Contains(m[1], "/cmd/datacite/") && !strings.HasSuffix(m[1], "test") {
			packages++
			assert.LessOrEqual(t, allocs, 75, "allocations of %s before main", m[1])
		}
	}
	assert.Greater(t, packages, 5)
	assert.Less(t, all, 4000, "allocations before main")
}
