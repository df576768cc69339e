package metadata_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

const (
	kernel3 = "http://datacite.org/schema/kernel-3"
	// oldHead has all that is mandatory in kernel 4.
	oldHead = `<identifier identifierType="DOI">10.5072/old</identifier><creators><creator><creatorName>Lovelace, ` +
		`Ada</creatorName></creator></creators>` +
		`<titles><title>Notes</title></titles><publisher>Example ` +
		`Repository</publisher><publicationYear>1843</publicationYear><resourceType resourceTypeGeneral="Text"/>`
)

// What one part of an old document becomes: the part, what stands in its place, what is derived and what is
// refused. The other parts stay as they are.
func TestUpgrade(t *testing.T) {
	funder := func(inside string) string {
		return `<contributors><contributor contributorType="Funder">` + inside + `</contributor></contributors>`
	}
	funded := func(inside string) string {
		return `<fundingReferences><fundingReference>` + inside + `</fundingReference></fundingReferences>`
	}
	toFunding := `contributors[0].contributorType: "Funder" becomes "fundingReferences[0]"`
	for _, tt := range []struct{ name, old, now, derived, refused, values string }{
		{name: "comments and blanks", old: "<!-- a --> <subjects ><subject  xml:lang='en' " +
			"><![CDATA[<x>]]></subject></subjects >", now: "<!-- a --> <subjects ><subject  xml:lang='en' " +
			"><![CDATA[<x>]]></subject></subjects >"},
		{name: "a foreign namespace", old: `<version xmlns:x="urn:x">1</version>`,
			now: `<version xmlns:x="urn:x">1</version>`},
		{name: "the namespace again", old: `<d:version xmlns:d="http://datacite.org/schema/kernel-3">1</d:version>`,
			now: `<d:version xmlns:d="http://datacite.org/schema/kernel-4">1</d:version>`},
		{name: "rights", old: `<rights>https://example.org/free</rights>`,
			now: `<rightsList><rights>https://example.org/free</rights></rightsList>`},
		{name: "rights beside a list", old: `<rightsList/><rights>A</rights> <rights>B</rights>`,
			now: `<rightsList><rights>A</rights><rights>B</rights></rightsList>`},
		{name: "rights with markup", old: `<rights><a href="u:1">Free</a> &amp; open</rights>`,
			now:     `<rightsList><rights>Free &amp; open</rights></rightsList>`,
			derived: `rightsList[0].rights: "<a href=\"u:1\">Free</a> &amp; open" becomes "Free & open"`},
		{name: "an attribute of a size", old: `<sizes><size unit="MB" >3</size></sizes>`,
			now: `<sizes><size >3</size></sizes>`, derived: `sizes[0]: "unit=MB" is left out`},
		{name: "a film", old: `<resourceType resourceTypeGeneral='Film'>Silent</resourceType>`,
			now:     `<resourceType resourceTypeGeneral="Audiovisual">Silent</resourceType>`,
			derived: `types.resourceTypeGeneral: "Film" becomes "Audiovisual"`},
		{name: "the day of publication", old: `<publicationYear>2010-05-03</publicationYear>`,
			now: `<publicationYear>2010</publicationYear>`, derived: `publicationYear: "2010-05-03" becomes "2010"`},
		{name: "a year that is none", old: `<publicationYear>about 1987</publicationYear>`, refused: `publicationYear`},
		{name: "a year that is given", old: `<publicationYear>about 1987</publicationYear>`, values: `publicationYear=1987`,
			now:     `<publicationYear>1987</publicationYear>`,
			derived: `publicationYear: "about 1987" becomes "1987"`},
		{name: "two publishers", old: `<publisher>Another</publisher>`, refused: `publisher`},
		{name: "two publishers, and one given", old: `<publisher>Another</publisher>`, values: `publisher=Both`,
			derived: "publisher: \"Example Repository\" becomes \"Both\"\npublisher: \"Another\" is left out"},
		{name: "two languages", old: `<language>en</language><language>eng</language>`, refused: `language`},
		{name: "a blank in a term", old: `<dates><date dateType="Available ">2010-01-01</date></dates>`,
			now:     `<dates><date dateType="Available">2010-01-01</date></dates>`,
			derived: `dates[0].dateType: "Available " becomes "Available"`},
		{name: "a blank around a film", old: `<resourceType resourceTypeGeneral=' Film '>Silent</resourceType>`,
			now:     `<resourceType resourceTypeGeneral="Audiovisual">Silent</resourceType>`,
			derived: `types.resourceTypeGeneral: " Film " becomes "Audiovisual"`},
		{name: "a start", old: `<dates><date dateType="StartDate">2010</date></dates>`,
			now:     `<dates><date dateType="Other" dateInformation="StartDate">2010</date></dates>`,
			derived: `dates[0].dateType: "StartDate" becomes "Other"`},
		{name: "a start and an end of a given type",
			old:    `<dates><date dateType="EndDate">2011</date><date dateType="StartDate">2010</date></dates>`,
			values: `dates[0].dateType=Collected dates[1].dateType=Collected`, now: `<dates><date dateType="Collected">` +
				`2010/2011</date></dates>`,
			derived: "dates[0].dateType: \"EndDate\" becomes \"Other\"\ndates[1].dateType: \"StartDate\" becomes \"Other\"\n" +
				"dates[0].dateType: \"Other\" becomes \"Collected\"\ndates[1].dateType: \"Other\" becomes \"Collected\"\ndates: " +
				"\"2010 and 2011\" becomes \"2010/2011\""},
		{name: "a start and an end of two types",
			old:    `<dates><date dateType="StartDate">2010</date><date dateType="EndDate">2011</date></dates>`,
			values: `dates[0].dateType=Collected dates[1].dateType=Valid`,
			derived: strings.Replace(periodOfTwo, `dates[1].dateType: "Other" becomes "Collected"`,
				`dates[1].dateType: "Other" becomes "Valid"`, 1),
			now: `<dates><date dateType="Collected" dateInformation="StartDate">2010</date><date dateType="Valid" ` +
				`dateInformation="EndDate">2011</date></dates>`},
		{name: "a start with more information",
			old: `<dates><date dateType="StartDate" dateInformation="dry season">2010</date><date ` +
				`dateType="EndDate">2011</date></dates>`,
			values: `dates[0].dateType=Collected dates[1].dateType=Collected`, derived: periodOfTwo,
			now: `<dates><date dateType="Collected" dateInformation="StartDate; dry season">2010</date><date ` +
				`dateType="Collected" dateInformation="EndDate">2011</date></dates>`},
		{name: "an end with more information",
			old: `<dates><date dateType="StartDate">2010</date><date dateType="EndDate" dateInformation="dry ` +
				`season">2011</date></dates>`,
			values: `dates[0].dateType=Collected dates[1].dateType=Collected`, derived: periodOfTwo,
			now: `<dates><date dateType="Collected" dateInformation="StartDate">2010</date><date dateType="Collected" ` +
				`dateInformation="EndDate; dry season">2011</date></dates>`},
		{name: "an end without a day", old: `<dates><date dateType="StartDate">2010</date><date dateType="EndDate"/></dates>`,
			values: `dates[0].dateType=Collected dates[1].dateType=Collected`, derived: periodOfTwo,
			now: `<dates><date dateType="Collected" dateInformation="StartDate">2010</date><date dateType="Collected" ` +
				`dateInformation="EndDate"/></dates>`},
		{name: "an end with an unknown attribute",
			old:    `<dates><date dateType="StartDate">2010</date><date dateType="EndDate" own="1">2011</date></dates>`,
			values: `dates[0].dateType=Collected dates[1].dateType=Collected`, refused: `dates[1].date`},
		{name: "a date without a type", old: `<dates><date>2010</date></dates>`, refused: `dates[0].dateType`},
		{name: "an identifier without a type",
			old: `<alternateIdentifiers><alternateIdentifier>1</alternateIdentifier>` +
				`</alternateIdentifiers>`, refused: `alternateIdentifiers[0].alternateIdentifierType`},
		{name: "a type that is given", old: `<alternateIdentifiers><alternateIdentifier>1</alternateIdentifier>` +
			`</alternateIdentifiers>`, values: `alternateIdentifiers[0].alternateIdentifierType=Local`,
			now: `<alternateIdentifiers><alternateIdentifier ` +
				`alternateIdentifierType="Local">1</alternateIdentifier></alternateIdentifiers>`,
			derived: `alternateIdentifiers[0].alternateIdentifierType: "" becomes "Local"`},
		{name: "a funder", old: funder("<contributorName>Treasury</contributorName>"),
			now: funded("<funderName>Treasury</funderName>"), derived: toFunding},
		{name: "a funder with its affiliation",
			old: funder("<contributorName>Treasury</contributorName><affiliation>London</affiliation>"),
			now: `<contributors><contributor contributorType="Other"><contributorName>Treasury</contributorName><affiliation>` +
				`London</affiliation></contributor></contributors>` +
				funded("<funderName>Treasury</funderName>"), derived: toFunding +
				"\ncontributors[0].contributorType: \"Funder\" becomes \"Other\""},
		{name: "no contributors", old: `<contributors/>`, now: `<contributors/>`},
		{name: "a funder with an identifier that says more", old: funder(`<contributorName>Treasury</contributorName>` +
			`<nameIdentifier nameIdentifierScheme="ROR" own="1">1</nameIdentifier>`),
			now: `<contributors><contributor contributorType="Other"><contributorName>Treasury</contributorName>` +
				`<nameIdentifier nameIdentifierScheme="ROR" own="1">1</nameIdentifier></contributor></contributors>` +
				funded(`<funderName>Treasury</funderName><funderIdentifier funderIdentifierType="ROR">1</funderIdentifier>`),
			derived: toFunding + "\ncontributors[0].contributorType: \"Funder\" becomes \"Other\""},
		{name: "a funder with a comment and a namespace",
			old: funder(`<!-- a --><contributorName xmlns:x="urn:x">Treasury</contributorName>`),
			now: funded("<funderName>Treasury</funderName>"), derived: toFunding},
		{name: "a funder beside a funding reference", old: funder("<contributorName>Treasury</contributorName>") +
			funded("<funderName>Mint</funderName>"), now: `<fundingReferences><fundingReference><funderName>Mint</funderName>` +
			`</fundingReference><fundingReference><funderName>Treasury</funderName></fundingReference></fundingReferences>`,
			derived: strings.Replace(toFunding, "[0]\"", "[1]\"", 1)},
		{name: "a funder with two names",
			old:     funder("<contributorName>A</contributorName><contributorName>B</contributorName>"),
			refused: `contributors[0].name`},
		{name: "a funder with two identifiers", old: funder(`<contributorName>A</contributorName>` +
			`<nameIdentifier nameIdentifierScheme="ROR">1</nameIdentifier>` +
			`<nameIdentifier nameIdentifierScheme="GRID">2</nameIdentifier>`),
			now: `<contributors><contributor contributorType="Other"><contributorName>A</contributorName>` +
				`<nameIdentifier nameIdentifierScheme="ROR">1</nameIdentifier><nameIdentifier nameIdentifierScheme="GRID">2` +
				`</nameIdentifier></contributor></contributors>` +
				funded(`<funderName>A</funderName><funderIdentifier funderIdentifierType="ROR">1</funderIdentifier>`),
			derived: toFunding + "\ncontributors[0].contributorType: \"Funder\" becomes \"Other\""},
		{name: "a funder without a name", old: funder("<contributorName/>"), refused: `fundingReferences[0].funderName`},
		{name: "text beside elements", old: `<contributors><contributor contributorType="Editor">e.g. ` +
			`<contributorName>A</contributorName></contributor></contributors>`,
			now: `<contributors><contributor contributorType="Editor"><contributorName>A</contributorName></contributor>` +
				`</contributors>`, derived: `contributors[0]: "e.g." is left out`},
		{name: "a name with markup", old: `<contributors><contributor contributorType="Editor">` +
			`<contributorName>A <i>B</i></contributorName></contributor></contributors>`,
			now: `<contributors><contributor contributorType="Editor"><contributorName>A B</contributorName></contributor>` +
				`</contributors>`, derived: `contributors[0].name: "A <i>B</i>" becomes "A B"`},
		{name: "a point", old: "<geoLocations><geoLocation><geoLocationPoint> 1e1\n-67.302 " +
			"</geoLocationPoint></geoLocation></geoLocations>",
			now: `<geoLocations><geoLocation><geoLocationPoint><pointLatitude>1e1</pointLatitude><pointLongitude>` +
				`-67.302</pointLongitude></geoLocationPoint></geoLocation></geoLocations>`},
		{name: "a box over the date line",
			old: `<geoLocations><geoLocation><geoLocationBox>-20 170 -10 -170</geoLocationBox></geoLocation></geoLocations>`,
			now: `<geoLocations><geoLocation><geoLocationBox><southBoundLatitude>-20</southBoundLatitude><westBoundLongitude>` +
				`170</westBoundLongitude>` +
				`<northBoundLatitude>-10</northBoundLatitude><eastBoundLongitude>-170</eastBoundLongitude></geoLocationBox>` +
				`</geoLocation></geoLocations>`},
		{name: "numbers exchanged", old: `<geoLocations><geoLocation><geoLocationPoint>151.2 ` +
			`-33.9</geoLocationPoint></geoLocation></geoLocations>`, refused: `geoLocations[0].geoLocationPoint.pointLatitude`},
		{name: "no numbers", old: `<geoLocations><geoLocation><geoLocationPoint>NaN ` +
			`INF</geoLocationPoint></geoLocation></geoLocations>`,
			refused: "geoLocations[0].geoLocationPoint.pointLatitude geoLocations[0].geoLocationPoint.pointLongitude"},
		{name: "one number", old: `<geoLocations><geoLocation><geoLocationPoint>1</geoLocationPoint></geoLocation>` +
			`</geoLocations>`,
			refused: "geoLocations[0].geoLocationPoint.pointLongitude geoLocations[0].geoLocationPoint.pointLatitude " +
				"geoLocations[0].geoLocationPoint"},
		{name: "a name that is given", old: `<contributors><contributor ` +
			`contributorType="Editor"><nameIdentifier>1</nameIdentifier></contributor>` +
			`</contributors>`, values: `contributors[0].name=E`,
			now: `<contributors><contributor contributorType="Editor"><contributorName>E</contributorName><nameIdentifier>` +
				`1</nameIdentifier></contributor></contributors>`,
			derived: `contributors[0].name: "" becomes "E"`},
		{name: "a value for a place that is right", old: `<version>1</version>`, values: `publicationYear=1844`,
			refused: `publicationYear`},
		{name: "a value for no place", old: `<version>1</version>`, values: `creators[0].shoeSize=42`,
			refused: `creators[0].shoeSize`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head := oldHead
			for _, name := range []string{"resourceType", "publicationYear"} {
				if strings.HasPrefix(tt.old, "<"+name) { // in its place
					head = regexp.MustCompile("<"+name+"[^>]*/>|<"+name+">.*</"+name+">").ReplaceAllString(head, "")
				}
			}
			document := func(space, part string) string {
				return "<?xml version='1.0'?>\n<resource\n xmlns='" + space + "' >" + head + part + "</resource >\n"
			}
			opts := &metadata.UpgradeOptions{Values: map[string]string{}}
			for pair := range strings.FieldsSeq(tt.values) {
				path, value, _ := strings.Cut(pair, "=")
				opts.Values[path] = value
			}
			got, err := metadata.Upgrade(strings.NewReader(document(kernel3, tt.old)), opts)
			assert.Equal(t, tt.refused, strings.Join(paths(err), " "))
			if tt.refused != "" {
				assert.Nil(t, got.XML)
				return
			}
			require.NoError(t, err)
			var derived []string
			for _, d := range got.Derived[1:] {
				derived = append(derived, d.String())
			}
			assert.Equal(t, tt.derived, strings.Join(derived, "\n"))
			if tt.now != "" {
				want := strings.Replace(document(metadata.Namespace, tt.now), "'"+metadata.Namespace+"'",
					`"`+metadata.Namespace+`"`, 1)
				assert.Equal(t, want, string(got.XML))
			}
			again := must(metadata.Upgrade(strings.NewReader(string(got.XML)), nil))(t)
			assert.Equal(t, &metadata.Upgraded{XML: got.XML, Kernel: metadata.Namespace}, again)
		})
	}
}

// periodOfTwo is what becomes of a start and an end that make no range.
const periodOfTwo = "dates[0].dateType: \"StartDate\" becomes \"Other\"\ndates[1].dateType: \"EndDate\" becomes " +
	"\"Other\"\n" +
	"dates[0].dateType: \"Other\" becomes \"Collected\"\ndates[1].dateType: \"Other\" becomes \"Collected\""

func paths(err error) (all []string) {
	if invalid, ok := errors.AsType[*datacite.ValidationError](err); ok {
		for _, f := range invalid.Findings {
			all = append(all, f.Path)
		}
	}
	return all
}

// The identifier of a funder keeps its scheme where kernel 4 has it.
func TestUpgradeFunders(t *testing.T) {
	for scheme, want := range map[string]string{
		"isni 1": "ISNI", "GRID 1": "GRID", "ror 1": "ROR", "FundRef 1": "Crossref Funder ID",
		"Crossref Funder ID 1": "Crossref Funder ID",
		"VIAF 1":               "Other", " 1": "Other", "DOI https://doi.org/10.13039/501": "Crossref Funder ID",
	} {
		at := strings.LastIndex(scheme, " ")
		got, err := metadata.Upgrade(strings.NewReader(`<d:resource xmlns:d="`+kernel3+`">`+
			regexp.MustCompile(`<(/?)`).ReplaceAllString(oldHead+
				`<contributors><contributor contributorType="Funder"><contributorName>F</contributorName><nameIdentifier `+
				`schemeURI="u:1" nameIdentifierScheme="`+
				scheme[:at]+`">`+scheme[at+1:]+`</nameIdentifier></contributor></contributors></resource>`, "<${1}d:")), nil)
		require.NoError(t, err, scheme)
		assert.Empty(t, parse(t, string(got.XML)).Contributors, "nothing of them is lost")
		assert.Equal(t, metadata.List[metadata.FundingReference]{
			{FunderName: "F", FunderIdentifier: scheme[at+1:], FunderIdentifierType: metadata.FunderIdentifierType(want),
				SchemeURI: "u:1"},
		}, parse(t, string(got.XML)).FundingReferences, scheme)
	}
}

// The location of the schema is that of kernel 4. What is no record is refused.
func TestUpgradeOfTheRoot(t *testing.T) {
	got := must(metadata.Upgrade(strings.NewReader(`<resource xmlns="`+kernel3+`" `+
		`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="`+kernel3+` metadata.xsd" `+
		`xsi:noNamespaceSchemaLocation="old.xsd">`+oldHead+`</resource>`), nil))(t)
	location := metadata.Namespace + " https://schema.datacite.org/meta/kernel-4/metadata.xsd"
	assert.Equal(t, []metadata.Derived{{Path: "schemaVersion", Old: kernel3, New: metadata.Namespace},
		{Path: "noNamespaceSchemaLocation", Old: "old.xsd"},
		{Path: "schemaLocation", Old: kernel3 + " metadata.xsd", New: location}}, got.Derived)
	assert.Contains(t, string(got.XML), ` xsi:schemaLocation="`+location+`">`)
	assert.NotContains(t, string(got.XML), "old.xsd")
	got = must(metadata.Upgrade(strings.NewReader(`<resource xmlns="">`+oldHead+`</resource>`), nil))(t)
	assert.Equal(t, `<resource xmlns="`+metadata.Namespace+`">`+oldHead+`</resource>`, string(got.XML))
	for _, text := range []string{"<resource>", "<record/>", `<resource xmlns="urn:x"/>`} {
		_, err := metadata.Upgrade(strings.NewReader(text), nil)
		require.ErrorIs(t, err, datacite.ErrInvalid, text)
	}
}

// What is refused is named at its place in the old document, and can be given.
func TestUpgradeOfAnEmptyRecord(t *testing.T) {
	const empty = "<resource lastMetadataUpdate='2011-01-01'>\n<publisher></publisher>\n\n<publicationYear/></resource>"
	values := map[string]string{
		"publisher": "P", "publicationYear": "2011", "doi": "10.5072/a", "creators[0].name": "A", "titles[0].title": "T",
		"types.resourceTypeGeneral": "Dataset",
	}
	got, err := metadata.Upgrade(strings.NewReader(empty), nil)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(values)), paths(err))
	assert.Nil(t, got.XML)
	invalid, _ := errors.AsType[*datacite.ValidationError](err)
	for _, f := range invalid.Findings {
		assert.Equal(t, map[string]int{"publisher": 2, "publicationYear": 4}[f.Path], max(f.Line, 1)/2*2, f)
	}
	got = must(metadata.Upgrade(strings.NewReader(empty), &metadata.UpgradeOptions{Values: values}))(t)
	assert.Empty(t, refusals(t, []string{string(got.XML)}))
	assert.Contains(t, string(got.XML), `<identifier identifierType="DOI">10.5072/a</identifier>`)
}

// An oldKernel is a version of the schema before kernel 4.
type oldKernel struct{ folder, space string }

var oldKernels = []oldKernel{
	{"kernel-2/2.0", ""}, {"kernel-2/2.1", "http://datacite.org/schema/kernel-2.1"},
	{"kernel-2/2.2", "http://datacite.org/schema/kernel-2.2"},
	{"kernel-3/3.0", kernel3}, {"kernel-3/3.1", kernel3},
}

var enumeration = regexp.MustCompile(`enumeration value="([^"]*)"`)

// terms are those of a vocabulary in the kernel's own schema.
func (k oldKernel) terms(t *testing.T, list string) (all []string) {
	t.Helper()
	files := must(filepath.Glob(filepath.Join(schemaDir(t), k.folder, "include", "datacite-"+list+"*.xsd")))(t)
	for _, file := range files {
		text := must(os.ReadFile(file))(t)
		for _, m := range enumeration.FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// oldGenerator writes documents with every element, attribute and term of a kernel.
type oldGenerator struct {
	*generator
	t      *testing.T
	kernel oldKernel
	prefix string
	serial int
}

// some is a text that occurs only once.
func (g *oldGenerator) some() string {
	g.serial++
	return fmt.Sprintf(g.pick("Müller, %d", "a &amp; b %d", "http://example.org/%d", "<![CDATA[<%d>]]>", " x\n%d "),
		g.serial)
}

// value is one for an attribute.
func (g *oldGenerator) value() string {
	g.serial++
	return fmt.Sprintf("http://example.org/v%d", g.serial)
}

// el is an element. Attributes with 3: are of kernel 3, and not always there; one without a value gets one.
func (g *oldGenerator) el(name, attributes string, inside ...string) string {
	var tag strings.Builder
	tag.WriteString(g.prefix + name)
	for attribute := range strings.SplitSeq(attributes, " ") {
		name, value, given := strings.Cut(attribute, "=")
		if rest, ok := strings.CutPrefix(name, "3:"); ok {
			if !g.three() || g.IntN(2) == 0 {
				continue
			}
			name = rest
		}
		if value == "" {
			value = g.value()
		}
		if given {
			tag.WriteString(" " + name + `="` + strings.ReplaceAll(value, "_", " ") + `"`)
		}
	}
	return "<" + tag.String() + ">" + strings.Join(inside, g.pick("", "\n  ", "<!-- , -->")) + "</" + g.prefix + name +
		">\n"
}

func (g *oldGenerator) three() bool { return strings.HasPrefix(g.kernel.folder, "kernel-3") }

// each are elements with the terms of a list.
func (g *oldGenerator) each(list, name, attributes string, inside func() []string) string {
	var all strings.Builder
	for _, term := range g.kernel.terms(g.t, list) {
		all.WriteString(g.el(name, list+"="+strings.ReplaceAll(term, " ", "_")+" "+attributes, inside()...))
	}
	return all.String()
}

// person is the inside of a creator or contributor.
func (g *oldGenerator) person(kind string) (all []string) {
	name := g.some()
	if g.kernel.space == "" && g.IntN(3) == 0 { // any type
		name = "<b about='" + g.value() + "'>" + name + "</b>"
	}
	all = append(all, g.el(kind+"Name", "", name))
	if g.IntN(2) == 0 {
		all = append(all, g.el("nameIdentifier",
			"nameIdentifierScheme="+g.pick("ISNI", "FundRef", "VIAF", "orcid", "GRID")+" 3:schemeURI=", g.some()))
	}
	for range g.IntN(3) {
		if g.kernel.folder == "kernel-3/3.1" {
			all = append(all, g.el("affiliation", "", g.some()))
		}
	}
	if !g.three() && kind == "contributor" && g.IntN(3) == 0 {
		all = append(all, g.some())
	}
	return all
}

func (g *oldGenerator) related() string {
	var all []string
	types, relations := g.kernel.terms(g.t, "relatedIdentifierType"), g.kernel.terms(g.t, "relationType")
	for i := range max(len(types), len(relations)) {
		all = append(all, g.el("relatedIdentifier",
			"relatedIdentifierType="+types[i%len(types)]+" relationType="+relations[i%len(relations)]+
				" 3:relatedMetadataScheme= 3:schemeURI= 3:schemeType=", g.some()))
	}
	return g.el("relatedIdentifiers", "", all...)
}

// untyped is an element of any type in kernel 2.
func (g *oldGenerator) untyped(name string) string {
	if g.three() || g.IntN(2) == 0 {
		return g.el(name, "", g.some())
	}
	return g.el(name, "unit=", "<b about='"+g.value()+"'>"+g.some()+"</b>"+g.some())
}

func (g *oldGenerator) document(general string) string {
	of2 := g.kernel.space == ""
	parts := []string{
		g.el("identifier", "identifierType=DOI", "10.5072/a"),
		g.el("creators", "", g.el("creator", "", g.person("creator")...), g.el("creator", "", g.person("creator")...)),
		g.el("titles", "", g.el("title", "3:xml:lang=en", g.some()),
			g.each("titleType", "title", "3:xml:lang=de", func() []string { return []string{g.some()} })),
		g.el("publisher", "", g.some()),
		g.el("publicationYear", "", map[bool]string{true: g.pick("2010-05-03", "2010-05", "2010"), false: "2010"}[of2]),
		g.el("subjects", "", g.el("subject", "", g.some()),
			g.el("subject", "subjectScheme= 3:schemeURI= 3:xml:lang=en", g.some())),
		g.el("contributors", "", g.each("contributorType", "contributor", "", func() []string {
			return g.person("contributor")
		})),
		g.el("dates", "", g.each("dateType", "date", "", func() []string {
			g.serial++
			return []string{map[bool]string{true: fmt.Sprintf("2%03d-01-01", g.serial), false: g.some()}[of2]}
		})),
		g.el("language", "", g.pick("ger", "en", "de-DE")),
		g.el("resourceType", "resourceTypeGeneral="+general, g.some()),
		g.el("alternateIdentifiers", "", g.el("alternateIdentifier", "alternateIdentifierType=", g.some())),
		g.related(),
		g.el("sizes", "", g.untyped("size"), g.untyped("size")), g.el("formats", "", g.untyped("format")),
		g.el("version", "", g.some()),
		map[bool]string{true: g.el("rightsList", "", g.el("rights", "3:rightsURI=", g.some())),
			false: g.untyped("rights")}[g.three()],
		g.el("descriptions", "", g.each("descriptionType", "description", "3:xml:lang=en", func() []string {
			return []string{g.some(), g.el("br", ""), g.some()}
		})),
	}
	if g.three() {
		parts = append(parts, g.el("geoLocations", "", g.el("geoLocation", "", g.el("geoLocationPoint", "", "3.125\n  -1e2"),
			g.el("geoLocationBox", "", "-20.5 170 -10 -170.25"), g.el("geoLocationPlace", "",
				g.some())), g.el("geoLocation", "")))
		g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	}
	attributes := map[bool]string{true: "", false: ` lastMetadataUpdate="2011-01-01" metadataVersionNumber="7"`}[g.three()]
	if space := map[bool]string{true: ` xmlns`,
		false: ` xmlns:` + strings.TrimSuffix(g.prefix, ":")}[g.prefix == ""]; !of2 {
		attributes += space + `="` + g.kernel.space +
			`" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="` + g.kernel.space + ` metadata.xsd"`
	}
	return "<" + g.prefix + "resource" + attributes + ">\n" + strings.Join(parts, "") + "</" + g.prefix + "resource>"
}

// Documents with every element and every term of each kernel, and damaged ones: what is made of them is valid,
// has every value of the old one or names it, and has no other.
func TestUpgrade_everyElementAndTerm(t *testing.T) {
	for _, kernel := range oldKernels {
		t.Run(kernel.folder, func(t *testing.T) {
			var old, now []string
			refused := 0
			for i, general := range slices.Repeat(kernel.terms(t, "resourceType"), 1+*randomRecords/100) {
				g := &oldGenerator{generator: newGenerator(uint64(i)), t: t, kernel: kernel}
				if kernel.space != "" {
					g.prefix = g.pick("", "d:")
				}
				document := g.document(general)
				got, err := metadata.Upgrade(strings.NewReader(document), nil)
				require.NoError(t, err, document)
				assertKept(t, document, got)
				old, now = append(old, document), append(now, string(got.XML))
				for range 5 {
					damaged := g.damage(document)
					if got, err := metadata.Upgrade(strings.NewReader(damaged), nil); err == nil {
						assertKept(t, damaged, got)
						now = append(now, string(got.XML))
					} else {
						refused++
					}
				}
			}
			assert.Empty(t, refusalsOf(t, kernel.folder, old), "of the old schema")
			for i := range refusals(t, now) {
				t.Errorf("it is not valid:\n%s", now[i])
			}
			assert.Greater(t, len(now)-len(old), refused/10)
			assert.Greater(t, refused, len(old))
		})
	}
}

func assertKept(t *testing.T, document string, got *metadata.Upgraded) {
	t.Helper()
	var reported, added string
	for _, d := range got.Derived {
		reported, added = reported+"\n"+d.Old, added+"\n"+d.New
	}
	before, after := valuesIn(t, document), valuesIn(t, string(got.XML))
	for value, n := range before {
		if after[value] < n {
			assert.Contains(t, reported, value, "lost from\n%s\nin\n%s", document, got.XML)
		}
	}
	for value := range after {
		if before[value] == 0 {
			assert.Contains(t, added, value, "invented in\n%s", got.XML)
		}
	}
}

// valuesIn counts texts and attributes; numbers in one text count by themselves.
func valuesIn(t *testing.T, document string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for decoder := xml.NewDecoder(strings.NewReader(document)); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				found[a.Value]++
			}
		case xml.CharData:
			for word := range strings.FieldsSeq(string(token)) {
				found[word]++
			}
		}
	}
}
