package table_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/metadata"
)

// existing is a record that says more than a table can.
func existing() *metadata.Record {
	return &metadata.Record{
		Creators: metadata.List[metadata.Creator]{
			metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427").AffiliatedWith("Example University", ""),
			metadata.Person("Noether", "Emmy").ORCID("0000-0002-1825-0097"),
		},
		Titles:          metadata.List[metadata.Title]{{Title: "Glaciers"}, {Title: "Gletscher", TitleType: metadata.TitleTranslated}},
		Publisher:       metadata.Publisher{Name: "Example Repository", PublisherIdentifier: "https://ror.org/04wxnsj81", PublisherIdentifierScheme: "ROR"},
		PublicationYear: "2026",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"},
		Subjects:        metadata.List[metadata.Subject]{{Subject: "ice", SubjectScheme: "Thesaurus"}, {Subject: "climate"}},
		Contributors:    metadata.List[metadata.Contributor]{{Creator: metadata.Organization("Institute"), ContributorType: metadata.ContributorHostingInstitution}},
		Descriptions: metadata.List[metadata.Description]{
			{Description: "How", DescriptionType: metadata.DescriptionMethods}, {Description: "What", DescriptionType: metadata.DescriptionAbstract},
		},
		Dates:    metadata.List[metadata.Date]{{Date: "2020", DateType: metadata.DateCollected, DateInformation: "in summer"}},
		Language: "en",
	}
}

func TestComplete(t *testing.T) {
	for name, tt := range map[string]struct {
		row   string // title|creators|publisher|year|type|subjects|description|dates
		paths []string
	}{
		"nothing else":         {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset###", nil},
		"parts of it":          {"Glaciers#Lovelace, Ada | 0000-0001-5727-2427; Noether, Emmy#Example Repository#2026#dataset#climate; ice#What#Collected 2020", nil},
		"a title":              {"Glacier#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset###", []string{"titles[0].title"}},
		"an abstract":          {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset##Why#", []string{"descriptions[1].description"}},
		"a creator less":       {"Glaciers#Lovelace, Ada#Example Repository#2026#Dataset###", []string{"creators[1]"}},
		"creators turned":      {"Glaciers#Noether, Emmy; Lovelace, Ada#Example Repository#2026#Dataset###", []string{"creators"}},
		"another ORCID":        {"Glaciers#Lovelace, Ada | 0000-0002-1825-0097; Noether, Emmy#Example Repository#2026#Dataset###", []string{"creators[0].nameIdentifiers[0].nameIdentifier"}},
		"a year":               {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2025#Dataset###", []string{"publicationYear"}},
		"a type":               {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Image###", []string{"types.resourceType", "types.resourceTypeGeneral"}},
		"a keyword of another": {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset#ice; snow##", []string{"subjects[1].subject"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := table.NewReader("items.csv", strings.NewReader("title\tcreators\tpublisher\tyear\ttype\tsubjects\tdescription\tdates\n"+strings.ReplaceAll(tt.row, "#", "\t")+"\n"), nil)
			require.NoError(t, err)
			for row, err := range r.All() {
				require.NoError(t, err)
				require.NoError(t, row.Err())
				complete := table.Complete(row.Record, existing())
				var paths []string
				for _, c := range metadata.Diff(complete, existing()) {
					paths = append(paths, c.Path)
				}
				assert.Equal(t, tt.paths, paths)
				assert.Equal(t, existing().Contributors, complete.Contributors)
				assert.Equal(t, existing().Titles[1], complete.Titles[1])
				assert.Len(t, complete.Descriptions, 2)
			}
		})
	}
}

// rowOf is a row with one cell of metadata beside those that every row needs.
func rowOf(t *testing.T, column, cell string) *metadata.Record {
	t.Helper()
	cells := map[string]string{"title": "Glacier length", "creators": "Lovelace, Ada", "publisher": "Example Repository", "year": "2026", "type": "Dataset", column: cell}
	var names, values []string
	for name, cell := range cells {
		names, values = append(names, name), append(values, cell)
	}
	rows := read(t, "a.csv", strings.Join(names, "\t")+"\n"+strings.Join(values, "\t")+"\n")
	require.NoError(t, rows[0].Err())
	return rows[0].Record
}

// What a cell cannot say, or leaves out, stays with the element that it corrects, and does not
// go over to another one.
func TestCorrections(t *testing.T) {
	ada := metadata.Creator{Name: "Lovelace, Ada", NameIdentifiers: metadata.List[metadata.NameIdentifier]{{NameIdentifier: "0000-0001-5727-2427", NameIdentifierScheme: "orcid"}, {NameIdentifier: "1", NameIdentifierScheme: "ISNI"}},
		Affiliation: metadata.List[metadata.Affiliation]{{Name: "Example University", AffiliationIdentifier: "grid.1.1", AffiliationIdentifierScheme: "GRID"}}}
	with := func(change func(*metadata.Creator)) metadata.Creator {
		c := ada
		change(&c)
		return c
	}
	parts := metadata.Creator{Name: "Noether, E.", FamilyName: "Noether", GivenName: "E.", NameType: metadata.NamePersonal}
	record := metadata.Record{
		Titles:       metadata.List[metadata.Title]{{Title: "Gletscher", TitleType: metadata.TitleTranslated, Lang: "de"}, {Title: "Glaciers", Lang: "en"}},
		Descriptions: metadata.List[metadata.Description]{{Description: "What", DescriptionType: metadata.DescriptionAbstract, Lang: "en"}},
		Publisher:    metadata.Publisher{Name: "Example Repository", PublisherIdentifier: "https://ror.org/04wxnsj81", PublisherIdentifierScheme: "ROR", Lang: "en"},
		Creators:     metadata.List[metadata.Creator]{ada, parts},
		Subjects:     metadata.List[metadata.Subject]{{Subject: "glacier", SubjectScheme: "T", ValueURI: "https://t.example/7", Lang: "en"}, {Subject: "climate", Lang: "en"}, {Subject: "ice", Lang: "de"}},
		RightsList:   metadata.List[metadata.Rights]{{Rights: "MIT Licens", RightsIdentifier: "mit", Lang: "en"}},
		RelatedIdentifiers: metadata.List[metadata.RelatedIdentifier]{
			{RelationType: "Cites", RelatedIdentifierType: "DOI", RelatedIdentifier: "10.5072/article-1", ResourceTypeGeneral: "JournalArticle"},
		},
		Dates: metadata.List[metadata.Date]{{Date: "2020", DateType: metadata.DateCollected, DateInformation: "in summer"}, {Date: "2026-05", DateType: metadata.DateIssued}},
	}
	before := fmt.Sprintf("%+v", record)
	for _, tt := range []struct {
		column, cell string
		want         any
		of           func(*metadata.Record) any
	}{
		{"title", "Glacier", metadata.Title{Title: "Glacier", Lang: "en"}, func(r *metadata.Record) any { return r.Titles[1] }},
		{"description", "Why", metadata.Description{Description: "Why", DescriptionType: metadata.DescriptionAbstract, Lang: "en"}, func(r *metadata.Record) any { return r.Descriptions[0] }},
		{"publisher", "Example Repositories", metadata.Publisher{Name: "Example Repositories", PublisherIdentifier: "https://ror.org/04wxnsj81", PublisherIdentifierScheme: "ROR", Lang: "en"}, func(r *metadata.Record) any { return r.Publisher }},
		{"publisher", "Another Archive", metadata.Publisher{Name: "Another Archive", Lang: "en"}, func(r *metadata.Record) any { return r.Publisher }},
		{"creators", "Lovelace, Ada", ada, func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Lovelace, Adda; Noether, E.", with(func(c *metadata.Creator) { c.Name = "Lovelace, Adda" }), func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Noether, Emmy; Lovelace, A.", metadata.Person("Noether", "Emmy"), func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Noether, Emmy; Lovelace, A.", with(func(c *metadata.Creator) { c.Name = "Lovelace, A." }), func(r *metadata.Record) any { return r.Creators[1] }},
		{"creators", "Lovelace, Byron", metadata.Person("Lovelace", "Byron"), func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Hopper, Grace | 0000-0001-5727-2427", with(func(c *metadata.Creator) { c.Name = "Hopper, Grace" }), func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Lovelace, Adda | 0000-0002-1825-0097", metadata.Person("Lovelace", "Adda").ORCID("0000-0002-1825-0097"), func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Lovelace, Ada | 0000-0002-1825-0097", with(func(c *metadata.Creator) {
			c.NameIdentifiers = metadata.List[metadata.NameIdentifier]{metadata.Person("", "").ORCID("0000-0002-1825-0097").NameIdentifiers[0], c.NameIdentifiers[1]}
		}), func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Lovelace, Ada | Exampel University", with(func(c *metadata.Creator) {
			c.Affiliation = metadata.List[metadata.Affiliation]{{Name: "Exampel University", AffiliationIdentifier: "grid.1.1", AffiliationIdentifierScheme: "GRID"}}
		}), func(r *metadata.Record) any { return r.Creators[0] }},
		{"creators", "Lovelace, Ada; org: Noether, E.", metadata.Creator{Name: "Noether, E.", NameType: metadata.NameOrganizational}, func(r *metadata.Record) any { return r.Creators[1] }},
		{"subjects", "glaciers; snow", metadata.Subject{Subject: "glaciers", SubjectScheme: "T", ValueURI: "https://t.example/7", Lang: "en"}, func(r *metadata.Record) any { return r.Subjects[0] }},
		{"subjects", "glaciers; snow", metadata.Subject{Subject: "snow"}, func(r *metadata.Record) any { return r.Subjects[1] }},
		{"subjects", "glacier | Other Scheme", metadata.Subject{Subject: "glacier", SubjectScheme: "Other Scheme", Lang: "en"}, func(r *metadata.Record) any { return r.Subjects[0] }},
		{"subjects", "glacier; ide; climates", metadata.Subject{Subject: "ide", Lang: "de"}, func(r *metadata.Record) any { return r.Subjects[1] }},
		{"subjects", "glacier; fire", metadata.Subject{Subject: "fire"}, func(r *metadata.Record) any { return r.Subjects[1] }},
		{"rights", "MIT License |", metadata.Rights{Rights: "MIT License", RightsIdentifier: "mit", Lang: "en"}, func(r *metadata.Record) any { return r.RightsList[0] }},
		{"rights", "CC-BY-4.0", metadata.SPDX("CC-BY-4.0"), func(r *metadata.Record) any { return r.RightsList[0] }},
		{"rights", "MIT", record.RightsList[0], func(r *metadata.Record) any { return r.RightsList[0] }},
		{"related identifiers", "Cites DOI 10.5072/article-2", "JournalArticle", func(r *metadata.Record) any { return string(r.RelatedIdentifiers[0].ResourceTypeGeneral) }},
		{"related identifiers", "Cites DOI 10.5072/photograph", "", func(r *metadata.Record) any { return string(r.RelatedIdentifiers[0].ResourceTypeGeneral) }},
		{"related identifiers", "IsCitedBy DOI https://doi.org/10.5072/ARTICLE-1", "JournalArticle", func(r *metadata.Record) any { return string(r.RelatedIdentifiers[0].ResourceTypeGeneral) }},
		{"dates", "Collected 2021", metadata.List[metadata.Date]{{Date: "2021", DateType: metadata.DateCollected, DateInformation: "in summer"}, record.Dates[1]}, func(r *metadata.Record) any { return r.Dates }},
	} {
		t.Run(tt.column+" "+tt.cell, func(t *testing.T) {
			assert.Equal(t, tt.want, tt.of(table.Complete(rowOf(t, tt.column, tt.cell), &record)))
			assert.Equal(t, before, fmt.Sprintf("%+v", record), "the existing record is not changed")
		})
	}
}

// A record in a table and back wants nothing of itself, whatever it leaves out or says more.
func TestATableOfARecordWantsNothingOfIt(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	maybe := func() bool { return random.IntN(2) == 0 }
	var rows []*table.Row
	for range *rounds {
		rows = append(rows, randomRow(random))
	}
	for i, said := range read(t, "a.csv", written(t, rows, nil)) {
		r := rows[i].Record
		for i := range r.Creators {
			c := &r.Creators[i]
			if maybe() {
				c.NameType = ""
			}
			if maybe() {
				c.GivenName, c.FamilyName = "", ""
			}
			for j := range c.NameIdentifiers {
				c.NameIdentifiers[j].SchemeURI = ""
			}
			for j := range c.Affiliation {
				c.Affiliation[j].AffiliationIdentifierScheme, c.Affiliation[j].SchemeURI = "", ""
			}
		}
		for i := range r.RightsList {
			r.RightsList[i].Lang = "de"
			if id := &r.RightsList[i]; id.RightsIdentifier != "" && maybe() {
				id.Rights, id.RightsURI, id.RightsIdentifierScheme, id.SchemeURI = "", "", "", ""
			}
		}
		for i := range r.Subjects {
			r.Subjects[i].ValueURI = fmt.Sprint("https://t.example/", i)
		}
		r.Titles[0].Lang = "en"
		r.Titles = append(r.Titles, metadata.Title{Title: "T", TitleType: metadata.TitleTranslated})
		assert.Empty(t, metadata.Diff(table.Complete(said.Record, r), r))
	}
}
