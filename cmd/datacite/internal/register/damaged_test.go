package register

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

var damaged = flag.Int("damaged", 60, "tables that TestDamagedTables damages")

// Of a damaged table each row is registered as it stands there or named with its fault, or
// nothing is sent and the exit code shows it.
func TestDamagedTables(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range *damaged {
		srv := shelltest.Serve(t, nil)
		var items strings.Builder
		items.WriteString("doi,url,title,creators,publisher,year,type,dates\n")
		for i := range 1 + random.IntN(8) {
			fmt.Fprintf(&items, "10.5072/d%d,https://repository.example.org/%[1]d,\"Item, \"\"%[1]d\"\"\nand "+
				"more\",\"Lovelace, Ada; org: Ice\",Repository,2026,Dataset,Collected 202%[1]d\n", i)
		}
		text := damage(random, []byte(items.String()))
		path := folder(t, string(text))
		code, _, notes := start(t, srv, "--prefix", "10.5072", "--leave-out", filepath.Join(path, "items.csv"))
		if code == 2 {
			assert.Empty(t, srv.Names(), "%s\n%s", notes, text)
			assert.Contains(t, notes, "items.csv", "%s", text)
			continue
		}
		require.Contains(t, []int{0, 1}, code, notes)
		all := csv.NewReader(bytes.NewReader(text)) // another reader of the same table
		all.FieldsPerRecord = -1
		rows, err := all.ReadAll()
		require.NoError(t, err, "%d: %s", n, text)
		results := read(t, filepath.Join(path, "items.registered.csv"))
		require.Len(t, results, len(rows)-1, "%s\n%s", notes, text)
		registered := 0
		for _, row := range results {
			switch row["result"] {
			case "created":
				registered++
				assert.Empty(t, row["error"])
				assert.Equal(t, "findable", srv.State(row["doi"]))
			case "failed":
				assert.NotEmpty(t, row["error"])
			default:
				t.Errorf("neither registered nor failed: %v", row)
			}
		}
		assert.Equal(t, code == 0, registered == len(results), notes)
		assert.Len(t, srv.Names(), registered)
	}
}

// damage cuts, changes, repeats or takes out some bytes.
func damage(random *rand.Rand, text []byte) []byte {
	from := random.IntN(len(text))
	to := min(from+1+random.IntN(40), len(text))
	switch random.IntN(5) {
	case 0:
		return text[:from]
	case 1:
		text[from] = "\",;\n\x00\xff |&"[random.IntN(8)]
	case 2:
		clear(text[from:to])
	case 3:
		return append(text[:from], text[to:]...)
	case 4:
		return append(bytes.Clone(text[:to]), text[from:]...)
	}
	return text
}
