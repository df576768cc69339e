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

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

var written = flag.Int("written", 50,
	"random records that are written to each behaviour of the embedded service and read back")

// writers are the ways on which a record comes to the service.
var writers = map[string]func(*testing.T, *datacitetest.Server, string, metadata.Record){
	"XML": func(t *testing.T, srv *datacitetest.Server, doi string, rec metadata.Record) {
		rec.DOI = doi
		document := must(rec.XML())(t)
		must(srv.MDS().PutMetadata(t.Context(), doi, mds.XML(document)))(t)
	},
	"JSON": func(t *testing.T, srv *datacitetest.Server, doi string, rec metadata.Record) {
		rec.DOI, rec.SchemaVersion = "", ""
		must(srv.DOIs().Create(t.Context(), &dois.Draft{DOI: doi, Record: rec}))(t)
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
					found := must(srv.DOIs().Get(t.Context(), doi, nil))(t)
					rec.DOI = ""
					require.Empty(t, metadata.Diff(&rec, &found.Record), "%s: %.4000s", name, found.Raw)
					// but a title of markup alone is empty now
					if invalid, ok := errors.AsType[*datacite.ValidationError](found.Validate()); ok {
						require.NoError(t, invalid.Except("missing"), "%s: what the service took is not what it would refuse", name)
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
		if !f.Warning {
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
			// and of years such as 0054 the service takes XML alone
			rec.PublicationYear = metadata.Year(g.pick("1850", "2024", "9999"))
			for i := range rec.GeoLocations {
				rec.GeoLocations[i].Polygons = rec.GeoLocations[i].Polygons[:min(1, len(rec.GeoLocations[i].Polygons))]
			}
			if !yield(fmt.Sprintf("seed %d", seed), *rec) {
				return
			}
		}
	})
}

func TestDiff_ofWhatRepositoriesWriteIsEmpty(t *testing.T) {
	whatIsWritten(t, func(yield func(string, metadata.Record) bool) {
		for seed := range uint64(*written) {
			if !yield(fmt.Sprintf("seed %d", seed), *datacitetest.RandomRecord(seed)) {
				return
			}
		}
	})
}

func TestDiff_ofOfficialExamplesIsEmpty(t *testing.T) {
	files := must(filepath.Glob(filepath.Join(schemaDir(t), "examples", "*.xml")))(t)
	whatIsWritten(t, func(yield func(string, metadata.Record) bool) {
		for _, file := range files {
			source := must(os.ReadFile(file))(t)
			rec := must(metadata.ParseXML(bytes.NewReader(source)))(t)
			if !yield(filepath.Base(file), *rec) {
				return
			}
		}
	})
}

// added are the members that the service itself adds.
var added = []string{"creators.nameType", "contributors.nameType", "doi"}

// TestDiff_findsEachChange changes each value of full records, takes it away, takes
// away each item of a list and changes the order, in what is found and in what is
// wanted. What goes unnoticed must be in the table of allowances, and what is found
// without being wanted must be of the service.
func TestDiff_findsEachChange(t *testing.T) {
	t.Parallel()
	unnoticed := map[string]bool{}
	changes := 0
	for seed := range uint64(1 + *randomRecords/1_000) {
		rec, changed := &metadata.Record{}, &metadata.Record{}
		for _, r := range []*metadata.Record{rec, changed} {
			newGenerator(seed).fill(reflect.ValueOf(r).Elem(), "")
		}
		eachChange(reflect.ValueOf(changed).Elem(), "", func(path, what string) {
			changes++
			for name, pair := range map[string][2]*metadata.Record{what: {rec, changed}, "not " + what: {changed, rec}} {
				found := metadata.Diff(pair[0], pair[1])
				if len(found) == 0 {
					unnoticed[path+" "+name] = true
					continue
				}
				require.NotEmpty(t, found[0].Path)
				require.NotEqual(t, found[0].Desired, found[0].Found)
			}
		})
		require.Empty(t, metadata.Diff(rec, changed), "all was put back")
	}
	assert.Greater(t, changes, 300)
	for change := range unnoticed {
		path, what, _ := strings.Cut(change, " ")
		listed := false
		for allowed, always := range metadata.Allowed() {
			listed = listed || always && strings.Contains("."+path+".", "."+allowed+".") ||
				strings.HasPrefix(what, "not ") && slices.ContainsFunc(added, func(member string) bool {
					return strings.HasSuffix("."+path, "."+member)
				}) ||
				what != "changed" && !strings.HasPrefix(what, "not ") && strings.HasSuffix("."+path,
					"."+strings.TrimSuffix(allowed, ".*"))
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
			if !field.Anonymous && (name == "" || name == "-") {
				name = strings.ToLower(field.Name)
			}
			eachChange(value, strings.Trim(path+"."+name, "."), visit)
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
			Creators: []metadata.Creator{metadata.Person("Garza", "Kristian").AffiliatedWith("DataCite", "04wxnsj81"),
				metadata.Organization("CERN"), metadata.Person("Doe", "Jane")},
			Titles: []metadata.Title{{Title: "Alps"},
				{Title: "Snow"}}, Publisher: metadata.Publisher{Name: "Archive"}, PublicationYear: "2020",
			Types:    metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset},
			Subjects: []metadata.Subject{{Subject: "snow"}, {Subject: "ice"}}, Language: "en",
			Dates: []metadata.Date{{Date: "2019", DateType: metadata.DateCollected},
				{Date: "2021", DateType: metadata.DateUpdated}},
			RightsList: []metadata.Rights{metadata.SPDX("CC-BY-4.0")},
			GeoLocations: []metadata.GeoLocation{{Polygons: metadata.Polygons{{
				Points:  []metadata.Point{{"1", "2"}, {"3", "4"}, {"5", "6"}, {"1", "2"}},
				InPoint: metadata.Point{Longitude: "2", Latitude: "3"},
			}}}},
			RelatedIdentifiers: []metadata.RelatedIdentifier{{
				RelatedIdentifier: "10.5072/ABC", RelatedIdentifierType: metadata.IdentifierDOI,
				RelationType: metadata.RelationCites,
			}},
		}
	}
	for name, tt := range map[string]struct {
		change func(*metadata.Record)
		want   string
	}{
		"a title": {func(r *metadata.Record) {
			r.Titles[0].Title = "Alpen"
		}, `titles[0].title: "Alps" is wanted, and "Alpen" was found`},
		"a creator less": {func(r *metadata.Record) {
			r.Creators = r.Creators[1:]
		}, `creators[0]: "Garza, Kristian; Personal; Kristian; Garza; DataCite; https://ror.org/04wxnsj81; ROR; ` +
			`https://ror.org" is missing`},
		"a creator more": {func(r *metadata.Record) {
			r.Creators = append(r.Creators, metadata.Organization("EMBL"))
		}, `creators[3]: "EMBL; Organizational" is not wanted`},
		"the order of creators": {func(r *metadata.Record) { slices.Reverse(r.Creators) }, `creators: "in this order: `},
		"the order of titles":   {func(r *metadata.Record) { slices.Reverse(r.Titles) }, `titles: "in this order: `},
		"a subject": {func(r *metadata.Record) {
			r.Subjects[0].Subject = "glaciers"
		}, `subjects[0].subject: "snow" is wanted, and "glaciers" was found`},
		"the publisher": {func(r *metadata.Record) {
			r.Publisher.Name = "Attic"
		}, `publisher: "Archive" is wanted, and "Attic" was found`},
		"another ROR": {func(r *metadata.Record) {
			r.Creators[0].Affiliation[0].AffiliationIdentifier = "https://ror.org/01ggx4157"
		}, `creators[0].affiliation[0].affiliationIdentifier: "https://ror.org/04wxnsj81" is wanted, and ` +
			`"https://ror.org/01ggx4157" was found`},
		"another DOI": {func(r *metadata.Record) {
			r.RelatedIdentifiers[0].RelatedIdentifier = "10.5072/abd"
		}, `relatedIdentifiers[0].relatedIdentifier: "10.5072/ABC" is wanted, and "10.5072/abd" was found`},
		"another licence": {func(r *metadata.Record) {
			r.RightsList[0] = metadata.SPDX("CC0-1.0")
		}, `rightsList[0].rightsUri`},
		"an Issued date of a day": {func(r *metadata.Record) {
			r.Dates = append(r.Dates, metadata.Date{Date: "2020-01-02", DateType: metadata.DateIssued})
		}, `dates[2]: "2020-01-02; Issued" is not wanted`},
		"a language of a region": {func(r *metadata.Record) {
			r.Language = "fr"
		}, `language: "en" is wanted, and "fr" was found`},
		"a name in its parts": {func(r *metadata.Record) {
			r.Creators[2].Name = "Doe, J."
		}, `creators[2].name: "Doe, Jane" is wanted, and "Doe, J." was found`},
		"a coordinate": {func(r *metadata.Record) {
			r.GeoLocations[0].Polygons[0].Points[1].Longitude = "3.01"
		}, `geoLocations[0].geoLocationPolygon[1].polygonPoint.pointLongitude: "3" is wanted, and "3.01" was found`},
		"no point inside": {func(r *metadata.Record) {
			r.GeoLocations[0].Polygons[0].InPoint = metadata.Point{}
		}, `geoLocations[0].geoLocationPolygon[4]: "2; 3" is missing`},
		"a corner for the point inside": {func(r *metadata.Record) {
			p := &r.GeoLocations[0].Polygons[0]
			p.Points, p.InPoint = append(p.Points, metadata.Point{Longitude: "9", Latitude: "9"}), metadata.Point{}
		}, `geoLocations[0].geoLocationPolygon[4]: "2; 3" is missing`},
		"the direction": {func(r *metadata.Record) {
			slices.Reverse(r.GeoLocations[0].Polygons[0].Points)
		}, `geoLocations[0].geoLocationPolygon: "in this order`},
	} {
		t.Run(name, func(t *testing.T) {
			found := record()
			tt.change(found)
			changes := metadata.Diff(record(), found)
			require.NotEmpty(t, changes)
			assert.Contains(t, changes[0].String(), tt.want)
			switch name {
			case "another licence": // several properties of it
			case "a corner for the point inside":
				assert.Equal(t, `geoLocations[0].geoLocationPolygon[4]: "9; 9" is not wanted`, changes[1].String())
			default:
				assert.Len(t, changes, 1)
			}
		})
	}
}

// The order of some lists has a meaning.
func TestDiff_ofOrder(t *testing.T) {
	type record = metadata.Record
	a, b := metadata.Organization("A"), metadata.Organization("B")
	editor := func(c metadata.Creator) metadata.Contributor {
		return metadata.Contributor{Creator: c, ContributorType: metadata.ContributorEditor}
	}
	for path, pair := range map[string][2]record{
		"creators": {{Creators: []metadata.Creator{a, b}}, {Creators: []metadata.Creator{b, a}}},
		"contributors": {{Contributors: []metadata.Contributor{editor(a), editor(b)}},
			{Contributors: []metadata.Contributor{editor(b), editor(a)}}},
		"titles": {{Titles: []metadata.Title{{Title: "A"}, {Title: "B"}}},
			{Titles: []metadata.Title{{Title: "B"}, {Title: "A"}}}},
		"creators[0].affiliation": {
			{Creators: []metadata.Creator{a.AffiliatedWith("A", "").AffiliatedWith("B", "")}},
			{Creators: []metadata.Creator{a.AffiliatedWith("B", "").AffiliatedWith("A", "")}}},
		"": {{Sizes: []string{"A", "B"}}, {Sizes: []string{"B", "A"}}},
	} {
		changes := metadata.Diff(&pair[0], &pair[1])
		if path == "" {
			assert.Empty(t, changes)
			continue
		}
		require.Len(t, changes, 1, path)
		assert.Equal(t, path, changes[0].Path)
		assert.Regexp(t, "^in this order: (Editor; )?A", changes[0].Desired)
	}
}

// Lists of thousands are matched by their words first.
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
	assert.Empty(t, metadata.Diff(nil, &metadata.Record{}))
	shuffled.Subjects[17].Subject += "  <p>" // which the service takes away
	assert.Empty(t, metadata.Diff(shuffled, rec))
	assert.Len(t, metadata.Diff(rec, others), n+1)
	twice := &metadata.Record{Subjects: append(slices.Clone(rec.Subjects), rec.Subjects[5]), Creators: rec.Creators}
	assert.Empty(t, metadata.Diff(twice, rec), "the service keeps subjects once")
}

// Names in one text may come back in parts; those of organizations do not.
func TestDiff_ofNames(t *testing.T) {
	type creator = metadata.Creator
	named := func(name string) creator { return creator{Name: name} }
	org, person := metadata.Organization, metadata.Person
	nameAlone := func(name string, c creator) creator { c.Name = name; return c }
	for _, tt := range []struct {
		wanted, found creator
		same          bool
	}{
		{named("Garza, Kristian"), person("Garza", "Kristian"), true},
		{named("Garza, Kristian"), named("Garza, Kristian"), true},
		{named("Kristian Garza"), person("Garza", "Kristian"), true},
		{named("Ludwig van Beethoven"), person("van Beethoven", "Ludwig"), true},
		{named("Smith J."), person("Smith", "J."), true},
		{named("Garcia - Lopez, Ana"), person("Garcia-Lopez", "Ana"), true},
		{named("von Humboldt, Alexander"), person("von Humboldt", "Alexander"), true},
		{named("King, Martin, Jr."), person("King", "Martin"), true},
		{named("Dr. Ada Lovelace"), person("Lovelace", "Ada"), true},
		{named("Plato").ORCID("0000-0001-5727-2427"),
			creator{Name: ", Plato", NameType: metadata.NamePersonal, GivenName: "Plato"}.ORCID("0000-0001-5727-2427"), true},
		{creator{Name: "J. Doe", FamilyName: "Doe", GivenName: "Jane"},
			creator{Name: "Doe, Jane", FamilyName: "Doe", GivenName: "Jane"}, true},
		{creator{Name: "Plato", GivenName: "Plato"}, named("Plato"), true},
		{creator{FamilyName: "Doe", GivenName: "Jane"}, creator{Name: "Doe, Jane", FamilyName: "Doe", GivenName: "Jane"},
			true},
		{org("Smith &amp; Co"), org("Smith & Co"), true},
		{org("Institute - West"), org("Institute-West"), true},

		{named("Garza, Kristian"), person("Garza", "Maria"), false},
		{named("Garza, Kristian"), named("Garza"), false},
		{named("van der berg"), named("de la cruz"), false},
		{named("von Humboldt, Alexander"), person("Humboldt", "Alexander"), false},
		{named("Garza, Kristian"), nameAlone("Garza, Kristian", person("Other", "Kristian")), false},
		{named("Martin, Thomas"), person("Thomas", "Martin"), false},
		{person("Martin", "Thomas"), person("Thomas", "Martin"), false},
		{creator{Name: "Doe", FamilyName: "Doe"},
			creator{Name: "Doe, ", NameType: metadata.NamePersonal, FamilyName: "Doe"}, false},
		{org("Martin, Thomas"), person("Martin", "Thomas"), false},
		{org("Institute of Physics, Berlin, Germany"), org("Institute of Physics, Berlin, France"), false},
		{named("Institute of Physics, Berlin, Germany"), named("Institute of Physics, Berlin, France"), false},
		// a loss that Repair mends
		{named("Institute of Physics, Berlin, Germany"), person("Institute of Physics", "Berlin"), false},
		{org("University of Bonn"), org("University at Bonn"), false},
		{named("University of Bonn"), named("University at Bonn"), false},
		{org("Ministry of Health, Peru"), org("Peru, Ministry of Health"), false},
		{named("Ministry of Health, Peru"), person("Peru", "Ministry of Health"), false},
		{named("CERN"), creator{Name: "CERN", NameType: metadata.NamePersonal}, false},
		{creator{Name: "Doe, Jane", FamilyName: "Doe", GivenName: "Jane"}, person("Doe", "Jane"), false},
		{org("CERN"), creator{Name: "CERN", NameType: metadata.NameOrganizational, FamilyName: "CERN"}, false},
	} {
		wanted, found := &metadata.Record{Creators: []creator{tt.wanted}}, &metadata.Record{Creators: []creator{tt.found}}
		assert.Equal(t, tt.same, len(metadata.Diff(wanted, found)) == 0, "%s: %s", tt.wanted.Name, tt.found.Name)
	}
}

// What the DOI service made of values when its own software ran, by XML; and what
// somebody else must have changed.
func TestDiff_ofWhatTheServiceMakesOfTexts(t *testing.T) {
	title := func(text string) *metadata.Record { return &metadata.Record{Titles: []metadata.Title{{Title: text}}} }
	size := func(text string) *metadata.Record {
		if text == "" {
			return &metadata.Record{}
		}
		return &metadata.Record{Sizes: []string{text}}
	}
	description := func(text string) *metadata.Record {
		return &metadata.Record{Descriptions: []metadata.Description{
			{Description: text, DescriptionType: metadata.DescriptionAbstract}}}
	}
	place := func(text string) *metadata.Record {
		return &metadata.Record{GeoLocations: []metadata.GeoLocation{{Place: text}}}
	}
	item := func(field func(*metadata.RelatedItem) *string) func(string) *metadata.Record {
		return func(text string) *metadata.Record {
			rec := &metadata.Record{RelatedItems: []metadata.RelatedItem{{RelatedItemType: metadata.ResourceTypeJournal}}}
			*field(&rec.RelatedItems[0]) = text
			return rec
		}
	}
	volume := item(func(r *metadata.RelatedItem) *string { return &r.Volume })
	information := item(func(r *metadata.RelatedItem) *string { return &r.RelationTypeInformation })
	affiliation := func(id string) *metadata.Record {
		return &metadata.Record{Creators: []metadata.Creator{{Name: "A", Affiliation: []metadata.Affiliation{{
			Name: "U", AffiliationIdentifier: id, AffiliationIdentifierScheme: "X", SchemeURI: "https://example.org",
		}}}}}
	}
	below := func(id string) *metadata.Record {
		rec := affiliation(id)
		rec.Creators[0].Affiliation[0].SchemeURI = "https://example.org/"
		return rec
	}
	orcid := func(id string) *metadata.Record {
		return &metadata.Record{Creators: []metadata.Creator{
			{Name: "A", NameIdentifiers: []metadata.NameIdentifier{{NameIdentifier: id, NameIdentifierScheme: "ORCID"}}}}}
	}
	university := func(id string) *metadata.Record {
		return &metadata.Record{Creators: []metadata.Creator{{Name: "A", Affiliation: []metadata.Affiliation{{
			Name: "U", AffiliationIdentifier: id, AffiliationIdentifierScheme: "ROR"}}}}}
	}
	press := func(id string) *metadata.Record {
		return &metadata.Record{Publisher: metadata.Publisher{Name: "P", PublisherIdentifier: id,
			PublisherIdentifierScheme: "ROR"}}
	}
	funder := func(id string) *metadata.Record {
		return &metadata.Record{FundingReferences: []metadata.FundingReference{{
			FunderName: "F", FunderIdentifier: id, FunderIdentifierType: metadata.FunderROR}}}
	}
	relatedDOI := func(id string) *metadata.Record {
		return &metadata.Record{RelatedIdentifiers: []metadata.RelatedIdentifier{{RelatedIdentifier: id,
			RelatedIdentifierType: metadata.IdentifierDOI, RelationType: metadata.RelationCites}}}
	}
	point := func(longitude string) *metadata.Record {
		return &metadata.Record{GeoLocations: []metadata.GeoLocation{
			{Point: metadata.Point{Longitude: metadata.Coordinate(longitude), Latitude: "1"}}}}
	}
	year := func(text string) *metadata.Record { return &metadata.Record{PublicationYear: metadata.Year(text)} }
	licence := func(id string) *metadata.Record {
		return &metadata.Record{RightsList: []metadata.Rights{
			{RightsIdentifier: id, RightsIdentifierScheme: "SPDX", SchemeURI: "https://spdx.org/licenses/"}}}
	}
	alternate := func(kind string) *metadata.Record {
		if kind == "" {
			return &metadata.Record{}
		}
		return &metadata.Record{AlternateIdentifiers: []metadata.AlternateIdentifier{
			{AlternateIdentifier: "7", AlternateIdentifierType: kind}}}
	}
	date := func(text string) *metadata.Record {
		if text == "" {
			return &metadata.Record{}
		}
		return &metadata.Record{Dates: []metadata.Date{{Date: text, DateType: metadata.DateCollected}}}
	}
	language := func(code string) *metadata.Record { return &metadata.Record{Language: code} }
	rightsAt := func(address string) *metadata.Record {
		return &metadata.Record{RightsList: []metadata.Rights{
			{RightsURI: address, RightsIdentifier: address, RightsIdentifierScheme: "SPDX",
				SchemeURI: "https://spdx.org/licenses/"}}}
	}
	for _, tt := range []struct {
		of            func(string) *metadata.Record
		wanted, found string
		same          bool
	}{
		{title, "a &<\ufeffz", "a &amp;&lt;\ufeffz", true},
		{title, "a <!-- b", "a", true},
		{title, "a <!-- b --> c", "a c", true},
		{title, "<i>x", "<i>x</i>", true},
		{title, "<i>a<b>b</i>c</b>d", "<i>a<b>b</b></i>cd", true},
		{title, "<sub>2<sup>3</sub>4</sup>", "<sub>2<sup>3</sup></sub>4", true},
		{title, "a </b c", "a", true},
		{title, "<i>x</b>y", "<i>xy</i>", true},
		{description, "x <\nb> y", "x <b> y</b>", true},
		{description, "x <\nb> y", "x <b> z</b>", false},
		{title, "<b class='x'>t</b>, x<i/>y", `<b class="x">t</b>, x<i></i>y`, true},
		{title, `<z a=">">q`, "q", true},
		{title, "x<5 <= >= <> <<b>>", "x&lt;5 &lt;= &gt;= &lt;&gt; &lt;<b>&gt;</b>", true},
		{title, "a <? x ?> &copy 2020 &copy;", "a &amp;copy 2020 ©", true},
		{title, "a <!-- b", "a c", false},
		{title, "<i>x", "<b>x</b>", false},
		{title, "a<i>b</i>", "<i>ab</i>", false},
		{title, "<i>a</i>b", "<i>ab</i>", false},
		{title, "x<5", "x", false},
		{title, "a > b", "a b", false},
		{title, "a<br>b", "a<br>b", true},
		{title, "a<br>b", "ab", false},
		{title, "a < b", "a b", false},
		{title, "a & b", "a b", false},
		{size, "<z", "", true},
		{size, "z", "", false},
		{description, "a <i>b\r\nc", "a <i>b\nc</i>", true},
		{description, "a &<\ufeffz", "a &amp;&lt;\ufeffz", true},
		{alternate, "doi", "", true},
		{alternate, "local", "", false},
		{place, "A &amp; B", "A & B", true},
		{place, "A &amp;amp; B", "A & B", false},
		{volume, "1&amp;2", "1&2", true},
		{volume, "1&amp;2", "12", false},
		{information, "a word", "", true},
		{information, "", "a word", false},
		{affiliation, "ß\\null>", "https://example.org/%C3%9F%5Cnull%3E", true},
		{affiliation, "0000 0001 2240 3300", "https://example.org/0000%200001%202240%203300", true},
		{affiliation, "0000 0001 2240 3300", "https://example.org/0000%200001%202240%203301", false},
		{below, "1", "https://example.org/1", true},
		{university, "04wxnsj81", "https://ror.org/04wxnsj81", true},
		{university, "04wxnsj81", "https://ror.org/04wxnsj8", false},
		{university, "no ROR", "", true},
		{press, "04wxnsj81", "https://ror.org/04wxnsj81", true},
		{press, "no ROR", "", true},
		{funder, "04wxnsj81", "https://ror.org/04wxnsj81", true},
		{funder, "no ROR", "", true},
		{relatedDOI, "https://doi.org/10.5072/ABC", "10.5072/abc", true},
		{relatedDOI, "no DOI", "", true},
		{relatedDOI, "10.5072/abc", "", false},
		{relatedDOI, "no DOI", "10.5072/abc", false},
		{orcid, "no ORCID", "", true},
		{orcid, "0000-0001-5727-2424", "", false}, // whose check digit the service does not look at
		{point, ".25", "0.25", true},
		{point, "-7.", "-7.0", true},
		{point, "00045", "45", true},
		{point, "+1", "1", true},
		{point, ".25", "25", false},
		{year, "2020 ", "2020", true},
		{year, "2020 ", "2021", false},
		{licence, "GPL-3.0-or-later", "gpl-3.0+", true},
		{rightsAt, "http://example.org/by/", "https://example.org/by/legalcode", true},
		{rightsAt, "http://example.org/by/", "https://example.org/by-sa/", false},
		{rightsAt, "by", "by-sa", false},
		{licence, "", "", true},
		{licence, "", "mit", false},
		{licence, "GPL-3.0-only", "gpl-3.0", true},
		{licence, "GPL-3.0-only", "gpl-3.0+", false},
		{date, "c. 1850", "", true},
		{date, "1850", "", false},
		{language, "en-GB", "en", true},
		{language, "ger", "de", true},
		{language, "deu", "de", true},
		{language, "English", "en", true},
		{language, "tlh", "tlh", true},
		{language, "en_GB", "", true},
		{language, "en_GB", "en_GB", true},
		{language, "", "de", false},
		{language, "de", "", false},
		{language, "german", "fr", false},
		{language, "de", "fr", false},
		{language, "tlh", "", false},
	} {
		found := tt.of(tt.found)
		metadata.Unescape(found, nil)
		changes := metadata.Diff(tt.of(tt.wanted), found)
		assert.Equal(t, tt.same, len(changes) == 0, "%q: %q: %v", tt.wanted, tt.found, changes)
	}
}

// What the service drops or changes when it makes JSON of XML is a difference between two documents, and its other
// spellings are none.
func TestDiffXML(t *testing.T) {
	place := func(n int) *metadata.Record {
		square := metadata.Polygon{Points: []metadata.Point{{Longitude: "0", Latitude: "0"}, {Longitude: "1", Latitude: "0"},
			{Longitude: "1", Latitude: "1"}, {Longitude: "0", Latitude: "0"}}}
		return &metadata.Record{GeoLocations: []metadata.GeoLocation{
			{Place: "Alps", Polygons: slices.Repeat(metadata.Polygons{square}, n)}}}
	}
	person := func(scheme string) *metadata.Record {
		return &metadata.Record{Creators: []metadata.Creator{
			{Name: "Lovelace, Ada", NameIdentifiers: []metadata.NameIdentifier{
				{NameIdentifier: "0000-0001-5727-2427", NameIdentifierScheme: "ORCID", SchemeURI: scheme}}}}}
	}
	title := func(text string) *metadata.Record {
		return &metadata.Record{Titles: []metadata.Title{{Title: text}}}
	}
	abstract := func(text string, breaks ...int) *metadata.Record {
		return &metadata.Record{Descriptions: []metadata.Description{
			{Description: text, DescriptionType: metadata.DescriptionAbstract, Breaks: breaks}}}
	}
	size := func(text string) *metadata.Record { return &metadata.Record{Sizes: []string{text}} }
	rights := func(scheme string) *metadata.Record {
		return &metadata.Record{RightsList: []metadata.Rights{{Rights: "Mine", SchemeURI: scheme}}}
	}
	for name, tt := range map[string]struct {
		wanted, found *metadata.Record
		json, xml     int // differences
	}{
		"nothing":                    {&metadata.Record{}, &metadata.Record{}, 0, 0},
		"a title":                    {title("Alps"), title("Alpes"), 1, 1},
		"a title that is missing":    {title("Alps"), &metadata.Record{}, 1, 1},
		"a title that is not wanted": {&metadata.Record{}, title("Alps"), 1, 1},
		"a tag that is dropped":      {title("<p>Alps</p>"), title("Alps"), 0, 1},
		"a size":                     {size("1 MB"), size("2 MB"), 1, 1},
		"a tag of a size":            {size("<p>1</p> MB"), size("1  MB"), 0, 1},
		"white space":                {title(" The\n Alps"), title("The Alps"), 0, 0},
		"several polygons":           {place(2), place(0), 0, 2},
		"a line break":               {abstract("A\nB", 1), abstract("AB"), 0, 1},
		"the address of ORCID":       {person("https://orcid.org"), person(""), 0, 0},
		"the address of a scheme":    {rights("https://example.org/"), rights(""), 0, 1},
		"a date of issue by the year": {&metadata.Record{PublicationYear: "2020"},
			&metadata.Record{PublicationYear: "2020",
				Dates: []metadata.Date{{Date: "2020", DateType: metadata.DateIssued}}}, 0, 0},
	} {
		assert.Len(t, metadata.Diff(tt.wanted, tt.found), tt.json, name)
		assert.Len(t, metadata.DiffXML(tt.wanted, tt.found), tt.xml, name)
	}
}
