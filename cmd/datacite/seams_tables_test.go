package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// tableWriters make a table of the records of a seam.
var tableWriters = []struct {
	name  string
	write func(t *testing.T, s *seam) (file, notes string)
}{
	{"search --output .csv", func(t *testing.T, s *seam) (string, string) { return s.searched(t, "items.csv") }},
	{"search --output .xlsx", func(t *testing.T, s *seam) (string, string) { return s.searched(t, "items.xlsx") }},
	{"the result table of register", func(t *testing.T, s *seam) (string, string) {
		file, notes := s.searched(t, "before.csv")
		result := filepath.Join(s.folder, "result.csv")
		code, _, more := s.do(t, "register", file, "--output", result)
		require.Zero(t, code, more)
		return result, notes
	}},
	{"the result table of register .xlsx", func(t *testing.T, s *seam) (string, string) {
		file, notes := s.searched(t, "before.xlsx")
		code, _, more := s.do(t, "register", file)
		require.Zero(t, code, more)
		return filepath.Join(s.folder, "before.registered.xlsx"), notes
	}},
	{"register --template", func(t *testing.T, s *seam) (string, string) {
		file := filepath.Join(s.folder, "template.csv")
		code, _, notes := s.do(t, "register", "--template", "--output", file)
		require.Zero(t, code, notes)
		searched, notes := s.searched(t, "before.csv")
		rows, from := readCSV(t, file), readCSV(t, searched)
		for _, row := range from[1:] { // as somebody fills it in
			var cells []string
			for _, name := range rows[0] {
				cells = append(cells, row[slices.Index(from[0], name)])
			}
			rows = append(rows, cells)
		}
		writeCSV(t, file, rows)
		return file, notes
	}},
}

func (s *seam) searched(t *testing.T, name string) (file, notes string) {
	t.Helper()
	file = filepath.Join(s.folder, name)
	code, _, notes := s.do(t, "search", "--prefix", "10.5072", "--all", "--output", file)
	require.Zero(t, code, notes)
	return file, notes
}

func readCSV(t *testing.T, file string) [][]string {
	t.Helper()
	data := shelltest.Read(t, file)
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).ReadAll()
	require.NoError(t, err)
	return rows
}

func writeCSV(t *testing.T, file string, rows [][]string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, csv.NewWriter(&out).WriteAll(rows))
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
}

// tableReaders read a table of the records of a seam.
var tableReaders = [][]string{
	{"register", "FILE"},
	{"audit", "FILE", "--prefix", "10.5072"},
	{"audit", "FILE", "--prefix", "10.5072", "--fix", "--yes"},
}

// A table that a command wrote changes nothing when another command reads it, and a copy that is made of
// it has what the table has; what it lacks was named.
func TestTables(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for _, w := range tableWriters {
			t.Run(fmt.Sprintf("%s/%s", b, w.name), func(t *testing.T) {
				s := newSeam(t, b, 3**seams)
				before := s.documents(t)
				file, notes := w.write(t, s)
				wrote := shelltest.Writes(s.Server)
				for _, reader := range tableReaders {
					for pass := range 2 {
						args := slices.Clone(reader)
						args[1] = file
						code, out, said := s.do(t, args...)
						assert.Zero(t, code, "%v, pass %d: %s%s", args, pass, out, said)
						assert.Equal(t, wrote, shelltest.Writes(s.Server), "%v: %s", args, said)
					}
				}
				for name, doc := range s.documents(t) {
					assert.Equal(t, strings.Split(before[name], "\n"), strings.Split(doc, "\n"))
				}
				s.copied(t, b, file, notes)
			})
		}
	}
}

// What is stored is no fault in a table, though nobody could register it by the table: nothing of the table is left
// uncompared, and nothing is sent.
func TestTablesOfUnusualRecords(t *testing.T) {
	unusual := []func(*metadata.Record){
		func(r *metadata.Record) {
			r.Creators[0].NameIdentifiers = []metadata.NameIdentifier{
				{NameIdentifier: "ror.org/04wxnsj81", NameIdentifierScheme: "ROR"}}
		},
		func(r *metadata.Record) {
			r.Creators[0].NameIdentifiers = []metadata.NameIdentifier{
				{NameIdentifier: "0000-0001-5727-2428", NameIdentifierScheme: "ORCID"}}
		},
		func(r *metadata.Record) {
			r.Creators[0].Affiliation = []metadata.Affiliation{
				{Name: "Ice", AffiliationIdentifier: "ror.org/04wxnsj82", AffiliationIdentifierScheme: "ROR"}}
		},
		func(r *metadata.Record) {
			r.Publisher = metadata.Publisher{Name: "A | B", PublisherIdentifier: "ror.org/04wxnsj82",
				PublisherIdentifierScheme: "ROR"}
		},
		func(r *metadata.Record) { r.Dates = []metadata.Date{{Date: "2019-05-17/..", DateType: "Collected"}} },
		func(r *metadata.Record) {
			r.Dates = []metadata.Date{{Date: "c. 1850", DateType: "Created"}, {Date: "Spring 2020", DateType: "Other"}}
		},
		func(r *metadata.Record) {
			r.RightsList = []metadata.Rights{{Rights: "My own text", RightsIdentifier: "MIT"}, {Rights: "CC-BY-4"}}
		},
		func(r *metadata.Record) {
			r.RightsList = []metadata.Rights{{RightsIdentifier: "none", RightsIdentifierScheme: "SPDX"}}
		},
		func(r *metadata.Record) {
			r.Creators[0] = metadata.Creator{Name: "Plato, ", FamilyName: "Plato", NameType: metadata.NamePersonal}
		},
		func(r *metadata.Record) {
			r.Creators[0] = metadata.Creator{Name: "Byron, Ada", FamilyName: "Lovelace", GivenName: "A.",
				NameType: metadata.NamePersonal}
		},
		func(r *metadata.Record) { r.Creators[0] = metadata.Creator{Name: "Groß, Änne & Weiß, Öl"} },
		func(r *metadata.Record) { r.Creators[0] = metadata.Creator{Name: "Lovelace, Ada 0000-0001-5727-2427"} },
		func(r *metadata.Record) { r.Language = "x-klingon-of-the-north" },
	}
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		s := newSeam(t, b, 0)
		for i := range 2 * len(unusual) {
			name, rec := fmt.Sprintf("10.5072/unusual-%d", i), datacitetest.RandomRecord(uint64(i+4))
			unusual[i/2](rec)
			url := "https://repository.example.org/" + name
			if doc, err := mds.NewDocument(rec); i%2 == 0 {
				require.NoError(t, err)
				_, err = s.MDS().Register(t.Context(), name, url, doc, nil)
				require.NoError(t, err)
				continue
			}
			_, err := s.DOIs().Create(t.Context(), &dois.Draft{DOI: name, URL: url, Event: dois.EventPublish, Record: *rec})
			require.NoError(t, err)
		}
		file, _ := s.searched(t, "items.csv")
		wrote := shelltest.Writes(s.Server)
		for _, reader := range tableReaders {
			args := slices.Clone(reader)
			args[1] = file
			code, out, said := s.do(t, args...)
			assert.Zero(t, code, "%s %v: %s%s", b, args, out, said)
			assert.Equal(t, wrote, shelltest.Writes(s.Server), "%s %v: %s", b, args, said)
		}
	}
}

// copied registers the records of a table at an empty service.
func (s *seam) copied(t *testing.T, b datacitetest.Behaviour, file, notes string) {
	t.Helper()
	other := newSeam(t, b, 0)
	data := shelltest.Read(t, file)
	at := filepath.Join(other.folder, "copy"+filepath.Ext(file))
	require.NoError(t, os.WriteFile(at, data, 0o600))
	code, _, said := other.do(t, "register", at)
	require.Zero(t, code, said)
	for _, name := range s.dois {
		was, err := s.Record(name)
		require.NoError(t, err)
		is, err := other.Record(name)
		require.NoError(t, err)
		for _, c := range metadata.Diff(&was.Record, &is.Record) {
			member := topLevel.FindString(c.Path)
			if c.Desired == string(was.PublicationYear)+"; Issued" { // which the service makes of XML
				continue
			}
			assert.Regexp(t, `some of the .*\b`+member+`\b`, notes, "%s: %s", name, c)
		}
	}
	wrote, stored := shelltest.Writes(other.Server), other.documents(t)
	code, _, said = other.do(t, "register", at)
	require.Zero(t, code, said)
	assert.Equal(t, wrote, shelltest.Writes(other.Server), said)
	assert.Equal(t, stored, other.documents(t))
}

var topLevel = regexp.MustCompile(`^\w+`)

// A librarian takes a table of all records, corrects 20 cells, and has them written: these cells are
// changed at the service, and nothing else is but what the service makes of every write (metadata.Diff).
func TestALibrariansRound(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(b), func(t *testing.T) {
			const records = 10
			s := newSeam(t, b, records)
			file, _ := s.searched(t, "items.csv")
			before := readCSV(t, file)
			was := map[string]*dois.Record{}
			for _, name := range s.dois {
				r, err := s.Record(name)
				require.NoError(t, err)
				was[name] = r
			}
			wanted := slices.Clone(before)
			column := func(name string) int { return slices.Index(before[0], name) }
			for i := 1; i < len(wanted); i++ {
				wanted[i] = slices.Clone(wanted[i])
				wanted[i][column("title")] += " & <i>Salix</i>"
				switch cell := &wanted[i][column([]string{"url", "subjects", "publisher", "language"}[i%4])]; i % 4 {
				case 0:
					*cell += "&d=1;e"
				case 1:
					*cell = strings.TrimPrefix(*cell+"; lichens & <mosses>", "; ")
				case 2:
					*cell = "Another “Archive” & Co. | [ISNI=0000 0001 2103 2683]"
				case 3:
					*cell = "it"
				}
			}
			writeCSV(t, file, wanted)

			code, out, notes := s.do(t, "audit", file, "--prefix", "10.5072", "--fix", "--yes")
			require.Zero(t, code, out+notes)
			harvested := filepath.Join(s.folder, "all.jsonl")
			code, _, notes = s.do(t, "harvest", "--prefix", "10.5072", "--output", harvested)
			require.Zero(t, code, notes)
			wrote := shelltest.Writes(s.Server)
			for _, source := range []string{harvested, file} {
				code, out, notes = s.do(t, "audit", source, "--prefix", "10.5072", "--fix", "--yes")
				assert.Zero(t, code, out+notes)
			}
			assert.Equal(t, wrote, shelltest.Writes(s.Server))

			again, _ := s.searched(t, "again.csv")
			after := readCSV(t, again)
			for i := 1; i < len(wanted); i++ {
				corrected := []string{"title", []string{"url", "subjects", "publisher", "language"}[i%4]}
				for _, name := range corrected {
					assert.Equal(t, wanted[i][column(name)], after[i][column(name)], name)
				}
				name := wanted[i][column("doi")]
				is, err := s.Record(name)
				require.NoError(t, err)
				for _, c := range metadata.Diff(&was[name].Record, &is.Record) {
					member := topLevel.FindString(c.Path)
					assert.True(t, member == "titles" || slices.Contains(corrected, member), "%s: %s", name, c)
				}
				assert.Equal(t, was[name].State, is.State)
				assert.True(t, was[name].URL == is.URL || slices.Contains(corrected, "url"), name)
			}
		})
	}
}
