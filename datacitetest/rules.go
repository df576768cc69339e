package datacitetest

import (
	"embed"
	"io/fs"
)

//go:embed evidence
var rules embed.FS

// Rules returns the differences between the deployed servers and the specification, as
// tables in Markdown, one file per server or part of it: each rule with its evidence and
// its test, the behaviour that a [Deployed] server does not imitate, and the requests that
// both servers refuse with 501.
func Rules() fs.FS {
	evidence, err := fs.Sub(rules, "evidence")
	if err != nil {
		panic(err) // the name is not valid
	}
	return evidence
}
