package reconcile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each place where package metadata says that JSON refuses a value is about a property of the list: records are only
// asked about these.
func TestPropertiesThatJSONRefuses(t *testing.T) {
	files, err := filepath.Glob("../metadata/*.go")
	require.NoError(t, err)
	places := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, "findings.go") {
			require.NoError(t, err)
			places += strings.Count(string(text), "datacite.CodeJSON")
		}
	}
	assert.Len(t, refusedInJSON, places)
	for _, name := range refusedInJSON {
		assert.Contains(t, propertyNames, name)
	}
}
