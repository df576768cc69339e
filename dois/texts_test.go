package dois_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
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

// inHTML are texts that have a meaning in XML or HTML.
var inHTML = []string{
	"Salt & Pepper", "a < b > c", "Salt &amp; Pepper", "H<sub>2</sub>O", "H&lt;sub&gt;2", "<p>R&D</p>", "&lt;", "&",
	"&eacute;t&eacute; &#38; &#x26;",
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
		PublicationYear: "2020", Types: metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset,
			ResourceType: "R " + text},
		Subjects:   []metadata.Subject{{Subject: "S " + text}},
		Sizes:      []string{"1 " + text},
		Formats:    []string{"f " + text},
		Version:    "v " + text,
		RightsList: []metadata.Rights{{Rights: "L " + text}},
		Descriptions: []metadata.Description{
			{Description: "D " + text + "\n\nmore " + text, DescriptionType: metadata.DescriptionAbstract}},
		GeoLocations: []metadata.GeoLocation{{Place: "G " + text}},
		FundingReferences: []metadata.FundingReference{{
			FunderName: "F " + text, AwardNumber: "7 " + text, AwardTitle: "W " + text,
		}},
		RelatedItems: []metadata.RelatedItem{{
			RelatedItemType: metadata.ResourceTypeJournal, RelationType: metadata.RelationIsPublishedIn,
			Titles:   []metadata.Title{{Title: "J " + text}},
			Creators: []metadata.Creator{{Name: "A " + text, NameType: metadata.NameOrganizational}},
			Volume:   "V " + text, Publisher: "Q " + text,
		}},
	}
}

// storedXML are the metadata of a DOI as its XML has them.
func storedXML(t *testing.T, srv *datacitetest.Server, name string) *metadata.Record {
	t.Helper()
	r := must(srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true}))(t)
	rec := must(metadata.ParseXML(bytes.NewReader(r.MetadataXML)))(t)
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
						doc := must(mds.NewDocument(&rec))(t)
						must(srv.MDS().Register(t.Context(), name, "https://example.org/", doc, nil))(t)
					} else {
						must(srv.DOIs().Create(t.Context(),
							&dois.Draft{DOI: name, URL: "https://example.org/", Event: dois.EventPublish, Record: rec}))(t)
					}
					want := storedXML(t, srv, name)
					for range 2 {
						r := must(srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true}))(t)
						assert.Equal(t, rec.Titles, r.Titles, text)
						d := must(r.Draft())(t)
						must(srv.DOIs().Update(t.Context(), name, d))(t)
						is := storedXML(t, srv, name)
						is.Dates = nil // the service adds one
						require.Empty(t, append(changed(want, is), changed(is, want)...), text)
					}
				}
			})
		})
	}
}

// changed are texts of a record that another one does not have.
func changed(a, b *metadata.Record) (all []string) {
	left := map[string]bool{}
	eachText(reflect.ValueOf(b).Elem(), func(text reflect.Value) { left[text.String()] = true })
	eachText(reflect.ValueOf(a).Elem(), func(text reflect.Value) {
		if !left[text.String()] {
			all = append(all, text.String())
		}
	})
	return all
}

// A write of other properties makes the deployed service write its own escaping into the XML.
// Update names the texts, and a repair does not let it happen.
func TestWritingOtherPropertiesKeepsTextsOrNamesThem(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		register := func(name string) *metadata.Record {
			rec := withTexts("Salt & Pepper")
			doc := must(mds.NewDocument(&rec))(t)
			must(srv.MDS().Register(t.Context(), name, "https://example.org/", doc, nil))(t)
			return storedXML(t, srv, name)
		}
		want := register("10.5072/updated")
		after := must(srv.DOIs().Update(t.Context(), "10.5072/updated",
			&dois.Draft{ContentURL: []string{"https://example.org/data"}}))(t)
		var named []string
		for _, f := range after.Warnings {
			if f.Code == "escaped" {
				named = append(named, f.Path)
			}
		}
		damage := changed(want, storedXML(t, srv, "10.5072/updated"))
		assert.Equal(t, []string{"titles[0].title", "titles[1].title", "subjects[0].subject", "sizes[0]", "formats[0]",
			"descriptions[0].description", "relatedItems[0].titles[0].title"}, named)
		assert.Len(t, damage, len(named), "%v", damage)
		after = must(srv.DOIs().Update(t.Context(), "10.5072/updated",
			&dois.Draft{URL: "https://example.org/new", Reason: "R&D"}))(t)
		assert.Empty(t, after.Warnings, "no metadata were written")
	})
}

// A record without identifiers, as from a list or a file, says at once all that it lacks.
func TestDraftNamesAllThatWasNotRead(t *testing.T) {
	var r dois.Record
	require.NoError(t, json.Unmarshal(
		[]byte(`{"doi":"10.5072/a","creators":[{"name":"A","affiliation":["B"]}],"contributors":[{"name":"C",`+
			`"affiliation":["D"]}],"publisher":"E"}`), &r))
	_, err := r.Draft()
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.EqualError(t, err, "datacite: Record: has no identifiers in creators, contributors, publisher, and writing "+
		"it would remove them; read it with Get, or list it with Affiliation and Publisher")
}

// Of more values without a place than are named, some may be metadata.
func TestDraftRefusesMoreThanIsNamed(t *testing.T) {
	for _, n := range []int{10, 11} {
		var r dois.Record
		views := strings.Repeat(`{"total":{"a":1}},`, n)
		require.NoError(t, json.Unmarshal([]byte(`{"doi":"10.5072/a","viewsOverTime":[`+views[:len(views)-1]+`]}`), &r))
		_, err := r.Draft()
		if n == 10 {
			require.NoError(t, err, "no metadata are among them")
			continue
		}
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.EqualError(t, err, "datacite: Record: only the first 10 values without a place in a record are named; "+
			"writing the record back would remove it")
	}
}

// What the service shows in other words than the XML that it wrote is written in those of the XML.
func TestDraftKeepsTheWordsOfTheXML(t *testing.T) {
	const mark = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
		`xsi:schemaLocation="http://datacite.org/schema/kernel-4 http://schema.datacite.org/meta/kernel-4/metadata.xsd">`
	const licence = `<rightsList><rights rightsIdentifier="CC-BY-4.0">CC BY</rights></rightsList>`
	const place = `<geoLocations><geoLocation><geoLocationPoint><pointLongitude>15.650</pointLongitude>` +
		`<pointLatitude>78.22</pointLatitude></geoLocationPoint></geoLocation></geoLocations>`
	const ice = "<subjects><subject>Sea\n ice</subject></subjects>"
	for mark, want := range map[string]string{mark: "eng", ">": "en"} {
		xml := strings.Replace(strings.Replace(xmlRecord, `kernel-4">`, `kernel-4"`+mark, 1), "<resourceType ",
			"<language>eng</language>"+licence+place+ice+"<resourceType ", 1)
		shown := must(metadata.ParseXML(strings.NewReader(xml)))(t)
		shown.DOI, shown.Language, shown.RightsList[0].RightsIdentifier = "10.5072/x", "en", "cc-by-4.0"
		shown.GeoLocations[0].Point.Longitude, shown.Subjects[0].Subject = "15.65", "Sea ice"
		attributes := strings.Replace(string(must(json.Marshal(shown))(t)), `"Example Press"`, `{"name":"Example Press"}`, 1)
		encoded := base64.StdEncoding.EncodeToString([]byte(xml))
		d := must(recordFrom(t, attributes[:len(attributes)-1]+`,"xml":"`+encoded+`"}`).Draft())(t)
		assert.Equal(t, want, d.Language)
		assert.Equal(t, mark != ">", d.RightsList[0].RightsIdentifier == "CC-BY-4.0")
		assert.Equal(t, mark != ">", d.GeoLocations[0].Point.Longitude == "15.650")
		assert.Equal(t, mark != ">", d.Subjects[0].Subject == "Sea\n ice")
	}
	// What the JSON has and the XML does not stays.
	more := strings.Replace(strings.Replace(xmlRecord, `kernel-4">`, `kernel-4"`+mark, 1), "10.5072/xml", "10.5072/x", 1)
	shown := must(metadata.ParseXML(strings.NewReader(more)))(t)
	shown.Language, shown.Subjects = "en", []metadata.Subject{{Subject: "ice"}}
	shown.RightsList = []metadata.Rights{{Rights: "Mine"}}
	shown.GeoLocations = []metadata.GeoLocation{{Place: "Alps"}}
	attributes := strings.Replace(string(must(json.Marshal(shown))(t)), `"Example Press"`, `{"name":"Example Press"}`, 1)
	d := must(recordFrom(t, attributes[:len(attributes)-1]+`,"xml":"`+
		base64.StdEncoding.EncodeToString([]byte(more))+`"}`).Draft())(t)
	assert.Equal(t, *shown, d.Record)
}

// A write as JSON makes the XML anew: what only the XML has would be lost. The service shows no name of the record
// among the alternate identifiers.
func TestDraftRefusesWhatOnlyTheXMLHas(t *testing.T) {
	xml := strings.Replace(xmlRecord, "<resourceType ", `<alternateIdentifiers>`+
		`<alternateIdentifier alternateIdentifierType="URL">https://example.org/x</alternateIdentifier>`+
		`<alternateIdentifier alternateIdentifierType="DOI">10.5072/X</alternateIdentifier></alternateIdentifiers>`+
		`<dates><date dateType="Collected">c. 1850</date></dates><resourceType `, 1)
	for date, lost := range map[string]string{`[{"date":"c. 1850","dateType":"Collected"}]`: "", "[]": "Record.dates[0]"} {
		shown := must(metadata.ParseXML(strings.NewReader(xml)))(t)
		shown.DOI, shown.Dates, shown.AlternateIdentifiers = "10.5072/x", nil, nil
		attributes := strings.Replace(string(must(json.Marshal(shown))(t)), `"Example Press"`, `{"name":"Example Press"}`, 1)
		_, err := recordFrom(t, attributes[:len(attributes)-1]+`,"url":"https://example.org/x","dates":`+date+
			`,"xml":"`+base64.StdEncoding.EncodeToString([]byte(xml))+`"}`).Draft()
		if lost == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, datacite.ErrInvalid)
		require.Len(t, datacite.Findings(err), 1)
		assert.Equal(t, []any{lost, datacite.CodeLoss, "c. 1850; Collected"}, []any{datacite.Findings(err)[0].Path,
			datacite.Findings(err)[0].Code, datacite.Findings(err)[0].Value})
	}
	require.ErrorIs(t, failure((*dois.Record)(nil).Draft()), datacite.ErrInvalid)
}

// Each part of a container is written again, also alone.
func TestDraftKeepsTheContainer(t *testing.T) {
	for _, c := range []dois.Container{{Title: "Glaciers"}, {Type: "Series"}, {Identifier: "1234-5679"}} {
		d := must((&dois.Record{Container: c}).Draft())(t)
		assert.Equal(t, &c, d.Container)
	}
	d := must(new(dois.Record).Draft())(t)
	assert.Nil(t, d.Container)
}

// eachText calls do with every text below v that is not empty.
func eachText(v reflect.Value, do func(text reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		if v.String() != "" {
			do(v)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), do)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			eachText(field, do)
		}
	}
}

func everything(t *testing.T) *metadata.Record {
	document := must(os.ReadFile("../testdata/records/full.xml"))(t)
	rec := must(metadata.ParseXML(bytes.NewReader(document)))(t)
	rec.DOI, rec.SchemaVersion = "", ""
	inItem := rec.RelatedItems[0]
	inItem.RelatedItemIdentifier = metadata.RelatedItemIdentifier{RelatedItemIdentifier: "10.5072/book",
		RelatedItemIdentifierType: metadata.IdentifierDOI}
	rec.RelatedItems = append(rec.RelatedItems, inItem)
	rec.FundingReferences = append(rec.FundingReferences, metadata.FundingReference{
		FunderName: "Other Foundation", FunderIdentifier: "https://ror.org/04wxnsj81",
		FunderIdentifierType: metadata.FunderROR,
	})
	return rec
}

var blanks = flag.Int("blanks", 1, "kinds of white space that each value of a record is tried with, of five")

// White space around a value, as forms and tables have it, does not lose the value: it is
// stored without, refused, or a finding names it.
func TestBlanksAroundValuesAreHarmlessOrNamed(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		written := 0
		// taken is what is stored of a record, and what was said of it; nil if it was refused.
		taken := func(write func(name string) ([]datacite.Finding, error)) (*metadata.Record, []datacite.Finding) {
			written++
			name := fmt.Sprintf("10.5072/blank-%d", written)
			said, err := write(name)
			if err != nil {
				return nil, nil
			}
			found := must(srv.DOIs().Get(t.Context(), name, nil))(t)
			found.DOI = ""
			return &found.Record, said
		}
		asJSON := func(rec *metadata.Record) func(string) ([]datacite.Finding, error) {
			return func(name string) ([]datacite.Finding, error) {
				made, err := srv.DOIs().Create(t.Context(), &dois.Draft{DOI: name, Record: *rec})
				if err != nil {
					return nil, err
				}
				return made.Warnings, nil
			}
		}
		asXML := func(doc mds.Document, err error) func(string) ([]datacite.Finding, error) {
			return func(name string) ([]datacite.Finding, error) {
				if err == nil {
					_, err = srv.MDS().PutMetadata(t.Context(), name, doc)
				}
				return doc.Findings(), err
			}
		}
		check := func(plain, spaced *metadata.Record, usual, said []datacite.Finding, what string) {
			if spaced != nil && len(said) == len(usual) {
				assert.Empty(t, metadata.Diff(plain, spaced), what)
			}
		}
		rec := everything(t)
		// the service makes one of the year
		rec.Dates = slices.DeleteFunc(rec.Dates, func(d metadata.Date) bool { return d.DateType == metadata.DateIssued })
		plainJSON, usualJSON := taken(asJSON(rec))
		plainXML, usualXML := taken(asXML(mds.NewDocument(rec)))
		tried := 0
		eachText(reflect.ValueOf(rec).Elem(), func(text reflect.Value) {
			value := text.String()
			kinds := []string{" " + value + " \t\n", "\u00a0" + value, value + "\u200b", "\u2060" + value, value + "\u00ad"}
			for range *blanks {
				spaced := kinds[tried%len(kinds)]
				tried++
				text.SetString(spaced)
				if *blanks > 1 || tried%2 == 0 {
					found, said := taken(asJSON(rec))
					check(plainJSON, found, usualJSON, said, fmt.Sprintf("as JSON %q", spaced))
				}
				if *blanks > 1 || tried%2 == 1 {
					found, said := taken(asXML(mds.NewDocument(rec)))
					check(plainXML, found, usualXML, said, fmt.Sprintf("as XML %q", spaced))
				}
			}
			text.SetString(value)
		})

		document := must(rec.XML())(t)
		for _, at := range valueInXML.FindAllSubmatchIndex(document, -1) {
			if bytes.Contains(document[at[0]:at[1]], []byte(`xmlns`)) || at[2] < bytes.Index(document, []byte("<identifier")) {
				continue
			}
			for i, pad := range [][2]string{{" ", ""}, {"\n    ", "\n  "}} {
				if tried++; *blanks == 1 && (tried/2+i)%2 == 0 {
					continue
				}
				spaced := slices.Concat(document[:at[2]], []byte(pad[0]), document[at[2]:at[3]], []byte(pad[1]), document[at[3]:])
				found, said := taken(asXML(mds.XML(spaced), nil))
				check(plainXML, found, usualXML, said, fmt.Sprintf("in XML %q", spaced[at[0]:at[1]+4]))
			}
		}
	})
}

// valueInXML is a text without elements, or an attribute.
var valueInXML = regexp.MustCompile(`(?:>|=")([^<>"]*[^<>"\s][^<>"]*)[<"]`)

// What encoding/json would replace by U+FFFD is refused, wherever it is in a draft; U+FFFD
// itself, and its escape sequence as a text, are stored as they are.
func TestTextsThatJSONWouldReplace(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	t.Cleanup(srv.Close)
	ctx, client := t.Context(), srv.DOIs()
	for path, draft := range map[string]*dois.Draft{
		"Draft.URL":           {URL: "https://example.org/\xff"},
		"Draft.Reason":        {Reason: "gone\xff"},
		"Draft.ContentURL":    {ContentURL: []string{"https://example.org/", "\xc3"}},
		"Draft.Container":     {Container: &dois.Container{Title: "Pr\xfcfungen"}},
		`Draft.Extra["a"]`:    {Extra: map[string]any{"a": []any{map[string]any{"b": "\xff"}}}},
		`Draft.Extra["raw"]`:  {Extra: map[string]any{"raw": json.RawMessage("\"\xff\"")}},
		`Draft.Extra["of"]`:   {Extra: map[string]any{"of": []*struct{ Name string }{nil, {"\xff"}}}},
		`Draft.Extra["key"]`:  {Extra: map[string]any{"key": map[string]string{"\xff": "b"}}},
		`Draft.Extra["\xff"]`: {Extra: map[string]any{"\xff": "b"}},
		`Draft.Extra["in"]`:   {Extra: map[string]any{"in": struct{ named }{named{"\xff"}}}},
		`Draft.Extra["text"]`: {Extra: map[string]any{"text": marshalled("\xff")}},
		`Draft.Extra["chan"]`: {Extra: map[string]any{"chan": make(chan int)}},
	} {
		before := len(srv.Requests())
		_, err := client.Update(ctx, "10.5072/texts", draft)
		field, ok := errors.AsType[*datacite.ValidationError](err)
		require.True(t, ok, "%s: %v", path, err)
		assert.Equal(t, path, field.Findings[0].Path)
		assert.Len(t, srv.Requests(), before)
	}
	must(client.Update(ctx, "10.5072/texts", &dois.Draft{Extra: map[string]any{"of": struct {
		Name string `json:"-"`
	}{"\xff"}}}))(t)
	for _, title := range []string{"\ufffd", `\ufffd`, `\\ufffd`, "\\\ufffd"} {
		r := must(client.Update(ctx, "10.5072/texts",
			&dois.Draft{Reason: title, Container: &dois.Container{Title: title}}))(t)
		assert.Equal(t, title, r.Reason)
	}
}

// named is embedded though its name is not exported; marshalled writes a text of itself.
type (
	named      struct{ Name string }
	marshalled []rune
)

func (m marshalled) MarshalText() ([]byte, error) { return []byte("\xff"), nil }

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
		made := must(c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: sound()}))(t)
		assert.Empty(t, made.Warnings)
	})
	scene("so is one with its DOI, which is sent once", func(t *testing.T, c *dois.Client) {
		rec := sound()
		must(c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: rec}))(t)
		rec.DOI = "10.5072/A"
		assert.Empty(t, must(c.Update(t.Context(), "10.5072/a", &dois.Draft{Record: rec}))(t).Warnings)
	})
	scene("a name that XML repeats is named", func(t *testing.T, c *dois.Client) {
		rec := sound()
		rec.AlternateIdentifiers = []metadata.AlternateIdentifier{{AlternateIdentifier: "https://example.org/a",
			AlternateIdentifierType: "URL"}, {AlternateIdentifier: "A-1", AlternateIdentifierType: "Local"}}
		made := must(c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", URL: "https://example.org/a",
			MetadataXML: must(rec.XML())(t)}))(t)
		assert.Equal(t, []string{"alternateIdentifiers[0].alternateIdentifier"}, pathsOf(made.Warnings))
	})
	scene("what the service drops is named", func(t *testing.T, c *dois.Client) {
		rec := sound()
		rec.Creators[0].Lang = "en"
		rec.Dates = metadata.List[metadata.Date]{{Date: "last year", DateType: metadata.DateCreated}}
		made := must(c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: rec}))(t)
		assert.Equal(t, []string{"creators[0].lang", "dates[0].date"}, pathsOf(made.Warnings))
	})
	scene("an update has no warning of what it leaves as it is", func(t *testing.T, c *dois.Client) {
		must(c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: sound()}))(t)
		changed := must(c.Update(t.Context(), "10.5072/a",
			&dois.Draft{Record: metadata.Record{Sizes: []string{"1 MB", " "}}}))(t)
		assert.Equal(t, []string{"sizes[1]"}, pathsOf(changed.Warnings))
		changed = must(c.Update(t.Context(), "10.5072/a", &dois.Draft{URL: "https://example.org/a"}))(t)
		assert.Empty(t, changed.Warnings)
	})
	scene("so is what it leaves out of the XML that it writes anew", func(t *testing.T, c *dois.Client) {
		rec := sound()
		rec.RelatedIdentifiers = metadata.List[metadata.RelatedIdentifier]{
			{RelatedIdentifier: "https://example.org/m", RelatedIdentifierType: metadata.IdentifierURL,
				RelationType: metadata.RelationHasMetadata, RelatedMetadataScheme: "citeproc+json", SchemeType: "XSD"}}
		document := must(rec.XML())(t)
		made := must(c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", MetadataXML: document}))(t)
		assert.Empty(t, made.Warnings)
		changed := must(c.Update(t.Context(), "10.5072/a", &dois.Draft{Record: metadata.Record{Version: "2"}}))(t)
		assert.Equal(t, []string{"relatedIdentifiers[0].relatedMetadataScheme", "relatedIdentifiers[0].schemeType"},
			pathsOf(changed.Warnings))
		changed = must(c.Update(t.Context(), "10.5072/a", &dois.Draft{URL: "https://example.org/2"}))(t)
		assert.Empty(t, changed.Warnings)
	})
	scene("in XML it has a line and a column", func(t *testing.T, c *dois.Client) {
		rec := sound()
		rec.Creators[0].Lang = "en"
		document := must(rec.XML())(t)
		made := must(c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", MetadataXML: document}))(t)
		require.Equal(t, []string{"creators[0].lang"}, pathsOf(made.Warnings))
		assert.NotZero(t, made.Warnings[0].Line)
	})
}
