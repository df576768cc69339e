package dois_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

func pathsOf(findings []datacite.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, f.Path)
	}
	return all
}

// sound is a record with which nothing is wrong.
func sound() metadata.Record {
	return metadata.Record{
		Creators:  metadata.List[metadata.Creator]{metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427")},
		Titles:    metadata.List[metadata.Title]{{Title: "Notes"}},
		Publisher: metadata.Publisher{Name: "Example Repository"}, PublicationYear: "2024",
		Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeText},
	}
}

// What package metadata knows of the metadata that are sent reaches who sent them.
func TestWarningsReachTheWriter(t *testing.T) {
	scene := func(name string, tell func(t *testing.T, c *dois.Client)) {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) { tell(t, srv.DOIs()) })
		})
	}
	scene("a sound record is created without a warning", func(t *testing.T, c *dois.Client) {
		made, err := c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: sound()})
		require.NoError(t, err)
		assert.Empty(t, made.Warnings)
	})
	scene("what the service drops is named", func(t *testing.T, c *dois.Client) {
		rec := sound()
		rec.Creators[0].Lang = "en"
		rec.Dates = metadata.List[metadata.Date]{{Date: "last year", DateType: metadata.DateCreated}}
		made, err := c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: rec})
		require.NoError(t, err)
		assert.Equal(t, []string{"creators[0].lang", "dates[0].date"}, pathsOf(made.Warnings))
	})
	scene("an update is not told of what it leaves as it is", func(t *testing.T, c *dois.Client) {
		_, err := c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: sound()})
		require.NoError(t, err)
		changed, err := c.Update(t.Context(), "10.5072/a", &dois.Draft{Record: metadata.Record{Sizes: []string{"1 MB", " "}}})
		require.NoError(t, err)
		assert.Equal(t, []string{"sizes[1]"}, pathsOf(changed.Warnings))
		changed, err = c.Update(t.Context(), "10.5072/a", &dois.Draft{URL: "https://example.org/a"})
		require.NoError(t, err)
		assert.Empty(t, changed.Warnings)
	})
	scene("in XML it has a line and a column", func(t *testing.T, c *dois.Client) {
		rec := sound()
		rec.Creators[0].Lang = "en"
		document, err := rec.XML()
		require.NoError(t, err)
		made, err := c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", MetadataXML: document})
		require.NoError(t, err)
		require.Equal(t, []string{"creators[0].lang"}, pathsOf(made.Warnings))
		assert.NotZero(t, made.Warnings[0].Line)
	})
	scene("a repair passes it on", func(t *testing.T, c *dois.Client) {
		rec := sound()
		rec.Dates = metadata.List[metadata.Date]{{Date: "last year", DateType: metadata.DateCreated}}
		wanted := &dois.Wanted{DOI: "10.5072/a", Metadata: &rec}
		for r, err := range c.Repair(t.Context(), each([]*dois.Difference{{DOI: wanted.DOI, Kind: dois.Missing, Wanted: wanted}}), nil) {
			require.NoError(t, err)
			require.NoError(t, r.Err)
			assert.Equal(t, []string{"dates[0].date"}, pathsOf(r.Warnings))
		}
	})
}

// What JSON cannot carry is not sent, and is no fault of the record.
func TestWhatOnlyXMLCarriesIsRefused(t *testing.T) {
	square := func(at metadata.Coordinate) metadata.Polygon {
		a, b, c := metadata.Point{Longitude: at, Latitude: "0"}, metadata.Point{Longitude: at, Latitude: "1"}, metadata.Point{Longitude: "7", Latitude: "1"}
		return metadata.Polygon{Points: metadata.List[metadata.Point]{a, b, c, a}}
	}
	for path, spoil := range map[string]func(*metadata.Record){
		"geoLocations[0].geoLocationPolygon": func(r *metadata.Record) {
			r.GeoLocations = metadata.List[metadata.GeoLocation]{{Polygons: metadata.Polygons{square("1"), square("3")}}}
		},
		"publicationYear": func(r *metadata.Record) { r.PublicationYear = "0985" },
		"language":        func(r *metadata.Record) { r.Language = "fr " },
	} {
		onEach(t, func(t *testing.T, srv *datacitetest.Server) {
			rec := sound()
			spoil(&rec)
			require.NoError(t, rec.Validate(), path)
			assert.Contains(t, pathsOf(rec.Findings()), path)

			_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: rec})
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.ErrorContains(t, err, "Draft."+path)
			assert.Empty(t, srv.Requests())

			document, err := rec.XML()
			require.NoError(t, err)
			found, err := metadata.FindingsXML(strings.NewReader(string(document)))
			require.NoError(t, err)
			assert.False(t, slices.ContainsFunc(found, func(f datacite.Finding) bool { return f.Code == "json" }))
			_, err = srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/a", MetadataXML: document})
			require.NoError(t, err)
		})
	}
}
