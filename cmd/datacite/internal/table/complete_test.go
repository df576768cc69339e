package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// existing is a record that says more than a table can.
func existing() *metadata.Record {
	return &metadata.Record{
		Creators: metadata.List[metadata.Creator]{
			metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427").AffiliatedWith("Example University", ""),
			metadata.Person("Noether", "Emmy").ORCID("0000-0002-1825-0097"),
		},
		Titles: metadata.List[metadata.Title]{{Title: "Glaciers"},
			{Title: "Gletscher", TitleType: metadata.TitleTranslated}},
		Publisher: metadata.Publisher{Name: "Example Repository", PublisherIdentifier: "https://ror.org/04wxnsj81",
			PublisherIdentifierScheme: "ROR"},
		PublicationYear: "2026",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"},
		Subjects:        metadata.List[metadata.Subject]{{Subject: "ice", SubjectScheme: "Thesaurus"}, {Subject: "climate"}},
		Contributors: metadata.List[metadata.Contributor]{
			{Creator: metadata.Organization("Institute"), ContributorType: metadata.ContributorHostingInstitution}},
		Descriptions: metadata.List[metadata.Description]{
			{Description: "How", DescriptionType: metadata.DescriptionMethods},
			{Description: "What", DescriptionType: metadata.DescriptionAbstract},
		},
		Dates: metadata.List[metadata.Date]{
			{Date: "2020", DateType: metadata.DateCollected, DateInformation: "in summer"}},
		Language: "en",
	}
}

func TestComplete(t *testing.T) {
	for name, tt := range map[string]struct {
		row   string // title|creators|publisher|year|type|subjects|description|dates
		paths []string
	}{
		"nothing else": {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset###", nil},
		"parts of it": {"Glaciers#Lovelace, Ada | 0000-0001-5727-2427; Noether, Emmy#Example " +
			"Repository#2026#dataset#climate; ice#What#Collected 2020", nil},
		"a title": {"Glacier#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset###",
			[]string{"titles[0].title"}},
		"an abstract": {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset##Why#",
			[]string{"descriptions[1].description"}},
		"a creator less": {"Glaciers#Lovelace, Ada#Example Repository#2026#Dataset###", []string{"creators[1]"}},
		"creators turned": {"Glaciers#Noether, Emmy; Lovelace, Ada#Example Repository#2026#Dataset###",
			[]string{"creators"}},
		"another ORCID": {"Glaciers#Lovelace, Ada | 0000-0002-1694-233X; Noether, Emmy#Example " +
			"Repository#2026#Dataset###", []string{"creators[0].nameIdentifiers[0].nameIdentifier"}},
		"a year": {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2025#Dataset###",
			[]string{"publicationYear"}},
		"a type": {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Image###",
			[]string{"types.resourceType", "types.resourceTypeGeneral"}},
		"a keyword of another": {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset#ice; snow##",
			[]string{"subjects[1].subject"}},
	} {
		t.Run(name, func(t *testing.T) {
			row := rowOf(t, "items.csv", "title\tcreators\tpublisher\tyear\ttype\tsubjects\tdescription\tdates\n"+
				strings.ReplaceAll(tt.row, "#", "\t")+"\n", nil)
			require.NoError(t, row.Err())
			complete, _ := table.Complete(row.Record, &dois.Record{Record: *existing()})
			var paths []string
			for _, c := range metadata.Diff(complete, existing()) {
				paths = append(paths, c.Path)
			}
			assert.Equal(t, tt.paths, paths)
			assert.Equal(t, existing().Contributors, complete.Contributors)
			assert.Equal(t, existing().Titles[1], complete.Titles[1])
			assert.Len(t, complete.Descriptions, 2)
		})
	}
}

// An element is the stored one with the same identifier or the same words, and keeps what its cell does
// not say. Any other one is new, whatever it looks like.
func TestCorrections(t *testing.T) {
	const orcid, basel = "https://orcid.org/0000-0001-5727-2427", "https://ror.org/02s6k3f65"
	isni := metadata.NameIdentifier{NameIdentifier: "0000 0001 2103 2683", NameIdentifierScheme: "ISNI",
		SchemeURI: "https://isni.org/"}
	wang := metadata.Person("Wang", "Li").ORCID(orcid).AffiliatedWith("University of Basel", basel)
	wang.NameIdentifiers, wang.Lang = append(wang.NameIdentifiers, isni), "zh"
	ada := metadata.Creator{Name: "Lovelace, Ada",
		Affiliation: metadata.List[metadata.Affiliation]{
			{Name: "Ice Group", AffiliationIdentifier: "grid.1.1", AffiliationIdentifierScheme: "GRID"}}}
	with := func(c metadata.Creator, change func(*metadata.Creator)) metadata.Creator {
		change(&c)
		return c
	}
	polygon := metadata.Polygons{{Points: []metadata.Point{{Longitude: "1", Latitude: "2"}}}}
	record := metadata.Record{
		Titles: metadata.List[metadata.Title]{{Title: "Gletscher", TitleType: metadata.TitleTranslated, Lang: "de"},
			{Title: "glaciers", Lang: "en"}},
		Descriptions: metadata.List[metadata.Description]{
			{Description: "What", DescriptionType: metadata.DescriptionAbstract, Lang: "en"}},
		Publisher: metadata.Publisher{Name: "Example Repository", PublisherIdentifier: "https://ror.org/04wxnsj81",
			PublisherIdentifierScheme: "ROR", Lang: "en"},
		Creators: metadata.List[metadata.Creator]{wang, ada,
			{Name: "Ada Byron", GivenName: "Ada", FamilyName: "Byron",
				NameType: metadata.NamePersonal}, {Name: "Hopper, Grace", FamilyName: "Hopper"}},
		Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table", BibTeX: "misc"},
		Subjects: metadata.List[metadata.Subject]{
			{Subject: "glacier", SubjectScheme: "T", ValueURI: "https://t.example/7", Lang: "en"},
			{Subject: "ice", SubjectScheme: "U", ValueURI: "https://u.example/1"}, {Subject: "ice", SubjectScheme: "T"}},
		RightsList: metadata.List[metadata.Rights]{{Rights: "Open Access"},
			{Rights: "CC BY", RightsIdentifier: "cc-by-4.0", RightsIdentifierScheme: "SPDX",
				RightsURI: "https://creativecommons.org/licenses/by/4.0/legalcode", Lang: "en"}},
		RelatedIdentifiers: metadata.List[metadata.RelatedIdentifier]{
			{RelationType: "Cites", RelatedIdentifierType: "DOI", RelatedIdentifier: "10.5072/article-1",
				ResourceTypeGeneral: "JournalArticle"},
		},
		Dates: metadata.List[metadata.Date]{
			{Date: "2020", DateType: metadata.DateCollected, DateInformation: "in summer"},
			{Date: "2026", DateType: metadata.DateIssued}},
		Contributors: metadata.List[metadata.Contributor]{{Creator: wang, ContributorType: "Sponsor"},
			{Creator: ada, ContributorType: metadata.ContributorEditor}},
		FundingReferences: metadata.List[metadata.FundingReference]{
			{FunderName: "ERC", FunderIdentifier: "https://ror.org/0472cxd90", FunderIdentifierType: metadata.FunderROR,
				AwardNumber: "1", AwardTitle: "Ice"}, {FunderName: "ERC", AwardNumber: "2"},
		},
		GeoLocations: metadata.List[metadata.GeoLocation]{{Place: "Alps", Polygons: polygon}, {Polygons: polygon},
			{Place: "Aletsch", Point: metadata.Point{Latitude: "46.5", Longitude: "8.05"}}},
		Version: "1", Sizes: metadata.List[string]{"15 MB"}, Formats: metadata.List[string]{"text/csv"},
		AlternateIdentifiers: metadata.List[metadata.AlternateIdentifier]{
			{AlternateIdentifier: "ICE-7", AlternateIdentifierType: "local"}},
	}
	before := fmt.Sprintf("%+v", record)
	creator := func(i int) func(*metadata.Record) any { return func(r *metadata.Record) any { return r.Creators[i] } }
	title := func(r *metadata.Record) any { return r.Titles[1] }
	publisher := func(r *metadata.Record) any { return r.Publisher }
	subjects := func(r *metadata.Record) any { return r.Subjects }
	rights := func(r *metadata.Record) any { return r.RightsList }
	related := func(r *metadata.Record) any { return string(r.RelatedIdentifiers[0].ResourceTypeGeneral) }
	dates := func(r *metadata.Record) any { return r.Dates }
	types := func(r *metadata.Record) any { return r.Types }
	contributors := func(r *metadata.Record) any { return r.Contributors }
	funding := func(r *metadata.Record) any { return r.FundingReferences }
	places := func(r *metadata.Record) any { return r.GeoLocations }
	type list = metadata.List[metadata.Subject]
	type licences = metadata.List[metadata.Rights]
	for _, tt := range []struct {
		column, cell string
		want         any
		of           func(*metadata.Record) any
		removed      string
	}{
		{"title", "Glaciers", metadata.Title{Title: "Glaciers", Lang: "en"}, title, ""},
		{"title", "Glacier", metadata.Title{Title: "Glacier"}, title, "titles[1].lang en"},
		{"description", "Why", metadata.Description{Description: "Why", DescriptionType: metadata.DescriptionAbstract},
			func(r *metadata.Record) any { return r.Descriptions[0] }, "descriptions[0].lang en"},
		{"publisher", "example repository",
			metadata.Publisher{Name: "example repository", PublisherIdentifier: "https://ror.org/04wxnsj81",
				PublisherIdentifierScheme: "ROR", Lang: "en"}, publisher, ""},
		{"publisher", "Ice | ror.org/04wxnsj81",
			metadata.Publisher{Name: "Ice", PublisherIdentifier: "https://ror.org/04wxnsj81", PublisherIdentifierScheme: "ROR",
				Lang: "en"}, publisher, ""},
		{"publisher", "Example Repositories", metadata.Publisher{Name: "Example Repositories"}, publisher,
			"publisher.lang en; publisher.publisherIdentifier https://ror.org/04wxnsj81"},
		{"type", "Dataset | Map", metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Map",
			BibTeX: "misc"}, types, ""},
		{"type", "Image", metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeImage}, types, ""},
		{"creators", "Wang, Li", wang, creator(0), "creators[1].affiliation[0].affiliationIdentifier grid.1.1"},
		{"creators", "WANG, Li; Lovelace, Ada",
			with(wang, func(c *metadata.Creator) { c.Name, c.FamilyName = "WANG, Li", "WANG" }), creator(0), ""},
		{"creators", "Wang, Lu; Lovelace, Ada", metadata.Person("Wang", "Lu"), creator(0),
			"creators[0].affiliation[0].affiliationIdentifier " + basel +
				"; creators[0].lang zh; creators[0].nameIdentifiers[0].nameIdentifier " + orcid +
				"; creators[0].nameIdentifiers[1].nameIdentifier " + isni.NameIdentifier},
		{"creators", "Lovelace, Ada; Wang, Lu | 0000-0001-5727-2427", with(wang, func(c *metadata.Creator) {
			c.Name, c.GivenName = "Wang, Lu", "Lu"
		}), creator(1), ""},
		{"creators", "Lovelace, Ada; Wang, Li | 0000-0002-1694-233X", with(wang, func(c *metadata.Creator) {
			c.NameIdentifiers = append(metadata.Person("", "").ORCID("0000-0002-1694-233X").NameIdentifiers, isni)
		}), creator(1), "creators[0].nameIdentifiers[0].nameIdentifier " + orcid},
		{"creators", "Lovelace, Ada; Wang, Li | University of Kassel", with(wang, func(c *metadata.Creator) {
			c.Affiliation = metadata.List[metadata.Affiliation]{{Name: "University of Kassel"}}
		}), creator(1), "creators[0].affiliation[0].affiliationIdentifier " + basel},
		{"creators", "Lovelace, Ada; Wang, Li | Universität Basel https://ror.org/02s6k3f65",
			with(wang, func(c *metadata.Creator) {
				c.Affiliation = metadata.List[metadata.Affiliation]{
					{Name: "Universität Basel", AffiliationIdentifier: basel, AffiliationIdentifierScheme: "ROR",
						SchemeURI: "https://ror.org"}}
			}), creator(1), ""},
		{"creators", "Lovelace, Ada; Wang, Li | 0000-0001-5727-2427 | [GND=0000 0001 2103 2683]",
			with(wang, func(c *metadata.Creator) {
				c.NameIdentifiers = metadata.List[metadata.NameIdentifier]{c.NameIdentifiers[0],
					{NameIdentifier: isni.NameIdentifier, NameIdentifierScheme: "GND"}}
			}), creator(1), ""},
		{"creators", "Wang, Li; Lovelace, Ada; Ada Byron, | Ice Group", "Ada Byron",
			func(r *metadata.Record) any { return r.Creators[2].Name }, ""},
		{"creators", "Wang, Li; Lovelace, Ada; Hopper,", metadata.Person("Hopper", ""), creator(2), ""},
		{"creators", "Wang, Li; org: Lovelace, Ada",
			with(ada, func(c *metadata.Creator) { c.NameType = metadata.NameOrganizational }), creator(1), ""},
		{"subjects", "Glacier; ice | U; ice | T",
			append(list{{Subject: "Glacier", SubjectScheme: "T", ValueURI: "https://t.example/7", Lang: "en"}},
				record.Subjects[1:]...), subjects, ""},
		{"subjects", "ice | T; ice | U", list{record.Subjects[2], record.Subjects[1]}, subjects,
			"subjects[0].lang en; subjects[0].valueUri https://t.example/7"},
		{"subjects", "ice | U; ice | T; Glacier; Glacier",
			list{record.Subjects[1], record.Subjects[2],
				{Subject: "Glacier", SubjectScheme: "T", ValueURI: "https://t.example/7",
					Lang: "en"}, {Subject: "Glacier", SubjectScheme: "T", ValueURI: "https://t.example/7", Lang: "en"}}, subjects, ""},
		{"subjects", "glacier | Other; ice | U", list{{Subject: "glacier", SubjectScheme: "Other"}, record.Subjects[1]},
			subjects, "subjects[0].lang en; subjects[0].valueUri https://t.example/7"},
		{"subjects", "glaciers | T", list{{Subject: "glaciers", SubjectScheme: "T"}}, subjects,
			"subjects[0].lang en; subjects[0].valueUri https://t.example/7; subjects[1].valueUri https://u.example/1"},
		{"rights", "MIT", licences{metadata.SPDX("MIT")}, rights,
			"rightsList[1].lang en; rightsList[1].rightsIdentifier cc-by-4.0"},
		{"rights", "CC-BY-4.0", record.RightsList[1:], rights, ""},
		{"rights", "CC BY 4.0 | http://creativecommons.org/licenses/by/4.0/; Open Access", "cc-by-4.0",
			func(r *metadata.Record) any { return r.RightsList[0].RightsIdentifier }, ""},
		{"rights", "CC BY | https://creativecommons.org/licenses/by/3.0/",
			licences{{Rights: "CC BY", RightsURI: "https://creativecommons.org/licenses/by/3.0/"}}, rights, "rightsList[1].lang en; rightsList[1].rightsIdentifier cc-by-4.0"},
		{"related identifiers", "Cites DOI 10.5072/article-2", "", related, ""},
		{"related identifiers", "IsCitedBy DOI https://doi.org/10.5072/ARTICLE-1", "JournalArticle", related, ""},
		{"contributors", "Editor: Lovelace, Ada; Editor: Wang, Li",
			metadata.List[metadata.Contributor]{record.Contributors[1],
				{Creator: wang, ContributorType: metadata.ContributorEditor}}, contributors, ""},
		{"contributors", "Editor: Lovelace, Ada; Sponsor: Wang, Lu",
			metadata.List[metadata.Contributor]{record.Contributors[1],
				{Creator: metadata.Person("Wang", "Lu"), ContributorType: "Sponsor"}}, contributors,
			"contributors[0].affiliation[0].affiliationIdentifier " + basel +
				"; contributors[0].lang zh; contributors[0].nameIdentifiers[0].nameIdentifier " + orcid +
				"; contributors[0].nameIdentifiers[1].nameIdentifier " + isni.NameIdentifier},
		{"funding", "ERC | 2 | Snow; ERC | 1",
			metadata.List[metadata.FundingReference]{{FunderName: "ERC", AwardNumber: "2", AwardTitle: "Snow"},
				record.FundingReferences[0]}, funding, ""},
		{"funding", "ERC | 2; ERC | 3", metadata.List[metadata.FundingReference]{record.FundingReferences[1],
			{FunderName: "ERC", AwardNumber: "3"}}, funding,
			"fundingReferences[0].awardNumber 1; fundingReferences[0].awardTitle Ice; fundingReferences[0].funderIdentifier " +
				"https://ror.org/0472cxd90"},
		{"places", "Aletsch; Alps | point lat 1 lon 2",
			metadata.List[metadata.GeoLocation]{record.GeoLocations[2],
				{Place: "Alps", Polygons: polygon,
					Point: metadata.Point{Latitude: "1", Longitude: "2"}}, {Polygons: polygon}}, places, ""},
		{"places", "Aletsch glacier | point lat 46.5 lon 8.05; Alpes",
			metadata.List[metadata.GeoLocation]{{Place: "Aletsch glacier", Point: record.GeoLocations[2].Point},
				{Place: "Alpes"}, {Polygons: polygon}}, places, "geoLocations[1].geoLocationPolygon polygon"},
		{"sizes", "15 MB; 2 files", metadata.List[string]{"15 MB", "2 files"},
			func(r *metadata.Record) any { return r.Sizes }, ""},
		{"formats", "text/csv", record.Formats, func(r *metadata.Record) any { return r.Formats }, ""},
		{"version", "2", "2", func(r *metadata.Record) any { return r.Version }, ""},
		{"alternate identifiers", "ice-7 | accession number",
			metadata.List[metadata.AlternateIdentifier]{
				{AlternateIdentifier: "ice-7",
					AlternateIdentifierType: "accession number"}}, func(r *metadata.Record) any { return r.AlternateIdentifiers }, ""},
		{"dates", "Collected 2021", metadata.List[metadata.Date]{{Date: "2021", DateType: metadata.DateCollected},
			record.Dates[1]}, dates, "dates[0].dateInformation in summer"},
		{"dates", "Available 2021; Collected 2020",
			metadata.List[metadata.Date]{{Date: "2021", DateType: metadata.DateAvailable}, record.Dates[0],
				record.Dates[1]}, dates, ""},
	} {
		t.Run(tt.column+" "+tt.cell, func(t *testing.T) {
			row := partial(t, tt.column+"\n\""+tt.cell+"\"\n")[0]
			require.NoError(t, row.Err())
			whole, findings := table.Complete(row.Record, &dois.Record{Record: record})
			assert.Equal(t, tt.want, tt.of(whole))
			var removed []string
			for _, f := range findings {
				assert.True(t, f.Warning)
				removed = append(removed, f.Path+" "+f.Value)
			}
			assert.Equal(t, tt.removed, strings.Join(removed, "; "))
			assert.Equal(t, before, fmt.Sprintf("%+v", record), "the existing record is not changed")
		})
	}
}

// partial reads a table of corrections.
func partial(t *testing.T, text string) []*table.Row {
	t.Helper()
	return rowsOf(t, "a.csv", text, &table.Options{Partial: true})
}

// stored is a record of any shape: each text is one of those that people and programs write.
func stored(random *rand.Rand) *dois.Record {
	texts := []string{
		"", "", "", "Glacier length", "a; b | c \\ d", " two  blanks ", "two\nlines\r\nand a third", "Lovelace, Ada",
		"Plato, ", "King, Jr., Martin", "Groß & Weiß", "org: x", "name:", "| ; \\",
		"0000-0001-5727-2427", "https://orcid.org/0000-0001-5727-2428", "ror.org/04wxnsj81", "https://ror.org/04wxnsj81", "grid.5335.0", "[GRID=grid.5335.0]", "ORCID", "ROR", "ISNI", "a=b]",
		"Personal", "Organizational", "2019-05-17/..", "c. 1850", "2026", "0026", "Issued", "Collected", "MIT", "CC-BY-4.0", "cc-by", "SPDX", "https://spdx.org/licenses/MIT", "Open Access",
		"Dataset", "Datset", "Abstract", "en", "English", "DOI", "URL", "Cites", "10.5072/article-1", "https://doi.org/10.5072/A 1", "=1+1", "'x", "<b>&amp;", "@", "-",
	}
	var fill func(v reflect.Value, depth int)
	fill = func(v reflect.Value, depth int) {
		switch v.Kind() {
		case reflect.String:
			v.SetString(texts[random.IntN(len(texts))])
		case reflect.Slice:
			if v.Set(reflect.Zero(v.Type())); depth < 4 && v.Type().Elem().Kind() != reflect.Int {
				for range random.IntN(3) {
					e := reflect.New(v.Type().Elem()).Elem()
					fill(e, depth+1)
					v.Set(reflect.Append(v, e))
				}
			}
		case reflect.Struct:
			for _, field := range v.Fields() {
				fill(field, depth)
			}
		}
	}
	r := &dois.Record{}
	fill(reflect.ValueOf(&r.Record).Elem(), 0)
	r.DOI = "10.5072/a"
	return r
}

// A table that a Writer made of stored records is without faults for these DOIs and changes nothing,
// whatever is stored. The service may have the same record in another form.
func TestATableOfRecordsChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var out strings.Builder
	var records []*dois.Record
	w := table.NewWriter(&out, nil)
	for range *rounds {
		r := stored(random)
		_, err := w.Write(&table.Row{DOI: r.DOI, Record: &r.Record})
		require.NoError(t, err)
		records = append(records, r)
	}
	require.NoError(t, w.Flush())
	faulty := 0
	for i, row := range partial(t, out.String()) {
		if row.Err() != nil {
			faulty++
		}
		row.Lift(records[i])
		require.NoError(t, row.Err())
		whole, removed := table.Complete(row.Record, records[i])
		assert.Equal(t, &records[i].Record, whole)
		assert.Empty(t, removed)

		row.Record.Titles = metadata.List[metadata.Title]{{Title: "Another title"}}
		other := stored(random)
		doc, err := records[i].Record.XML()
		other.MetadataXML = doc
		if again, parsed := metadata.ParseXML(bytes.NewReader(doc)); err != nil || parsed != nil ||
			!assert.ObjectsAreEqual(again.RightsList, records[i].RightsList) {
			continue
		}
		whole, _ = table.Complete(row.Record, other)
		assert.Equal(t, other.RightsList, whole.RightsList, "the cell says what the XML says")
	}
	assert.Greater(t, faulty, *rounds/2, "the records are of any shape")
}

// After a row has replaced a record, a Writer writes the row.
func TestARowReplacesARecord(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range *rounds {
		said, found := randomRow(random), randomRow(random)
		for i := range found.Record.Creators { // elements that are others
			c := &found.Record.Creators[i]
			c.Name += "'"
			for i := range c.NameIdentifiers {
				c.NameIdentifiers[i].NameIdentifier += "9"
			}
		}
		for i := range found.Record.Contributors {
			found.Record.Contributors[i].Name += "'"
		}
		for i := range found.Record.FundingReferences {
			found.Record.FundingReferences[i].FunderName += "'"
			found.Record.FundingReferences[i].FunderIdentifier += "1"
		}
		for i := range found.Record.Subjects {
			found.Record.Subjects[i].Subject += "'"
		}
		whole, _ := table.Complete(said.Record, &dois.Record{Record: *found.Record})
		var cells [2]strings.Builder
		for i, r := range []*metadata.Record{said.Record, whole} {
			one := *r
			if len(said.Record.Dates) == 0 { // an empty cell says nothing
				one.Descriptions, one.Subjects, one.RightsList, one.RelatedIdentifiers, one.Dates, one.Language = nil, nil, nil, nil, nil, ""
			}
			if said.Record.Types.ResourceType == "" {
				one.Types.ResourceType = ""
			}
			if said.Record.Version == "" {
				one.Contributors, one.FundingReferences, one.GeoLocations, one.Version, one.Sizes, one.Formats, one.AlternateIdentifiers = nil, nil, nil, "", nil, nil, nil
			}
			w := table.NewWriter(&cells[i], nil)
			_, err := w.Write(&table.Row{Record: &one})
			require.NoError(t, err)
			require.NoError(t, w.Flush())
		}
		assert.Equal(t, cells[0].String(), cells[1].String())
	}
}

// Of two licences in a table, one is the other only if the service makes the same of both.
func TestAChangedLicenceIsADifference(t *testing.T) {
	cells := []string{
		"CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/", "MIT", "MIT License", "CC0-1.0", "GPL-2.0-only",
		"GPL-3.0-or-later", "CC-BY-SA-4.0", "Open Access",
		"Open Access; CC-BY-4.0", "MIT; CC-BY-4.0", "My terms | https://example.org/terms", "My terms | https://creativecommons.org/licenses/by/3.0/", "Closed |",
	}
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: b})
		t.Cleanup(srv.Close)
		for i, stored := range cells {
			record := *existing()
			record.RightsList = partial(t, "rights\n"+stored+"\n")[0].Record.RightsList
			_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: fmt.Sprint("10.5072/", i), Record: record})
			require.NoError(t, err)
			found, err := srv.DOIs().Get(t.Context(), fmt.Sprint("10.5072/", i), nil)
			require.NoError(t, err)
			for j, cell := range cells {
				whole, _ := table.Complete(partial(t, "rights\n"+cell+"\n")[0].Record, found)
				same := i == j || i/2 == j/2 && i < 4
				if changes := metadata.Diff(whole, &found.Record); !same || i == j {
					assert.Equal(t, same, len(changes) == 0, "%s: %q stored, %q in the cell: %v", b, stored, cell, changes)
				}
			}
		}
	}
}
