package main

import (
	"runtime/debug"
	"slices"

	"github.com/datacite-go/datacite-go/examples/platform/pages"
)

// versions are those of the program and of what it is made of.
func versions() []pages.Version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	all := []pages.Version{{Of: "Platform", Text: info.Main.Version}, {Of: "Go", Text: info.GoVersion}}
	for _, of := range []struct{ path, name string }{{"github.com/datacite-go/datacite-go", "SDK"}, {"modernc.org/sqlite", "SQLite driver"}} {
		i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == of.path })
		if i >= 0 {
			version := info.Deps[i].Version
			if replaced := info.Deps[i].Replace; replaced != nil {
				version = replaced.Version
			}
			if version == "" || version == "(devel)" { // of a folder, in place of a release
				version = "of the source beside the platform"
			}
			all = append(all, pages.Version{Of: of.name, Text: version})
		}
	}
	return all
}
