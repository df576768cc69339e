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
	g := drawing{Rand: rand.New(rand.NewPCG(seed, 4))}
	g.year = fmt.Sprint(1950 + g.IntN(76))
	return &metadata.Record{
		Creators: append(several(g, 3, g.creator), g.creator()),
		Titles: append([]metadata.Title{{Title: g.title(), Lang: one(g, "", "en", "de", "pt-BR")}},
			several(g, 2, g.furtherTitle)...),
		Publisher:       g.publisher(),
		PublicationYear: metadata.Year(g.year),
		Types: metadata.Types{
			ResourceTypeGeneral: one(g, metadata.Values[metadata.ResourceTypeGeneral]()...),
			ResourceType:        one(g, "", "Census data", "Field notes & photographs", "Rapport d’étude", "R package"),
		},
		Language:             one(g, "", "en", "de", "fr", "en-GB", "eng", "zh"),
		Version:              one(g, "", "1", "1.0", "v2.3.1-beta", "2024-05"),
		Contributors:         several(g, 2, g.contributor),
		Subjects:             several(g, 4, g.subject),
		Dates:                several(g, 3, g.date),
		AlternateIdentifiers: several(g, 2, g.alternate),
		RelatedIdentifiers:   several(g, 3, g.related),
		Sizes: several(g, 2, func() string {
			return one(g, "15 pages", "6.3 MB", "< 1 GB", "2,048 × 2,048 px", "3 files")
		}),
		Formats: several(g, 2, func() string {
			return one(g, "text/csv", "application/pdf", "NetCDF-4/HDF5", "TIFF & JPEG")
		}),
		RightsList:        several(g, 2, g.rights),
		Descriptions:      several(g, 3, g.description),
		GeoLocations:      several(g, 2, g.place),
		FundingReferences: several(g, 2, g.funding),
		RelatedItems:      several(g, 2, g.relatedItem),
	}
}

// A drawing draws the values of a record.
type drawing struct {
	*rand.Rand
	year string
}

func one[T any](g drawing, of ...T) T { return of[g.IntN(len(of))] }

// several draws up to so many values.
func several[T any](g drawing, most int, draw func() T) (all []T) {
	for range g.IntN(most + 1) {
		all = append(all, draw())
	}
	return all
}

func (g drawing) title() string {
	return one(g, "Climate", "Data from", "Étude sur", "Über", "Survey of", "气候") + " " +
		one(g, "the high Alps", "CO<sub>2</sub> & CH<sub>4</sub> fluxes", "<i>Quercus robur</i> L.", "“smart” cities",
			"AT&T’s archive", "β-carotene", "water (p < 0.05)",
			"x<5 & y>3", "C++ programs", "R&amp;D in \"quotes\" & "+
				"'others'", "two  blanks", "<p>paragraphs</p>", "データ、𝄞 и "+
				"שלום", "a &lt;tag&gt; of HTML", "people’s diaries, 1914–1918", "100% renewable energy") +
		one(g, "", ": a review", "?", " [dataset]", " – part II", " / v2", "; supplement")
}

func (g drawing) furtherTitle() metadata.Title {
	return metadata.Title{Title: g.title(), TitleType: one(g, metadata.Values[metadata.TitleType]()...),
		Lang: one(g, "", "fr", "ja")}
}

func (g drawing) description() metadata.Description {
	sentence := func() string {
		return one(g, "Measurements were taken at 12 sites.", "Values below 0.5 µg/L (p < 0.001) are left out.",
			"See <a href=\"https://example.org/a?b=1&c=2\">the manual</a>.",
			"<p>Paragraph of HTML.</p>", "It costs $5 & more.", "“Quoted” text – with "+
				"dashes…", "Line one\nLine two", "A list:\n\n- first\n- second", "<b>Bold</b> and <em>emphasis</em>.",
			"R²=0.98; n=1,000", "Ölproben &amp; Wasser", "T >= 20 °C")
	}
	return metadata.Description{
		Description:     strings.Join(append(several(g, 4, sentence), sentence()), one(g, " ", "\n", "\n\n")),
		DescriptionType: one(g, metadata.Values[metadata.DescriptionType]()...), Lang: one(g, "", "en", "es"),
	}
}

func (g drawing) organization() string {
	return one(g, "CERN", "DataCite", "Institute of Physics, Berlin, Germany", "University of Bonn",
		"Ministry of Health, Peru", "Max Planck Society & Partners",
		"National Oceanic and Atmospheric Administration", "ACME GmbH & Co. KG", "The “Open” Group; Unit 3", "中国科学院")
}

func (g drawing) person() metadata.Creator {
	return metadata.Person(
		one(g, "Garza", "O’Brien", "von Humboldt", "de la Cruz", "Müller-Lüdenscheidt", "Nguyễn", "李", "Martin", "King",
			"d'Alembert", "García Márquez", "Ng"),
		one(g, "Kristian", "Ada", "J. R. R.", "Anne-Marie", "Văn", "小龙", "Thomas", "Martin", "M.", "María José"))
}

func (g drawing) creator() metadata.Creator {
	if g.IntN(4) == 0 {
		return one(g, metadata.Organization(g.organization()),
			metadata.Organization(g.organization()).ROR(one(g, "04wxnsj81", "01ggx4157", "https://ror.org/021nxhr62")))
	}
	c := g.person()
	if g.IntN(3) == 0 {
		c.NameType = ""
	}
	if g.IntN(2) == 0 {
		c = c.ORCID(one(g, "0000-0001-5727-2427", "https://orcid.org/0000-0003-3484-6875", "0000-0002-1825-0097"))
	}
	c.NameIdentifiers = append(c.NameIdentifiers, several(g, 2, func() metadata.NameIdentifier {
		return one(g,
			metadata.NameIdentifier{NameIdentifier: "0000 0001 2103 2683", NameIdentifierScheme: "ISNI",
				SchemeURI: "https://isni.org"},
			metadata.NameIdentifier{NameIdentifier: "118540238", NameIdentifierScheme: "GND",
				SchemeURI: "https://d-nb.info/gnd/"},
			metadata.NameIdentifier{NameIdentifier: "https://www.wikidata.org/wiki/Q5879", NameIdentifierScheme: "Wikidata",
				SchemeURI: "https://www.wikidata.org/wiki/"},
			metadata.NameIdentifier{NameIdentifier: "7004212771", NameIdentifierScheme: "Scopus"},
			metadata.NameIdentifier{NameIdentifier: "staff & guests/17", NameIdentifierScheme: "Own"})
	})...)
	c.Affiliation = several(g, 2, func() metadata.Affiliation {
		name := g.organization()
		return one(g,
			metadata.Affiliation{Name: name},
			metadata.Affiliation{Name: name, AffiliationIdentifier: "https://ror.org/" + one(g, "04wxnsj81", "01ggx4157"),
				AffiliationIdentifierScheme: "ROR", SchemeURI: "https://ror.org"},
			metadata.Affiliation{Name: name, AffiliationIdentifier: "0000 0001 2240 3300", AffiliationIdentifierScheme: "ISNI",
				SchemeURI: "https://isni.org"},
			metadata.Affiliation{Name: name, AffiliationIdentifier: "https://www.wikidata.org/wiki/Q152171",
				AffiliationIdentifierScheme: "Wikidata"},
			metadata.Affiliation{Name: name, AffiliationIdentifier: "grid.5335.0", AffiliationIdentifierScheme: "GRID",
				SchemeURI: one(g, "https://www.grid.ac/institutes", "")})
	})
	return c
}

func (g drawing) contributor() metadata.Contributor {
	return metadata.Contributor{Creator: g.creator(),
		ContributorType: one(g, metadata.Values[metadata.ContributorType]()...)}
}

func (g drawing) publisher() metadata.Publisher {
	p := metadata.Publisher{Name: one(g, "Zenodo", "PANGAEA", "Bibliothek & Archiv", "Éditions du Nord, Paris"),
		Lang: one(g, "", "en", "fr")}
	if g.IntN(2) == 0 {
		p.PublisherIdentifier, p.PublisherIdentifierScheme, p.SchemeURI = "https://ror.org/04wxnsj81", "ROR", "https://ror.org/"
	}
	return p
}

func (g drawing) subject() metadata.Subject {
	return one(g,
		metadata.Subject{Subject: one(g, "Snow & ice", "R&D", "Ökologie"), Lang: one(g, "en", "de")},
		metadata.Subject{Subject: "FOS: Earth and related environmental sciences",
			SubjectScheme: "Fields of Science and Technology (FOS)", SchemeURI: "http://www.oecd.org/science/inno/38235147.pdf"},
		metadata.Subject{Subject: "Digital Humanities", SubjectScheme: "dewey", SchemeURI: "https://www.oclc.org/dewey",
			ValueURI: "https://id.example.org/551?x=1&y=2", ClassificationCode: "551"},
		metadata.Subject{Subject: one(g, "glaciers", "machine learning", "气候", "H<sub>2</sub>O",
			"Physics, general") + fmt.Sprint(g.IntN(9))})
}

func (g drawing) date() metadata.Date {
	return metadata.Date{
		Date: g.year + one(g, "", "-05", "-05-17", "-05-17T10:00:00Z", "-05-17T10:00:00+02:00", "/2025",
			"-01-01/"+g.year+"-12-31"),
		DateType:        one(g, metadata.Values[metadata.DateType]()...),
		DateInformation: one(g, "", "Start & end of the survey", "first version"),
	}
}

func (g drawing) alternate() metadata.AlternateIdentifier {
	return metadata.AlternateIdentifier{
		AlternateIdentifier:     one(g, "PDB-1ABC", "https://archive.example.org/items/17?a=1&b=2", "ISBN 978-0-306-40615-7"),
		AlternateIdentifierType: one(g, "accession", "URL", "Local", "internal ID"),
	}
}

func (g drawing) related() metadata.RelatedIdentifier {
	r := one(g,
		metadata.RelatedIdentifier{RelatedIdentifierType: metadata.IdentifierDOI,
			RelatedIdentifier: one(g, "10.5072/ABC", "https://doi.org/10.1000/182",
				"10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1")},
		metadata.RelatedIdentifier{RelatedIdentifierType: metadata.IdentifierURL,
			RelatedIdentifier: "https://example.org/a%20b?x=1&y=2#top"},
		metadata.RelatedIdentifier{RelatedIdentifierType: metadata.IdentifierArXiv, RelatedIdentifier: "arXiv:0706.0001"},
		metadata.RelatedIdentifier{RelatedIdentifierType: metadata.IdentifierISSN, RelatedIdentifier: "2049-3630"})
	r.RelationType, r.ResourceTypeGeneral = one(g,
		metadata.Values[metadata.RelationType]()...), one(g, "", metadata.ResourceTypeText)
	switch r.RelationType {
	case metadata.RelationHasMetadata, metadata.RelationIsMetadataFor:
		r.RelatedMetadataScheme, r.SchemeURI, r.SchemeType = "DDI-L", "https://ddialliance.org", "XSD"
	case metadata.RelationOther:
		r.RelationTypeInformation = "a dataset beside it"
	}
	return r
}

func (g drawing) rights() metadata.Rights {
	return one(g,
		metadata.SPDX(one(g, "CC-BY-4.0", "CC0-1.0", "MIT", "Apache-2.0")),
		metadata.Rights{Rights: "Creative Commons Attribution 4.0 International",
			RightsURI: "https://creativecommons.org/licenses/by/4.0/", Lang: "en"},
		metadata.Rights{RightsURI: "info:eu-repo/semantics/openAccess", Rights: one(g, "", "Open Access")},
		metadata.Rights{Rights: "© 2020 The Authors & partners. All rights reserved.",
			RightsURI: "https://example.org/terms?lang=en&v=2", Lang: one(g, "", "en")})
}

func (g drawing) degrees(most float64) metadata.Coordinate {
	return metadata.Coordinate(fmt.Sprintf(one(g, "%.0f", "%.2f", "%.6f", "%.4f"), (g.Float64()*2-1)*most))
}

func (g drawing) point() metadata.Point {
	return metadata.Point{Longitude: g.degrees(180), Latitude: g.degrees(90)}
}

func (g drawing) place() metadata.GeoLocation {
	corner := g.point()
	at := one(g,
		metadata.GeoLocation{Place: "Bonn"},
		metadata.GeoLocation{Point: corner},
		metadata.GeoLocation{Box: metadata.Box{West: g.degrees(180), East: g.degrees(180), South: "-10.5", North: "20"}},
		metadata.GeoLocation{Polygons: metadata.Polygons{
			{Points: []metadata.Point{corner, g.point(), g.point(), corner}, InPoint: one(g, metadata.Point{}, g.point())}}})
	if at.Place == "" {
		at.Place = one(g, "", "Alps", "Kiel, Germany", "Bosnia & Herzegovina", "Côte d’Ivoire", "Ross Ice Shelf (78°S)")
	}
	return at
}

func (g drawing) funding() metadata.FundingReference {
	f := one(g,
		metadata.FundingReference{},
		metadata.FundingReference{FunderIdentifierType: metadata.FunderCrossref,
			FunderIdentifier: one(g, "https://doi.org/10.13039/501100000780", "10.13039/501100001659", "501100000780")},
		metadata.FundingReference{FunderIdentifierType: metadata.FunderROR,
			FunderIdentifier: one(g, "https://ror.org/00k4n6c32", "00k4n6c32"), SchemeURI: "https://ror.org"},
		metadata.FundingReference{FunderIdentifierType: metadata.FunderOther,
			FunderIdentifier: one(g, "grid.270680.b", "0000 0001 2162 673X", "https://example.org/f?a=1&b=2")})
	f.FunderName = one(g, "European Commission", "Deutsche Forschungsgemeinschaft (DFG)",
		"Gordon & Betty Moore Foundation")
	if g.IntN(2) == 0 {
		f.AwardNumber, f.AwardURI = one(g, "777523",
			"SFB 123/2-A"), one(g, "", "https://cordis.europa.eu/project/rcn/1?a=b&c=d")
		f.AwardTitle = one(g, "", "Connected & Open Research", "FREYA")
	}
	return f
}

func (g drawing) relatedItem() metadata.RelatedItem {
	item := metadata.RelatedItem{
		RelatedItemType: metadata.ResourceTypeJournal, RelationType: metadata.RelationIsPublishedIn,
		Titles: []metadata.Title{{Title: g.title(), Lang: one(g, "", "en")}}, PublicationYear: one(g, "", "1999", "2021"),
		Volume: one(g, "", "12", "A & B"), Issue: one(g, "", "3–4",
			"Suppl. 1"), FirstPage: one(g, "", "e12", "1"), LastPage: one(g, "", "17"),
		Publisher: one(g, "", "Wiley & Sons",
			"Éditions du Nord"), Edition: one(g, "", "2nd ed.", "Rev. & enl."), Creators: several(g, 2, g.person),
		Contributors: several(g, 1, func() metadata.Contributor {
			return metadata.Contributor{Creator: g.person(), ContributorType: metadata.ContributorEditor}
		}),
	}
	if g.IntN(2) == 0 {
		item.Number, item.NumberType = "7", one(g, metadata.Values[metadata.NumberType]()...)
	}
	if g.IntN(2) == 0 {
		item.RelatedItemIdentifier = metadata.RelatedItemIdentifier{
			RelatedItemIdentifier:     one(g, "10.5072/J", "https://doi.org/10.1000/182"),
			RelatedItemIdentifierType: metadata.IdentifierDOI}
	}
	return item
}
