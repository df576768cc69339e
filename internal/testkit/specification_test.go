package testkit_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const specification = "docs/specification.md"

// A specificationPage is what can be cited in the specification: "4.1", and "4.2.1(7)"
// for a numbered rule. Anchors are what links to its headings end with.
type specificationPage struct{ sections, anchors []string }

var (
	heading  = regexp.MustCompile(`^#{2,4} ((\d[\d.]*) )?(.+)$`)
	numbered = regexp.MustCompile(`^(\d+)\. `)
	// Comments break lines between any two words.
	cited = regexp.MustCompile(`§(\d+(?:\.\d+)*(?:\(\d+\))?)(?:,[\s/]+Large[\s/]+reports(?:,[\s/]+(\d))?)?`)
	link  = regexp.MustCompile(`([\w:/.-]*/)?specification\.md(#[\w-]*)?`)
	// A section's anchor is its heading without dots, as hosts of Markdown make it.
	unanchored = regexp.MustCompile(`[^\w -]`)
)

func readSpecification(t *testing.T) (page specificationPage) {
	t.Helper()
	section := ""
	for line := range strings.Lines(read(t, specification)) {
		if m := heading.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			section = m[2]
			if section == "" {
				section = m[3]
			}
			page.sections = append(page.sections, section)
			page.anchors = append(page.anchors,
				"#"+strings.ReplaceAll(strings.ToLower(unanchored.ReplaceAllString(m[1]+m[3], "")), " ", "-"))
		}
		if m := numbered.FindStringSubmatch(line); m != nil {
			page.sections = append(page.sections, section+"("+m[1]+")")
		}
	}
	return page
}

func read(t *testing.T, path string) string {
	t.Helper()
	data := must(os.ReadFile(filepath.Join("..", "..", path)))(t)
	return string(data)
}

// texts returns the texts in the repository that people read: code and documents.
func texts(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".go", ".md"}, filepath.Ext(path)) {
			return err
		}
		name, err := filepath.Rel(root, path)
		all[filepath.ToSlash(name)] = read(t, name)
		return err
	}))
	return all
}

// Whoever follows "specification §4.1" finds it.
func TestCitedSectionsExist(t *testing.T) {
	page := readSpecification(t)
	sections := 0
	for name, text := range texts(t) {
		if strings.HasSuffix(name, "internal/testkit/specification_test.go") {
			continue
		}
		found := cited.FindAllStringSubmatch(text, -1)
		assert.Len(t, found, strings.Count(text, "§"), "%s has a § that cites nothing", name)
		for _, m := range found {
			sections++
			assert.Contains(t, page.sections, m[1], "%s: %s", name, m[0])
			if m[2] != "" {
				assert.Contains(t, page.sections, "Large reports("+m[2]+")", "%s: %s", name, m[0])
			}
		}
	}
	assert.Greater(t, sections, 150)
}

// Links to the specification lead to a heading, and each package page has one.
func TestLinksToTheSpecification(t *testing.T) {
	const onTheWeb = "https://github.com/datacite-go/datacite-go/blob/main/docs/"
	page := readSpecification(t)
	slices.Sort(page.anchors)
	assert.Equal(t, slices.Compact(slices.Clone(page.anchors)), page.anchors, "an anchor leads to one heading")
	for _, m := range regexp.MustCompile(`\]\((#.*?)\)`).FindAllStringSubmatch(read(t, specification), -1) {
		assert.Contains(t, page.anchors, m[1])
	}
	for name, text := range texts(t) {
		if !strings.Contains(text, "specification.md") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if m[2] != "" {
				assert.Contains(t, page.anchors, m[2], name)
			}
			if strings.HasSuffix(name, "/doc.go") {
				assert.Equal(t, onTheWeb, m[1], name)
			}
		}
	}
	for _, name := range []string{"datacitetest", "dois", "mds", "metadata", "query", "reconcile", "reports"} {
		assert.Equal(t, 1, strings.Count(read(t, name+"/doc.go"), onTheWeb+"specification.md"), name)
	}
}

// rules is how many rules each section of the specification has.
var rules = map[string]int{
	"2.1": 5, "2.2": 3, "2.3": 5, "3.1": 9, "3.2": 2, "4.1": 11, "4.2": 22, "4.2.1": 7, "4.2.2": 9, "4.3": 24, "5": 9,
	"7": 19, "8": 5, "9": 4,
	"Deployed": 23, // the metadata store in operation
}

// testFiles returns the text of a package's tests, with blanks for underscores.
func testFiles(t *testing.T, dir string) string {
	t.Helper()
	files := must(filepath.Glob(filepath.Join("..", "..", dir, "*_test.go")))(t)
	require.NotEmpty(t, files, dir)
	var all strings.Builder
	for _, file := range files {
		data := must(os.ReadFile(file))(t)
		all.Write(data)
	}
	return strings.ReplaceAll(all.String(), "_", " ")
}

// Every rule has a test, and every test that is named exists.
func TestConformance(t *testing.T) {
	text := must(os.ReadFile("../../testdata/conformance.md"))(t)
	named := regexp.MustCompile("`([a-z/]+) (Test\\w+)(?:/([^`]+))?`")
	sources := map[string]string{}
	found := map[string]int{}
	section := ""
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section, _, _ = strings.Cut(strings.TrimPrefix(heading, "["), " ")
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Rule") {
			continue
		}
		found[section]++
		tests := named.FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, tests, "no test for: %s", line)
		for _, m := range tests {
			dir, function, sub := m[1], m[2], m[3]
			if _, ok := sources[dir]; !ok {
				sources[dir] = testFiles(t, dir)
			}
			assert.True(t, strings.Contains(sources[dir], "func "+strings.ReplaceAll(function, "_", " ")+"("),
				"%s has no test %s", dir, function)
			if sub == "" {
				continue
			}
			// The name of a subtest stands in the source with blanks for underscores.
			sub = strings.ReplaceAll(sub, "_", " ")
			assert.True(t, strings.Contains(sources[dir], `"`+sub+`"`) || strings.Contains(sources[dir], "`"+sub+"`"),
				"%s %s has no subtest %s", dir, function, sub)
		}
	}
	assert.Equal(t, rules, found, "rules of each section")
}
