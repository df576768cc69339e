package testkit

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

var operation = regexp.MustCompile(`\b(?:mds|dois|reports)\.[A-Z]\w*: `)

// NamedOnce checks that the text of an error has the name of each operation once.
func NamedOnce(t testing.TB, text string) {
	t.Helper()
	seen := map[string]bool{}
	for _, name := range operation.FindAllString(text, -1) {
		assert.False(t, seen[name], "%stwice: %s", name, text)
		seen[name] = true
	}
}
