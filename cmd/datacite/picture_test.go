package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/walk"
)

var picture = flag.String("picture", "", "`file` for a picture of the page of an audit, docs/audit.png")

// audited makes a page of an audit of 201 datasets: the service has one less, with another
// address and another title.
const audited = "```sh type=\"EXAMPLE.REPO|sandbox-password\"\n" + `
rows() {
	echo doi,url,title,creators,publisher,year,type,rights,description,related identifiers
	seq "$1" | awk '{
		creator = $1 % 3 ? "Lovelace, Ada | 0000-0001-5727-2427 | Example University https://ror.org/04wxnsj81" : "Hopper, Grace"
		printf "10.5072/glacier-%d,https://repository.example.org/%d,Glacier %d: length 1850 to %d,\"%s\",Example Repository,%d,Dataset,%s,%s,%s\n",
			$1, $1, $1, 2000 + $1 % 26, creator, 2005 + $1 % 22, $1 % 10 ? "CC-BY-4.0" : "", $1 % 4 ? "Yearly lengths from maps and satellite images." : "",
			$1 % 5 < 2 ? "IsSupplementTo DOI 10.5072/article-" $1 : ""
	}'
}
datacite login --service production
rows 200 | sed 's|repository.example.org/17,|old.example.org/17,|; s/Glacier 40: length/Glacier 40: lenght/' > service.csv
rows 201 > datasets.csv
datacite register service.csv --service production --quiet --yes
` + "```\n```sh exit=1\ndatacite audit datasets.csv --prefix 10.5072 --html report.html\n```\n```output\n" +
	"…\n198 of 201 DOIs right at production (api.datacite.org)\n…\n```\n"

// The picture in the README is that of a page that the command has made.
func TestPictureOfAnAudit(t *testing.T) {
	folder, home := t.TempDir(), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // it hangs
	defer cancel()
	require.NoError(t, walk.Page(ctx, audited, folder, append(walk.Hosts(t), "PATH="+path(t), "HOME="+home)))
	page := filepath.Join(folder, "report.html")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "<b>198 of 201</b> DOIs right")
	if *picture == "" {
		return
	}
	file, err := filepath.Abs(*picture)
	require.NoError(t, err)
	out, err := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--window-size=860,940", "--screenshot="+file, page).CombinedOutput()
	require.NoError(t, err, string(out))
}
