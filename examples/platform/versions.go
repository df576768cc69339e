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
			all = append(all, pages.Version{Of: of.name, Text: info.Deps[i].Version})
		}
	}
	return all
}
