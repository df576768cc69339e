package datacitetest

import (
	"embed"
	"io/fs"
)

//go:embed deployed-*.md not-played.md
var rules embed.FS

// Rules returns the tables of how the deployed servers differ from the
// specification, in Markdown, one file per server or part of one: each rule with its
// evidence and its test, what a [Deployed] server does not imitate, and what either
// server refuses with 501.
func Rules() fs.FS { return rules }
