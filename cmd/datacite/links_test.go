package main

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]+`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Links of pages lead to files that there are, and to headings of them.
func TestLinksOfPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	more, err := filepath.Glob("../../docs/*/*.md")
	require.NoError(t, err)
	others := []string{"../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md", "../../CHANGELOG.md", "README.md"}
	for _, page := range slices.Concat(pages, more, others) {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(shelltest.Read(t, page)), ""), -1) {
			u, err := url.Parse(m[1])
			require.NoError(t, err, page)
			if u.Scheme != "" {
				continue
			}
			target := page
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(page), u.Path)
				_, err := filepath.EvalSymlinks(target)
				assert.NoError(t, err, "%s: %s", page, m[1])
			}
			if u.Fragment != "" && assert.FileExists(t, target, "%s: %s", page, m[1]) {
				assert.Contains(t, anchors(string(shelltest.Read(t, target))), u.Fragment, "%s: %s", page, m[1])
			}
		}
	}
}

// anchors are those of the headings, as hosts of Markdown make them.
func anchors(page string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

// A page is read at one sitting, and the index names each. The specification and the benchmarks are looked up.
func TestPagesAreShortAndListed(t *testing.T) {
	index := string(shelltest.Read(t, "../../docs/README.md"))
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range pages {
		name := filepath.Base(page)
		if name != "README.md" {
			assert.Contains(t, index, "]("+name+")")
		}
		if name != "specification.md" && name != "benchmarks.md" {
			assert.LessOrEqual(t, len(strings.Fields(string(shelltest.Read(t, page)))), 1500, name)
		}
	}
}
