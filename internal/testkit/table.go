package testkit

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Table reads the rows of a Markdown table: the one below the heading "## name"
// of a file in datacitetest/evidence, without its head. A cell that stands in backticks as a
// whole is read as a Go string literal, quotes as they are; other cells are
// text.
func Table(t testing.TB, file, name string) [][]string {
	t.Helper()
	key := [2]string{file, name}
	if rows, known := tables.Load(key); known {
		return rows.([][]string)
	}
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "datacitetest", "evidence", file))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut("\n"+string(text), "\n## "+name+"\n")
	if !found {
		t.Fatalf("%s: no section %q", file, name)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		if line, found := strings.CutPrefix(strings.TrimSpace(line), "| "); found {
			rows = append(rows, cells(t, line))
		}
	}
	if len(rows) < 2 {
		t.Fatalf("%s: no rows in section %q", file, name)
	}
	tables.Store(key, rows[1:])
	return rows[1:]
}

// Tables that were read, by file and name: their samples are looked up thousands of times.
var tables sync.Map

func cells(t testing.TB, line string) []string {
	t.Helper()
	var row []string
	for cell := range strings.SplitSeq(strings.TrimSuffix(line, "|"), " | ") {
		cell = strings.TrimSpace(cell)
		if literal, ok := codeSpan(cell); ok {
			var err error
			if cell, err = strconv.Unquote(`"` + strings.ReplaceAll(literal, `"`, `\"`) + `"`); err != nil {
				t.Fatalf("cell `%s`: %v", literal, err)
			}
		}
		row = append(row, cell)
	}
	return row
}

// codeSpan is what stands between the backticks of a cell that is one span.
func codeSpan(cell string) (literal string, ok bool) {
	if len(cell) < 2 || cell[0] != '`' || cell[len(cell)-1] != '`' {
		return "", false
	}
	literal = cell[1 : len(cell)-1]
	return literal, !strings.Contains(literal, "`")
}

var sample = regexp.MustCompile(`(?s)\[\[([A-Z]+)(?:: (.+?) => (.*?))?\]\]`)

// Expand puts samples in place of their names: "[[RECORD]]" is the text that
// the table Samples of a file in datacitetest has for RECORD, and "[[RECORD: a => b]]"
// that text with b in place of a.
func Expand(t testing.TB, file, text string) string {
	t.Helper()
	if !sample.MatchString(text) {
		return text
	}
	samples := map[string]string{}
	for _, row := range Table(t, file, "Samples") {
		samples[row[0]] = row[1]
	}
	return sample.ReplaceAllStringFunc(text, func(name string) string {
		m := sample.FindStringSubmatch(name)
		whole, known := samples[m[1]]
		if !known || !strings.Contains(whole, m[2]) {
			t.Fatalf("no sample %s", name)
		}
		if m[2] == "" {
			return whole
		}
		return strings.ReplaceAll(whole, m[2], m[3])
	})
}
