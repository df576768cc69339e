package testkit_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a comment, a message or a page calls Options.Warn, mds.Register or [Reader] exists.
func TestNamesInTextsExist(t *testing.T) {
	exported := map[string]map[string]bool{} // by package, and by type: what may follow its name and a dot
	add := func(of, name string) {
		if exported[of] == nil {
			exported[of] = map[string]bool{}
		}
		exported[of][name] = true
	}
	member := regexp.MustCompile(`^(?:func \(\*?|type )(\w+)(?:\[\w+\])?(?:\)| struct,| interface,) \*?(?:\w+\.)?(\w+)`)
	for line := range exportedAPI(t) {
		pkg, declaration, _ := strings.Cut(strings.TrimPrefix(line, "pkg "), ", ")
		pkg = path.Base(pkg)
		if m := member.FindStringSubmatch(declaration); m != nil {
			add(m[1], m[2])
			add(pkg, m[2]) // operations are named so
			continue
		}
		add(pkg, regexp.MustCompile(`^\w+ (\w+)`).FindStringSubmatch(declaration)[1])
	}
	require.True(t, exported["mds"]["Register"] && exported["RegisterOptions"]["BeforeWrite"] && exported["reports"]["Reader"])

	public := map[string]bool{}
	for _, file := range publicFiles(t) {
		public[path.Clean(file.dir)] = true
	}
	var (
		text   = regexp.MustCompile("//[^\n]*|\"(?:\\\\.|[^\"\\\\\n])*\"|`[^`]*`")
		dotted = regexp.MustCompile(`(?:^|[^\w./:$-])(\w+)\.([A-Z]\w*)`)
		linked = regexp.MustCompile(`\[\*?([A-Z]\w+)\](?:[^(:]|$)`)
		names  = 0
	)
	for file, content := range texts(t) {
		isPage := strings.HasSuffix(file, ".md") && !strings.Contains(file, "evidence") && file != "CHANGELOG.md"
		if !isPage && (!public[path.Dir(file)] || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".md")) {
			continue
		}
		said := []string{content}
		if !isPage {
			said = text.FindAllString(content, -1)
		}
		for _, s := range said {
			for _, m := range dotted.FindAllStringSubmatch(s, -1) {
				if of := exported[m[1]]; of != nil {
					names++
					assert.True(t, of[m[2]], "%s: there is no %s.%s", file, m[1], m[2])
				}
			}
			if !strings.HasPrefix(s, "//") {
				continue
			}
			for _, m := range linked.FindAllStringSubmatch(s, -1) {
				names++
				of := path.Base(path.Join("datacite", path.Dir(file)))
				assert.True(t, exported[of][m[1]], "%s: there is no [%s]", file, m[1])
			}
		}
	}
	require.Greater(t, names, 500)
}
