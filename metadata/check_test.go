package metadata_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

// sound returns a record in which nothing is wrong.
func sound() *metadata.Record {
	return &metadata.Record{
		DOI:             "10.5072/x",
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada", NameType: metadata.NamePersonal}},
		Titles:          []metadata.Title{{Title: "Notes"}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "1843",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeText},
	}
}

func identified(scheme, id string) func(*metadata.Record) {
	return func(r *metadata.Record) {
		r.Creators[0].NameIdentifiers = []metadata.NameIdentifier{{NameIdentifier: id, NameIdentifierScheme: scheme}}
	}
}

func related(t metadata.RelatedIdentifierType, id string) func(*metadata.Record) {
	return func(r *metadata.Record) {
		r.RelatedIdentifiers = []metadata.RelatedIdentifier{
			{RelatedIdentifier: id, RelatedIdentifierType: t, RelationType: metadata.RelationCites}}
	}
}

// item adds a book in which the record is published, with a change.
func item(change func(*metadata.RelatedItem)) func(*metadata.Record) {
	return func(r *metadata.Record) {
		book := metadata.RelatedItem{RelatedItemType: metadata.ResourceTypeBook, RelationType: metadata.RelationIsPublishedIn,
			Titles: []metadata.Title{{Title: "T"}}}
		change(&book)
		r.RelatedItems = []metadata.RelatedItem{book}
	}
}

func dated(date string) func(*metadata.Record) {
	return func(r *metadata.Record) { r.Dates = []metadata.Date{{Date: date, DateType: metadata.DateCollected}} }
}

func polygon(points ...metadata.Point) func(*metadata.Record) {
	return func(r *metadata.Record) {
		r.GeoLocations = []metadata.GeoLocation{{Polygons: metadata.Polygons{{Points: points}}}}
	}
}

func TestRecord_Findings(t *testing.T) {
	a, b, c := metadata.Point{Longitude: "0",
		Latitude: "0"}, metadata.Point{Longitude: "0", Latitude: "1"}, metadata.Point{Longitude: "1", Latitude: "1"}
	tests := []struct {
		name   string
		change func(*metadata.Record)
		want   []string
	}{
		{"nothing wrong", func(*metadata.Record) {}, nil},
		{"no DOI", func(r *metadata.Record) { r.DOI = "" }, nil},
		{"stand-ins", func(r *metadata.Record) { r.Creators[0].Name, r.Titles[0].Title = ":unkn", "(:unav)" }, nil},
		{"empty", func(r *metadata.Record) { *r = metadata.Record{} }, []string{
			"error missing creators", "error missing titles", "error missing publisher", "error missing publicationYear",
			"error missing types.resourceTypeGeneral",
		}},
		{"blank values", func(r *metadata.Record) {
			r.Creators[0].Name, r.Titles[0].Title, r.Publisher.Name, r.PublicationYear = " ", "\t", "\u00a0", " "
		}, []string{"warning conflict creators[0].name", "error missing creators[0].name", "error missing titles[0].title",
			"error missing publisher", "error missing publicationYear"}},
		{"year", func(r *metadata.Record) { r.PublicationYear = ":tba" }, []string{"error year publicationYear"}},
		{"language", func(r *metadata.Record) { r.Language = "en_GB" }, []string{"error language language"}},
		{"parts of lists", func(r *metadata.Record) {
			r.Contributors = []metadata.Contributor{{}}
			r.Dates = []metadata.Date{{Date: "2024"}}
			r.Descriptions = []metadata.Description{{}}
			r.AlternateIdentifiers = []metadata.AlternateIdentifier{{AlternateIdentifier: "1"}}
			r.RelatedIdentifiers = []metadata.RelatedIdentifier{{RelatedIdentifier: "1"}}
			r.FundingReferences = []metadata.FundingReference{{FunderIdentifier: "1"}}
			r.RelatedItems = []metadata.RelatedItem{{Titles: []metadata.Title{{Title: "T"}}}}
		}, []string{
			"error missing contributors[0].name", "error missing contributors[0].contributorType",
			"error missing dates[0].dateType",
			"error missing alternateIdentifiers[0].alternateIdentifierType", "error missing relatedIdentifiers[0].relatedIdentifierType",
			"error missing relatedIdentifiers[0].relationType", "error missing descriptions[0].descriptionType",
			"error missing fundingReferences[0].funderName", "error missing fundingReferences[0].funderIdentifierType",
			"error missing relatedItems[0].relatedItemType", "error missing relatedItems[0].relationType",
		}},
		{"related item without title", item(func(i *metadata.RelatedItem) { i.Titles = nil }),
			[]string{"warning missing relatedItems[0].titles"}},
		{"long rights", func(r *metadata.Record) {
			r.RightsList = []metadata.Rights{{Rights: strings.Repeat("é", 2000)}, {Rights: strings.Repeat("é", 2001)}}
		}, []string{"error limit rightsList[1].rights"}},
		{"URIs", func(r *metadata.Record) {
			r.Subjects = []metadata.Subject{{Subject: "s", SchemeURI: "100%", ValueURI: "example", ClassificationCode: "1:2"}}
			r.RightsList = []metadata.Rights{{RightsURI: "https://example.org/[1]"}}
		}, []string{
			"error uri subjects[0].schemeUri", "warning uri subjects[0].valueUri", "error uri subjects[0].classificationCode",
			"error uri rightsList[0].rightsUri",
		}},
		{"point", func(r *metadata.Record) {
			r.GeoLocations = []metadata.GeoLocation{{Point: metadata.Point{Longitude: "181"}}}
		}, []string{"error coordinate geoLocations[0].geoLocationPoint.pointLongitude",
			"error coordinate geoLocations[0].geoLocationPoint.pointLatitude"}},
		{"white space around coordinates", func(r *metadata.Record) {
			r.GeoLocations = []metadata.GeoLocation{{Point: metadata.Point{Longitude: " 1", Latitude: "2 "}}}
		}, nil},
		{"box upside down", func(r *metadata.Record) {
			r.GeoLocations = []metadata.GeoLocation{{Box: metadata.Box{West: "0", East: "1", South: "2", North: "1"}}}
		}, []string{"warning coordinate geoLocations[0].geoLocationBox.southBoundLatitude"}},
		{"box without a southern bound", func(r *metadata.Record) {
			r.GeoLocations = []metadata.GeoLocation{{Box: metadata.Box{West: "0", East: "1", South: "none", North: "-1"}},
				{Box: metadata.Box{West: "0", East: "1", South: "1", North: "none"}}}
		}, []string{"error coordinate geoLocations[0].geoLocationBox.southBoundLatitude",
			"error coordinate geoLocations[1].geoLocationBox.northBoundLatitude"}},
		{"polygon", polygon(a, b, c, a), nil},
		{"polygon with three points", polygon(a, b, a), []string{"error polygon geoLocations[0].geoLocationPolygon"}},
		{"polygon not closed", polygon(a, b, c, b), []string{"warning polygon geoLocations[0].geoLocationPolygon"}},
		{"two polygons", func(r *metadata.Record) {
			p := metadata.Polygon{Points: []metadata.Point{a, b, c, a}}
			r.GeoLocations = []metadata.GeoLocation{{Polygons: metadata.Polygons{p, p}}}
		}, []string{"warning json geoLocations[0].geoLocationPolygon", "warning polygon geoLocations[0].geoLocationPolygon"}},
		{"year of three digits", func(r *metadata.Record) { r.PublicationYear = "0054" },
			[]string{"warning json publicationYear"}},
		{"title that no list shows", func(r *metadata.Record) { r.Titles[0].Title = strings.Repeat("é", 16_384) },
			[]string{"warning limit titles[0].title"}},
		{"title in ASCII that no list shows", func(r *metadata.Record) { r.Titles[0].Title = strings.Repeat("e", 32_767) },
			[]string{"warning limit titles[0].title"}},
		{"title in ASCII that lists show", func(r *metadata.Record) { r.Titles[0].Title = strings.Repeat("e", 32_766) }, nil},
		{"texts that lists show", func(r *metadata.Record) {
			r.Titles[0].Title, r.Sizes = strings.Repeat("é", 16_383), []string{strings.Repeat("é", 16_383)}
		}, nil},
		{"description and names of any length", func(r *metadata.Record) {
			r.Creators[0].GivenName, r.Creators[0].FamilyName = strings.Repeat("é", 40_000), strings.Repeat("é", 40_000)
			r.Descriptions = []metadata.Description{
				{Description: strings.Repeat("é", 40_000), DescriptionType: metadata.DescriptionAbstract}}
		}, nil},
		{"markup that stays", func(r *metadata.Record) {
			r.Titles[0].Title = "H<sub>2</sub>O<br/>is <I>wet</I>, x < 5 & y<=3, <5, <>"
		}, nil},
		{"markup that is cut", func(r *metadata.Record) {
			r.Titles[0].Title, r.Subjects = "from here <!-- on", []metadata.Subject{{Subject: "if a<b"},
				{Subject: "<i>not closed"}, {Subject: "<p>x</p>"}, {Subject: "<i>a<b>b</i>"}}
			r.Sizes, r.Formats = []string{"x <y"}, []string{"</b>"}
		}, []string{
			"warning lossy titles[0].title", "warning lossy subjects[0].subject", "warning lossy subjects[1].subject",
			"warning lossy subjects[2].subject", "warning lossy subjects[3].subject",
			"warning lossy sizes[0]", "warning lossy formats[0]",
		}},
		{"references in texts", func(r *metadata.Record) {
			r.Creators[0].GivenName, r.Titles[0].Title = "A&amp;B", "A&amp;B"
			r.GeoLocations = []metadata.GeoLocation{{Place: "&#39;"}}
		}, []string{"warning lossy creators[0].givenName", "warning lossy geoLocations[0].geoLocationPlace"}},

		{"ORCID", identified("ORCID", "https://orcid.org/0000-0001-5727-2427"), nil},
		{"ORCID with X", identified("ORCID", "0000-0002-1694-233X"), nil},
		{"ORCID of no form", identified("orcid", "0000000157272427"),
			[]string{"warning scheme creators[0].nameIdentifiers[0].nameIdentifier"}},
		{"ISNI", identified("ISNI", "https://isni.org/isni/0000000121032683"), nil},
		{"ROR in capitals", identified("ROR", "https://ror.org/04WXNSJ81"), nil},
		{"ROR", identified("ROR", "https://ror.org/04wxnsj81"), nil},
		{"GRID with its address", identified("GRID", "https://www.grid.ac/institutes/grid.5335.0"), nil},
		{"GRID", identified("GRID", "5335"), []string{"warning scheme creators[0].nameIdentifiers[0].nameIdentifier"}},
		{"no scheme", identified("", "123"), []string{"warning scheme creators[0].nameIdentifiers[0].nameIdentifierScheme"}},
		{"affiliation", func(r *metadata.Record) {
			r.Creators[0].Affiliation = []metadata.Affiliation{
				{AffiliationIdentifier: "x", AffiliationIdentifierScheme: "ROR", SchemeURI: "ror.org"}}
		}, []string{
			"warning missing creators[0].affiliation[0].name", "warning scheme creators[0].affiliation[0].affiliationIdentifier",
			"warning uri creators[0].affiliation[0].schemeUri",
		}},
		{"publisher", func(r *metadata.Record) { r.Publisher.PublisherIdentifier = "x" },
			[]string{"warning scheme publisher.publisherIdentifierScheme"}},
		{"funder", func(r *metadata.Record) {
			r.FundingReferences = []metadata.FundingReference{
				{FunderName: "F", FunderIdentifier: "10.13039/x", FunderIdentifierType: metadata.FunderCrossref}}
		}, []string{"warning scheme fundingReferences[0].funderIdentifier"}},

		{"related DOI", related(metadata.IdentifierDOI, "https://doi.org/10.5438/0012"), nil},
		{"related DOI of no form", related(metadata.IdentifierDOI, "see text"),
			[]string{"warning scheme relatedIdentifiers[0].relatedIdentifier"}},
		{"related ISSN", related(metadata.IdentifierISSN, "2049-3630"), nil},
		{"related ISSN of no form", related(metadata.IdentifierISSN, "20-49-3630"),
			[]string{"warning scheme relatedIdentifiers[0].relatedIdentifier"}},
		{"ISNI of no form", identified("ISNI", "0-000 0001 2103 2683"),
			[]string{"warning scheme creators[0].nameIdentifiers[0].nameIdentifier"}},
		{"addresses of the schemes of funders", func(r *metadata.Record) {
			r.FundingReferences = []metadata.FundingReference{
				{FunderName: "A", FunderIdentifier: "https://ror.org/04wxnsj81", FunderIdentifierType: metadata.FunderROR,
					SchemeURI: "https://ror.org"},
				{FunderName: "B", FunderIdentifier: "https://ror.org/04wxnsj81", FunderIdentifierType: metadata.FunderROR,
					SchemeURI: "https://example.org"},
				{FunderName: "C", FunderIdentifier: "grid.421091.f", FunderIdentifierType: metadata.FunderGRID,
					SchemeURI: "https://ror.org"},
			}
		}, []string{"warning not-in-xml fundingReferences[1].schemeUri",
			"warning not-in-xml fundingReferences[2].schemeUri"}},
		{"related ISBN", related(metadata.IdentifierISBN, "978-0-306-40615-7"), nil},
		{"related ISBN of ten", related(metadata.IdentifierISBN, "0-8044-2957-X"), nil},
		{"related ISBN of no form", related(metadata.IdentifierISBN, "978X"),
			[]string{"warning scheme relatedIdentifiers[0].relatedIdentifier"}},
		{"related ISBN of twelve", related(metadata.IdentifierISBN, "978030640615"),
			[]string{"warning scheme relatedIdentifiers[0].relatedIdentifier"}},
		{"related arXiv", related(metadata.IdentifierArXiv, "arXiv:0706.0001"), nil},
		{"related arXiv of no form", related(metadata.IdentifierArXiv, "0706"),
			[]string{"warning scheme relatedIdentifiers[0].relatedIdentifier"}},
		{"related SWHID", related(metadata.IdentifierSWHID, "swh:1:rev:309cf2674ee7a0749978cf8265ab91a60aea0f7d"), nil},
		{"related arXiv with its address", related(metadata.IdentifierArXiv, "https://arxiv.org/abs/arXiv:0706.0001"), nil},
		{"related SWHID with its address", related(metadata.IdentifierSWHID,
			"https://archive.softwareheritage.org/swh:1:rev:309cf2674ee7a0749978cf8265ab91a60aea0f7d"), nil},
		{"related ISSN with its address", related(metadata.IdentifierISSN, "https://portal.issn.org/resource/ISSN/2049-3630"),
			nil},
		{"related SWHID of no form", related(metadata.IdentifierSWHID, "swh:1:rev:1"),
			[]string{"warning scheme relatedIdentifiers[0].relatedIdentifier"}},
		{"related URL", related(metadata.IdentifierURL, "example.org"),
			[]string{"warning scheme relatedIdentifiers[0].relatedIdentifier"}},
		{"related nothing", related(metadata.IdentifierDOI, ""),
			[]string{"warning missing relatedIdentifiers[0].relatedIdentifier"}},
		{"year with white space", func(r *metadata.Record) { r.PublicationYear = "2020 " },
			[]string{"warning lossy publicationYear"}},
		{"invisible characters", func(r *metadata.Record) {
			r.Titles = []metadata.Title{{Title: "Alps\u200b"}, {Title: "می\u200cخواهم", TitleType: metadata.TitleTranslated}}
			r.RelatedIdentifiers = []metadata.RelatedIdentifier{
				{RelatedIdentifier: "10.5072/x\u200b", RelatedIdentifierType: metadata.IdentifierDOI,
					RelationType: metadata.RelationCites},
				{RelatedIdentifier: "https://example.org/\u200ey", RelatedIdentifierType: metadata.IdentifierURL,
					RelationType: metadata.RelationCites},
			}
		}, []string{"warning invisible titles[0].title", "warning invisible relatedIdentifiers[0].relatedIdentifier",
			"warning invisible relatedIdentifiers[1].relatedIdentifier"}},
		{"metadata scheme", func(r *metadata.Record) {
			r.RelatedIdentifiers = []metadata.RelatedIdentifier{
				{RelatedIdentifier: "https://example.org", RelatedIdentifierType: metadata.IdentifierURL,
					RelationType: metadata.RelationHasMetadata, SchemeType: "XSD", SchemeURI: "https://example.org",
					RelatedMetadataScheme: "X"},
				{RelatedIdentifier: "https://example.org", RelatedIdentifierType: metadata.IdentifierURL,
					RelationType: metadata.RelationCites, SchemeType: "XSD"},
				{RelatedIdentifier: "https://example.org", RelatedIdentifierType: metadata.IdentifierURL,
					RelationType: metadata.RelationOther},
			}
		}, []string{"warning not-in-xml relatedIdentifiers[0].relatedMetadataScheme",
			"warning not-in-xml relatedIdentifiers[0].schemeUri", "warning not-in-xml relatedIdentifiers[0].schemeType",
			"warning not-in-xml relatedIdentifiers[1].schemeType",
			"warning conflict relatedIdentifiers[1].relatedMetadataScheme", "warning missing relatedIdentifiers[2].relationTypeInformation"}},
		{"related item with a word on the relation", item(func(i *metadata.RelatedItem) {
			i.RelationType, i.RelationTypeInformation = metadata.RelationOther, "a word"
		}), []string{"warning lossy relatedItems[0].relationTypeInformation"}},
		{"related item without a word on the relation", item(func(i *metadata.RelatedItem) {
			i.RelationType = metadata.RelationOther
		}), []string{"warning missing relatedItems[0].relationTypeInformation"}},
		{"related item of a person with identifiers", item(func(i *metadata.RelatedItem) {
			i.Creators = []metadata.Creator{metadata.Person("Lovelace", "Ada").AffiliatedWith("Society", "")}
		}), []string{"warning lossy relatedItems[0].creators[0]"}},
		{"funder type without an identifier", func(r *metadata.Record) {
			r.FundingReferences = []metadata.FundingReference{{FunderName: "F", FunderIdentifierType: metadata.FunderROR}}
		}, []string{"warning not-in-xml fundingReferences[0].funderIdentifierType"}},
		{"related item's title with a language", item(func(i *metadata.RelatedItem) {
			i.Titles = append(i.Titles, metadata.Title{Title: "T", Lang: "fr"})
		}), []string{"warning not-in-json relatedItems[0].titles[1].lang"}},
		{"related item's DOI of no form", item(func(i *metadata.RelatedItem) {
			i.RelatedItemIdentifier = metadata.RelatedItemIdentifier{RelatedItemIdentifier: "see text",
				RelatedItemIdentifierType: metadata.IdentifierDOI}
		}), []string{"warning scheme relatedItems[0].relatedItemIdentifier.relatedItemIdentifier"}},
		{"related item's identifier", item(func(i *metadata.RelatedItem) {
			i.RelatedItemIdentifier.RelatedItemIdentifier, i.PublicationYear = "1", "18"
		}), []string{"warning scheme relatedItems[0].relatedItemIdentifier.relatedItemIdentifierType",
			"error year relatedItems[0].publicationYear"}},

		{"date", dated("2024-02-29T23:59:60+01:00"), nil},
		{"date with parts of seconds", dated("2024-02-29T23:59:59.5Z"), []string{"warning date dates[0].date"}},
		{"date before Christ", dated("-0054"), nil},
		{"date roughly", dated("1984~"), nil},
		{"date not known", dated(":unav"), nil},
		{"date range", dated("2023-12/2024"), nil},
		{"date within a year", dated("2024/2024-05-17"), nil},
		{"date range over time zones", dated("2024-01-01T12:00:00Z/2024-01-01T08:00:00-05:00"), nil},
		{"date in words", dated("Yesterday"), []string{"warning date dates[0].date"}},
		{"month that never was", dated("2023-13"), []string{"warning date dates[0].date"}},
		{"date that never was", dated("2023-02-29"), []string{"warning date dates[0].date"}},
		{"time that never was", dated("2023-01-01T25:00Z"), []string{"warning date dates[0].date"}},
		{"date range backwards", dated("2024/2023"), []string{"warning date dates[0].date"}},
		{"date range open", dated("2024/"), []string{"warning date dates[0].date"}},
		{"date range with half a date", dated("2024/x"), []string{"warning date dates[0].date"}},
		{"no date", dated(""), []string{"warning date dates[0].date"}},
		{"first and last days", func(r *metadata.Record) {
			for _, date := range []string{"2024-01-01", "2024-12-31", "2024-02-29T00:00:00Z", "2024-01-01T23:59:60Z"} {
				r.Dates = append(r.Dates, metadata.Date{Date: date, DateType: metadata.DateIssued})
			}
		}, nil},
		{"no 24th hour", dated("2024-01-01T24:00:00Z"), []string{"warning date dates[0].date"}},
		{"no 60th minute", dated("2024-01-01T23:60:00Z"), []string{"warning date dates[0].date"}},
		{"no 61st second", dated("2024-01-01T23:59:61Z"), []string{"warning date dates[0].date"}},
		{"white space around identifiers of funders", func(r *metadata.Record) {
			r.FundingReferences = []metadata.FundingReference{
				{FunderName: "A", FunderIdentifier: " https://ror.org/04wxnsj81", FunderIdentifierType: metadata.FunderROR},
				{FunderName: "B", FunderIdentifier: " https://doi.org/10.13039/501100001659",
					FunderIdentifierType: metadata.FunderCrossref},
				{FunderName: "C", FunderIdentifier: " grid.421091.f", FunderIdentifierType: metadata.FunderGRID},
			}
		}, []string{"warning lossy fundingReferences[0].funderIdentifier",
			"warning lossy fundingReferences[1].funderIdentifier"}},

		{"language of a name", func(r *metadata.Record) { r.Creators[0].Lang = "en" },
			[]string{"warning lossy creators[0].lang"}},
		{"DOI among the others", func(r *metadata.Record) {
			r.AlternateIdentifiers = []metadata.AlternateIdentifier{
				{AlternateIdentifier: "10.5072/y", AlternateIdentifierType: "doi"}, {AlternateIdentifierType: "local"}}
		}, []string{"warning lossy alternateIdentifiers[0].alternateIdentifierType",
			"warning lossy alternateIdentifiers[1].alternateIdentifier"}},
		{"HTML", func(r *metadata.Record) {
			r.Titles[0].Title = "H<sub>2</sub>O <b>and</b> <span class='x'>D</span>, a < b"
			r.Descriptions = []metadata.Description{
				{Description: "one\ntwo", Breaks: []int{3}, DescriptionType: metadata.DescriptionAbstract}}
		}, []string{"warning lossy titles[0].title", "warning lossy descriptions[0].description"}},
		{"name in one part", func(r *metadata.Record) { r.Creators[0].Name = "Ada Lovelace" },
			[]string{"warning conflict creators[0].name"}},
		{"organization with a family", func(r *metadata.Record) {
			r.Creators[0] = metadata.Organization("X")
			r.Creators[0].FamilyName = "Y"
		}, []string{"warning conflict creators[0].nameType"}},
		{"a crowd", func(r *metadata.Record) {
			for range 10_000 {
				r.Creators = append(r.Creators, r.Creators[0])
			}
		}, []string{"warning limit creators"}},
		{"a crowd of contributors", func(r *metadata.Record) {
			r.Contributors = slices.Repeat([]metadata.Contributor{{Creator: metadata.Organization("X"),
				ContributorType: metadata.ContributorOther}}, 10_001)
		}, []string{"warning limit contributors"}},
		{"as many as are known to be accepted", func(r *metadata.Record) {
			r.Creators = slices.Repeat(r.Creators, 10_000)
		}, nil},
		{"white space alone", func(r *metadata.Record) { r.Version = " " }, []string{"warning lossy version"}},
		{"a character that was lost", func(r *metadata.Record) { r.Version = "caf\ufffd" },
			[]string{"warning encoding version"}},
		{"characters", func(r *metadata.Record) { r.Version = "1\x07" }, []string{"error encoding version"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := sound()
			tt.change(rec)
			var got, wantErrors []string
			for _, f := range rec.Findings() {
				got = append(got, fmt.Sprintf("%s %s %s", level(f), f.Code, f.Path))
				assert.NotEmpty(t, f.Reason)
			}
			assert.ElementsMatch(t, tt.want, got)
			for _, want := range tt.want {
				if strings.HasPrefix(want, "error") {
					wantErrors = append(wantErrors, want)
				}
			}
			assert.Equal(t, len(wantErrors) > 0, rec.Validate() != nil)
		})
	}
}

func level(f datacite.Finding) string {
	if f.Warning {
		return "warning"
	}
	return "error"
}

func TestRecord_Findings_ofRanges(t *testing.T) {
	for _, date := range []string{"2024/", "/2024", "2024/..", "../2024"} {
		rec := sound()
		dated(date)(rec)
		require.Len(t, rec.Findings(), 1, date)
		assert.Contains(t, rec.Findings()[0].Reason, "without a start or an end")
	}
}

// The list grows, so an identifier that is not on it may be right.
func TestRecord_Findings_ofSPDX(t *testing.T) {
	rec := sound()
	rec.RightsList = []metadata.Rights{{RightsIdentifier: "CC-BY-4", RightsIdentifierScheme: "spdx"}}
	assert.Len(t, rec.Findings(), 1, "the service does not tell case apart")
	for id, want := range map[string]string{
		"0BSD": "", "CC0-1.0": "", "cc-by-4.0": "", "GPL-2.0+": "", "BSD-3-Clause-OpenWebUI": "",
		"CC-BY-4": `version 3.29.0 of the SPDX list has no licence "CC-BY-4"; did you mean ` +
			`CC-BY-4.0?`,
		"Creative Commons Attribution 4.0": `version 3.29.0 of the SPDX list has no licence "Creative Commons Attribution ` +
			`4.0"`,
		"MIT OR Apache-2.0": `version 3.29.0 of the SPDX list has no licence "MIT OR Apache-2.0"`,
	} {
		rec := sound()
		rec.RightsList = []metadata.Rights{metadata.SPDX(id),
			{Rights: "Ours", RightsIdentifier: "CC-BY-4", RightsIdentifierScheme: "house rules"}}
		rec.RightsList[0].RightsURI = ""
		require.NoError(t, rec.Validate())
		findings := rec.Findings()
		if want == "" {
			assert.Empty(t, findings, id)
			continue
		}
		require.Len(t, findings, 1, id)
		assert.Equal(t, datacite.Finding{
			Warning: true, Code: "scheme", Path: "rightsList[0].rightsIdentifier", Value: id, Reason: want,
		}, findings[0])
	}
}

// A finding says in a whole sentence what is wrong.
func TestRecord_Findings_ofCheckDigits(t *testing.T) {
	const digit = " does not match its other digits: at least one digit is wrong"
	for _, tt := range []struct{ scheme, value, want string }{
		{"ORCID", "0000-0001-5727-2428", "the check digit of this ORCID" + digit},
		{"ISNI", "0000 0001 2103 2684", "the check digit of this ISNI" + digit},
		{"ROR", "https://ror.org/04wxnsj82",
			"the check digits of this ROR do not match its other characters: at least one character is wrong"},
	} {
		rec := sound()
		rec.Creators[0].NameIdentifiers = []metadata.NameIdentifier{
			{NameIdentifier: tt.value, NameIdentifierScheme: tt.scheme}}
		require.Len(t, rec.Findings(), 1)
		assert.Equal(t, tt.want, rec.Findings()[0].Reason)
	}
	for _, tt := range []struct{ scheme, value string }{{"ISSN", "2049-3631"}, {"ISBN", "978-0-306-40615-8"},
		{"ISBN", "0-8044-2957-1"}} {
		rec := sound()
		rec.RelatedIdentifiers = []metadata.RelatedIdentifier{{
			RelatedIdentifier: tt.value, RelatedIdentifierType: metadata.RelatedIdentifierType(tt.scheme),
			RelationType: metadata.RelationCites,
		}}
		require.Len(t, rec.Findings(), 1)
		assert.Equal(t, "the check digit of this "+tt.scheme+digit, rec.Findings()[0].Reason)
	}
}

func TestRecord_Findings_suggestTheLikelyValue(t *testing.T) {
	check := func(change func(*metadata.Record)) string {
		rec := sound()
		change(rec)
		findings := rec.Findings()
		require.Len(t, findings, 1)
		require.EqualValues(t, "vocabulary", findings[0].Code)
		_, suggestion, _ := strings.Cut(findings[0].Reason, "; ")
		return suggestion
	}
	tests := []struct{ value, want string }{
		{"dataset", "did you mean Dataset?"}, {"Data Set", "did you mean Dataset?"}, {"Sofware", "did you mean Software?"},
		{"Film", "did you mean Audiovisual?"}, {"thesis",
			"did you mean Dissertation?"}, {"Journal-Article", "did you mean JournalArticle?"},
		{"paper", "did you mean JournalArticle?"}, {"article",
			"did you mean JournalArticle?"}, {"movie", "did you mean Audiovisual?"},
		{"video", "did you mean Audiovisual?"}, {"publication",
			"did you mean Text?"}, {"website", "did you mean InteractiveResource?"}, {"Xylophone", ""}, {"Collecxyzn", ""},
	}
	for _, tt := range tests {
		got := check(func(r *metadata.Record) { r.Types.ResourceTypeGeneral = metadata.ResourceTypeGeneral(tt.value) })
		assert.Equal(t, tt.want, got, tt.value)
	}
	assert.Equal(t, "a funder goes into fundingReferences", check(func(r *metadata.Record) {
		r.Contributors = []metadata.Contributor{{Creator: metadata.Creator{Name: "F"}, ContributorType: "Funder"}}
	}))
	assert.Equal(t, "did you mean Editor?", check(func(r *metadata.Record) {
		r.Contributors = []metadata.Contributor{{Creator: metadata.Creator{Name: "F"}, ContributorType: "Edtor"}}
	}))
	assert.Equal(t, "did you mean IsPublishedIn?", check(func(r *metadata.Record) {
		r.RelatedIdentifiers = []metadata.RelatedIdentifier{
			{RelatedIdentifier: "10.5438/0012", RelatedIdentifierType: "DOI", RelationType: "isPublishedIn"}}
	}))
	for value, want := range map[metadata.NameType]string{
		"Organization": "Organizational", "organisation": "Organizational", "organisational": "Organizational",
		"person": "Personal",
	} {
		assert.Equal(t, "did you mean "+want+"?", check(func(r *metadata.Record) { r.Creators[0].NameType = value }), value)
	}
	assert.Equal(t, "did you mean Issued?", check(func(r *metadata.Record) {
		r.Dates = []metadata.Date{{Date: "2020", DateType: "Published"}}
	}))
	for _, value := range []metadata.FunderIdentifierType{"FundRef", "Funder ID", "Crossref Funder"} {
		assert.Equal(t, "did you mean Crossref Funder ID?", check(func(r *metadata.Record) {
			r.FundingReferences = []metadata.FundingReference{{FunderName: "F", FunderIdentifier: "10.13039/501100000780",
				FunderIdentifierType: value}}
		}), value)
	}
	assert.Equal(t, "did you mean Researcher?", check(func(r *metadata.Record) {
		r.Contributors = []metadata.Contributor{{Creator: metadata.Organization("X"), ContributorType: "author"}}
	}))
	assert.Equal(t, "did you mean arXiv?", check(func(r *metadata.Record) {
		r.RelatedIdentifiers = []metadata.RelatedIdentifier{
			{RelatedIdentifier: "0706.0001", RelatedIdentifierType: "ArXiv", RelationType: "Cites"}}
	}))
}

func TestRecord_Validate_URIs(t *testing.T) {
	tests := []struct {
		uri  string
		want bool
	}{
		{"https://orcid.org", true}, {"http://user:word@example.org:8080/a?b#c", true}, {"http://[2001:db8::1]:80/", true},
		{"http://[::1", false}, {"http://[::1]x",
			false}, {"http://example.org:port/", false}, {"http://example.org:/", false},
		{"ftp://a@b@c/", false}, {"http://us[er@example.org",
			false}, {"//example.org/x", true}, {"", true}, {"relative/a:b", true},
		{"no:scheme", true}, {"1no:scheme",
			false}, {":x", false}, {"a b", true}, {"é{}|", true}, {"100%25", true}, {"100%2", false},
		{"100%zz", false}, {"a?b=%", false}, {"a#b#c", false}, {"a#[b]", true}, {"a?[b]", false}, {"a/[b]", false},
	}
	for _, tt := range tests {
		rec := sound()
		rec.Subjects = []metadata.Subject{{Subject: "s", ClassificationCode: tt.uri}}
		assert.Equal(t, tt.want, rec.Validate() == nil, tt.uri)
	}
}

func TestValidationError(t *testing.T) {
	rec := &metadata.Record{Contributors: make([]metadata.Contributor, 30)}
	err := rec.Validate()
	require.ErrorIs(t, err, datacite.ErrInvalid)
	lines := strings.Split(err.Error(), "\n")
	assert.Len(t, lines, 32)
	assert.Equal(t, "datacite: 65 faults:", lines[0])
	assert.Equal(t, "\tand 35 more", lines[31])

	invalid := err.(*datacite.ValidationError)
	assert.Len(t, invalid.Findings, 65)
	assert.NoError(t, invalid.Except("missing"))
	assert.ErrorIs(t, invalid.Except("year"), datacite.ErrInvalid)
	assert.Len(t, invalid.Findings, 65, "Except leaves the error as it was")
}

func TestValidateXML_showsWhere(t *testing.T) {
	document := `<resource xmlns="http://datacite.org/schema/kernel-4" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <identifier>10.5072/x</identifier>
 <creators>
  <creator><creatorName nameType="">A</creatorName><familyName>B</familyName><givenName>C</givenName></creator>
  <creator role="x"><creatorName>É</creatorName><creatorName/></creator>
 </creators>
 <titles>stray<title>T <b>bold</b></title></titles>
 <publisher>P</publisher><publisher>Q</publisher>
 <publicationYear xsi:nil="true">2020</publicationYear>
 <resourceType/>
 <descriptions><description descriptionType="Abstract"><br>x</br></description></descriptions>
 <x:y xmlns:x="urn:x"/>
 <geolocations/>
</resource>`
	err := metadata.ValidateXML(strings.NewReader(document))
	require.ErrorIs(t, err, datacite.ErrInvalid)
	var got []string
	for _, f := range err.(*datacite.ValidationError).Findings {
		got = append(got, fmt.Sprintf("%d:%d %s %s: %s", f.Line, f.Column, f.Code, f.Path, f.Reason))
	}
	assert.Equal(t, []string{
		`2:2 missing identifierType: the attribute identifierType is mandatory`,
		`4:25 vocabulary creators[0].nameType: the attribute nameType is empty; leave it out`,
		`4:78 element creators[0]: <givenName> must come before <familyName>`,
		`5:12 attribute creators[1]: <creator> has no attribute role`,
		`5:49 element creators[1].name: <creatorName> occurs more than once in <creator>`,
		`5:49 missing creators[1].name: the name of a creator is mandatory; where it is not known, write :unkn, or :unav ` +
			`when it is not available`,
		`7:10 element titles: <titles> cannot contain text`,
		`7:24 element titles[0]: <title> contains text only; write markup as &lt;b&gt;`,
		`8:26 element publisher: <publisher> occurs more than once in <resource>`,
		`9:19 attribute publicationYear: <publicationYear> has no attribute nil`,
		`10:2 missing types.resourceTypeGeneral: the general resource type is mandatory`,
		`11:60 element descriptions[0]: <br> cannot contain text`,
		`12:2 element : <y> does not belong in <resource>`,
		`13:2 element : <geolocations> does not belong in <resource>; did you mean geoLocations?`,
	}, got)
}

func TestValidateXML_namesWhatIsMissing(t *testing.T) {
	err := metadata.ValidateXML(strings.NewReader(resource(`<resourceType/><dates><date datType="Other"/></dates>`)))
	assert.ErrorContains(t, metadata.ValidateXML(strings.NewReader(resource("<creators/>"))),
		"column 55: creators: a record needs a creator")
	for _, reason := range []string{"creators: a record needs a creator;", "titles: a record needs a title",
		"publisher: the publisher is mandatory", "publicationYear: the year of publication is mandatory",
		"column 55: types", "dates[0].date: <date> has no attribute datType; did you mean dateType?",
		"doi: <identifier> is missing in <resource>", "types.resourceTypeGeneral: the general resource type is mandatory"} {
		assert.ErrorContains(t, err, reason)
	}
}

func TestValidateXML_namespaces(t *testing.T) {
	tests := []struct{ space, want string }{
		{"http://datacite.org/schema/kernel-3",
			"version 3 of the schema and older ones are no longer supported; metadata.Upgrade makes a record of kernel 4, " +
				"namespace http://datacite.org/schema/kernel-4"},
		{"http://datacite.org/schema/kernel-4.7",
			`the root element must be <resource xmlns="http://datacite.org/schema/kernel-4">`},
		{"urn:x", `the root element must be <resource xmlns="http://datacite.org/schema/kernel-4">`},
	}
	for _, tt := range tests {
		err := metadata.ValidateXML(strings.NewReader(strings.Replace(minimal, metadata.Namespace, tt.space, 1)))
		require.ErrorIs(t, err, datacite.ErrInvalid)
		findings := err.(*datacite.ValidationError).Findings
		require.Len(t, findings, 1, tt.space)
		assert.EqualValues(t, "namespace", findings[0].Code)
		assert.Equal(t, tt.want, findings[0].Reason)
	}
}

func TestFindingsXML_warns(t *testing.T) {
	document := `<resource xmlns="http://datacite.org/schema/kernel-4">
<identifier identifierType="Handle">10.5072/x</identifier>
<creators><creator><creatorName>A</creatorName><givenName>B<i>c</i></givenName><nameIdentifier nameIdentifierScheme="ORCID">1</nameIdentifier>
<affiliation affilicationIdentifier="x">B</affiliation></creator></creators>
<titles><title>T</title></titles><publisher>P</publisher><publicationYear>2020</publicationYear><resourceType resourceTypeGeneral="Text"/>
<dates><date dateType="Issued">soon</date></dates>
<relatedIdentifiers><relatedIdentifier relatedIdentifierType="DOI" relationType="Cites"> 10.5072/y</relatedIdentifier></relatedIdentifiers>
<geoLocations><geoLocation><geoLocationPlace>X</geoLocationPlace><geoLocationPlace>Y</geoLocationPlace></geoLocation></geoLocations>
</resource>`
	require.NoError(t, metadata.ValidateXML(strings.NewReader(document)))
	findings := must(metadata.FindingsXML(strings.NewReader(document)))(t)
	var got []string
	for _, f := range findings {
		assert.True(t, f.Warning)
		got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Code, f.Path))
	}
	assert.Equal(t, []string{
		"2:13 identifier identifierType",
		"3:60 element creators[0]",
		"3:80 scheme creators[0].nameIdentifiers[0].nameIdentifier",
		"4:14 attribute creators[0].affiliation[0].name",
		"6:8 date dates[0].date",
		"7:21 lossy relatedIdentifiers[0].relatedIdentifier",
		"8:66 lossy geoLocations[0]",
	}, got)
}

func TestRecord_OwnNames(t *testing.T) {
	r := metadata.Record{AlternateIdentifiers: []metadata.AlternateIdentifier{{AlternateIdentifier: "A-1"}, {},
		{AlternateIdentifier: "10.5072/X"}, {AlternateIdentifier: "https://example.org/"}}}
	for url, want := range map[string][]string{
		"": {"alternateIdentifiers[2].alternateIdentifier"}, "https://example.org/": {
			"alternateIdentifiers[2].alternateIdentifier", "alternateIdentifiers[3].alternateIdentifier"},
	} {
		var got []string
		for _, f := range r.OwnNames("10.5072/x", url) {
			got = append(got, f.Path)
		}
		assert.Equal(t, want, got)
	}
}

// The number type is the one vocabulary without constants.
func TestValues_numberTypes(t *testing.T) {
	assert.Equal(t, []metadata.NumberType{"Article", "Chapter", "Report", "Other"}, metadata.Values[metadata.NumberType]())
}

func TestRelationType_Inverse(t *testing.T) {
	without := map[metadata.RelationType]bool{metadata.RelationIsPublishedIn: true, metadata.RelationOther: true}
	for _, relation := range metadata.Values[metadata.RelationType]() {
		inverse := relation.Inverse()
		if without[relation] {
			assert.Empty(t, inverse, relation)
			continue
		}
		assert.Contains(t, metadata.Values[metadata.RelationType](), inverse, relation)
		assert.Equal(t, relation, inverse.Inverse())
	}
}

func TestVocabularies_areThoseOfTheSchema(t *testing.T) {
	data := must(os.ReadFile(filepath.Join(schemaDir(t), "kernel-4", "controlled-lists.json")))(t)
	var official struct {
		Lists map[string][]struct{ Value, Since string }
	}
	require.NoError(t, json.Unmarshal(data, &official))
	assert.Len(t, official.Lists, len(vocabularies))
	newest := ""
	for kind, terms := range vocabularies {
		name := strings.ToLower(kind.Name()[:1]) + kind.Name()[1:]
		var want []string
		for _, term := range official.Lists[name] {
			newest = max(newest, term.Since)
			want = append(want, term.Value)
		}
		assert.ElementsMatch(t, want, terms, name)
	}
	assert.Equal(t, newest, metadata.KernelVersion)
}

func TestDegrees(t *testing.T) {
	degrees := must(metadata.Coordinate(" 46.50 ").Degrees())(t)
	assert.InDelta(t, 46.5, degrees, 0)
	_, err := metadata.Coordinate("46,5").Degrees()
	require.ErrorIs(t, err, strconv.ErrSyntax)
	assert.EqualValues(t, "coordinate", datacite.Findings(err)[0].Path)
	assert.EqualValues(t, "coordinate", datacite.Findings(err)[0].Code)
}
