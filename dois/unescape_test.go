package dois_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// inHTML are texts that have a meaning in XML or HTML.
var inHTML = []string{
	"Salt & Pepper", "a < b > c", "Salt &amp; Pepper", "H<sub>2</sub>O", "H&lt;sub&gt;2", "<p>R&D</p>", "&lt;", "&", "&eacute;t&eacute; &#38; &#x26;",
	"AT&amp;amp;T", `"q" & 'q'`, "&amp;lt;i&amp;gt;", "1 &lt; 2 & 3", "x<5, if a<b", "<!-- no --> & yes", "データ & größer", "plain",
}

// withTexts is a record with one text in all places that the service reads as HTML or
// resolves references in.
func withTexts(text string) metadata.Record {
	person := metadata.Creator{Name: "Org " + text, NameType: metadata.NameOrganizational,
		Affiliation: []metadata.Affiliation{{Name: "U " + text}}}
	return metadata.Record{
		Creators:        []metadata.Creator{person},
		Contributors:    []metadata.Contributor{{Creator: person, ContributorType: metadata.ContributorEditor}},
		Titles:          []metadata.Title{{Title: "T " + text}, {Title: "second " + text, TitleType: metadata.TitleSubtitle}},
		Publisher:       metadata.Publisher{Name: "P " + text},
		PublicationYear: "2020", Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "R " + text},
		Subjects:     []metadata.Subject{{Subject: "S " + text}},
		Sizes:        []string{"1 " + text},
		Formats:      []string{"f " + text},
		Version:      "v " + text,
		RightsList:   []metadata.Rights{{Rights: "L " + text}},
		Descriptions: []metadata.Description{{Description: "D " + text + "\n\nmore " + text, DescriptionType: metadata.DescriptionAbstract}},
		GeoLocations: []metadata.GeoLocation{{Place: "G " + text}},
		FundingReferences: []metadata.FundingReference{{
			FunderName: "F " + text, AwardNumber: "7 " + text, AwardTitle: "W " + text,
		}},
		RelatedItems: []metadata.RelatedItem{{
			RelatedItemType: metadata.ResourceTypeJournal, RelationType: metadata.RelationIsPublishedIn, Titles: []metadata.Title{{Title: "J " + text}},
			Creators: []metadata.Creator{{Name: "A " + text, NameType: metadata.NameOrganizational}},
			Volume:   "V " + text, Publisher: "Q " + text,
		}},
	}
}

// storedXML are the metadata of a DOI as its XML has them.
func storedXML(t *testing.T, srv *datacitetest.Server, name string) *metadata.Record {
	t.Helper()
	r, err := srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true})
	require.NoError(t, err)
	rec, err := metadata.ParseXML(bytes.NewReader(r.MetadataXML))
	require.NoError(t, err)
	rec.DOI, rec.SchemaVersion = "", ""
	return rec
}

// What is read and written back unchanged is the same text as before, whichever interface
// wrote it first.
func TestWritingBackKeepsTexts(t *testing.T) {
	for _, way := range []string{"XML", "JSON"} {
		t.Run(way, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				for i, text := range inHTML {
					name := fmt.Sprintf("10.5072/text-%d", i)
					rec := withTexts(text)
					if way == "XML" {
						doc, err := mds.NewDocument(&rec)
						require.NoError(t, err)
						_, err = srv.MDS().Register(t.Context(), name, "https://example.org/", doc)
						require.NoError(t, err)
					} else {
						_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: name, URL: "https://example.org/", Event: dois.Publish, Record: rec})
						require.NoError(t, err)
					}
					want := storedXML(t, srv, name)
					for range 2 {
						r, err := srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true})
						require.NoError(t, err)
						assert.Equal(t, rec.Titles, r.Titles, text)
						d, err := r.Draft()
						require.NoError(t, err)
						_, err = srv.DOIs().Update(t.Context(), name, d)
						require.NoError(t, err)
						require.Empty(t, changed(want, storedXML(t, srv, name)), text)
					}
				}
			})
		})
	}
}

// changed are differences between the texts of two records.
func changed(a, b *metadata.Record) (all []string) {
	for _, texts := range [][2]any{
		{a.Creators[0].Name, b.Creators[0].Name}, {a.Contributors[0].Name, b.Contributors[0].Name}, {a.Creators[0].Affiliation, b.Creators[0].Affiliation},
		{a.Titles, b.Titles}, {a.Publisher.Name, b.Publisher.Name}, {a.Types.ResourceType, b.Types.ResourceType}, {a.Subjects, b.Subjects},
		{a.Sizes, b.Sizes}, {a.Formats, b.Formats}, {a.Version, b.Version}, {a.RightsList, b.RightsList}, {a.Descriptions, b.Descriptions},
		{a.GeoLocations[0].Place, b.GeoLocations[0].Place}, {a.FundingReferences, b.FundingReferences},
		{a.RelatedItems[0].Titles, b.RelatedItems[0].Titles}, {a.RelatedItems[0].Creators[0].Name, b.RelatedItems[0].Creators[0].Name},
		{a.RelatedItems[0].Volume, b.RelatedItems[0].Volume}, {a.RelatedItems[0].Publisher, b.RelatedItems[0].Publisher},
	} {
		if before, after := fmt.Sprintf("%+v", texts[0]), fmt.Sprintf("%+v", texts[1]); before != after {
			all = append(all, before+" → "+after)
		}
	}
	return all
}

// A write of other properties makes the deployed service write its own escaping into the XML.
// Update names the texts, and a repair does not let it happen.
func TestWritingOtherPropertiesKeepsTextsOrNamesThem(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		register := func(name string) *metadata.Record {
			rec := withTexts("Salt & Pepper")
			doc, err := mds.NewDocument(&rec)
			require.NoError(t, err)
			_, err = srv.MDS().Register(t.Context(), name, "https://example.org/", doc)
			require.NoError(t, err)
			return storedXML(t, srv, name)
		}
		want := register("10.5072/updated")
		after, err := srv.DOIs().Update(t.Context(), "10.5072/updated", &dois.Draft{ContentURL: []string{"https://example.org/data"}})
		require.NoError(t, err)
		var named []string
		for _, f := range after.Warnings {
			if f.Code == "escaped" {
				named = append(named, f.Path)
			}
		}
		if damage := changed(want, storedXML(t, srv, "10.5072/updated")); deployed(t) {
			assert.Equal(t, []string{"titles[0].title", "titles[1].title", "subjects[0].subject", "sizes[0]", "formats[0]", "descriptions[0].description", "relatedItems[0].titles[0].title"}, named)
			assert.Len(t, damage, 6, "%v", damage)
		} else {
			assert.Empty(t, damage)
		}
		after, err = srv.DOIs().Update(t.Context(), "10.5072/updated", &dois.Draft{URL: "https://example.org/new", Reason: "R&D"})
		require.NoError(t, err)
		assert.Empty(t, after.Warnings, "no metadata were written")

		want = register("10.5072/repaired")
		wanted := withTexts("Salt & Pepper")
		wanted.Publisher.Name = "Fish & Chips"
		all := []dois.Wanted{{DOI: "10.5072/repaired", Metadata: &wanted}}
		opts := &dois.AuditOptions{Prefix: []string{"10.5072"}, Kinds: []dois.DifferenceKind{dois.Changed}}
		for _, differences := range []int{1, 0} {
			repaired := 0
			for r, err := range srv.DOIs().Repair(t.Context(), srv.DOIs().Audit(t.Context(), each(all), opts), nil) {
				require.NoError(t, err)
				require.NoError(t, r.Err)
				repaired++
			}
			assert.Equal(t, differences, repaired)
		}
		want.Publisher.Name = "Fish & Chips"
		assert.Empty(t, changed(want, storedXML(t, srv, "10.5072/repaired")))
	})
}

// What the service leaves out of its XML, or ignores in JSON, is named, with the other way.
func TestWhatIsNotInTheXMLIsNamed(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		rec := withTexts("Alps")
		rec.RelatedIdentifiers = []metadata.RelatedIdentifier{{RelatedIdentifier: "https://example.org/m", RelatedIdentifierType: metadata.IdentifierURL,
			RelationType: metadata.RelationHasMetadata, RelatedMetadataScheme: "citeproc+json", SchemeURI: "https://example.org/s", SchemeType: "XSD"}}
		rec.FundingReferences[0].FunderIdentifier, rec.FundingReferences[0].FunderIdentifierType = "grid.5335.0", metadata.FunderGRID
		rec.FundingReferences[0].SchemeURI = "https://www.grid.ac"
		rec.RelatedItems[0].Titles[0].Lang = "de"
		const inJSON = "relatedItems[0].titles[0].lang"
		paths := []string{"relatedIdentifiers[0].relatedMetadataScheme", "relatedIdentifiers[0].schemeUri", "relatedIdentifiers[0].schemeType", "fundingReferences[0].schemeUri"}
		named := func(r *dois.Record, err error) (named []string) {
			require.NoError(t, err)
			for _, f := range r.Warnings {
				if f.Code == "not-in-xml" || f.Code == "not-in-json" {
					assert.Contains(t, f.Reason, "package mds")
					named = append(named, f.Path)
				}
			}
			return named
		}
		const name = "10.5072/not-in-xml"
		assert.Equal(t, append(slices.Clone(paths), inJSON), named(srv.DOIs().Create(t.Context(), &dois.Draft{DOI: name, Record: rec})))
		doc, err := mds.NewDocument(&rec)
		require.NoError(t, err)
		done, err := srv.MDS().Register(t.Context(), name, "https://example.org/", doc)
		require.NoError(t, err)
		for _, f := range done.Warnings {
			assert.NotContains(t, append(paths, inJSON), f.Path)
		}
		want := storedXML(t, srv, name)
		assert.Equal(t, "XSD", want.RelatedIdentifiers[0].SchemeType)

		assert.Empty(t, named(srv.DOIs().Update(t.Context(), name, &dois.Draft{URL: "https://example.org/2"})))
		assert.Equal(t, "XSD", storedXML(t, srv, name).RelatedIdentifiers[0].SchemeType)
		assert.Equal(t, paths, named(srv.DOIs().Update(t.Context(), name, &dois.Draft{Record: metadata.Record{Version: "2"}})), "the service writes the XML anew")
		assert.Empty(t, storedXML(t, srv, name).RelatedIdentifiers[0].SchemeType)
		assert.Equal(t, "de", storedXML(t, srv, name).RelatedItems[0].Titles[0].Lang, "the service wrote it from its JSON")
	})
}
