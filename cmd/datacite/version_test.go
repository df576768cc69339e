package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"

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
		{"a checkout", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.20261123120000-0123456789ab+dirty"}, Settings: vcs}, "",
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
