package metadata_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

var written = flag.Int("written", 200, "random records that are written to each behaviour of the embedded service and read back")

func TestDiff_ofOneRecordIsEmpty(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*randomRecords) {
		g := newGenerator(seed)
		g.gaps, g.wrong = float64(seed%3)*0.3, float64(seed%2)*0.2
		rec := &metadata.Record{}
		g.fill(reflect.ValueOf(rec).Elem(), "")
		require.Empty(t, metadata.Diff(rec, rec), "seed %d", seed)
	}
	assert.Empty(t, metadata.Diff(nil, &metadata.Record{}))
}

// writers are the ways on which a record comes to the service.
var writers = map[string]func(*testing.T, *datacitetest.Server, string, metadata.Record){
	"XML": func(t *testing.T, srv *datacitetest.Server, doi string, rec metadata.Record) {
		rec.DOI = doi
		document, err := rec.XML()
		require.NoError(t, err)
		_, err = srv.MDS().PutMetadata(t.Context(), doi, mds.XML(document))
		require.NoError(t, err)
	},
	"JSON": func(t *testing.T, srv *datacitetest.Server, doi string, rec metadata.Record) {
		rec.DOI, rec.SchemaVersion = "", ""
		_, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: doi, Record: rec})
		require.NoError(t, err)
	},
}

// whatIsWritten writes each record on each way to each behaviour, reads it back, and
// wants no difference.
func whatIsWritten(t *testing.T, each func(yield func(name string, rec metadata.Record) bool)) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for way, write := range writers {
			t.Run(fmt.Sprintf("%s/%s", b, way), func(t *testing.T) {
				t.Parallel()
				n := 0
				var srv *datacitetest.Server
				for name, rec := range each {
					if n++; srv == nil || n%100 == 0 {
						srv = datacitetest.NewServer(&datacitetest.Options{Behaviour: b, NoPort: true})
					}
					doi := fmt.Sprintf("10.5072/written-%d", n)
					write(t, srv, doi, rec)
					found, err := srv.DOIs().Get(t.Context(), doi, &dois.GetOptions{Affiliation: true, Publisher: true})
					require.NoError(t, err)
					rec.DOI = ""
					require.Empty(t, metadata.Diff(&rec, &found.Record), "%s: %s", name, found.Raw)
					if invalid, ok := errors.AsType[*metadata.ValidationError](found.Validate()); ok { // but a title of markup alone is empty now
						require.NoError(t, invalid.Except(metadata.CodeRequired), "%s: what the service took is not what it would refuse", name)
					}
				}
			})
		}
	}
}

// mend replaces the properties that the service would refuse with those of a full
// record.
func mend(rec, full *metadata.Record) {
	from, to := reflect.ValueOf(full).Elem(), reflect.ValueOf(rec).Elem()
	for _, f := range errorsIn(rec) {
		for i := range to.NumField() {
			name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
			if f == name || strings.HasPrefix(f, name+"[") || strings.HasPrefix(f, name+".") {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
}

func errorsIn(rec *metadata.Record) (paths []string) {
	for _, f := range rec.Findings() {
		if f.Level == metadata.LevelError {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

func TestDiff_ofWhatWasWrittenIsEmpty(t *testing.T) {
	whatIsWritten(t, func(yield func(string, metadata.Record) bool) {
		for seed := range uint64(*written) {
			g := newGenerator(seed)
			g.gaps = float64(seed%2) * 0.4
			rec := g.record()
			mend(rec, newGenerator(seed).record())
			if !yield(fmt.Sprintf("seed %d", seed), *rec) {
				return
			}
		}
	})
}

func TestDiff_ofOfficialExamplesIsEmpty(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(schemaDir(t), "examples", "*.xml"))
	require.NoError(t, err)
	whatIsWritten(t, func(yield func(string, metadata.Record) bool) {
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			rec, err := metadata.ParseXML(bytes.NewReader(source))
			require.NoError(t, err)
			if !yield(filepath.Base(file), *rec) {
				return
			}
		}
	})
}

// TestDiff_findsEachChange changes each value of full records, takes it away, takes
// away each item of a list and changes the order. What goes unnoticed must be in the
// table of allowances.
func TestDiff_findsEachChange(t *testing.T) {
	t.Parallel()
	unnoticed := map[string]bool{}
	changes := 0
	for seed := range uint64(5) {
		rec, changed := &metadata.Record{}, &metadata.Record{}
		for _, r := range []*metadata.Record{rec, changed} {
			newGenerator(seed).fill(reflect.ValueOf(r).Elem(), "")
			r.Identifiers = nil
		}
		eachChange(reflect.ValueOf(changed).Elem(), "", func(path, what string) {
			changes++
			found := metadata.Diff(rec, changed)
			if len(found) == 0 {
				unnoticed[path+" "+what] = true
				return
			}
			require.NotEmpty(t, found[0].Path)
			require.NotEqual(t, found[0].Wanted, found[0].Found)
		})
		require.Empty(t, metadata.Diff(rec, changed), "all was put back")
	}
	assert.Greater(t, changes, 1500)
	for change := range unnoticed {
		path, what, _ := strings.Cut(change, " ")
		listed := false
		for allowed, always := range metadata.Allowed() {
			listed = listed || always && strings.Contains("."+path+".", "."+allowed+".") ||
				what != "changed" && strings.HasSuffix("."+path, "."+strings.TrimSuffix(allowed, ".*"))
		}
		assert.True(t, listed, change)
	}
}

// eachChange makes each change, one at a time, and takes it back after visit.
func eachChange(v reflect.Value, path string, visit func(path, what string)) {
	set := func(to reflect.Value, what string) {
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		v.Set(to)
		visit(path, what)
		v.Set(before)
	}
	switch v.Kind() {
	case reflect.String:
		set(reflect.ValueOf(other(v.String())).Convert(v.Type()), "changed")
		set(reflect.Zero(v.Type()), "taken away")
	case reflect.Slice:
		list := path[strings.LastIndex(path, ".")+1:]
		items := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(items, v)
		if n := v.Len(); n > 1 && slices.Contains(metadata.Ordered, list) && list != "geoLocationPolygon" {
			swapped := reflect.AppendSlice(items.Slice3(1, n, n), items.Slice(0, 1))
			set(swapped, "in another order")
		}
		for i := range v.Len() {
			set(reflect.AppendSlice(items.Slice3(0, i, i), items.Slice(i+1, v.Len())), "one less")
			eachChange(v.Index(i), path, visit)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				name = strings.ToLower(field.Name)
			}
			eachChange(value, strings.TrimPrefix(path+"."+name, "."), visit)
		}
	}
}

// other is another value of the same kind.
func other(text string) string {
	switch {
	case strings.Trim(text, "0123456789.+-E") == "":
		return "17"
	case len(text) < 3 || text == "pt-BR" || text == "zh-Hant-TW":
		return "fr"
	}
	return "Other " + text
}

func TestDiff_ofOneChangeIsOneChange(t *testing.T) {
	record := func() *metadata.Record {
		return &metadata.Record{
			Creators: []metadata.Creator{metadata.Person("Garza", "Kristian").At("DataCite", "04wxnsj81"), metadata.Organization("CERN"), metadata.Person("Doe", "Jane")},
			Titles:   []metadata.Title{{Title: "Alps"}}, Publisher: metadata.Publisher{Name: "Archive"}, PublicationYear: "2020",
			Types:    metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
			Subjects: []metadata.Subject{{Subject: "snow"}, {Subject: "ice"}}, Language: "en",
			Dates:      []metadata.Date{{Date: "2019", DateType: metadata.DateCollected}, {Date: "2021", DateType: metadata.DateUpdated}},
			RightsList: []metadata.Rights{metadata.SPDX("CC-BY-4.0")},
			GeoLocations: []metadata.GeoLocation{{Polygons: metadata.Polygons{{
				Points: []metadata.Point{{"1", "2"}, {"3", "4"}, {"5", "6"}, {"1", "2"}}, InPoint: metadata.Point{Longitude: "2", Latitude: "3"},
			}}}},
			RelatedIdentifiers: []metadata.RelatedIdentifier{{
				RelatedIdentifier: "10.5072/ABC", RelatedIdentifierType: metadata.IdentifierDOI, RelationType: metadata.RelationCites,
			}},
		}
	}
	for name, tt := range map[string]struct {
		change func(*metadata.Record)
		want   string
	}{
		"a title":               {func(r *metadata.Record) { r.Titles[0].Title = "Alpen" }, `titles[0].title: "Alps" is wanted, and "Alpen" was found`},
		"a creator less":        {func(r *metadata.Record) { r.Creators = r.Creators[1:] }, `creators[0]: "Garza, Kristian; Personal; Kristian; Garza; DataCite; https://ror.org/04wxnsj81; ROR; https://ror.org" is missing`},
		"a creator more":        {func(r *metadata.Record) { r.Creators = append(r.Creators, metadata.Organization("EMBL")) }, `creators[3]: "EMBL; Organizational" is not wanted`},
		"the order of creators": {func(r *metadata.Record) { slices.Reverse(r.Creators) }, `creators: "in this order: `},
		"the order of subjects": {func(r *metadata.Record) { slices.Reverse(r.Subjects) }, ``},
		"a subject":             {func(r *metadata.Record) { r.Subjects[0].Subject = "glaciers" }, `subjects[0].subject: "snow" is wanted, and "glaciers" was found`},
		"the publisher":         {func(r *metadata.Record) { r.Publisher.Name = "Attic" }, `publisher: "Archive" is wanted, and "Attic" was found`},
		"a ROR without address": {func(r *metadata.Record) { r.Creators[0].Affiliation[0].AffiliationIdentifier = "04wxnsj81" }, ``},
		"another ROR": {func(r *metadata.Record) {
			r.Creators[0].Affiliation[0].AffiliationIdentifier = "https://ror.org/01ggx4157"
		}, `creators[0].affiliation[0].affiliationIdentifier: "https://ror.org/04wxnsj81" is wanted, and "https://ror.org/01ggx4157" was found`},
		"a DOI in other letters": {func(r *metadata.Record) { r.RelatedIdentifiers[0].RelatedIdentifier = "https://doi.org/10.5072/abc" }, ``},
		"another DOI":            {func(r *metadata.Record) { r.RelatedIdentifiers[0].RelatedIdentifier = "10.5072/abd" }, `relatedIdentifiers[0].relatedIdentifier: "10.5072/ABC" is wanted, and "10.5072/abd" was found`},
		"a licence in full": {func(r *metadata.Record) {
			r.RightsList[0] = metadata.Rights{
				Rights: "Creative Commons Attribution 4.0 International", RightsURI: "https://creativecommons.org/licenses/by/4.0/legalcode",
				RightsIdentifier: "cc-by-4.0", RightsIdentifierScheme: "SPDX", SchemeURI: "https://spdx.org/licenses/",
			}
		}, ``},
		"another licence": {func(r *metadata.Record) { r.RightsList[0] = metadata.SPDX("CC0-1.0") }, `rightsList[0].rightsUri`},
		"an Issued date": {func(r *metadata.Record) {
			r.Dates = append(r.Dates, metadata.Date{Date: "2020", DateType: metadata.DateIssued})
		}, ``},
		"an Issued date of a day": {func(r *metadata.Record) {
			r.Dates = append(r.Dates, metadata.Date{Date: "2020-01-02", DateType: metadata.DateIssued})
		}, `dates[2]: "2020-01-02; Issued" is not wanted`},
		"a language of a region": {func(r *metadata.Record) { r.Language = "fr" }, `language: "en" is wanted, and "fr" was found`},
		"a name that is told": {func(r *metadata.Record) {
			r.Creators[1] = metadata.Creator{Name: "CERN", NameType: metadata.NameOrganizational}
		}, ``},
		"a name in its parts":    {func(r *metadata.Record) { r.Creators[2].Name = "Doe, J." }, `creators[2].name: "Doe, Jane" is wanted, and "Doe, J." was found`},
		"the types of others":    {func(r *metadata.Record) { r.Types.RIS, r.Types.BibTeX = "DATA", "misc" }, ``},
		"digits of a coordinate": {func(r *metadata.Record) { r.GeoLocations[0].Polygons[0].Points[1].Longitude = "3.00" }, ``},
		"a coordinate":           {func(r *metadata.Record) { r.GeoLocations[0].Polygons[0].Points[1].Longitude = "3.01" }, `geoLocations[0].geoLocationPolygon[1].polygonPoint.pointLongitude: "3" is wanted, and "3.01" was found`},
		"no point inside":        {func(r *metadata.Record) { r.GeoLocations[0].Polygons[0].InPoint = metadata.Point{} }, `geoLocations[0].geoLocationPolygon[4]: "2; 3" is missing`},
		"the direction":          {func(r *metadata.Record) { slices.Reverse(r.GeoLocations[0].Polygons[0].Points) }, `geoLocations[0].geoLocationPolygon: "in this order`},
	} {
		t.Run(name, func(t *testing.T) {
			found := record()
			tt.change(found)
			changes := metadata.Diff(record(), found)
			if tt.want == "" {
				assert.Empty(t, changes)
				return
			}
			require.NotEmpty(t, changes)
			assert.Contains(t, changes[0].String(), tt.want)
			if name != "another licence" {
				assert.Len(t, changes, 1)
			}
		})
	}
}

// Lists of thousands are told apart by their words first.
func TestDiff_ofLongLists(t *testing.T) {
	const n = 3000
	rec, shuffled, others := &metadata.Record{}, &metadata.Record{}, &metadata.Record{}
	for i := range n {
		rec.Subjects = append(rec.Subjects, metadata.Subject{Subject: fmt.Sprintf("s %d", i)})
		others.Subjects = append(others.Subjects, metadata.Subject{Subject: fmt.Sprintf("t %d", i)})
		rec.Creators = append(rec.Creators, metadata.Organization(fmt.Sprintf("O %d", i)))
	}
	shuffled.Subjects, shuffled.Creators, others.Creators = slices.Clone(rec.Subjects), rec.Creators, rec.Creators[1:]
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) {
		shuffled.Subjects[i], shuffled.Subjects[j] = shuffled.Subjects[j], shuffled.Subjects[i]
	})
	assert.Empty(t, metadata.Diff(rec, shuffled))
	shuffled.Subjects[17].Subject += "  <p>" // which the service takes away
	assert.Empty(t, metadata.Diff(shuffled, rec))
	assert.Len(t, metadata.Diff(rec, others), n+1)
	twice := &metadata.Record{Subjects: append(slices.Clone(rec.Subjects), rec.Subjects[5]), Creators: rec.Creators}
	assert.Empty(t, metadata.Diff(twice, rec), "the service keeps subjects once")
}

// Names in one text come back in parts.
func TestDiff_ofNames(t *testing.T) {
	for _, tt := range []struct {
		wanted, found string // names
		family, given string // found
		same          bool
	}{
		{"Garza, Kristian", "Garza, Kristian", "Garza", "Kristian", true},
		{"Kristian Garza", "Garza, Kristian", "Garza", "Kristian", true},
		{"Smith J.", "Smith, J.", "Smith", "J.", true},
		{"Garcia - Lopez, Ana", "Garcia-Lopez, Ana", "Garcia-Lopez", "Ana", true},
		{"von Humboldt, Alexander", "von Humboldt, Alexander", "von Humboldt", "Alexander", true},
		{"King, Martin, Jr.", "King, Martin", "King", "Martin", true},
		{"Garza, Kristian", "Garza, Maria", "Garza", "Maria", false},
		{"Garza, Kristian", "Garza", "", "", false},
		{"van der berg", "de la cruz", "", "", false},
		{"Garza, Kristian", "Garza, Kristian", "Other", "Kristian", false},
	} {
		wanted := &metadata.Record{Creators: []metadata.Creator{{Name: tt.wanted}}}
		found := &metadata.Record{Creators: []metadata.Creator{{
			Name: tt.found, FamilyName: tt.family, GivenName: tt.given, NameType: metadata.NamePersonal,
		}}}
		assert.Equal(t, tt.same, len(metadata.Diff(wanted, found)) == 0, "%s: %s", tt.wanted, tt.found)
	}
}
