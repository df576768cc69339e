//go:build !plan9 && !windows

package audit

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// What differed before the question and what became of it are one run: nothing counts twice.
func TestQuestion(t *testing.T) {
	srv := service(t, datacitetest.Deployed)
	name := filepath.Join(t.TempDir(), "report.html")
	x := shelltest.At(srv).Terminal(t, 200, "audit", "--prefix", "10.5072", "--only", "url,state", "--fix", "--html", name,
		shelltest.File(t, "own.csv", ownTable))
	x.Until("10.5072/moved")
	x.Until("Write 2 DOIs at ")
	x.Type("y\n")
	code, printed := x.End()
	assert.Equal(t, shell.ExitRefused, code, "a DOI is not there")
	assert.Contains(t, printed, "3 of 4 DOIs right as to url, state at ")
	assert.Contains(t, printed, "      2 changed before")
	assert.Contains(t, printed, ": 2 DOIs repaired, 0 failed, 0 left; 1 DOI does not exist at the service")
	assert.Contains(t, string(shelltest.Read(t, name)), "<b>2</b> DOIs repaired")

	x = shelltest.At(srv).Terminal(t, 200, "audit", "--prefix", "10.5072", "--only", "extra", "--fix",
		shelltest.File(t, "own.csv", ownTable))
	_, printed = x.End()
	assert.NotContains(t, printed, "[y/N]", "there is nothing to write")
	assert.Contains(t, printed, "0 DOIs repaired, 0 failed, 1 left")
}
