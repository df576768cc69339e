package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/audit"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/register"
)

// Standard input takes the place of a file, and its content tells the format.
func TestStandardInput(t *testing.T) {
	srv, folder := service(t), t.TempDir()
	result := filepath.Join(folder, "result.csv")
	t.Setenv("TMPDIR", folder)
	for _, tt := range []struct {
		args  []string
		input string
		code  int
		says  string
	}{
		{[]string{"register", "-", "--output", result}, tableOfRecords, 0, result + ": 1 record at "},
		{[]string{"register", "-"}, tableOfRecords, 2, "a table from standard input needs --output FILE.csv"},
		{[]string{"register", "-", "--output", result}, "url,title\n", 2,
			"standard input.csv: the table also needs the columns creators"},
		{[]string{"register", "-", "--dry-run", "--doi", "10.5072/b", "--url", "https://a.example/"},
			"@misc{a, doi={10.5072/b}, title={T}, author={Ice}, publisher={R}, " +
				"year={2026}}", 0, "10.5072/b would become findable"},
		{[]string{"register", "-"}, "", 2, "standard input is empty"},
		{[]string{"register", "-", "-"}, tableOfRecords, 2, "standard input can be read once"},
		{[]string{"audit", "-", "--prefix", "10.5072", "--only", "missing"}, tableOfRecords, 0, "nothing differs"},
		{[]string{"audit", "-", "--prefix", "10.5072", "--only", "missing"}, aRecord, 0, "nothing differs"},
		{[]string{"audit", "-", "--prefix", "10.5072"}, "doi\n", 2,
			"standard input.csv has no records; nothing was compared"},
		{[]string{"audit", "-", "--prefix", "10.5072", "--html", "-"}, tableOfRecords, 2, "--html needs the name of a file"},
		{[]string{"audit", "-", "--prefix", "10.5072", "--html", folder + "/a.csv", "--output", folder + "/./A.csv"},
			tableOfRecords, 2, "--html and --output are both "},
		{[]string{"audit", "-", "--prefix", "10.5072", "--html", result, "--output", result}, tableOfRecords, 2,
			"--html and --output are both " + result},
	} {
		run, command := at(srv), register.Command
		if tt.args[0] == "audit" {
			command = audit.Command
		}
		run.Stdin = tt.input
		code, out, notes := run.Do(t, command, tt.args...)
		assert.Equal(t, tt.code, code, "%v: %s", tt.args, notes)
		assert.Contains(t, out+notes, tt.says)
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, left, 1, "the table of results; no copy is left")
}
