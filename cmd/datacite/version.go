package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// Commit and Date are those of a release. The linker sets them: a release is built from the
// module, which does not name them, and not from a checkout, which does.
var Commit, Date string

// versionInfo is what datacite version --json prints.
type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit
	Go      string `json:"go"`
	Schema  string `json:"schema"` // version of the metadata schema
	Robots  string `json:"robots"` // date of the list of robots
	System  string `json:"system"`
}

// versionCommand is datacite version.
func versionCommand(s *shell.Shell) *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", GroupID: shell.Settings, Args: cobra.NoArgs,
		Short: "Print the version",
		Long: `Print the version of the command, its commit, the version of Go, that of the metadata schema by
which records are checked, and the date of the list of robots that are not counted as usage.`,
		RunE: func(*cobra.Command, []string) error {
			i := currentVersion()
			line := "datacite " + i.Version
			if i.Commit != "" {
				line += " (commit " + i.Commit + ", " + i.Date + ")"
			}
			s.Answer(i, "%s\n%s, %s\nmetadata schema %s, robots of %s", line, i.Go, i.System, i.Schema, i.Robots)
			return nil
		},
	}
	s.Flags(cmd, shell.JSON)
	return cmd
}

func currentVersion() versionInfo {
	build, _ := debug.ReadBuildInfo()
	return readVersion(build)
}

// readVersion takes the version from what the go command knows about the build: of a module, that of
// the module; of a checkout, that of the tag or commit; nil if nothing is known.
func readVersion(build *debug.BuildInfo) versionInfo {
	i := versionInfo{
		Version: "devel", Commit: Commit, Date: Date,
		Go: runtime.Version(), Schema: metadata.KernelVersion, Robots: counter.RobotsDate, System: runtime.GOOS + "/" +
			runtime.GOARCH,
	}
	if build == nil {
		return i
	}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		i.Version = v
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			i.Commit = setting.Value
		case "vcs.time":
			i.Date = setting.Value
		}
	}
	i.Commit = i.Commit[:min(len(i.Commit), 12)]
	return i
}
