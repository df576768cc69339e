package table_test

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/metadata"
)

var rounds = flag.Int("rounds", 300, "rows of the round trip")

const items = `doi,url,state,title,creators,publisher,year,type,description,subjects,rights,language,related_identifiers,Dates
10.5072/glacier-1,https://repository.example.org/1,findable,"Glacier length; 1850 | 2020","Lovelace, Ada | 0000-0001-5727-2427 | Example University https://ror.org/04wxnsj81; org: Ice Group; Plato,",Example Repository | https://ror.org/04wxnsj81,2026,dataset | Table,"Lengths.

Every ten years.",glaciers; climate | Example Thesaurus,CC-BY-4.0; https://example.org/terms; All rights reserved,en,issupplementto doi 10.5072/article-1,Collected 1850/2020; Available 2026-01-31 | after review
,https://repository.example.org/2,,Glacier area,:unkn,Example Repository,2026,Dataset,,,,,,
`

func read(t *testing.T, name, text string) []*table.Row {
	t.Helper()
	return rowsOf(t, name, text, nil)
}

func rowsOf(t *testing.T, name, text string, opts *table.Options) (rows []*table.Row) {
	t.Helper()
	r, err := table.NewReader(name, strings.NewReader(text), opts)
	require.NoError(t, err, text)
	for row, err := range r.All() {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

// rowOf is the row of a table with one.
func rowOf(t *testing.T, name, text string, opts *table.Options) *table.Row {
	t.Helper()
	rows := rowsOf(t, name, text, opts)
	require.Len(t, rows, 1, text)
	return rows[0]
}

func TestRows(t *testing.T) {
	rows := read(t, "items.csv", items)
	require.Len(t, rows, 2)
	assert.Equal(t, &table.Row{
		DOI: "10.5072/glacier-1", URL: "https://repository.example.org/1", State: "findable",
		File: "items.csv", Line: 2, Others: []string{},
		Record: &metadata.Record{
			DOI:    "10.5072/glacier-1",
			Titles: metadata.List[metadata.Title]{{Title: "Glacier length; 1850 | 2020"}},
			Creators: metadata.List[metadata.Creator]{
				metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427").AffiliatedWith("Example University", "04wxnsj81"),
				metadata.Organization("Ice Group"), metadata.Person("Plato", ""),
			},
			Publisher: metadata.Publisher{
				Name: "Example Repository", PublisherIdentifier: "https://ror.org/04wxnsj81", PublisherIdentifierScheme: "ROR",
				SchemeURI: "https://ror.org",
			},
			PublicationYear: "2026",
			Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"},
			Descriptions: metadata.List[metadata.Description]{
				{Description: "Lengths.\n\nEvery ten years.", DescriptionType: metadata.DescriptionAbstract}},
			Subjects: metadata.List[metadata.Subject]{{Subject: "glaciers"},
				{Subject: "climate", SubjectScheme: "Example Thesaurus"}},
			RightsList: metadata.List[metadata.Rights]{metadata.SPDX("CC-BY-4.0"), {RightsURI: "https://example.org/terms"},
				{Rights: "All rights reserved"}},
			Language: "en",
			RelatedIdentifiers: metadata.List[metadata.RelatedIdentifier]{{
				RelationType: metadata.RelationIsSupplementTo, RelatedIdentifierType: metadata.IdentifierDOI,
				RelatedIdentifier: "10.5072/article-1",
			}},
			Dates: metadata.List[metadata.Date]{
				{Date: "1850/2020", DateType: metadata.DateCollected},
				{Date: "2026-01-31", DateType: metadata.DateAvailable, DateInformation: "after review"},
			},
		},
	}, rows[0])
	require.NoError(t, rows[1].Err())
	assert.Equal(t, 5, rows[1].Line)
}

// Tables of any usual make are the same table.
func TestTablesOfAnyUsualProgramAreTheSame(t *testing.T) {
	want := read(t, "a.csv", items)
	for name, text := range map[string]string{
		"a mark":  "\ufeff" + items,
		"Windows": strings.ReplaceAll(items, "\n", "\r\n"),
		"written": written(t, want, nil),
		"tabs":    written(t, want, &table.WriterOptions{Layout: sheet.Layout{Comma: '\t'}}),
		"empty rows and columns": strings.NewReplacer("Dates\n", "Dates,,\n,,,\n", ",,,,,,\n",
			",,,,,,,,\n,,,,,,,,,,,,,,,\n").Replace(items),
	} {
		got := read(t, "a.csv", text)
		require.Len(t, got, 2, name)
		if name == "empty rows and columns" {
			assert.Equal(t, want[1].Record, got[1].Record)
			continue
		}
		assert.Equal(t, want, got, name)
	}
	for text, layout := range map[string]sheet.Layout{"doi;url\n": {Comma: ';'},
		"\ufeffdoi,url\r\n": {Comma: ',', CRLF: true}, "sep=;\r\n\"doi\"\r\n": {Comma: ';', CRLF: true}} {
		r, err := table.NewReader("a.csv", strings.NewReader(text), nil)
		require.NoError(t, err)
		assert.Equal(t, layout, r.Layout(), text)
	}
}

func written(t *testing.T, rows []*table.Row, opts *table.WriterOptions) string {
	t.Helper()
	var out bytes.Buffer
	w := table.NewWriter(&out, opts)
	for _, row := range rows {
		lost, err := w.Write(row)
		require.NoError(t, err)
		assert.Empty(t, lost)
	}
	require.NoError(t, w.Flush())
	return out.String()
}

func TestHeaders(t *testing.T) {
	for header, says := range map[string]string{
		"":                 "a.csv: the table is empty; the first row names the columns",
		"doi,utl":          `a.csv, line 1, column 2: the column is named "utl"; did you mean "url"?`,
		"doi,shelf":        `a.csv, line 1, column 2: the column is named "shelf", which is not one of doi, url, state, title,`,
		"doi,author":       `the column is named "author"; did you mean "creators"?`,
		"doi,source_url":   `the column is named "source_url"; did you mean "url"?`,
		"doi,resourceType": `the column is named "resourceType"; did you mean "type"?`,
		"doi,Licence":      `did you mean "rights"?`,
		"doi,keywords":     `did you mean "subjects"?`,
		"doi,autor":        `the column is named "autor", which is not one of`,
		"sep=;\ndoi;utl":   `a.csv, line 2, column 2: the column is named "utl"`,
		"doi,titles,Resource Type General,publicationYear,rightsList": "the table also needs the columns creators, " +
			"publisher, or",
		"doi,creator":              `did you mean "creators"?`,
		"doi,Related-Identifier":   `did you mean "related identifiers"?`,
		"doi,url,DOI":              `column 3: the column is named "DOI"; another column is "doi", too`,
		"doi,year,publicationYear": `column 3: the column is named "publicationYear"; another column is "year", too`,
		"doi,url,title":            "a.csv: the table also needs the columns creators, publisher, year, type",
		"doi,gr\xfcn": `a.csv, line 1, column 7: the text is not UTF-8; save the table again as .xlsx, ` +
			`or as "CSV UTF-8"`,
		strings.Repeat("doi ", 100_000): "the row is longer than 256 KiB",
		"doi|url":                       `column 1: the column is named "doi|url"`,
	} {
		_, err := table.NewReader("a.csv", strings.NewReader(header), nil)
		require.ErrorContains(t, err, says)
	}
	const text = "Error,DOI\nbad,10.5072/a\n"
	opts := &table.Options{Others: []string{"error", "note"}}
	r, err := table.NewReader("a.csv", strings.NewReader(text), opts)
	require.NoError(t, err)
	assert.False(t, r.HasRecords())
	assert.True(t, r.Has("error"))
	assert.Equal(t, &table.Row{DOI: "10.5072/a", Others: []string{"bad", ""}, File: "a.csv", Line: 2},
		rowOf(t, "a.csv", text, opts))
}

// All unknown columns are reported at once, and can be passed over, as the caller writes them.
func TestColumnsOfOnesOwn(t *testing.T) {
	const text = "doi,Notes,utl,In charge,shelf\n10.5072/a,later,,Ada,7\n"
	_, err := table.NewReader("a.csv", strings.NewReader(text), nil)
	require.ErrorIs(t, err, table.ErrUnknownColumn)
	for _, want := range []string{
		`column 2: the column is named "Notes", which is not one of doi, url`,
		`column 3: the column is named "utl"; did you mean "url"?`,
		`column 4: the column is named "In charge", which is not one of ` +
			`these columns either`, `column 5: the column is named "shelf", which is not one of these columns either`,
	} {
		assert.ErrorContains(t, err, want)
	}
	row := rowOf(t, "a.csv", text, &table.Options{Others: []string{"NOTES", "utl", "in_charge", "shelf"}})
	assert.Equal(t, []string{"later", "", "Ada", "7"}, row.Others)
}

// A table to compare or correct records with says some things, and no others.
func TestPartialTables(t *testing.T) {
	for text, want := range map[string]string{
		"doi,title\n10.5072/a,Glaciers\n":                                  "",
		"doi,year\n10.5072/a,\n":                                           "",
		"doi,title,creators,publisher,year,type\n10.5072/a,Glaciers,,,,\n": "",
		"doi,creators\n10.5072/a,| 0000-0001-5727-2427\n":                  "a.csv, line 2, column 2: creators",
		"doi,year,language\n10.5072/a,20,en\n":                             "a.csv, line 2, column 2: year",
		"doi,title,creators,publisher,year,type\n10.5072/a,Glaciers,\"Lovelace, Ada\",P,2026,Dataset | Table\n": "",
	} {
		err := rowOf(t, "a.csv", text, &table.Options{Partial: true}).Err()
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		assert.ErrorContains(t, err, want, text)
	}
}

func TestFaults(t *testing.T) {
	good := map[string]string{"title": "T", "creators": "Lovelace, Ada", "publisher": "P", "year": "2026",
		"type": "Dataset"}
	for _, tt := range []struct{ column, cell, says string }{
		{"doi", "glacier", `"glacier" is not a DOI such as 10.5072/glacier-1`},
		{"url", "repository.example.org", "is not a URL that begins with https:// or http://"},
		{"url", "https://a.example/a b", "is not a URL that begins with https:// or http://"},
		{"url", "mailto:a@a.example", "is not a URL that begins with https:// or http://"},
		{"state", "published", `"published" is not one of draft, registered, findable`},
		{"title", "", "a record needs a title"},
		{"title", "a\x01b", "XML cannot contain"},
		{"creators", "Ada Lovelace", `write persons as "Family, Given" or "Name,", organizations as "org: Name"`},
		{"creators", ", Ada", `write persons as`},
		{"creators", "Groß, Änne & Weiß, Öl",
			`"Groß, Änne & Weiß, Öl" looks like several persons: write a semicolon between them, as in "Lovelace, Ada; ` +
				`Noether, Emmy"`},
		{"creators", "Müller J., Weiß A., Groß B.", "looks like several persons: write a semicolon between them"},
		{"creators", "Groß, Änne und Öl Weiß", "looks like several persons"},
		{"creators", "Lovelace, Ada AND Noether, Emmy", "looks like several persons"},
		{"creators", "Curie, Marie et Pierre", "looks like several persons"},
		{"creators", "Institut für Schnee- und Lawinenforschung",
			`an organization is "org: Institut für Schnee- und Lawinenforschung"`},
		{"creators", "\"Lovelace,\nNoether,\"",
			"the cell has line breaks, from line 3 to line 4: a quotation mark too many or too few makes one cell of several " +
				"rows"},
		{"title", "\"T\n\nrepeated\"", "the cell has line breaks, from line 3 to line 5"},
		{"creators", "King, Jr., Martin", `one person is "Family, Given", with one comma, or "person: King, Jr., Martin"`},
		{"creators", "Lovelace, Ada (0000-0001-5727-2427)", "has an identifier in the name: write a | before it"},
		{"creators", "Lovelace, Ada 0000–0001–5727–2427", "has an identifier in the name"},
		{"creators", "Lovelace, Ada | ORCID 0000-0001-5727",
			"is no affiliation, and an ORCID looks like 0000-0001-5727-2427"},
		{"creators", "Lovelace, Ada | 0000 0001 2103 2683", "is no affiliation, and an ORCID looks like"},
		{"creators", "Lovelace, Ada | GND 118540238",
			"is no affiliation; write an identifier with its scheme, as in [ISNI=0000 0001 2103 2683]"},
		{"creators", "Lovelace, Ada | https://www.wikidata.org/wiki/Q7259",
			"is no affiliation; write an identifier with its scheme"},
		{"creators", "Lovelace, Ada | [ISNI=0000 0001 2103 2684]", "the check digit of this ISNI does not match"},
		{"creators", "Lovelace, Ada; Groß, Änne&Weiß, Öl", "looks like several persons"},
		{"creators", "Lovelace, Ada | 0000-0001-5727-2428", "the check digit of this ORCID does not match"},
		{"creators", "Lovelace, Ada | https://orcid.org/ada", "an ORCID looks like"},
		{"publisher", "P | [grid.5335.0]", "or another identifier such as [ISNI=0000 0001 2103 2683]"},
		{"creators", "Lovelace, Ada | https://ror.org/04wxnsj81",
			"has a ROR id that does not follow the name of its organization"},
		{"creators", "org: Ice Group | 0000-0001-5727-2427", "is an organization with an ORCID"},
		{"creators", "org: Ice Group | https://ror.org/04wxnsj82", "the check digits of this ROR do not match"},
		{"publisher", "P | Q", "is more than a name and, after a |, a ROR"},
		{"year", "26", `"26" is not a year of four digits`},
		{"year", "0026", `"0026" is not a year of four digits`},
		{"year", "2026.0", "is not a year of four digits"},
		{"type", "Datset", "did you mean Dataset?"},
		{"subjects", "a | b | c", "is more than a keyword and, after a |, its scheme"},
		{"rights", "CC-BY-4", "has no licence"},
		{"language", "english language", "language"},
		{"related identifiers", "10.5072/article-1", "is not a relation, a type and an identifier"},
		{"related identifiers", "Cite DOI 10.5072/article-1", "did you mean Cites?"},
		{"dates", "31.01.2026", "the schema has no date type"},
		{"dates", "Created 2026-01; 2026-01-31", `"2026-01-31" needs its kind in front, as in "Issued 2026-01-31"`},
		{"contributors", "Noether, Emmy", "does not begin with a role and a colon, as in Editor: Noether, Emmy"},
		{"contributors", "Edtor: Noether, Emmy", "did you mean Editor?"},
		{"contributors", "Editor: Noether, Emmy | 0000-0001-5727-2428", "the check digit of this ORCID does not match"},
		{"funding", "ERC | 1 | Ice | https://a.example/ | more", "is more than a funder, an award number, a title and a URL"},
		{"places", "Alps | 46.5 8.05", "write point lat 46.5 lon 8.05"},
		{"places", "Alps | box west 6.8 east 10.5 south 45.8 south 47.8", "is neither a point nor a box"},
		{"alternate identifiers", "ICE-7", "needs its type after a |"},
		{"dates", "Issued 31.01.2026", "the service drops dates that are not YYYY"},
	} {
		header, cells := "", ""
		for _, c := range table.Columns() {
			cell := good[c.Name]
			if c.Name == tt.column {
				cell = tt.cell
			}
			header, cells = header+c.Name+"\t", cells+cell+"\t"
		}
		rows := read(t, "a.csv", header+"\n\n"+cells+"\n")
		require.Len(t, rows, 1)
		err := rows[0].Err()
		require.ErrorIs(t, err, datacite.ErrInvalid, tt.cell)
		assert.Regexp(t, `a\.csv, line 3, column \d+: `+tt.column+": ", err, tt.cell)
		assert.ErrorContains(t, err, tt.says, tt.cell)
		for _, f := range rows[0].Findings {
			assert.Equal(t, tt.column, f.Path, "%s: %v", tt.cell, f)
			assert.Equal(t, 3, f.Line)
		}
	}
	for _, tt := range []struct{ column, cell, says string }{ // which are warnings
		{"language", "Deutsch", `"Deutsch" is no code of a language, such as de or en`},
		{"rights", "MIT; CC BY 4.0", `"CC BY 4.0" is stored as a text; the licence is CC-BY-4.0`},
		{"subjects", "ice, snow, glaciers", `is one keyword; write a semicolon between several`},
		{"language", "de-AT", ""}, {"rights", "CC BY 4.0 | https://a.example/; All rights reserved",
			""}, {"subjects", "ice, snow, glaciers; Alps", ""}, {"subjects", "Bern, Switzerland", ""},
	} {
		rows := read(t, "a.csv", fmt.Sprintf(
			"title\tcreators\tpublisher\tyear\ttype\t%s\nT\tLovelace, Ada\tP\t2026\tDataset\t%s\n", tt.column, tt.cell))
		require.NoError(t, rows[0].Err(), tt.cell)
		if tt.says == "" {
			assert.Empty(t, rows[0].Findings)
			continue
		}
		require.Len(t, rows[0].Findings, 1, tt.cell)
		assert.Contains(t, rows[0].Findings[0].Reason, tt.says)
	}
	rows := read(t, "a.csv", "title,creators,publisher,year,type\n,,,26,\n\"a\n\n\",\"b,\",c,26,d\n")
	assert.Len(t, rows[0].Findings, 5, "%v", rows[0].Findings)
	assert.Equal(t, "year", rows[1].Findings[0].Path)
	assert.Equal(t, 5, rows[1].Findings[0].Line, "a cell may have lines")
	rows = read(t, "a.csv", "doi,url\n10.5072/a\n10.5072/a,https://a.example/,more\n10.5072/b,,\n")
	assert.Contains(t, rows[0].Err().Error(), "a.csv, line 2: there are 1 cells for 2 columns")
	assert.Contains(t, rows[1].Err().Error(), "a.csv, line 3: there are 3 cells for 2 columns")
	require.NoError(t, rows[2].Err())
}

// An ORCID is read in any spelling.
func TestSpellingsOfAnORCID(t *testing.T) {
	want := metadata.Person("Lovelace", "Ada").ORCID("0000-0002-1694-233X")
	for _, text := range []string{
		"0000-0002-1694-233X", "0000-0002-1694-233x", "https://orcid.org/0000-0002-1694-233X",
		"https://orcid.org/0000-0002-1694-233X/", "http://www.orcid.org/0000-0002-1694-233x",
		"orcid.org/0000-0002-1694-233X", "orcid:0000-0002-1694-233X", "ORCID 0000-0002-1694-233X", "ORCID iD: https://orcid.org/0000-0002-1694-233X", "0000–0002–1694–233X",
		"0000‐0002‑1694−233X", "000000021694233X", "(0000-0002-1694-233X)", "ORCID=0000-0002-1694-233X",
	} {
		rows := read(t, "a.csv", "title\tcreators\tpublisher\tyear\ttype\nT\tLovelace, Ada | "+text+"\tP\t2026\tDataset\n")
		require.NoError(t, rows[0].Err(), text)
		assert.Equal(t, metadata.List[metadata.Creator]{want}, rows[0].Record.Creators, text)
	}
}

// What joins several persons is a part of these names.
func TestPersonsJoinedInOneNameAreParts(t *testing.T) {
	for _, name := range []string{"Ramón y Cajal, Santiago", "Sand, George", "Andersen, Hans",
		"org: Marks & Spencer, Ltd, and Sons", "Eça e Silva, José", "Undset, Sigrid"} {
		rows := read(t, "a.csv", "title\tcreators\tpublisher\tyear\ttype\nT\t"+name+
			" | Ice & Snow, Ltd, and Sons\tP\t2026\tDataset\n")
		require.NoError(t, rows[0].Err(), name)
		assert.Equal(t, strings.TrimPrefix(name, "org: "), rows[0].Record.Creators[0].Name)
	}
}

// Nothing of a faulty row is lost when it is written again, to be corrected there.
func TestFaultyCellsAreWrittenAsTheyWere(t *testing.T) {
	const text = "doi,url,state,title,creators,publisher,year,type,dates,rights\nx,y,z,T,Ada,P | " +
		"Q,26,Datset,31.1.2026,CC-BY-4\n"
	rows := read(t, "a.csv", text)
	var out bytes.Buffer
	w := table.NewWriter(&out, nil)
	_, err := w.Write(rows[0])
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	again := read(t, "a.csv", out.String())
	for _, row := range []*table.Row{rows[0], again[0]} { // the writer has columns of its own
		for i := range row.Findings {
			row.Findings[i].Column = 0
		}
	}
	assert.Equal(t, rows[0], again[0])
}

// What columns cannot hold is named.
func TestWhatColumnsCannotHoldIsNamed(t *testing.T) {
	w := table.NewWriter(&bytes.Buffer{}, nil)
	lost, err := w.Write(&table.Row{Record: &metadata.Record{
		Titles: metadata.List[metadata.Title]{{Title: "A"}, {Title: "B"}},
		Creators: metadata.List[metadata.Creator]{
			{Name: "Ada", NameIdentifiers: metadata.List[metadata.NameIdentifier]{
				{NameIdentifier: "1", NameIdentifierScheme: "GND", SchemeURI: "https://d-nb.info/gnd/"}}}},
		RelatedItems: metadata.List[metadata.RelatedItem]{{RelationType: "IsPublishedIn"}},
		Subjects:     metadata.List[metadata.Subject]{{Subject: "ice"}},
		Sizes:        metadata.List[string]{},
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"creators", "relatedItems", "titles"}, lost)
	assert.Error(t, func() error {
		w := table.NewWriter(failing{}, nil)
		_, _ = w.Write(&table.Row{})
		return w.Flush()
	}())
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// Rows go into a table and back, whatever signs their texts have.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var rows []*table.Row
	for range *rounds {
		rows = append(rows, randomRow(random))
	}
	for _, opts := range []*table.WriterOptions{nil, {Layout: sheet.Layout{Comma: ';', CRLF: true}},
		{Layout: sheet.Layout{Comma: '\t'}}, {Spreadsheet: true}} {
		got := read(t, "a.csv", written(t, rows, opts))
		require.Len(t, got, len(rows))
		for i, row := range rows {
			assert.Equal(t, row.Record, got[i].Record)
			assert.Equal(t, row.URL, got[i].URL)
		}
	}
}

func randomRow(random *rand.Rand) *table.Row {
	lines := func() string {
		signs := []string{"a", "b", "é", "🧊", ";", "|", `\`, `"`, ",", " ", "\n", "org:", "x"}
		var b strings.Builder
		for range 1 + random.IntN(8) {
			b.WriteString(signs[random.IntN(len(signs))])
		}
		return "t" + strings.TrimSpace(b.String()) + "."
	}
	text := func() string { return strings.ReplaceAll(lines(), "\n", " ") }
	word := func() string { return strings.ReplaceAll(text(), ",", "") }
	maybe := func() bool { return random.IntN(2) == 0 }
	r := &metadata.Record{
		DOI: fmt.Sprintf("10.5072/a%d", random.IntN(1000)), Titles: metadata.List[metadata.Title]{{Title: text()}},
		Publisher: metadata.Publisher{Name: text()}, PublicationYear: "2026",
		Types: metadata.Types{ResourceTypeGeneral: "Dataset"},
	}
	if maybe() {
		r.Types.ResourceType = text()
	}
	for range 1 + random.IntN(3) {
		c := metadata.Person(word(), "")
		switch random.IntN(5) {
		case 0:
			c = metadata.Person(word(), word())
		case 1:
			c = metadata.Organization(text()).ROR("04wxnsj81")
		case 2:
			c = metadata.Creator{Name: "& " + text()}
		case 3:
			c = metadata.Creator{Name: "King, Jr., " + text(), NameType: metadata.NamePersonal}
		}
		if c.NameType == metadata.NamePersonal && maybe() {
			c = c.ORCID("0000-0001-5727-2427")
		}
		if maybe() {
			c = c.AffiliatedWith(text(), "04wxnsj81").AffiliatedWith(text(), "")
			c.Affiliation = append(c.Affiliation,
				metadata.Affiliation{Name: text(), AffiliationIdentifier: "1 [x] " + word(), AffiliationIdentifierScheme: "GRID"})
		}
		if maybe() {
			c.NameIdentifiers = append(c.NameIdentifiers,
				metadata.NameIdentifier{NameIdentifier: text(),
					NameIdentifierScheme: word()}, metadata.NameIdentifier{NameIdentifier: "0000 0001 2103 2683",
					NameIdentifierScheme: "ISNI"})
		}
		r.Creators = append(r.Creators, c)
	}
	if maybe() {
		r.Contributors = metadata.List[metadata.Contributor]{
			{Creator: r.Creators[0], ContributorType: metadata.ContributorEditor},
			{Creator: metadata.Organization(text()), ContributorType: "Sponsor"}}
		r.FundingReferences = metadata.List[metadata.FundingReference]{
			{FunderName: text(), FunderIdentifier: "https://ror.org/04wxnsj81", FunderIdentifierType: metadata.FunderROR,
				SchemeURI: "https://ror.org", AwardURI: "https://a.example/;|"},
			{FunderName: text(), FunderIdentifier: "https://doi.org/10.13039/501100000780",
				FunderIdentifierType: metadata.FunderCrossref, AwardNumber: text(), AwardTitle: text()},
			{FunderName: text(), FunderIdentifier: "grid.452896.4",
				FunderIdentifierType: metadata.FunderGRID}, {FunderName: text()},
		}
		r.GeoLocations = metadata.List[metadata.GeoLocation]{
			{Place: text()}, {Place: text(), Point: metadata.Point{Latitude: "46.5", Longitude: "-8.05"}},
			{Box: metadata.Box{West: "6", East: "7", South: "-1.50", North: "2"}},
		}
		r.Version, r.Sizes, r.Formats = text(), metadata.List[string]{text(), text()}, metadata.List[string]{"text/csv"}
		r.AlternateIdentifiers = metadata.List[metadata.AlternateIdentifier]{
			{AlternateIdentifier: text(), AlternateIdentifierType: text()}}
	}
	if maybe() {
		r.Descriptions = metadata.List[metadata.Description]{
			{Description: lines(), DescriptionType: metadata.DescriptionAbstract}}
		r.Subjects = metadata.List[metadata.Subject]{{Subject: text()}, {Subject: text(), SubjectScheme: text()}}
		r.RightsList = metadata.List[metadata.Rights]{metadata.SPDX("MIT"),
			{Rights: text() + " x", RightsURI: "https://a.example/;|"}, {Rights: word()}}
		r.Language = "de"
		r.RelatedIdentifiers = metadata.List[metadata.RelatedIdentifier]{
			{RelationType: "Cites", RelatedIdentifierType: "URL", RelatedIdentifier: `https://a.example/;|\`},
			{RelationType: "Cites", RelatedIdentifierType: "ISBN", RelatedIdentifier: `978 0 306\ 40615 7`}}
		r.Dates = metadata.List[metadata.Date]{{Date: "2020/2021", DateType: "Collected"},
			{Date: "2020", DateType: "Issued", DateInformation: text()}}
	}
	return &table.Row{DOI: r.DOI, URL: "https://a.example/" + fmt.Sprint(random.IntN(9)), Record: r}
}

// The description of the creators is a pattern: a cell that follows it can be read.
func TestCreatorsFollowTheirDescription(t *testing.T) {
	i := slices.IndexFunc(table.Columns(), func(c table.Column) bool { return c.Name == "creators" })
	pattern, _, _ := strings.Cut(table.Columns()[i].Description, ". Only the name")
	cell := strings.NewReplacer("next creator. An organization is ", "", "ORCID", "0000-0001-5727-2427",
		"affiliation and its ROR", "Ice Group https://ror.org/04wxnsj81", "ROR", "https://ror.org/04wxnsj81").Replace(pattern)
	rows := read(t, "a.csv", "title,creators,publisher,year,type\nT,\""+cell+"\",P,2026,Dataset\n")
	require.Len(t, rows, 1)
	assert.Empty(t, rows[0].Findings)
	assert.Equal(t, metadata.List[metadata.Creator]{
		metadata.Person("Family", "Given").ORCID("0000-0001-5727-2427").AffiliatedWith("Ice Group", "04wxnsj81"),
		metadata.Organization("Name").ROR("04wxnsj81"),
	}, rows[0].Record.Creators)
}

// The example of each column is a cell that can be read, and makes a valid record.
func TestColumnsHaveExamples(t *testing.T) {
	var names, cells []string
	for _, c := range table.Columns() {
		names, cells = append(names, c.Name), append(cells, c.Example)
		assert.NotEmpty(t, c.Description)
	}
	rows := read(t, "a.csv", strings.Join(names, "\t")+"\n"+strings.Join(cells, "\t")+"\n")
	require.Len(t, rows, 1)
	assert.Empty(t, rows[0].Findings)
}

// book is an .xlsx with a sheet of these rows. Its style 1 shows a number as a date.
func book(t *testing.T, rows string) string {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	for name, text := range map[string]string{
		"_rels/.rels": `<Relationships><Relationship Type="` + office +
			`/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<workbook xmlns:r="` + office +
			`"><sheets><sheet name="Items" r:id="r1"/><sheet name="Notes" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Type="` + office +
			`/worksheet" Target="sheet.xml"/>` +
			`<Relationship Type="` + office + `/styles" Target="styles.xml"/></Relationships>`,
		"xl/styles.xml": `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="17"/></cellXfs></styleSheet>`,
		"xl/sheet.xml":  `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	} {
		part, err := w.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(part, text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.String()
}

// cellsOf are a row of an .xlsx. A cell that begins with # is a number shown as a date.
func cellsOf(cells ...string) string {
	var row strings.Builder
	row.WriteString("<row>")
	for _, cell := range cells {
		if number, ok := strings.CutPrefix(cell, "#"); ok {
			row.WriteString(`<c s="1"><v>` + number + `</v></c>`)
		} else {
			row.WriteString(`<c t="str"><v>` + cell + `</v></c>`)
		}
	}
	return row.String() + "</row>"
}

// A date in a spreadsheet is a date, and a year that is shown as a date is a year.
func TestDatesOfSpreadsheets(t *testing.T) {
	for cell, want := range map[string]struct{ year, title string }{
		"#2026":  {"2026", "1905-07-18"},
		"#46023": {"2026", "2026-01-01"},
		"#45047": {"2023", "2023-05-01"}, // a spreadsheet shows May-23
		"2026":   {"2026", "2026"},
	} {
		text := book(t, cellsOf("Title", "Creators", "Publisher", "Year",
			"Type")+cellsOf(cell, "Lovelace, Ada", "P", cell, "Dataset"))
		r, err := table.NewReader("a.xlsx", strings.NewReader(text), nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"Items", "Notes"}, r.Sheets())
		row := rowOf(t, "a.xlsx", text, nil)
		require.NoError(t, row.Err())
		assert.Equal(t, want.title, row.Record.Titles[0].Title)
		assert.EqualValues(t, want.year, row.Record.PublicationYear)
		if cell == "#2026" {
			require.Len(t, row.Findings, 1)
			assert.Equal(t, `warning: a.xlsx, line 2, column 4: year: the cell is shown as the date 1905-07-18, and its `+
				`number is 2026, which is taken for the year; show the cell as a number`, row.Findings[0].String())
		} else {
			assert.Empty(t, row.Findings)
		}
	}
}

// Faults are where people see them in a spreadsheet, and a damaged one gives no rows.
func TestFaultsOfSpreadsheets(t *testing.T) {
	good := cellsOf("DOI", "URL") + cellsOf("10.5072/a", "https://a.example/")
	rows := read(t, "a.xlsx", book(t,
		`<row/>`+good+`<row r="7"><c t="str"><v>x</v></c></row><row><c r="C8"><v>1</v></c></row>`))
	require.Len(t, rows, 3)
	require.NoError(t, rows[0].Err())
	assert.Equal(t, 3, rows[0].Line)
	assert.ErrorContains(t, rows[1].Err(), "a.xlsx, line 7, column 1: doi: ")
	assert.ErrorContains(t, rows[2].Err(), "a.xlsx, line 8: there are 3 cells for 2 columns")
	_, err := table.NewReader("a.xlsx", strings.NewReader(book(t, good+`<row><c t="str"><v>x</v></c></rwo>`)), nil)
	assert.ErrorContains(t, err, "a.xlsx: the spreadsheet cannot be read: xl/sheet.xml: XML syntax error")
}

// A table may be written with some columns alone.
func TestSomeColumns(t *testing.T) {
	var out strings.Builder
	w := table.NewWriter(&out, &table.WriterOptions{Columns: []string{"title", "DOI"}, Others: []string{"cited"}})
	lost, err := w.Write(&table.Row{DOI: "10.5072/a", URL: "https://a.example/", Others: []string{"3"},
		Record: &metadata.Record{Titles: []metadata.Title{{Title: "=1"}}, Version: "2"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"version"}, lost)
	require.NoError(t, w.Flush())
	assert.Equal(t, "\ufefftitle,doi,cited\n'=1,10.5072/a,3\n", out.String())
	assert.Equal(t, 1, w.Defused())

	w = table.NewWriter(&out, &table.WriterOptions{Columns: []string{"dio"}})
	require.ErrorIs(t, w.Flush(), table.ErrUnknownColumn)
	assert.Zero(t, w.Defused())
}

// Where the first line has more of another separator within its names, the table is refused: none of
// the names that it must have is found.
func TestAWrongSeparatorIsNamed(t *testing.T) {
	for text, says := range map[string]string{
		"doi,url (a; b; c)\n10.5072/a,https://repository.example.org/a\n": `"doi,url (a"`,
		"doi;url;x,y,z,\n10.5072/a;u;v,w,x,\n":                            `"doi;url;x"`,
		"doi\n10.5072/a,b\n":                                              "cells",
		"doi\n10.5072/a;b\n":                                              "",
	} {
		r, err := table.NewReader("items.csv", strings.NewReader(text), &table.Options{Partial: true})
		var all string
		if err != nil {
			all = err.Error()
		} else {
			for row, err := range r.All() {
				if err != nil {
					all += err.Error()
					break
				}
				all += fmt.Sprint(row.Findings)
			}
		}
		if says == "" {
			require.Equal(t, "[]", all, text)
			continue
		}
		require.Contains(t, all, says, text)
	}
}
