// Package table reads and writes metadata records as rows of a table, for people who keep
// them in a spreadsheet. There is one row for each DOI, and one column for each property.
//
// # Cells
//
// [Columns] describes each column, with an example. Some columns hold lists: semicolons
// separate the items, and vertical bars the parts of an item:
//
//	Lovelace, Ada | 0000-0001-5727-2427 | Example University https://ror.org/04wxnsj81; org: Ice Group
//
// Identifiers of other schemes than ORCID and ROR are in brackets with their scheme, those of an
// affiliation behind its name. A name that is taken as it is follows a mark:
//
//	Lovelace, Ada | [ISNI=0000 0001 2103 2683] | Example University [GRID=grid.5335.0]; person: King, Jr., Martin; name: Ice Group
//
// A backslash before a semicolon, a vertical bar or another backslash makes it part of the
// text, and so does one before a blank in a related identifier. Titles and descriptions are single
// texts, in which these signs are ordinary characters. Of CSV, descriptions alone have line breaks.
//
// Columns may be missing. But a table with metadata must have all five properties that a record
// needs: title, creators, publisher, year and type. [Options].Partial also reads tables without
// them.
//
// CSV must be UTF-8, with or without a byte order mark. The header shows whether commas,
// semicolons or tabs separate the cells. A row has at most 256 KiB.
//
// Of an .xlsx file, the first visible sheet is read, and the values of its cells rather than
// their display: a date is 2026-01-31, even if the sheet shows Jan-26. Values that are not
// certain are errors, such as a formula without a result and merged cells. The texts of an
// .xlsx file may have 64 MiB.
package table

import (
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// A Row is one line of a table.
type Row struct {
	DOI   string // may be empty, for a DOI that has no name yet
	URL   string
	State string // draft, registered, findable, or empty

	// Record is the metadata, with the DOI of the row. It is nil if the table has no
	// columns for them.
	Record *metadata.Record

	// Others are the cells of the columns that [Options].Others names, in that order.
	Others []string

	File string // as given to the reader
	Line int    // of the first cell, from 1

	// Findings are the faults of cells, and those of the record, with file, line, column and,
	// as the Path, the name of the column. The value of a faulty cell is missing in
	// the row; a Writer writes the cell unchanged. Dates that cannot be read, identifiers of people and
	// organizations that are mistyped and licences that are not on the SPDX list are errors here.
	Findings []datacite.Finding

	faulty map[string]string // cells with a fault, by column
}

// Err returns the findings that are not warnings as a [*datacite.ValidationError], nil if
// there are none.
func (r *Row) Err() error { return datacite.Invalid(r.Findings...) }

// Lift removes the faults of cells and values that have the text of what is stored, and those of empty
// cells where something is stored: it may be kept, though it would not be accepted as new.
func (r *Row) Lift(found *dois.Record) {
	forms := []*metadata.Record{&found.Record, Stored(found)}
	r.lift(func(c column, f datacite.Finding) bool {
		return slices.ContainsFunc(forms, func(form *metadata.Record) bool {
			text, stored := r.faulty[c.Name], c.cell(&Row{Record: form})
			isItem := f.Value != "" && strings.Contains(stored, f.Value)
			return stored != "" && (text == "" || text == stored || isItem ||
				!c.faultIn(without(split(text, ';'), split(stored, ';')), f))
		})
	})
}

// without are elements of a cell that are not among the stored ones.
func without(said, stored []string) (rest []string) {
	for _, element := range said {
		if i := slices.Index(stored, element); i >= 0 {
			stored = slices.Delete(slices.Clone(stored), i, i+1)
		} else {
			rest = append(rest, element)
		}
	}
	return rest
}

// faultIn reports whether a cell of these elements has a fault.
func (c *column) faultIn(elements []string, f datacite.Finding) bool {
	row := &Row{Record: &metadata.Record{}}
	return c.read(strings.Join(elements, "; "), row) != nil || slices.ContainsFunc(row.Record.Findings(),
		func(other datacite.Finding) bool {
			return other.Code == f.Code && other.Value == f.Value && ofMember(other.Path) == c.Name
		})
}

func (r *Row) lift(isStored func(column, datacite.Finding) bool) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f datacite.Finding) bool {
		c, ok := columnOf(f.Path)
		return ok && !f.Warning && c.complete != nil && isStored(c, f)
	})
}

// A Column describes a column of a table.
type Column struct {
	Name        string
	Description string // of its cells
	Example     string
}

// Columns returns the columns that a table may have. In the header of a table, case is
// ignored, and a hyphen or an underscore is equal to a space; the names of DataCite's JSON, such as
// publicationYear, are accepted, too.
func Columns() []Column {
	var all []Column
	for _, c := range columns {
		all = append(all, c.Column)
	}
	return all
}

// A column is a Column with its place in a Row.
type column struct {
	Column
	needed bool   // by every record
	member string // of the record, "" if not metadata
	parse  func(text string, r *Row) error
	write  func(r *Row) string

	// complete puts what a row says into an existing record; see [Complete].
	complete func(said, existing *metadata.Record)
}

// read reads a cell into a row, which has nothing of a cell that cannot be read.
func (c *column) read(text string, r *Row) error {
	before := r.Record
	if before != nil {
		record := *before
		r.Record = &record
	}
	err := c.parse(text, r)
	if err != nil {
		r.Record = before
	}
	return err
}

const yearMember = "publicationYear"

const common = 14 // of the columns, the first ones

var columns = []column{
	{Column{"doi", "name of the item; empty for an item that is to get one", "10.5072/glacier-1"}, false, "", readDOI,
		func(r *Row) string { return r.DOI }, nil},
	{Column{"url", "where the DOI leads to", "https://repository.example.org/1"}, false, "", readURL,
		func(r *Row) string { return r.URL }, nil},
	{Column{"state", "draft, registered or findable", "findable"}, false, "", readState,
		func(r *Row) string { return r.State }, nil},
	{Column{"title", "title", "Glacier length, 1850 to 2020"}, true, "titles", readTitle, writeTitle, completeTitle},
	{Column{"creators", "Family, Given | ORCID | affiliation and its ROR; next creator. An organization is org: Name | " +
		"ROR. Only the name is needed; there may be several affiliations. Identifiers of other schemes are [ISNI=0000 0001 " +
		"2103 2683], those of an affiliation behind its name. A name that is taken as it is follows person: or " +
		"name:", "Lovelace, Ada | 0000-0001-5727-2427 | Example University https://ror.org/04wxnsj81; org: Ice Group"},
		true, "creators", readCreators, writeCreators, completeCreators},
	{Column{"publisher", "who holds or releases the item; after a | its ROR, or another identifier such as [ISNI=0000 " +
		"0001 2103 2683]", "Example Repository"}, true, "publisher", readPublisher,
		func(r *Row) string { return publisherCell(r.Record.Publisher) }, completePublisher},
	{Column{"year", "year of publication, four digits", "2026"}, true, yearMember, readYear,
		func(r *Row) string { return string(r.Record.PublicationYear) }, completeYear},
	{Column{"type", "general type of the schema; after a | the type in your own words", "Dataset | Tabular data"}, true,
		"types", readType, writeType, completeType},
	{Column{"description", "abstract", "Lengths of 120 glaciers, measured every ten years."}, false, "descriptions",
		readDescription, writeDescription, completeDescription},
	{Column{"subjects", "keywords; after a | the scheme of the keyword", "glaciers; climate | Example Thesaurus"}, false,
		"subjects", readSubjects, writeSubjects, completeSubjects},
	{Column{"rights", "licences by SPDX identifier, or an address, or a text with its address after a |", "CC-BY-4.0"},
		false, "rightsList", readRights, writeRights, completeRights},
	textColumn(Column{"language", "code of the language of the item", "en"}, "language",
		func(r *metadata.Record) *string { return &r.Language }),
	{Column{"related identifiers", "the relation, the type of the identifier, the identifier",
		"IsSupplementTo DOI 10.5072/article-1; References URL https://example.org/map"},
		false, "relatedIdentifiers", readRelated, writeRelated, completeRelated},
	{Column{"dates", "the kind of date, then a day, month or year, or two of them with a slash; after a | a note",
		"Collected 1850/2020; Available 2026-01-31"}, false, "dates", readDates, writeDates, completeDates},
	{Column{"contributors", "the role, a colon, and the rest as for creators",
		"Editor: Noether, Emmy | 0000-0001-5727-2427; HostingInstitution: org: Ice Group"},
		false, "contributors", readContributors, writeContributors, completeContributors},
	{Column{"funding", "the funder and its ROR or Crossref Funder ID, or another identifier such as " +
		"[GRID=grid.452896.4]; after a | each, award number, title and URL of the " +
		"award", "European Research Council https://ror.org/0472cxd90 | 883574 | Ice of the Alps | " +
		"https://example.org/883574"},
		false, "fundingReferences", readFunding, writeFunding, completeFunding},
	{Column{"places", "the name of a place; after a | its point or box, in decimal degrees; one of them is enough",
		"Aletsch Glacier | point lat 46.5 lon 8.05; Alps | box west 6.8 east 10.5 south 45.8 north 47.8"},
		false, "geoLocations", readPlaces, writePlaces, completePlaces},
	textColumn(Column{"version", "version of the item", "1.2"}, "version",
		func(r *metadata.Record) *string { return &r.Version }),
	textsColumn(Column{"sizes", "sizes, durations, numbers of pages", "15 MB; 3 files"}, "sizes",
		func(r *metadata.Record) *metadata.List[string] { return &r.Sizes }),
	textsColumn(Column{"formats", "file formats", "text/csv; application/pdf"}, "formats",
		func(r *metadata.Record) *metadata.List[string] { return &r.Formats }),
	{Column{"alternate identifiers", "another name of the item; after a | its type", "ICE-7 | accession number"}, false,
		"alternateIdentifiers", readAlternates, writeAlternates, completeAlternates},
}

// columnOf returns the column with a name in a header, which may be that of the property in DataCite's JSON.
func columnOf(name string) (column, bool) {
	name = strings.ReplaceAll(plain(name), " ", "")
	i := slices.IndexFunc(columns, func(c column) bool {
		own := name == strings.ToLower(c.member) && c.member != "" || name == "resourcetypegeneral" && c.Name == "type"
		return own || name == strings.ReplaceAll(c.Name, " ", "")
	})
	if i < 0 {
		return column{}, false
	}
	return columns[i], true
}

// plain is the normalized form of a name in a header.
func plain(name string) string {
	name = strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(name))
	return strings.Join(strings.Fields(name), " ")
}

// ofMember returns the column for a path of the record, "" if there is none.
func ofMember(path string) string {
	for _, c := range columns {
		if rest, ok := strings.CutPrefix(path, c.member); ok && c.member != "" && (rest == "" || rest[0] == '.' ||
			rest[0] == '[') {
			return c.Name
		}
	}
	return ""
}
