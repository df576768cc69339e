package metadata

import (
	_ "embed" // for the list
	"strings"
	"sync"
)

// spdxText holds the version of the SPDX License List and its identifiers, a line
// each, deprecated ones too. The service has an older list of its own.
//
//go:embed spdx.txt
var spdxText string

type licenceList struct {
	version string
	ids     []string
	known   map[string]bool // in lower case: the service does not tell case apart
}

var spdxList = sync.OnceValue(func() licenceList {
	lines := strings.Split(strings.TrimSuffix(spdxText, "\n"), "\n")
	list := licenceList{strings.TrimPrefix(lines[0], "SPDX License List "), lines[1:], map[string]bool{}}
	for _, id := range list.ids {
		list.known[strings.ToLower(id)] = true
	}
	return list
})

// spdx warns of an identifier that is not on the list. It may be newer than that.
func (c *checker) spdx(p *path, id string) {
	list := spdxList()
	if bare := trim(id); bare != "" && !list.known[strings.ToLower(bare)] {
		c.warn(CodeSPDX, p, id, "version %s of the SPDX list has no licence %q%s", list.version, bare, vocabulary{{"", list.ids}}.hint(bare))
	}
}
