package metadata_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

const minimal = `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier ` +
	`identifierType="DOI">10.5072/x</identifier><creators><creator><creatorName>A</creatorName></creator></creators>` +
	`<titles><title>T</title></titles><publisher>P</publisher><publicationYear>2020</publicationYear><resourceType ` +
	`resourceTypeGeneral="Dataset">D</resourceType></resource>`

const notUTF8 = "; the service reads every document as UTF-8"

// malformed are documents no reader may take, with where they go wrong.
var malformed = []struct {
	name, xml    string
	line, column int
	reason       string
}{
	{"empty", "", 1, 1, "the document has no element"},
	{"text only", "hello", 1, 1, "text outside the root element"},
	{"document type", "<!DOCTYPE resource [\n<!ENTITY a \"b\">]>\n<resource/>", 1, 1,
		"a document type declaration is not allowed"},
	{"billion laughs", `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 ` +
		`"&lol;&lol;">]><resource>&lol2;</resource>`, 1, 22, "a document type declaration is not allowed"},
	{"external entity", "\n<!DOCTYPE r SYSTEM \"file:///etc/passwd\"><resource/>", 2, 1,
		"a document type declaration is not allowed"},
	{"named entity", "<resource>\n  <version>&nbsp;</version></resource>", 2, 12, "the reference &nbsp; is not allowed"},
	{"lone ampersand", "<resource>A & B</resource>", 1, 13, `"&" must start a reference such as &amp;`},
	{"surrogate reference", "<resource>&#xD800;</resource>", 1, 11, "the reference &#xD800; is not allowed"},
	{"control reference", "<resource>&#1;</resource>", 1, 11, "the reference &#1; is not allowed"},
	{"control character", "<resource>\x01</resource>", 1, 11, "XML cannot contain the character U+0001"},
	{"not UTF-8", "<resource>Caf\xe9</resource>", 1, 14, "the byte 0xE9 is not UTF-8"},
	{"UTF-16 with a mark", "\xff\xfe<\x00r\x00", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-16, most significant byte first", "\xfe\xff\x00<\x00r", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-16 without a mark", "<\x00?\x00x\x00m\x00l\x00", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-16 the other way round", "\x00<\x00r\x00/\x00>", 1, 1, "the document is in UTF-16" + notUTF8},
	{"UTF-32 with a mark", "\xff\xfe\x00\x00<\x00\x00\x00", 1, 1, "the document is in UTF-32" + notUTF8},
	{"UTF-32 without a mark", "\x00\x00\x00<\x00\x00\x00r", 1, 1, "the document is in UTF-32" + notUTF8},
	{"UTF-16 in name only", `<?xml version="1.0" encoding="UTF-16"?><resource/>`, 1, 1,
		`the document declares the encoding "UTF-16"` + notUTF8},
	{"Latin-1", `<?xml version="1.0" encoding="ISO-8859-1"?><resource/>`, 1, 1,
		`the document declares the encoding "ISO-8859-1"` + notUTF8},
	{"Latin-1 with letters", "<?xml version=\"1.0\" encoding=\"windows-1252\"?><resource>\n\xe9</resource>", 1, 1,
		`the document declares the encoding "windows-1252"` + notUTF8},
	{"zeros", "\x00\x00<r/>", 1, 1, "XML cannot contain the character U+0000"},
	{"declaration without version", `<?xml encoding="UTF-8"?><resource/>`, 1, 1,
		"the XML declaration gives no version 1.x"},
	{"declaration with rubbish", `<?xml version="1.0" foo="bar"?><resource/>`, 1, 1,
		"the XML declaration is not written correctly"},
	{"declaration late", "\n<?xml version=\"1.0\"?><resource/>", 2, 1,
		"an XML declaration is allowed at the very start only"},
	{"two roots", "<resource/>\n<resource/>", 2, 1, "a second root element <resource>"},
	{"trailing text", "<resource/>\nend", 2, 1, "text outside the root element"},
	{"trailing CDATA", "<resource/><![CDATA[x]]>", 1, 12, "text outside the root element"},
	{"not closed", "<resource><version>", 1, 20, "the document ends inside <version>"},
	{"closed wrongly", "<resource><version></resource>", 1, 20, "</resource> instead of </version>"},
	{"closed twice", "<resource/></resource>", 1, 12, "</resource> closes nothing"},
	{"doubled attribute", `<resource a="1" a="2"/>`, 1, 17, "the attribute a occurs twice"},
	{"doubled in namespace", `<resource xmlns:a="urn:x" xmlns:b="urn:x" a:c="1" b:c="2"/>`, 1, 51,
		"the attribute c occurs twice"},
	{"prefix not declared", `<resource x:a="1"/>`, 1, 11, "the prefix x is not declared"},
	{"element prefix not declared", `<x:resource/>`, 1, 2, "the prefix x is not declared"},
	{"two colons", `<resource xmlns:a="urn:x" a:b:c="1"/>`, 1, 27, "a:b:c is not a name"},
	{"prefix for nothing", `<resource xmlns:a=""/>`, 1, 11, `the prefix a cannot stand for ""`},
	{"no quotes", `<resource a=1/>`, 1, 11, "the value of the attribute a is not in quotes"},
	{"no value", `<resource a/>`, 1, 11, "the attribute a has no value"},
	{"no blank between", `<resource a="1"b="2"/>`, 1, 16, "the tag <resource> is not written correctly"},
	{"less-than in attribute", `<resource a="<"/>`, 1, 14, `"<" is not allowed in an attribute; write &lt;`},
	{"less-than in text", `<resource>a < b</resource>`, 1, 13, `"<" must start a tag; write &lt; in text`},
	{"end of CDATA in text", `<resource>]]></resource>`, 1, 11, `"]]>" is not allowed in text`},
	{"CDATA not closed", `<resource><![CDATA[x</resource>`, 1, 11, "the CDATA section does not end"},
	{"comment not closed", `<resource><!-- x</resource>`, 1, 11, "the comment does not end"},
	{"dashes in comment", `<resource><!-- a -- b --></resource>`, 1, 18, `"--" is not allowed in a comment`},
	{"instruction without a name", `<resource><? x?></resource>`, 1, 13, "a processing instruction needs a name"},
	{"instruction with a colon", `<resource><?x:y z?></resource>`, 1, 13,
		"the name of a processing instruction has no colon"},
	{"end tag not closed", `<resource></resource `, 1, 11, "the end tag is not written correctly"},
	{"value not closed", `<resource a="1`, 1, 11, "the value of the attribute a does not end"},
	{"declaration not closed", `<?xml version="1.0"`, 1, 1, "the XML declaration does not end"},
	{"notation", `<resource><!NOTATION x></resource>`, 1, 11, "markup declarations are not allowed here"},
	{"name with a wrong character", "<resource><a×/></resource>", 1, 13, "the tag <a> is not written correctly"},
	{"instruction not closed", `<resource><?x </resource>`, 1, 11, "the processing instruction does not end"},
	{"tag not closed", `<resource a="1"`, 1, 1, "the tag <resource> does not end"},
	{"columns count characters", "<resource>\n<!-- é --> &\n</resource>", 2, 12,
		`"&" must start a reference such as &amp;`},
	{"other root", `<html xmlns="http://www.w3.org/1999/xhtml"/>`, 1, 1,
		`the root element is not <resource xmlns="http://datacite.org/schema/kernel-4">`},
	{"other namespace", `<resource xmlns="urn:x"/>`, 1, 1,
		`the root element is not <resource xmlns="http://datacite.org/schema/kernel-4">`},
	{"too deep", strings.Repeat("<resource>", 65), 1, 641, "elements nest deeper than 64"},
	{"too many attributes", "<resource" + manyAttributes(129) + "/>", 1, 1053,
		"the element <resource> has more than 128 attributes"},
	{"too many namespaces", "<resource" + manyNamespaces(65) + "/>", 1, 897, "more than 64 namespaces are declared"},
}

// A document of nothing but faults must not fill the memory with reports.
func TestValidateXML_reportsTheFirstTenThousand(t *testing.T) {
	document := strings.Replace(minimal, "</resource>", strings.Repeat("<x/>", 20_000)+"</resource>", 1)
	err := metadata.ValidateXML(strings.NewReader(document))
	invalid, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	assert.Len(t, invalid.Findings, 10_000)

	// What makes it unreadable is still found at its end.
	err = metadata.ValidateXML(strings.NewReader(document + "<y/>"))
	invalid, ok = errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	assert.EqualValues(t, "syntax", invalid.Findings[len(invalid.Findings)-1].Code)
}

func manyNamespaces(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " xmlns:a%d='x'", i)
	}
	return b.String()
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d='1'", i)
	}
	return b.String()
}

func TestParseXML_refuses(t *testing.T) {
	for _, tt := range malformed {
		t.Run(tt.name, func(t *testing.T) {
			_, err := metadata.ParseXML(strings.NewReader(tt.xml))
			assert.Equal(t, []datacite.Finding{{Code: "syntax", Line: tt.line, Column: tt.column, Reason: tt.reason}},
				datacite.Findings(err))
			assert.ErrorIs(t, metadata.ValidateXML(strings.NewReader(tt.xml)), datacite.ErrInvalid)
			findings, notRead := metadata.FindingsXML(strings.NewReader(tt.xml))
			require.NoError(t, notRead)
			last := findings[len(findings)-1]
			assert.Equal(t, []int{tt.line, tt.column}, []int{last.Line, last.Column})
		})
	}
}

func TestParseXML_refusesWhatIsTooLong(t *testing.T) {
	long := func() io.Reader {
		return io.MultiReader(strings.NewReader("<resource>\n"), strings.NewReader(strings.Repeat(" ", 10<<20)),
			iotest.ErrReader(errors.New("read on")))
	}
	_, err := metadata.ParseXML(long())
	assert.EqualError(t, err, "datacite: line 2, column 10485750: the document is longer than 10485760 bytes")
}

func TestParseXML_passesOnTheErrorOfTheReader(t *testing.T) {
	broken := errors.New("connection lost")
	_, err := metadata.ParseXML(io.MultiReader(strings.NewReader("<resource>"), iotest.ErrReader(broken)))
	assert.ErrorIs(t, err, broken)
	assert.ErrorIs(t, metadata.ValidateXML(iotest.ErrReader(broken)), broken)
	_, err = metadata.FindingsXML(iotest.ErrReader(broken))
	assert.ErrorIs(t, err, broken)
	require.ErrorIs(t, failure(metadata.Upgrade(iotest.ErrReader(broken), nil)), broken)
	assert.EqualError(t, failure(metadata.ParseXML(nil)), "datacite: r: is nil")
}

func parse(t *testing.T, document string) *metadata.Record {
	t.Helper()
	rec := must(metadata.ParseXML(strings.NewReader(document)))(t)
	return rec
}

func resource(inside string) string {
	return `<resource xmlns="http://datacite.org/schema/kernel-4">` + inside + `</resource>`
}

func TestParseXML_takesEveryNamespace(t *testing.T) {
	tests := []struct{ name, document, space string }{
		{"kernel 4", `<resource xmlns="http://datacite.org/schema/kernel-4"><version>1</version></resource>`,
			"http://datacite.org/schema/kernel-4"},
		{"with a prefix", `<d:resource xmlns:d="http://datacite.org/schema/kernel-4"><d:version>1</d:version></d:resource>`,
			"http://datacite.org/schema/kernel-4"},
		{"prefix declared again inside",
			`<a:resource xmlns:a="http://datacite.org/schema/kernel-4"><b:version ` +
				`xmlns:b="http://datacite.org/schema/kernel-4">1</b:version></a:resource>`, "http://datacite.org/schema/kernel-4"},
		{"kernel 3", `<resource xmlns="http://datacite.org/schema/kernel-3"><version>1</version></resource>`,
			"http://datacite.org/schema/kernel-3"},
		{"kernel 2.2", `<resource xmlns="http://datacite.org/schema/kernel-2.2"><version>1</version></resource>`,
			"http://datacite.org/schema/kernel-2.2"},
		{"none", `<resource><version>1</version></resource>`, ""},
		{"byte order mark", "\ufeff" + `<?xml version="1.0" encoding="utf-8" ` +
			`standalone="yes"?><resource><version>1</version></resource>`, ""},
		{"encoding without its hyphen", `<?xml version="1.0" encoding="utf8"?><resource><version>1</version></resource>`, ""},
		{"version 1.1 and single quotes", `<?xml version='1.1'?><resource><version>1</version></resource>`, ""},
		{"comments and instructions around",
			`<!-- a --><?b c?><resource><version>1</version></resource><!-- d -->` + "\n<?e?>", ""},
		{"names of all scripts", "<resource><größe/><名前 ključ·1='x'/><version>1</version></resource>", ""},
		{"text beside elements", `<resource><creators>stray</creators><version>1</version></resource>`, ""},
		{"other elements between", `<resource xmlns:x="urn:x"><x:version>2</x:version><version>1</version><new><version>` +
			`3</version></new></resource>`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, &metadata.Record{Version: "1", SchemaVersion: tt.space}, parse(t, tt.document))
		})
	}
}

func TestParseXML_readsText(t *testing.T) {
	tests := []struct{ name, title, want string }{
		{"references", "a &lt; b &amp;&amp; c &gt; d &quot;&apos;&#65;&#x42;", `a < b && c > d "'AB`},
		{"CDATA", "a<![CDATA[<b>&amp;]]>c", "a<b>&amp;c"},
		{"comment inside", "a<!-- <b> -->c", "ac"},
		{"instruction inside", "a<?b c?>c", "ac"},
		{"line ends", "a\r\nb\rc\nd&#13;e", "a\nb\nc\nd\re"},
		{"white space around", "\n\t  a b \n", "a b"},
		{"element inside", "a <i>b</i> c", "a b c"},
		{"a break joins no words", "one<br/>two", "one\ntwo"},
		{"no-break space stays", "\u00a0a\u00a0", "\u00a0a\u00a0"},
		{"beyond the basic plane", "𝄞 &#x1D11E;", "𝄞 𝄞"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := parse(t, resource("<titles><title>"+tt.title+"</title></titles>"))
			assert.Equal(t, tt.want, rec.Titles[0].Title)
		})
	}
}

// An element, a line feed and a text that reads like the element are three
// things, and stay so.
func TestParseXML_keepsDescriptions(t *testing.T) {
	const text = "\n  one<br/>two &lt;br/&gt; <![CDATA[<br/>]]>&#10;three<br></br>four\n"
	rec := parse(t, resource(`<descriptions><description descriptionType="Abstract" xml:lang="en">`+text+
		`</description></descriptions>`))
	want := metadata.List[metadata.Description]{{
		Description:     "\n  one\ntwo <br/> <br/>\nthree\nfour\n",
		DescriptionType: metadata.DescriptionAbstract,
		Lang:            "en",
		Breaks:          []int{6, 28},
	}}
	assert.Equal(t, want, rec.Descriptions)
	written := must(rec.XML())(t)
	assert.Contains(t, string(written), ">\n  one<br/>two &lt;br/&gt; &lt;br/&gt;\nthree<br/>four\n</description>")
	assert.Equal(t, want, parse(t, string(written)).Descriptions)

	data := must(json.Marshal(rec.Descriptions))(t)
	var fromJSON metadata.List[metadata.Description]
	require.NoError(t, json.Unmarshal(data, &fromJSON))
	want[0].Breaks = nil
	assert.Equal(t, want, fromJSON, "JSON has line feeds only")
}

// A document with a name of another type is read, and the name that is written is a DOI.
func TestRecord_XML_identifierIsADOI(t *testing.T) {
	rec := parse(t, `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="Handle">10.5072/a`+
		`</identifier></resource>`)
	rec.DOI = "10.5072/a"
	assert.Contains(t, string(must(rec.XML())(t)), `<identifier identifierType="DOI">10.5072/a</identifier>`)
}

func TestParseXML_readsAttributes(t *testing.T) {
	rec := parse(t, resource(`<titles><title lang='de' xml:lang=' fr ' titleType = "Sub&#116;itle">T</title></titles>`))
	assert.Equal(t, metadata.List[metadata.Title]{{Title: "T", TitleType: metadata.TitleSubtitle, Lang: "fr"}}, rec.Titles)
}

// The schema lets any attribute pass on these two elements, so a misspelt one
// reaches the service; a record must not swallow it on the way.
func TestParseXML_keepsAttributesTheSchemaLetsPass(t *testing.T) {
	document := resource(`<creators><creator><creatorName>A</creatorName>` +
		`<nameIdentifier nameIdentifierScheme="ORCID" affiliationIdentifier="x" xml:lang="en">1</nameIdentifier>` +
		`<affiliation xmlns:o="urn:o" o:p="gone" schemeURL="https://ror.org&#10;">B</affiliation></creator></creators>`)
	rec := parse(t, document)
	assert.Equal(t, []metadata.Attribute{{"affiliationIdentifier", "x"}, {"xml:lang", "en"}},
		rec.Creators[0].NameIdentifiers[0].Extra)
	assert.Equal(t, []metadata.Attribute{{"schemeURL", "https://ror.org\n"}}, rec.Creators[0].Affiliation[0].Extra)
	written := must(rec.XML())(t)
	assert.Contains(t, string(written),
		`<nameIdentifier nameIdentifierScheme="ORCID" affiliationIdentifier="x" xml:lang="en">1</nameIdentifier>`)
	assert.Contains(t, string(written), `<affiliation schemeURL="https://ror.org&#10;">B</affiliation>`)
}

func TestParseXML_separatesPlaces(t *testing.T) {
	rec := parse(t, resource(`<geoLocations><geoLocation>
		<geoLocationPlace>Rome</geoLocationPlace>
		<geoLocationPoint><pointLatitude>41.9</pointLatitude><pointLongitude>12.5</pointLongitude></geoLocationPoint>
		<geoLocationPlace>Oslo</geoLocationPlace>
		<geoLocationPoint><pointLatitude>59.9</pointLatitude><pointLongitude>10.75</pointLongitude></geoLocationPoint>
	</geoLocation><geoLocation/></geoLocations>`))
	other := parse(t, resource(`<geoLocations><region/><geoLocation><altitude>3</altitude><geoLocationPlace>Rome`+
		`</geoLocationPlace></geoLocation></geoLocations>`))
	assert.Equal(t, metadata.List[metadata.GeoLocation]{{Place: "Rome"}}, other.GeoLocations)
	assert.Equal(t, metadata.List[metadata.GeoLocation]{
		{Place: "Rome", Point: metadata.Point{Longitude: "12.5", Latitude: "41.9"}},
		{Place: "Oslo", Point: metadata.Point{Longitude: "10.75", Latitude: "59.9"}},
		{},
	}, rec.GeoLocations)
}

func TestParseXML_readsOlderKernels(t *testing.T) {
	rec := parse(t, `<resource xmlns="http://datacite.org/schema/kernel-3">
		<geoLocations><geoLocation>
			<geoLocationPoint>31.233 -67.302</geoLocationPoint>
			<geoLocationBox>41.090 -71.032  41.893 -68.211</geoLocationBox>
		</geoLocation><geoLocation><geoLocationPoint/></geoLocation><geoLocation><geoLocationBox/></geoLocation></geoLocations>
		<rights rightsURI="https://example.org/licence">Some</rights>
	</resource>`)
	assert.Equal(t, metadata.List[metadata.GeoLocation]{{
		Point: metadata.Point{Longitude: "-67.302", Latitude: "31.233"},
		Box:   metadata.Box{South: "41.090", West: "-71.032", North: "41.893", East: "-68.211"},
	}, {}, {}}, rec.GeoLocations, "the text of an element is that of no other one")
	assert.Equal(t, metadata.List[metadata.Rights]{{Rights: "Some", RightsURI: "https://example.org/licence"}},
		rec.RightsList)
}

// Every element, attribute and text of a valid document is in what is written of it, and every
// field of its record comes back from JSON. The official examples are among them.
func TestRecord_keepsTheExamples(t *testing.T) {
	files := must(filepath.Glob("../testdata/records/*.xml"))(t)
	require.NotEmpty(t, files)
	if schema := os.Getenv("DATACITE_SCHEMA"); schema != "" {
		examples := must(filepath.Glob(filepath.Join(schema, "examples", "*.xml")))(t)
		require.Len(t, examples, 31)
		files = append(files, examples...)
	}
	for _, file := range files {
		source := must(os.ReadFile(file))(t)
		rec := parse(t, string(source))
		if invalid, ok := errors.AsType[*datacite.ValidationError](metadata.ValidateXML(bytes.NewReader(source))); ok {
			assert.NoError(t, invalid.Except("identifier"), file)
		}
		assert.NoError(t, rec.Validate(), file)
		written := must(rec.XML())(t)
		assert.Equal(t, contents(t, source), contents(t, written), file)
		assert.Equal(t, rec, parse(t, string(written)), file)
		data := must(json.Marshal(rec))(t)
		var fromJSON metadata.Record
		require.NoError(t, json.Unmarshal(data, &fromJSON))
		clearExtra(reflect.ValueOf(rec).Elem())
		assert.Equal(t, *rec, fromJSON, file)
	}
}

// What the schema makes mandatory and lets be empty or blank stays so, or a valid
// document would be written as one that is not.
func TestRecord_XML_keepsEmptyAttributes(t *testing.T) {
	rec := parse(t, resource(`<publisher> </publisher><contributors><contributor contributorType="Other"><contributorName>
		</contributorName></contributor></contributors><alternateIdentifiers><alternateIdentifier alternateIdentifierType="">7</alternateIdentifier>
		</alternateIdentifiers><fundingReferences><fundingReference><funderName>	</funderName></fundingReference></fundingReferences>`))
	written := must(rec.XML())(t)
	for _, part := range []string{
		`<publisher> </publisher>`, `<contributorName> </contributorName>`, `<funderName> </funderName>`,
		`<alternateIdentifier alternateIdentifierType="">7</alternateIdentifier>`,
	} {
		assert.Contains(t, string(written), part)
	}
	assert.ErrorIs(t, rec.Validate(), datacite.ErrInvalid, "a blank is no name")
}

func TestRecord_XML_ofNothing(t *testing.T) {
	written := must(new(metadata.Record).XML())(t)
	assert.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="http://datacite.org/schema/kernel-4" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://datacite.org/schema/kernel-4 https://schema.datacite.org/meta/kernel-4/metadata.xsd">
  <identifier identifierType="DOI"/>
</resource>
`, string(written))
	for _, err := range []error{failure((*metadata.Record)(nil).XML()), (*metadata.Record)(nil).Validate()} {
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.EqualError(t, err, "datacite: record: is nil")
	}
}

func TestRecord_XML_refusesWhatXMLCannotHold(t *testing.T) {
	rec := &metadata.Record{
		Titles: []metadata.Title{{Title: "A"}, {Title: "B\x00"}},
		Descriptions: []metadata.Description{
			{Description: "caf\xe9", Lang: "\uffff"}, {Description: "a\nb\nc", Breaks: []int{-1, 1, 1, 2, 3, 1, 5}},
		},
		Creators: []metadata.Creator{{Name: "C", NameIdentifiers: []metadata.NameIdentifier{{
			Extra: []metadata.Attribute{{"affiliationIdentifier", "1"}, {"schemeURI", "2"}},
		}}, Affiliation: []metadata.Affiliation{{
			Name: "D", Extra: []metadata.Attribute{{"a b", "1"}, {"c", "1"}, {"c", "2"}, {"schemeURI", "3"}, {"xmlns", "4"},
				{"d", "\x01"}},
		}}}},
	}
	_, err := rec.XML()
	invalid, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	assert.Equal(t, []string{
		"attribute at creators[0].affiliation[0].Extra[0]", "attribute at creators[0].affiliation[0].Extra[2]",
		"attribute at creators[0].affiliation[0].Extra[3]", "attribute at creators[0].affiliation[0].Extra[4]",
		"attribute at creators[0].nameIdentifiers[0].Extra[1]", "element at descriptions[1].Breaks[0]",
		"element at descriptions[1].Breaks[2]",
		"element at descriptions[1].Breaks[3]", "element at descriptions[1].Breaks[5]", "element at descriptions[1].Breaks[6]",
		"encoding at creators[0].affiliation[0].Extra[5].Value", "encoding at descriptions[0].description",
		"encoding at descriptions[0].lang", "encoding at titles[1].title",
	}, errorsOf(invalid.Findings))
	assert.Contains(t, string(must((&metadata.Record{
		Descriptions: []metadata.Description{{Description: "\nb", Breaks: []int{0}}}}).XML())(t)), "<br/>b")
	for _, text := range []string{"caf\xe9", "\xe9", "\x80", "\uffff", "\x00"} { // alone
		_, err = (&metadata.Record{Version: text}).XML()
		require.ErrorIs(t, err, datacite.ErrInvalid, "%q", text)
	}
	_, err = parse(t, resource("<version>\ufffd</version>")).XML()
	assert.NoError(t, err, "a writer that failed must not spoil the next")
	assert.Contains(t, string(must((&metadata.Record{Version: "\ufffd"}).XML())(t)), "<version>\ufffd</version>")
}

// failure is the error of a call with a result.
func failure[T any](_ T, err error) error { return err }

// must is the result of a call that may not fail.
func must[T any](result T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return result
	}
}
