// Package testdata holds what the module's tests read. Rules are the tables of how the
// deployed servers behave, for programs that print them.
package testdata

import "embed"

// Rules are the tables, one file a server or a part of one.
//
//go:embed deployed-*.md
var Rules embed.FS
