package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

// licences are elements of a cell of the column rights, as an element of XML, and what the service shows of them.
var licences = []struct{ cell, xml, json, shown string }{
	{"CC-BY-4.0", `<rights rightsIdentifier="CC-BY-4.0">CC BY</rights>`, `{"rightsIdentifier":"CC-BY-4.0"}`,
		`"rightsIdentifier":"cc-by-4.0"`},
	{"MIT", `<rights rightsIdentifier="MIT">MIT License</rights>`, `{"rightsIdentifier":"MIT"}`,
		`"rightsIdentifier":"mit"`},
	{"Apache-2.0", `<rights>Apache License 2.0</rights>`, `{"rights":"Apache License 2.0"}`,
		`"rightsIdentifier":"apache-2.0"`},
	{"CC0-1.0", `<rights rightsURI="https://creativecommons.org/publicdomain/zero/1.0/"/>`,
		`{"rights":"CC0","rightsIdentifier":"cc0-1.0"}`, `"rightsIdentifier":"cc0-1.0"`},
	{"Open Access", `<rights xml:lang="en">Open Access</rights>`, `{"rights":"Open Access","lang":"en"}`,
		`"rights":"Open Access"`},
	{"https://example.org/terms", `<rights rightsURI="https://example.org/terms"/>`,
		`{"rightsUri":"https://example.org/terms"}`, `"rightsUri":"https://example.org/terms"`},
	{"My terms | https://example.org/my", `<rights rightsURI="https://example.org/my">My terms</rights>`,
		`{"rights":"My terms","rightsUri":"https://example.org/my"}`, `"rights":"My terms",` +
			`"rightsUri":"https://example.org/my"`},
}

// drawn are up to three licences, by their number.
func drawn(r *rand.Rand) []int {
	return slices.Sorted(slices.Values(r.Perm(len(licences))[:1+r.IntN(3)]))
}

// The rights of rows are replaced by others: afterwards each record has those of its row, and the rows that
// had others are the ones that were written.
func TestRightsAreReplaced(t *testing.T) {
	rows := min(300, *matrix/3)
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for _, command := range [][]string{append([]string{"register", "FILE"}, "--yes"),
			append([]string{"audit", "FILE"}, fix...)} {
			t.Run(fmt.Sprintf("%s: %s", b, command[0]), func(t *testing.T) {
				srv, r := datacitetest.NewServer(&datacitetest.Options{Behaviour: b}), rand.New(rand.NewPCG(46, 2))
				defer srv.Close()
				rights := properties[slices.IndexFunc(properties, func(p property) bool { return p.member == "rightsList" })]
				was, is := make([][]int, rows), make([][]int, rows)
				for i := range rows {
					was[i], is[i] = drawn(r), drawn(r)
					if i%10 == 0 {
						is[i] = was[i]
					}
					rights.items = nil
					for _, n := range was[i] {
						rights.items = append(rights.items, item{licences[n].xml, licences[n].json})
					}
					c := &oneChange{Server: srv, doi: fmt.Sprintf("10.5072/row-%03d", i),
						before: map[string][]item{"rightsList": rights.items}}
					for _, p := range properties {
						if p.required {
							c.before[p.member] = p.items[:1]
						}
					}
					births[i%len(births)].store(t, c)
				}
				file := filepath.Join(t.TempDir(), "items.csv")
				code, _, notes := plainly(srv).Do(t, maker("search"), "search", "--prefix", "10.5072", "--all", "--output", file)
				require.Zero(t, code, notes)
				table := readCSV(t, file)
				name, cell := slices.Index(table[0], "doi"), slices.Index(table[0], "rights")
				different := 0
				for _, row := range table[1:] {
					i := 0
					_, err := fmt.Sscanf(row[name], "10.5072/row-%d", &i)
					require.NoError(t, err)
					var cells []string
					for _, n := range is[i] {
						cells = append(cells, licences[n].cell)
					}
					row[cell] = strings.Join(cells, "; ")
					if !slices.Equal(was[i], is[i]) {
						different++
					}
				}
				writeCSV(t, file, table)
				wrote := countWrites(srv)
				command = slices.Clone(command)
				command[1] = file
				code, out, notes := plainly(srv).Do(t, maker(command[0]), command...)
				require.Zero(t, code, out+notes)
				assert.EqualValues(t, different, wrote.Load())
				assert.Regexp(t, fmt.Sprintf(`\b%d\b`, different), out+notes, "the summary says how many were written")
				for i := range rows {
					c := &oneChange{Server: srv, doi: fmt.Sprintf("10.5072/row-%03d", i)}
					stored := c.forms(t)
					list, _ := stored.attributes["rightsList"].([]any)
					assert.Len(t, list, len(is[i]), "%s: %v", c.doi, list)
					for _, n := range is[i] {
						assert.Contains(t, inWords(list), licences[n].shown, c.doi)
					}
					texts, _ := elements(t, stored.xml)
					assert.Equal(t, len(is[i]), strings.Count(texts["rightsList"], "</rights>"), texts["rightsList"])
				}
			})
		}
	}
}

// The table of search over records of every shape changes nothing: audit compares all of them and finds no
// difference, and register sends nothing.
func TestUntouchedTables(t *testing.T) {
	records := min(300, *matrix/3)
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: b})
		defer srv.Close()
		for i := range records {
			name := fmt.Sprintf("10.5072/one-%d", i)
			rec := datacitetest.RandomRecord(uint64(i))
			switch i % 6 {
			case 4:
				doc, err := mds.NewDocument(rec)
				require.NoError(t, err)
				_, err = srv.MDS().Register(t.Context(), name, "https://example.org/1", doc, nil)
				require.NoError(t, err)
			case 5:
				_, err := srv.DOIs().Create(t.Context(),
					&dois.Draft{DOI: name, URL: "https://example.org/1", Event: dois.EventPublish, Record: *rec})
				require.NoError(t, err)
			default:
				draw(t, rand.New(rand.NewPCG(46, uint64(i))), srv, name, births[i%4], properties[i%len(properties)], changed)
			}
		}
		for _, name := range []string{"items.csv", "items.xlsx"} {
			file := filepath.Join(t.TempDir(), name)
			code, _, notes := plainly(srv).Do(t, maker("search"), "search", "--prefix", "10.5072", "--all", "--output", file)
			require.Zero(t, code, notes)
			wrote := countWrites(srv)
			code, out, notes := plainly(srv).Do(t, maker("audit"), "audit", file, "--prefix", "10.5072", "--only",
				"missing,extra,changed")
			assert.Zero(t, code, "%.2000s", out+notes)
			assert.Regexp(t, fmt.Sprintf(`\b%d of %[1]d DOIs`, records), out+notes)
			code, out, notes = plainly(srv).Do(t, maker("register"), "register", file, "--yes")
			assert.Zero(t, code, "%.2000s", out+notes)
			assert.Zero(t, wrote.Load(), "%s: %.2000s", name, notes)
		}
	}
}

var fix = []string{"--prefix", "10.5072", "--only", "changed", "--fix", "--yes"}

// plainly runs commands without the checks of what they say, which know nothing of what the service makes of a licence.
func plainly(srv *datacitetest.Server) shelltest.Run { return shelltest.Run{Env: at(srv).Env} }

// countWrites counts the requests that write, from now on.
func countWrites(srv *datacitetest.Server) *atomic.Int64 {
	var n atomic.Int64
	srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
		if datacitetest.Writes(r) {
			n.Add(1)
		}
		return nil
	})
	return &n
}
