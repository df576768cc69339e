package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// odd is a document with what the service's JSON does not have, and with what no writer of records writes.
const odd = `<?xml version="1.0" encoding="UTF-8"?>
<!-- by hand -->
<d:resource xmlns:d="http://datacite.org/schema/kernel-4" xmlns:own="https://example.org/own">
  <d:identifier identifierType="DOI">10.5072/ODD</d:identifier>
  <d:creators>
    <d:creator>
      <d:creatorName xml:lang="en">Ice Group</d:creatorName>
    </d:creator>
  </d:creators>
  <d:titles>
    <d:title><![CDATA[Glacier lenght]]></d:title>
  </d:titles>
  <?keep this?>
  <d:publisher>Ice &amp; Snow</d:publisher>
  <d:publicationYear>2020</d:publicationYear>
  <d:resourceType resourceTypeGeneral="Dataset"/>
  <d:alternateIdentifiers>
    <d:alternateIdentifier alternateIdentifierType="URL">https://example.org/odd</d:alternateIdentifier>
  </d:alternateIdentifiers>
  <d:language>en</d:language>
  <d:dates>
    <d:date dateType="Collected">c. 1850</d:date>
  </d:dates>
  <d:sizes/>
  <d:descriptions>
    <d:description descriptionType="Abstract">one<d:br/>two</d:description>
  </d:descriptions>
</d:resource>
`

// Of a document, only the elements of the properties that change are replaced.
func TestTheRestOfADocumentStaysByteForByte(t *testing.T) {
	for name, tt := range map[string]struct {
		desired  reconcile.Desired
		old, new string
		road     reconcile.Road
	}{
		"changed": {
			reconcile.Desired{Metadata: &metadata.Record{Titles: []metadata.Title{{Title: "Glacier length"}}}},
			"<d:titles>\n    <d:title><![CDATA[Glacier lenght]]></d:title>\n  </d:titles>",
			"<titles xmlns=\"http://datacite.org/schema/kernel-4\">\n    <title>Glacier length</title>\n  " +
				"</titles>", reconcile.RoadXML,
		},
		"added": {
			reconcile.Desired{Metadata: &metadata.Record{Version: "2"}},
			"</d:descriptions>\n", "</d:descriptions>\n  <version " +
				"xmlns=\"http://datacite.org/schema/kernel-4\">2</version>\n", reconcile.RoadXML,
		},
		"into a list without items": {
			reconcile.Desired{Metadata: &metadata.Record{Sizes: []string{"1 MB"}}}, "<d:sizes/>",
			"<sizes xmlns=\"http://datacite.org/schema/kernel-4\">\n    <size>1 MB</size>\n  </sizes>", reconcile.RoadXML,
		},
		"removed": {reconcile.Desired{Clear: []string{"descriptions"}},
			"\n  <d:descriptions>\n    <d:description descriptionType=\"Abstract\">one<d:br/>two</d:description>\n  " +
				"</d:descriptions>", "", reconcile.RoadXML},
		"removed, from XML alone": {reconcile.Desired{Clear: []string{"alternateIdentifiers"}},
			"\n  <d:alternateIdentifiers>\n    <d:alternateIdentifier alternateIdentifierType=\"URL\">https://example.org/odd" +
				"</d:alternateIdentifier>\n  </d:alternateIdentifiers>", "", reconcile.RoadXML},
		"removed, but from JSON": {reconcile.Desired{Clear: []string{"language"}}, "\n  <d:language>en</d:language>", "",
			reconcile.RoadBoth},
		"not in any document": {reconcile.Desired{ContentURL: []string{"https://example.org/a.csv"}}, "", "",
			reconcile.RoadBoth},
		"a container": {reconcile.Desired{Container: &dois.Container{Title: "Ice Letters", Type: "Series"}}, "", "",
			reconcile.RoadBoth},
		"an item more": {
			reconcile.Desired{Metadata: &metadata.Record{Descriptions: []metadata.Description{
				{Description: "one\ntwo", DescriptionType: metadata.DescriptionAbstract},
				{Description: "More", DescriptionType: metadata.DescriptionMethods}}}},
			"two</d:description>\n", "two</d:description>\n    <description xmlns=\"http://datacite.org/schema/kernel-4\" " +
				"descriptionType=\"Methods\">More</description>\n", reconcile.RoadXML,
		},
		"changed, beside the date that the service makes of the year": {
			reconcile.Desired{Metadata: &metadata.Record{Version: "2", Dates: []metadata.Date{
				{Date: "2020", DateType: metadata.DateIssued}, {Date: "c. 1850", DateType: metadata.DateCollected}}}},
			"</d:descriptions>\n", "</d:descriptions>\n  <version " +
				"xmlns=\"http://datacite.org/schema/kernel-4\">2</version>\n", reconcile.RoadXML,
		},
		// The service makes a date of the year, until the dates have one.
		"items around one that stays": {
			reconcile.Desired{Metadata: &metadata.Record{Dates: []metadata.Date{{Date: "2020", DateType: metadata.DateIssued},
				{Date: "c. 1850", DateType: metadata.DateCollected}, {Date: "2019", DateType: metadata.DateCreated}}}},
			"<d:date dateType=\"Collected\">c. 1850</d:date>\n",
			"<date xmlns=\"http://datacite.org/schema/kernel-4\" dateType=\"Issued\">2020</date>\n    " +
				"<d:date dateType=\"Collected\">c. 1850</d:date>\n    " +
				"<date xmlns=\"http://datacite.org/schema/kernel-4\" dateType=\"Created\">2019</date>\n", reconcile.RoadXML,
		},
		"the type": {
			reconcile.Desired{Metadata: &metadata.Record{Types: metadata.Types{
				ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"}}},
			"<d:resourceType resourceTypeGeneral=\"Dataset\"/>", "<resourceType xmlns=\"http://datacite.org/schema/kernel-4\" " +
				"resourceTypeGeneral=\"Dataset\">Table</resourceType>", reconcile.RoadXML,
		},
		"a document": {reconcile.Desired{XML: []byte(strings.Replace(odd, "lenght", "length", 1))}, "lenght", "length",
			reconcile.RoadXML},
		"a document without what JSON keeps": {
			reconcile.Desired{XML: []byte(strings.Replace(odd, "\n  <d:language>en</d:language>", "", 1))},
			"\n  <d:language>en</d:language>", "", reconcile.RoadBoth,
		},
		"the URL": {reconcile.Desired{URL: "https://example.org/new"}, "", "", reconcile.RoadJSON},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				doc := mds.XML([]byte(odd))
				_, err := srv.MDS().Register(t.Context(), "10.5072/odd", "https://example.org/odd", doc, nil)
				require.NoError(t, err)
				before, err := srv.DOIs().Get(t.Context(), "10.5072/odd", &dois.GetOptions{Detail: true})
				require.NoError(t, err)
				tt.desired.DOI = "10.5072/odd"
				if len(tt.old) > 0 {
					require.Contains(t, string(before.MetadataXML), tt.old)
				}
				planned, err := srv.Reconcile().Ensure(t.Context(), tt.desired, &reconcile.Options{DryRun: true})
				require.NoError(t, err)
				assert.Equal(t, tt.road, planned.Road)
				want := strings.Replace(string(before.MetadataXML), tt.old, tt.new, 1)
				if tt.road == reconcile.RoadXML { // the service indents what it stores
					assert.Equal(t, want, strings.TrimSpace(string(planned.Draft.MetadataXML)))
				}
				done, err := srv.Reconcile().Ensure(t.Context(), tt.desired, nil)
				require.NoError(t, err)
				assert.Equal(t, planned.Changes, done.Changes)
				assert.Equal(t, want, string(done.Record.MetadataXML))
				again, err := srv.Reconcile().Ensure(t.Context(), tt.desired, nil)
				require.NoError(t, err)
				assert.Empty(t, again.Road, "a second pass sends nothing")
			})
		})
	}
}

// Where the namespace of the schema is the default, no element names it.
func TestADocumentWithoutPrefixes(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.MDS().Register(t.Context(), "10.5072/xml", "https://example.org/", mds.XML([]byte(xmlRecord)), nil)
		require.NoError(t, err)
		before, err := srv.DOIs().Get(t.Context(), "10.5072/xml", &dois.GetOptions{Detail: true})
		require.NoError(t, err)
		done, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/xml",
			Metadata: &metadata.Record{PublicationYear: "2022"}}, nil)
		require.NoError(t, err)
		assert.Equal(t, strings.Replace(string(before.MetadataXML), "2021", "2022", 1), string(done.Record.MetadataXML))
	})
}

// The date that the service makes of the year stays, where it is said and the year becomes another one.
func TestAYearBesideItsDate(t *testing.T) {
	issued := metadata.Date{Date: "2020", DateType: metadata.DateIssued}
	for _, dates := range [][]metadata.Date{{issued}, {issued, {Date: "2019", DateType: metadata.DateCreated}}} {
		onEach(t, func(t *testing.T, srv *datacitetest.Server) {
			_, err := srv.MDS().Register(t.Context(), "10.5072/odd", "https://example.org/odd", mds.XML([]byte(odd)), nil)
			require.NoError(t, err)
			done, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/odd",
				Metadata: &metadata.Record{PublicationYear: "2021", Dates: dates}}, nil)
			require.NoError(t, err)
			assert.Equal(t, dates, []metadata.Date(done.Record.Dates))
			assert.EqualValues(t, "2021", done.Record.PublicationYear)
		})
	}
}

// Several polygons of one place are in XML only, and the service's JSON of this record has what no XML can say.
func TestALossIsNamedBeforeItHappens(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		rec := complete("Sites")
		rec.Dates = []metadata.Date{{Date: "c. 1850", DateType: metadata.DateCreated}}
		_, err := srv.DOIs().Create(t.Context(),
			&dois.Draft{DOI: "10.5072/json", URL: "https://example.org/", Event: dois.EventPublish, Record: rec})
		require.NoError(t, err)
		places := &metadata.Record{GeoLocations: []metadata.GeoLocation{{Polygons: metadata.Polygons{square(), square()}}}}
		desired, before := reconcile.Desired{DOI: "10.5072/json", Metadata: places}, writes(srv)
		done, err := srv.Reconcile().Ensure(t.Context(), desired, nil)
		require.ErrorIs(t, err, reconcile.ErrLoss)
		assert.Equal(t, before, writes(srv))
		require.NotEmpty(t, done.Losses)
		assert.Equal(t, []string{"dates[0].date", "c. 1850"}, []string{done.Losses[0].Path, done.Losses[0].Value})
		assert.False(t, datacite.Temporary(err))
		done, err = srv.Reconcile().Ensure(t.Context(), desired, &reconcile.Options{AllowLoss: true})
		require.NoError(t, err)
		assert.NotEmpty(t, done.Losses)
		assert.Equal(t, 2, strings.Count(string(done.Record.MetadataXML), "<geoLocationPolygon>"))
	})
}

// A list in the words of the JSON takes the place of one of which the XML has more. What goes is named,
// before and after.
func TestWhatOnlyTheXMLHadIsNamed(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		document := strings.Replace(odd, "</d:dates>", "  <d:date dateType=\"Issued\">2020-02-03</d:date>\n  </d:dates>", 1)
		_, err := srv.MDS().Register(t.Context(), "10.5072/odd", "https://example.org/odd", mds.XML([]byte(document)), nil)
		require.NoError(t, err)
		desired := reconcile.Desired{DOI: "10.5072/odd",
			Metadata: &metadata.Record{Dates: []metadata.Date{{Date: "2020-02-04", DateType: metadata.DateIssued}}}}
		planned, err := srv.Reconcile().Ensure(t.Context(), desired, &reconcile.Options{DryRun: true})
		require.NoError(t, err)
		gone := metadata.Change{Path: "dates[0]", Found: "c. 1850; Collected"}
		far := desired
		far.Metadata = &metadata.Record{}
		for day := range 28 {
			far.Metadata.Dates = append(far.Metadata.Dates,
				metadata.Date{Date: fmt.Sprintf("2020-02-%02d", day+1), DateType: metadata.DateUpdated})
		}
		far.Metadata.Dates = append(far.Metadata.Dates, metadata.Date{Date: "c. 1850", DateType: metadata.DateCollected})
		moved, err := srv.Reconcile().Ensure(t.Context(), far, &reconcile.Options{DryRun: true})
		require.NoError(t, err)
		assert.NotContains(t, moved.Changes, gone, "it is at another place")
		done, err := srv.Reconcile().Ensure(t.Context(), desired, nil)
		require.NoError(t, err)
		var warned []string
		for _, f := range done.Record.Warnings {
			if f.Code == "loss" {
				warned = append(warned, f.Path, f.Value)
			}
		}
		assert.Contains(t, planned.Changes, gone)
		assert.Equal(t, planned.Changes, done.Changes)
		assert.Equal(t, []string{"dates[0]", "c. 1850; Collected"}, warned)
	})
}

// Items that the service shows alike stay as they are in the XML, each at its place.
func TestEqualItemsStay(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		one := "<creator><creatorName>Hopper, Grace</creatorName><nameIdentifier nameIdentifierScheme=\"ORCID\">"
		document := strings.Replace(xmlRecord, "<creator><creatorName>Hopper, Grace</creatorName></creator>",
			one+"0000-0001-2345-6789</nameIdentifier></creator>"+one+"https://orcid.org/0000-0001-2345-6789</nameIdentifier>"+
				"</creator>"+strings.Replace(one, "Hopper, Grace", "<![CDATA[Hopper, Grace]]>", 1)+
				"https://orcid.org/0000-0001-2345-6789</nameIdentifier></creator>", 1)
		_, err := srv.MDS().Register(t.Context(), "10.5072/xml", "https://example.org/", mds.XML([]byte(document)), nil)
		require.NoError(t, err)
		before, err := srv.DOIs().Get(t.Context(), "10.5072/xml", &dois.GetOptions{Detail: true})
		require.NoError(t, err)
		require.Equal(t, before.Creators[0], before.Creators[1])
		require.Equal(t, before.Creators[0], before.Creators[2])
		done, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/xml",
			Metadata: &metadata.Record{Creators: append(before.Creators, metadata.Creator{Name: "Ice Group"})}}, nil)
		require.NoError(t, err)
		assert.Equal(t, strings.Replace(string(before.MetadataXML), "\n  </creators>", "\n    <creator>\n      "+
			"<creatorName>Ice Group</creatorName>\n    </creator>\n  </creators>", 1), string(done.Record.MetadataXML))
	})
}

// Characters that nobody sees are removed, also where only the stored XML has them.
func TestInvisibleCharacters(t *testing.T) {
	related := func(name string) []metadata.RelatedIdentifier {
		return []metadata.RelatedIdentifier{{RelatedIdentifier: name, RelatedIdentifierType: metadata.IdentifierDOI,
			RelationType: metadata.RelationIsPartOf}}
	}
	const soft, other = "Gla\u00adciers", "10.5072/other"
	for _, isXML := range []bool{false, true} {
		for name, tt := range map[string]struct {
			desired metadata.Record
			changes []metadata.Change
		}{
			"of an identifier": {metadata.Record{RelatedIdentifiers: related(other)}, []metadata.Change{
				{Path: "relatedIdentifiers[0].relatedIdentifier", Desired: other, Found: other + "\u200b"}}},
			"of a title": {metadata.Record{Titles: []metadata.Title{{Title: "Glaciers"}}}, []metadata.Change{
				{Path: "titles[0].title", Desired: "Glaciers", Found: soft}}},
			"in the words of the JSON": {metadata.Record{Language: "en", RightsList: []metadata.Rights{{
				Rights: "Creative Commons Attribution 4.0 International", RightsIdentifier: "cc-by-4.0"}}}, nil},
			"none": {metadata.Record{Version: "2"}, []metadata.Change{{Path: "version", Desired: "2"}}},
			"other ones": {metadata.Record{Titles: []metadata.Title{{Title: soft + "\u00ad"}}}, []metadata.Change{
				{Path: "titles[0].title", Desired: soft + "\u00ad", Found: soft}}},
		} {
			t.Run(fmt.Sprint(name, isXML), func(t *testing.T) {
				onEach(t, func(t *testing.T, srv *datacitetest.Server) {
					stored := complete(soft)
					stored.RelatedIdentifiers = related(other + "\u200b")
					stored.Language, stored.RightsList = "eng", []metadata.Rights{{RightsIdentifier: "CC-BY-4.0"}}
					d := &dois.Draft{DOI: "10.5072/a", URL: "https://example.org/", Event: dois.EventPublish, Record: stored}
					if isXML {
						data, err := stored.XML()
						require.NoError(t, err)
						d.Record, d.MetadataXML = metadata.Record{}, data
					}
					_, err := srv.DOIs().Create(t.Context(), d)
					require.NoError(t, err)
					done, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/a", Metadata: &tt.desired}, nil)
					require.NoError(t, err)
					assert.Equal(t, tt.changes, done.Changes)
					again, err := srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/a", Metadata: &tt.desired}, nil)
					require.NoError(t, err)
					assert.Empty(t, again.Changes)
				})
			})
		}
	}
}

// The service has no way to write only if nothing has changed. Somebody else's write in between is named.
func TestSomebodyElseWritesInBetween(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.MDS().Register(t.Context(), "10.5072/odd", "https://example.org/odd", mds.XML([]byte(odd)), nil)
		require.NoError(t, err)
		for _, meanwhile := range []bool{false, true} {
			title := fmt.Sprint("Glacier length, ", meanwhile)
			opts := &reconcile.Options{BeforeWrite: func(ctx context.Context, _ *reconcile.Outcome) error {
				if !meanwhile {
					return nil
				}
				_, err := srv.DOIs().Update(ctx, "10.5072/odd", &dois.Draft{Record: metadata.Record{Version: "2"}})
				return err
			}}
			done, err := srv.Reconcile().Ensure(t.Context(),
				reconcile.Desired{DOI: "10.5072/odd", Metadata: &metadata.Record{Titles: []metadata.Title{{Title: title}}}}, opts)
			require.NoError(t, err)
			var codes []datacite.Code
			for _, f := range done.Record.Warnings {
				if f.Path == "metadataVersion" {
					codes = append(codes, f.Code)
				}
			}
			assert.Equal(t, meanwhile, len(codes) == 1 && codes[0] == "conflict", codes)
		}
	})
}

// An Adapter is called several times for a DOI, and DOIs may share a record: what it adds is stored once.
func TestAnAdapterHasItsOwnCopy(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		shared := complete("Shared")
		shared.Contributors = []metadata.Contributor{
			{Creator: metadata.Creator{Name: "Hopper, Grace"}, ContributorType: metadata.ContributorEditor}}
		var all []reconcile.Desired
		for i := range 8 {
			all = append(all, reconcile.Desired{DOI: fmt.Sprintf("10.5072/shared-%d", i), URL: "https://example.org/",
				State: datacite.StateFindable, Metadata: &shared})
		}
		adapt := func(d *reconcile.Desired, _ *dois.Record) error {
			d.Metadata.Contributors[0].Name += "!"
			d.Metadata.Contributors = append(d.Metadata.Contributors,
				metadata.Contributor{Creator: metadata.Creator{Name: "Curie, Marie"}, ContributorType: metadata.ContributorEditor})
			return nil
		}
		for range 2 {
			for done, err := range srv.Reconcile().EnsureAll(t.Context(), each(all), &reconcile.Options{Adapt: adapt}) {
				require.NoError(t, err)
				require.NoError(t, done.Err)
				require.Len(t, done.Record.Contributors, 2)
				assert.Equal(t, "Hopper, Grace!", done.Record.Contributors[0].Name)
			}
			assert.Empty(t, differ(t, srv.Reconcile().Audit(t.Context(), each(all),
				&reconcile.AuditOptions{Prefix: []string{"10.5072"}, Adapt: adapt})))
		}
		assert.Equal(t, "Hopper, Grace", shared.Contributors[0].Name)
		assert.Len(t, shared.Contributors, 1)
	})
}

// An Adapter that adds to what it finds sees each form, so that what only one of them has stays. Its error is that of the
// DOI, and what it says is checked.
func TestAnAdapterSeesBothForms(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		_, err := srv.MDS().Register(t.Context(), "10.5072/odd", "https://example.org/odd", mds.XML([]byte(odd)), nil)
		require.NoError(t, err)
		desired := reconcile.Desired{DOI: "10.5072/odd", Metadata: &metadata.Record{}}
		collected := func(r *dois.Record) bool {
			return slices.ContainsFunc(r.Dates, func(d metadata.Date) bool { return d.DateType == metadata.DateCollected })
		}
		made, refused := metadata.Date{Date: "2019", DateType: metadata.DateCreated}, errors.New("refused")
		var seen []bool
		add := func(d *reconcile.Desired, found *dois.Record) error {
			seen = append(seen, collected(found))
			if d.Metadata.Dates = found.Dates; !slices.Contains(found.Dates, made) {
				d.Metadata.Dates = append(slices.Clip(found.Dates), made)
			}
			return nil
		}
		_, err = srv.Reconcile().Ensure(t.Context(), desired, &reconcile.Options{
			Adapt: func(d *reconcile.Desired, found *dois.Record) error {
				if collected(found) {
					return refused
				}
				return add(d, found)
			}})
		require.ErrorIs(t, err, refused)
		seen = nil
		done, err := srv.Reconcile().Ensure(t.Context(), desired, &reconcile.Options{Adapt: add})
		require.NoError(t, err)
		assert.Equal(t, []bool{false, true}, seen)
		assert.Contains(t, string(done.Record.MetadataXML), "<d:date dateType=\"Collected\">c. 1850</d:date>")
		assert.Contains(t, done.Record.Dates, made)
		_, err = srv.Reconcile().Ensure(t.Context(), reconcile.Desired{DOI: "10.5072/new"}, &reconcile.Options{
			Adapt: func(d *reconcile.Desired, _ *dois.Record) error {
				d.State = "gone"
				return nil
			}})
		require.ErrorIs(t, err, reconcile.ErrNotAsDesired)
		require.ErrorContains(t, err, "a new DOI cannot become gone")
	})
}

// What was made since the look is found, and not said to be created.
func TestADOIThatWasMadeSinceTheLook(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		w, first := wantedItem(0), true
		opts := &reconcile.Options{BeforeWrite: func(ctx context.Context, _ *reconcile.Outcome) error {
			if !first {
				return nil
			}
			first = false
			_, err := srv.DOIs().Create(ctx, &dois.Draft{DOI: w.DOI, Record: complete("Of another process")})
			return err
		}}
		done, err := srv.Reconcile().Ensure(t.Context(), w, opts)
		require.NoError(t, err)
		require.NotNil(t, done.Found)
		assert.Equal(t, "Of another process", done.Found.Titles[0].Title)
	})
}
