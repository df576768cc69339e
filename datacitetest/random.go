package datacitetest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/datacite-go/datacite-go/metadata"
)

// RandomRecord returns a valid metadata record as repositories write them, for tests of programs
// that handle records of all kinds: with any of the properties, all schemes of identifiers,
// several affiliations and languages, and what people put into texts, such as markup, "&",
// references, quotes and other scripts. It has no DOI. The same seed returns the same record, within
// one version of this package.
func RandomRecord(seed uint64) *metadata.Record {
	g := drawing{rand.New(rand.NewPCG(seed, 4))}
	year := fmt.Sprint(1950 + g.IntN(76))
	rec := &metadata.Record{
		Titles:          metadata.List[metadata.Title]{{Title: g.title(), Lang: g.pick("", "en", "de", "pt-BR")}},
		Publisher:       g.publisher(),
		PublicationYear: metadata.YearText(year),
		Types: metadata.Types{
			ResourceTypeGeneral: term[metadata.ResourceTypeGeneral](g),
			ResourceType:        g.pick("", "Census data", "Field notes & photographs", "Rapport d’étude", "R package"),
		},
		Language: g.pick("", "en", "de", "fr", "en-GB", "eng", "zh"),
		Version:  g.pick("", "1", "1.0", "v2.3.1-beta", "2024-05"),
	}
	for range 1 + g.IntN(4) {
		rec.Creators = append(rec.Creators, g.creator())
	}
	for range g.IntN(3) {
		rec.Titles = append(rec.Titles, metadata.Title{Title: g.title(), TitleType: term[metadata.TitleType](g), Lang: g.pick("", "fr", "ja")})
	}
	for range g.IntN(3) {
		rec.Contributors = append(rec.Contributors, metadata.Contributor{Creator: g.creator(), ContributorType: term[metadata.ContributorType](g)})
	}
	for range g.IntN(5) {
		rec.Subjects = append(rec.Subjects, g.subject())
	}
	for range g.IntN(4) {
		rec.Dates = append(rec.Dates, g.date(year))
	}
	for range g.IntN(3) {
		rec.AlternateIdentifiers = append(rec.AlternateIdentifiers, metadata.AlternateIdentifier{
			AlternateIdentifier: g.pick("PDB-1ABC", "https://archive.example.org/items/17?a=1&b=2", "ISBN 978-0-306-40615-7"), AlternateIdentifierType: g.pick("accession", "URL", "Local", "internal ID"),
		})
	}
	for range g.IntN(4) {
		rec.RelatedIdentifiers = append(rec.RelatedIdentifiers, g.related())
	}
	for range g.IntN(3) {
		rec.Sizes = append(rec.Sizes, g.pick("15 pages", "6.3 MB", "< 1 GB", "2,048 × 2,048 px", "3 files"))
		rec.Formats = append(rec.Formats, g.pick("text/csv", "application/pdf", "application/vnd.ms-excel", "NetCDF-4/HDF5", "TIFF & JPEG"))
	}
	for range g.IntN(3) {
		rec.RightsList = append(rec.RightsList, g.rights())
	}
	for range g.IntN(4) {
		rec.Descriptions = append(rec.Descriptions, metadata.Description{
			Description: g.abstract(), DescriptionType: term[metadata.DescriptionType](g), Lang: g.pick("", "en", "es"),
		})
	}
	for range g.IntN(3) {
		rec.GeoLocations = append(rec.GeoLocations, g.place())
	}
	for range g.IntN(3) {
		rec.FundingReferences = append(rec.FundingReferences, g.funding())
	}
	for range g.IntN(3) {
		rec.RelatedItems = append(rec.RelatedItems, g.relatedItem())
	}
	return rec
}

// A drawing draws the values of a record.
type drawing struct{ *rand.Rand }

func (g drawing) pick(list ...string) string { return list[g.IntN(len(list))] }

// term draws a value of a vocabulary.
func term[T metadata.Term](g drawing) T {
	terms := metadata.Values[T]()
	return terms[g.IntN(len(terms))]
}

func (g drawing) title() string {
	return g.pick("Climate", "Data from", "Étude sur", "Über", "Survey of", "气候") + " " +
		g.pick("the high Alps", "CO<sub>2</sub> & CH<sub>4</sub> fluxes", "<i>Quercus robur</i> L.", "“smart” cities", "AT&T’s archive", "β-carotene", "water (p < 0.05)",
			"x<5 & y>3", "C++ programs", "R&amp;D in \"quotes\" & 'others'", "two  blanks", "<p>paragraphs</p>", "データ、𝄞 и שלום", "a &lt;tag&gt; of HTML", "people’s diaries, 1914–1918", "100% renewable energy") +
		g.pick("", ": a review", "?", " [dataset]", " – part II", " / v2", "; supplement")
}

func (g drawing) abstract() string {
	sentences := []string{
		"Measurements were taken at 12 sites.", "Values below 0.5 µg/L (p < 0.001) are left out.", "See <a href=\"https://example.org/a?b=1&c=2\">the manual</a>.",
		"<p>Paragraph of HTML.</p>", "It costs $5 & more.", "“Quoted” text – with dashes…", "Line one\nLine two", "A list:\n\n- first\n- second", "<b>Bold</b> and <em>emphasis</em>.",
		"R²=0.98; n=1,000", "Ölproben &amp; Wasser", "T >= 20 °C",
	}
	var out []string
	for range 1 + g.IntN(5) {
		out = append(out, g.pick(sentences...))
	}
	return strings.Join(out, g.pick(" ", "\n", "\n\n"))
}

var (
	families      = []string{"Garza", "O’Brien", "von Humboldt", "de la Cruz", "Müller-Lüdenscheidt", "Nguyễn", "李", "Martin", "King", "d'Alembert", "García Márquez", "Ng"}
	givens        = []string{"Kristian", "Ada", "J. R. R.", "Anne-Marie", "Văn", "小龙", "Thomas", "Martin", "M.", "María José"}
	organizations = []string{
		"CERN", "DataCite", "Institute of Physics, Berlin, Germany", "University of Bonn", "Ministry of Health, Peru", "Max Planck Society & Partners",
		"National Oceanic and Atmospheric Administration", "ACME GmbH & Co. KG", "The “Open” Group; Unit 3", "中国科学院",
	}
)

func (g drawing) creator() metadata.Creator {
	if g.IntN(4) == 0 {
		c := metadata.Organization(g.pick(organizations...))
		if g.IntN(2) == 0 {
			c = c.ROR(g.pick("04wxnsj81", "01ggx4157", "https://ror.org/021nxhr62"))
		}
		return c
	}
	c := metadata.Person(g.pick(families...), g.pick(givens...))
	if g.IntN(3) == 0 {
		c.NameType = ""
	}
	if g.IntN(2) == 0 {
		c = c.ORCID(g.pick("0000-0001-5727-2427", "https://orcid.org/0000-0003-3484-6875", "0000-0002-1825-0097"))
	}
	for range g.IntN(3) {
		others := []metadata.NameIdentifier{
			{NameIdentifier: "0000 0001 2103 2683", NameIdentifierScheme: "ISNI", SchemeURI: "https://isni.org"},
			{NameIdentifier: "118540238", NameIdentifierScheme: "GND", SchemeURI: "https://d-nb.info/gnd/"},
			{NameIdentifier: "https://www.wikidata.org/wiki/Q5879", NameIdentifierScheme: "Wikidata", SchemeURI: "https://www.wikidata.org/wiki/"},
			{NameIdentifier: "7004212771", NameIdentifierScheme: "Scopus"},
			{NameIdentifier: "staff & guests/17", NameIdentifierScheme: "Own"},
		}
		c.NameIdentifiers = append(c.NameIdentifiers, others[g.IntN(len(others))])
	}
	for range g.IntN(3) {
		switch g.IntN(6) {
		case 0:
			c = c.AffiliatedWith(g.pick(organizations...), "")
		case 4:
			c.Affiliation = append(c.Affiliation, metadata.Affiliation{
				Name: g.pick(organizations...), AffiliationIdentifier: "0000 0001 2240 3300", AffiliationIdentifierScheme: "ISNI", SchemeURI: "https://isni.org",
			})
		case 5:
			c.Affiliation = append(c.Affiliation, metadata.Affiliation{
				Name: g.pick(organizations...), AffiliationIdentifier: "https://www.wikidata.org/wiki/Q152171", AffiliationIdentifierScheme: "Wikidata",
			})
		case 1:
			c.Affiliation = append(c.Affiliation, metadata.Affiliation{
				Name: "University of Cambridge", AffiliationIdentifier: "grid.5335.0", AffiliationIdentifierScheme: "GRID", SchemeURI: g.pick("https://www.grid.ac/institutes", ""),
			})
		default:
			c = c.AffiliatedWith(g.pick(organizations...), g.pick("04wxnsj81", "https://ror.org/01ggx4157"))
		}
	}
	return c
}

func (g drawing) publisher() metadata.Publisher {
	p := metadata.Publisher{Name: g.pick("Zenodo", "PANGAEA", "Bibliothek & Archiv", "Éditions du Nord, Paris")}
	if g.IntN(2) == 0 {
		p.PublisherIdentifier, p.PublisherIdentifierScheme, p.SchemeURI = "https://ror.org/04wxnsj81", "ROR", "https://ror.org/"
	}
	p.Lang = g.pick("", "en", "fr")
	return p
}

func (g drawing) subject() metadata.Subject {
	switch g.IntN(4) {
	case 0:
		return metadata.Subject{Subject: g.pick("Snow & ice", "R&D", "Ökologie"), Lang: g.pick("en", "de")}
	case 1:
		return metadata.Subject{
			Subject: "FOS: Earth and related environmental sciences", SubjectScheme: "Fields of Science and Technology (FOS)",
			SchemeURI: "http://www.oecd.org/science/inno/38235147.pdf",
		}
	case 2:
		return metadata.Subject{
			Subject: "Digital Humanities", SubjectScheme: "dewey", SchemeURI: "https://www.oclc.org/dewey", ValueURI: "https://id.example.org/551?x=1&y=2", ClassificationCode: "551",
		}
	}
	return metadata.Subject{Subject: g.pick("glaciers", "machine learning", "气候", "H<sub>2</sub>O", "Physics, general") + fmt.Sprint(g.IntN(9))}
}

func (g drawing) date(year string) metadata.Date {
	return metadata.Date{
		Date:            g.pick(year, year+"-05", year+"-05-17", year+"-05-17T10:00:00Z", year+"-05-17T10:00:00+02:00", year+"/2025", year+"-01-01/"+year+"-12-31"),
		DateType:        term[metadata.DateType](g),
		DateInformation: g.pick("", "Start & end of the survey", "first version"),
	}
}

func (g drawing) related() metadata.RelatedIdentifier {
	r := metadata.RelatedIdentifier{RelationType: term[metadata.RelationType](g)}
	switch g.IntN(4) {
	case 0:
		r.RelatedIdentifier, r.RelatedIdentifierType = g.pick("10.5072/ABC", "https://doi.org/10.1000/182", "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1"), metadata.IdentifierDOI
	case 1:
		r.RelatedIdentifier, r.RelatedIdentifierType = "https://example.org/a%20b?x=1&y=2#top", metadata.IdentifierURL
	case 2:
		r.RelatedIdentifier, r.RelatedIdentifierType = "arXiv:0706.0001", metadata.IdentifierArXiv
	default:
		r.RelatedIdentifier, r.RelatedIdentifierType = "2049-3630", metadata.IdentifierISSN
	}
	if g.IntN(2) == 0 {
		r.ResourceTypeGeneral = metadata.ResourceTypeText
	}
	switch r.RelationType {
	case metadata.RelationHasMetadata, metadata.RelationIsMetadataFor:
		r.RelatedMetadataScheme, r.SchemeURI, r.SchemeType = "DDI-L", "https://ddialliance.org", "XSD"
	case metadata.RelationOther:
		r.RelationTypeInformation = "a dataset beside it"
	}
	return r
}

func (g drawing) rights() metadata.Rights {
	switch g.IntN(4) {
	case 0:
		return metadata.SPDX(g.pick("CC-BY-4.0", "CC0-1.0", "MIT", "Apache-2.0"))
	case 1:
		return metadata.Rights{Rights: "Creative Commons Attribution 4.0 International", RightsURI: "https://creativecommons.org/licenses/by/4.0/", Lang: "en"}
	case 2:
		return metadata.Rights{RightsURI: "info:eu-repo/semantics/openAccess", Rights: g.pick("", "Open Access")}
	}
	return metadata.Rights{Rights: "© 2020 The Authors & partners. All rights reserved.", RightsURI: "https://example.org/terms?lang=en&v=2", Lang: g.pick("", "en")}
}

func (g drawing) degrees(most float64) metadata.Coordinate {
	v := (g.Float64()*2 - 1) * most
	return metadata.Coordinate(fmt.Sprintf(g.pick("%.0f", "%.2f", "%.6f", "%.4f"), v))
}

func (g drawing) point() metadata.Point {
	return metadata.Point{Longitude: g.degrees(180), Latitude: g.degrees(90)}
}

func (g drawing) place() (at metadata.GeoLocation) {
	if g.IntN(2) == 0 {
		at.Place = g.pick("Alps", "Kiel, Germany", "Bosnia & Herzegovina", "Côte d’Ivoire", "Ross Ice Shelf (78°S)")
	}
	switch g.IntN(4) {
	case 0:
		at.Point = g.point()
	case 1:
		at.Box = metadata.Box{West: g.degrees(180), East: g.degrees(180), South: "-10.5", North: "20"}
	case 2:
		first := g.point()
		polygon := metadata.Polygon{Points: []metadata.Point{first, g.point(), g.point(), first}}
		if g.IntN(2) == 0 {
			polygon.InPoint = g.point()
		}
		at.Polygons = metadata.Polygons{polygon}
	default:
		at.Place = "Bonn"
	}
	return at
}

func (g drawing) funding() metadata.FundingReference {
	f := metadata.FundingReference{FunderName: g.pick("European Commission", "Deutsche Forschungsgemeinschaft (DFG)", "Gordon & Betty Moore Foundation")}
	switch g.IntN(4) {
	case 0:
		f.FunderIdentifier, f.FunderIdentifierType = g.pick("https://doi.org/10.13039/501100000780", "10.13039/501100001659", "501100000780"), metadata.FunderCrossref
	case 1:
		f.FunderIdentifier, f.FunderIdentifierType, f.SchemeURI = g.pick("https://ror.org/00k4n6c32", "00k4n6c32"), metadata.FunderROR, "https://ror.org"
	case 2:
		f.FunderIdentifier, f.FunderIdentifierType = g.pick("grid.270680.b", "0000 0001 2162 673X", "https://example.org/f?a=1&b=2"), metadata.FunderOther
	}
	if g.IntN(2) == 0 {
		f.AwardNumber, f.AwardURI = g.pick("777523", "SFB 123/2-A"), g.pick("", "https://cordis.europa.eu/project/rcn/1?a=b&c=d")
		f.AwardTitle = g.pick("", "Connected & Open Research", "FREYA")
	}
	return f
}

func (g drawing) relatedItem() metadata.RelatedItem {
	item := metadata.RelatedItem{
		RelatedItemType: metadata.ResourceTypeJournal, RelationType: metadata.RelationIsPublishedIn,
		Titles: metadata.List[metadata.Title]{{Title: g.title(), Lang: g.pick("", "en")}}, PublicationYear: g.pick("", "1999", "2021"),
		Volume: g.pick("", "12", "A & B"), Issue: g.pick("", "3–4", "Suppl. 1"), FirstPage: g.pick("", "e12", "1"), LastPage: g.pick("", "17"),
		Publisher: g.pick("", "Wiley & Sons", "Éditions du Nord"), Edition: g.pick("", "2nd ed.", "Rev. & enl."),
	}
	if g.IntN(2) == 0 {
		item.Number, item.NumberType = "7", term[metadata.NumberType](g)
	}
	if g.IntN(2) == 0 {
		item.RelatedItemIdentifier = metadata.RelatedItemIdentifier{RelatedItemIdentifier: g.pick("10.5072/J", "https://doi.org/10.1000/182"), RelatedItemIdentifierType: metadata.IdentifierDOI}
	}
	for range g.IntN(3) {
		item.Creators = append(item.Creators, metadata.Person(g.pick(families...), g.pick(givens...)))
	}
	for range g.IntN(2) {
		item.Contributors = append(item.Contributors, metadata.Contributor{
			Creator: metadata.Person(g.pick(families...), g.pick(givens...)), ContributorType: metadata.ContributorEditor,
		})
	}
	return item
}
