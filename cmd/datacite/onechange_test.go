package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/metadata"
)

var matrix = flag.Int("matrix", 36, "changes of one property that are tried")

// One property of a record is changed, and nothing else is. The service stores a record twice, as XML and as
// attributes, and writes one anew from the other, so that each way of a change might lose what the other form
// cannot say. TestOneChange makes random records with all that one of the two loses, changes one property by
// one way, and compares both forms as they are stored.

// An item is a property's value, or one of its list, in the words of XML and of JSON. XML alone or JSON alone
// can say an item without the other.
type item struct{ xml, json string }

// A property of the record.
type property struct {
	member   string // in JSON
	element  string // in XML, "" if it has none
	single   bool   // not a list
	required bool
	items    []item // as a record may have them
	next     item   // what it is changed to, or what is added to it
	token    string // of next, which both forms have afterwards
	column   string // of tables, "" if they have none
	cell     string // next in that column
}

const box = `<geoLocationBox><westBoundLongitude>1</westBoundLongitude><eastBoundLongitude>2</eastBoundLongitude>` +
	`<southBoundLatitude>3</southBoundLatitude><northBoundLatitude>4</northBoundLatitude></geoLocationBox>`

// polygon is one of the corner and two more points.
func polygon(corner string) string {
	point := func(lat, long string) string {
		return "<polygonPoint><pointLongitude>" + long + "</pointLongitude><pointLatitude>" + lat +
			"</pointLatitude></polygonPoint>"
	}
	return "<geoLocationPolygon>" + point(corner, corner) + point("0", "1") + point("1", "1") + point(corner,
		corner) + "</geoLocationPolygon>"
}

var properties = []property{
	{member: "creators", element: "creators", required: true, column: "creators", cell: "Curie, Marie", token: "Curie",
		items: []item{
			{`<creator><creatorName nameType="Personal" xml:lang="es">Garza, ` +
				`Kristian</creatorName><givenName>Kristian</givenName><familyName>Garza</familyName><nameIdentifier ` +
				`nameIdentifierScheme="ORCID">0000-0003-3484-6875</nameIdentifier><affiliation ` +
				`affiliationIdentifier="grid.9132.9" affiliationIdentifierScheme="GRID" ` +
				`schemeURI="https://www.grid.ac">CERN</affiliation></creator>`,
				`{"name":"Garza, Kristian","nameType":"Personal","lang":"es","givenName":"Kristian","familyName":"Garza",` +
					`"nameIdentifiers":[{"nameIdentifier":"0000-0003-3484-6875","nameIdentifierScheme":"ORCID"}],` +
					`"affiliation":[{"name":"CERN","affiliationIdentifier":"grid.9132.9","affiliationIdentifierScheme":"GRID",` +
					`"schemeUri":"https://www.grid.ac"}]}`},
			{`<creator><creatorName>K. Garza</creatorName><givenName>Kristian</givenName><familyName>Garza</familyName>` +
				`<nameIdentifier nameIdentifierScheme="ORCID">none</nameIdentifier></creator>`,
				`{"name":"K. Garza","givenName":"Kristian","familyName":"Garza","nameIdentifiers":[{"nameIdentifier":"none",` +
					`"nameIdentifierScheme":"ORCID"}]}`},
			{`<creator><creatorName nameType="Organizational">Ice &amp; Snow; Unit 3</creatorName></creator>`,
				`{"name":"Ice & Snow; Unit 3","nameType":"Organizational"}`},
			{`<creator><creatorName>Plato, </creatorName><familyName>Plato</familyName></creator>`,
				`{"name":"Plato, ","familyName":"Plato","givenName":""}`},
		}, next: item{`<creator><creatorName>Curie, Marie</creatorName><givenName>Marie</givenName><familyName>` +
			`Curie</familyName></creator>`, `{"name":"Curie, Marie","givenName":"Marie","familyName":"Curie"}`}},
	{member: "titles", element: "titles", required: true, column: "title", cell: "Peaks", token: "Peaks", items: []item{
		{`<title>Salt &amp; Pepper</title>`, `{"title":"Salt & Pepper"}`},
		{`<title xml:lang="en">H&lt;sub&gt;2&lt;/sub&gt;O &lt;p&gt;x&lt;/p&gt;</title>`,
			`{"title":"H<sub>2</sub>O <p>x</p>","lang":"en"}`},
		{`<title titleType="Subtitle" xml:lang="pt-BR">two  blanks</title>`,
			`{"title":"two  blanks","titleType":"Subtitle","lang":"pt-BR"}`},
	}, next: item{`<title>Peaks</title>`, `{"title":"Peaks"}`}},
	{member: "publisher", element: "publisher", single: true, required: true, column: "publisher",
		cell: "Archive of Peaks", token: "Archive of Peaks", items: []item{
			{`<publisher>Example</publisher>`, `{"name":"Example"}`},
			{`<publisher publisherIdentifier="04z8jg394" publisherIdentifierScheme="ROR" schemeURI="https://ror.org" ` +
				`xml:lang="de">Beispiel &amp; Co.</publisher>`,
				`{"name":"Beispiel & Co.","publisherIdentifier":"04z8jg394","publisherIdentifierScheme":"ROR",` +
					`"schemeUri":"https://ror.org","lang":"de"}`},
		}, next: item{`<publisher>Archive of Peaks</publisher>`, `{"name":"Archive of Peaks"}`}},
	{member: "publicationYear", element: "publicationYear", single: true, required: true, column: "year", cell: "2021",
		token: "2021", items: []item{
			{`<publicationYear>2020</publicationYear>`, `2020`}},
		next: item{`<publicationYear>2021</publicationYear>`, `2021`}},
	{member: "types", element: "resourceType", single: true, required: true, column: "type", cell: "Text | Field book",
		token: "Field book", items: []item{
			{`<resourceType resourceTypeGeneral="Dataset"/>`, `{"resourceTypeGeneral":"Dataset"}`},
			{`<resourceType resourceTypeGeneral="Dataset">Table</resourceType>`,
				`{"resourceTypeGeneral":"Dataset","resourceType":"Table"}`},
		}, next: item{`<resourceType resourceTypeGeneral="Text">Field book</resourceType>`,
			`{"resourceTypeGeneral":"Text","resourceType":"Field book"}`}},
	{member: "subjects", element: "subjects", column: "subjects", cell: "peaks", token: "peaks", items: []item{
		{`<subject>Law</subject><subject>Law</subject>`, `{"subject":"Law"},{"subject":"Law"}`},
		{`<subject subjectScheme="S" schemeURI="https://example.org/s" valueURI="https://example.org/v" ` +
			`classificationCode="c" xml:lang="en">R &amp; D</subject>`,
			`{"subject":"R & D","subjectScheme":"S","schemeUri":"https://example.org/s","valueUri":"https://example.org/v",` +
				`"classificationCode":"c","lang":"en"}`},
		{`<subject/>`, `{"subject":""}`},
	}, next: item{`<subject>peaks</subject>`, `{"subject":"peaks"}`}},
	{member: "contributors", element: "contributors", token: "Noether", items: []item{
		{`<contributor contributorType="Editor"><contributorName xml:lang="fr">Fenner, M</contributorName></contributor>`,
			`{"name":"Fenner, M","lang":"fr","contributorType":"Editor"}`},
		{`<contributor contributorType="Sponsor"><contributorName nameType="Organizational">A &amp; ` +
			`B</contributorName><nameIdentifier nameIdentifierScheme="ISNI">1</nameIdentifier></contributor>`,
			`{"name":"A & B","nameType":"Organizational","contributorType":"Sponsor","nameIdentifiers":[{"nameIdentifier":"1",` +
				`"nameIdentifierScheme":"ISNI"}]}`},
	}, next: item{`<contributor contributorType="Editor"><contributorName>Noether, Emmy</contributorName></contributor>`,
		`{"name":"Noether, Emmy","contributorType":"Editor"}`}},
	{member: "dates", element: "dates", column: "dates", cell: "Collected 1999-12-31", token: "1999-12-31", items: []item{
		{`<date dateType="Created">c. 1850</date>`, `{"date":"c. 1850","dateType":"Created"}`},
		{`<date dateType="Collected">2020-01/</date>`, `{"date":"2020-01/","dateType":"Collected"}`},
		{`<date dateType="Valid">2020-01-01/..</date>`, `{"date":"2020-01-01/..","dateType":"Valid"}`},
		{`<date dateType="Other" dateInformation="i">Spring 2020</date>`,
			`{"date":"Spring 2020","dateType":"Other","dateInformation":"i"}`},
		{`<date dateType="Withdrawn"/>`, `{"date":"","dateType":"Withdrawn"}`},
		{`<date dateType="Collected" dateInformation="from &amp; to">2015/2018</date>`,
			`{"date":"2015/2018","dateType":"Collected","dateInformation":"from & to"}`},
		{`<date dateType="Issued">2019-05</date>`, `{"date":"2019-05","dateType":"Issued"}`},
		{"", `{"date":"2018"}`},
	}, next: item{`<date dateType="Collected">1999-12-31</date>`, `{"date":"1999-12-31","dateType":"Collected"}`}},
	{member: "language", element: "language", single: true, column: "language", cell: "it", token: "it", items: []item{
		{`<language>pt-BR</language>`, `"pt-BR"`}, {`<language>eng</language>`, `"eng"`}, {`<language>de</language>`, `"de"`},
	}, next: item{`<language>it</language>`, `"it"`}},
	{member: "alternateIdentifiers", element: "alternateIdentifiers", token: "peak-7", items: []item{
		{`<alternateIdentifier alternateIdentifierType="DOI">10.5072/a</alternateIdentifier>`,
			`{"alternateIdentifier":"10.5072/a","alternateIdentifierType":"DOI"}`},
		{`<alternateIdentifier alternateIdentifierType="doi">10.5072/b</alternateIdentifier>`,
			`{"alternateIdentifier":"10.5072/b","alternateIdentifierType":"doi"}`},
		{`<alternateIdentifier alternateIdentifierType="url">x?a&amp;b</alternateIdentifier>`,
			`{"alternateIdentifier":"x?a&b","alternateIdentifierType":"url"}`},
	}, next: item{`<alternateIdentifier alternateIdentifierType="local">peak-7</alternateIdentifier>`,
		`{"alternateIdentifier":"peak-7","alternateIdentifierType":"local"}`}},
	{member: "relatedIdentifiers", element: "relatedIdentifiers", column: "related identifiers",
		cell: "Cites URL https://peaks.example", token: "https://peaks.example", items: []item{
			{`<relatedIdentifier relatedIdentifierType="URL" relationType="HasMetadata" relatedMetadataScheme="m" ` +
				`schemeURI="https://example.org/s" schemeType="XSD">http://x.org/?a&amp;b</relatedIdentifier>`,
				`{"relatedIdentifier":"http://x.org/?a&b","relatedIdentifierType":"URL","relationType":"HasMetadata",` +
					`"relatedMetadataScheme":"m","schemeUri":"https://example.org/s","schemeType":"XSD"}`},
			{`<relatedIdentifier relatedIdentifierType="DOI" ` +
				`relationType="Cites">https://doi.org/10.5072/ABC</relatedIdentifier>`, `{"relatedIdentifier":"https://doi.org/10.5072/ABC","relatedIdentifierType":"DOI","relationType":"Cites"}`},
			{`<relatedIdentifier relatedIdentifierType="DOI" relationType="Cites">none</relatedIdentifier>`,
				`{"relatedIdentifier":"none","relatedIdentifierType":"DOI","relationType":"Cites"}`},
			{`<relatedIdentifier relatedIdentifierType="URL" relationType="Other" relationTypeInformation="beside" ` +
				`resourceTypeGeneral="Text">http://y.org</relatedIdentifier>`,
				`{"relatedIdentifier":"http://y.org","relatedIdentifierType":"URL","relationType":"Other",` +
					`"relationTypeInformation":"beside","resourceTypeGeneral":"Text"}`},
		}, next: item{`<relatedIdentifier relatedIdentifierType="URL" ` +
			`relationType="Cites">https://peaks.example</relatedIdentifier>`, `{"relatedIdentifier":"https://peaks.example",` +
			`"relatedIdentifierType":"URL","relationType":"Cites"}`}},
	{member: "sizes", element: "sizes", token: "7 peaks",
		items: []item{{`<size>1  MB</size>`, `"1  MB"`}, {`<size/>`, `""`},
			{`<size>&lt; 3 &amp; 4</size>`, `"< 3 & 4"`}}, next: item{`<size>7 peaks</size>`, `"7 peaks"`}},
	{member: "formats", element: "formats", token: "text/peaks",
		items: []item{{`<format>text  csv</format>`, `"text  csv"`},
			{`<format/>`, `""`}}, next: item{`<format>text/peaks</format>`, `"text/peaks"`}},
	{member: "version", element: "version", single: true, token: "7.7", items: []item{{`<version>1.0</version>`, `"1.0"`}},
		next: item{`<version>7.7</version>`, `"7.7"`}},
	{member: "rightsList", element: "rightsList", column: "rights", cell: "Apache-2.0", token: "apache-2.0", items: []item{
		{`<rights rightsIdentifier="MIT">My own text</rights>`, `{"rights":"My own text","rightsIdentifier":"MIT"}`},
		{`<rights rightsURI="https://creativecommons.org/licenses/by/4.0/" xml:lang="en">CC &amp; BY</rights>`,
			`{"rights":"CC & BY","rightsUri":"https://creativecommons.org/licenses/by/4.0/","lang":"en"}`},
		{`<rights rightsIdentifier="Own" rightsIdentifierScheme="X" schemeURI="https://example.org/s">Mine</rights>`,
			`{"rights":"Mine","rightsIdentifier":"Own","rightsIdentifierScheme":"X","schemeUri":"https://example.org/s"}`},
		{`<rights rightsURI="http://x.org/r" xml:lang="de">Frei</rights>`,
			`{"rights":"Frei","rightsUri":"http://x.org/r","lang":"de"}`},
		{`<rights rightsURI="info:eu-repo/semantics/openAccess"/>`, `{"rightsUri":"info:eu-repo/semantics/openAccess"}`},
	}, next: item{`<rights rightsIdentifier="Apache-2.0">Apache License 2.0</rights>`,
		`{"rights":"Apache License 2.0","rightsIdentifier":"Apache-2.0"}`}},
	{member: "descriptions", element: "descriptions", column: "description", cell: "Of peaks.", token: "Of peaks.",
		items: []item{
			{`<description descriptionType="Abstract">one<br/>two &amp; three</description>`,
				`{"description":"one<br/>two & three","descriptionType":"Abstract"}`},
			{`<description descriptionType="Methods" xml:lang="en">&lt;p&gt;A &lt;a href='x'&gt;B&lt;/a&gt;&lt;/p&gt;  ` +
				`C</description>`, `{"description":"<p>A <a href='x'>B</a></p>  C","descriptionType":"Methods","lang":"en"}`},
			{`<description descriptionType="Other">&lt;i&gt;Salix&lt;/i&gt;</description>`,
				`{"description":"<i>Salix</i>","descriptionType":"Other"}`},
		}, next: item{`<description descriptionType="Abstract">Of peaks.</description>`,
			`{"description":"Of peaks.","descriptionType":"Abstract"}`}},
	{member: "geoLocations", element: "geoLocations", token: "Mount Peak", items: []item{
		{"<geoLocation>" + polygon("0") + polygon("5") + "</geoLocation>", ""},
		{"<geoLocation><geoLocationPlace>A</geoLocationPlace><geoLocationPlace>B</geoLocationPlace></geoLocation>", ""},
		{"<geoLocation><geoLocationPlace>Bonn &amp; Beuel</geoLocationPlace>" + box + "</geoLocation>",
			`{"geoLocationPlace":"Bonn & Beuel","geoLocationBox":{"westBoundLongitude":1,"eastBoundLongitude":2,` +
				`"southBoundLatitude":3,"northBoundLatitude":4}}`},
		{"<geoLocation><geoLocationPoint><pointLongitude>41.090</pointLongitude><pointLatitude>1e1</pointLatitude>" +
			"</geoLocationPoint></geoLocation>",
			`{"geoLocationPoint":{"pointLongitude":"41.090","pointLatitude":"1e1"}}`},
		{"<geoLocation>" + polygon("0") + "</geoLocation>",
			`{"geoLocationPolygon":[{"polygonPoint":{"pointLongitude":0,"pointLatitude":0}},` +
				`{"polygonPoint":{"pointLongitude":1,"pointLatitude":0}},` +
				`{"polygonPoint":{"pointLongitude":1,"pointLatitude":1}},{"polygonPoint":{"pointLongitude":0,"pointLatitude":0}}` +
				`]}`},
	}, next: item{"<geoLocation><geoLocationPlace>Mount Peak</geoLocationPlace></geoLocation>",
		`{"geoLocationPlace":"Mount Peak"}`}},
	{member: "fundingReferences", element: "fundingReferences", token: "Fund of Peaks", items: []item{
		{`<fundingReference><funderName>F &amp; G</funderName><funderIdentifier funderIdentifierType="Other" ` +
			`schemeURI="https://example.org/s">x</funderIdentifier><awardNumber ` +
			`awardURI="https://example.org/a"/></fundingReference>`,
			`{"funderName":"F & G","funderIdentifier":"x","funderIdentifierType":"Other","schemeUri":"https://example.org/s",` +
				`"awardUri":"https://example.org/a"}`},
		{`<fundingReference><funderName>C</funderName><funderIdentifier funderIdentifierType="Crossref Funder ` +
			`ID">501100000780</funderIdentifier></fundingReference>`,
			`{"funderName":"C","funderIdentifier":"501100000780","funderIdentifierType":"Crossref Funder ID"}`},
		{`<fundingReference><funderName>A</funderName><awardTitle xml:lang="de">Über</awardTitle></fundingReference>`,
			`{"funderName":"A","awardTitle":"Über","funderIdentifierType":"Other"}`},
	}, next: item{`<fundingReference><funderName>Fund of Peaks</funderName></fundingReference>`,
		`{"funderName":"Fund of Peaks"}`}},
	{member: "relatedItems", element: "relatedItems", token: "Book of Peaks", items: []item{
		{`<relatedItem relatedItemType="Book" relationType="Cites"><relatedItemIdentifier ` +
			`relatedItemIdentifierType="ISBN">1</relatedItemIdentifier><creators><creator><creatorName ` +
			`xml:lang="en">A</creatorName></creator></creators><titles><title xml:lang="en">T &amp; U</title></titles><number ` +
			`numberType="Chapter">3</number></relatedItem>`,
			`{"relatedItemType":"Book","relationType":"Cites","relatedItemIdentifier":{"relatedItemIdentifier":"1",` +
				`"relatedItemIdentifierType":"ISBN"},"creators":[{"name":"A"}],"titles":[{"title":"T & ` +
				`U"}],"number":"3","numberType":"Chapter"}`},
		{`<relatedItem relatedItemType="Book" relationType="Other" ` +
			`relationTypeInformation="i"><titles><title>V</title></titles></relatedItem>`,
			`{"relatedItemType":"Book","relationType":"Other","relationTypeInformation":"i","titles":[{"title":"V"}]}`},
	}, next: item{`<relatedItem relatedItemType="Book" relationType="Cites"><titles><title>Book of ` +
		`Peaks</title></titles></relatedItem>`, `{"relatedItemType":"Book","relationType":"Cites","titles":[{"title":"Book ` +
		`of Peaks"}]}`}},
	{member: "contentUrl", items: []item{{"", `"https://example.org/a.csv"`}},
		next: item{"", `"https://example.org/peaks.csv"`}, token: "peaks.csv"},
	{member: "container", single: true, items: []item{{"", `{"type":"Series","title":"S & T"}`}},
		next: item{"", `{"type":"Journal","title":"Journal of Peaks"}`}, token: "Journal of Peaks"},
	{member: "url", single: true, required: true, column: "url", cell: "https://example.org/peaks",
		items: []item{{"", `"https://example.org/1"`}}, next: item{"",
			`"https://example.org/peaks"`}, token: "https://example.org/peaks"},
}

// noProperty are members of a record that are not changed by themselves.
var noProperty = []string{"doi", "schemaVersion"}

func TestEachPropertyHasItsRow(t *testing.T) {
	for f := range reflect.TypeFor[metadata.Record]().Fields() {
		member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !slices.Contains(noProperty, member) {
			assert.True(t, slices.ContainsFunc(properties, func(p property) bool { return p.member == member }), member)
		}
	}
}

// A kind is how a property is changed.
type kind string

const (
	added   kind = "added"   // which the record lacks
	changed kind = "changed" // to another value
	grown   kind = "grown"   // by another item of its list
	removed kind = "removed"
)

// A birth is how a record came to the service.
type birth struct {
	name  string
	isXML bool
	store func(t *testing.T, c *oneChange)
}

var births = []birth{
	{"XML through mds", true, func(t *testing.T, c *oneChange) {
		c.request(t, "PUT", "/metadata/"+c.doi, "application/xml", c.document(c.before), 201)
		c.request(t, "PUT", "/doi/"+c.doi, "text/plain;charset=UTF-8", "doi="+c.doi+"\nurl=https://example.org/1", 201)
	}},
	{"XML through REST", true, func(t *testing.T, c *oneChange) {
		c.put(t, `"event":"publish","url":"https://example.org/1","xml":"`+
			base64.StdEncoding.EncodeToString([]byte(c.document(c.before)))+`"`)
	}},
	{"JSON", false, func(t *testing.T, c *oneChange) { c.put(t, `"event":"publish",`+c.attributes(c.before)) }},
	{"JSON as of Fabrica", false, func(t *testing.T, c *oneChange) {
		c.put(t, `"event":"publish","schemaVersion":"http://datacite.org/schema/kernel-4",`+
			strings.Replace(c.attributes(c.before), `"types":{`,
				`"types":{"schemaOrg":"Book","citeproc":"book","bibtex":"book","ris":"BOOK",`, 1))
	}},
}

// oneChange is one cell of the matrix.
type oneChange struct {
	*datacitetest.Server
	doi, folder   string
	birth         birth
	p             property
	kind          kind
	before, after map[string][]item // the items of each property
}

// draw stores a record of which one property is to be changed.
func draw(t *testing.T, r *rand.Rand, srv *datacitetest.Server, name string, birth birth, p property,
	k kind) *oneChange {
	t.Helper()
	c := &oneChange{Server: srv, doi: name, folder: t.TempDir(), birth: birth, p: p, kind: k, before: map[string][]item{}}
	for _, p := range properties {
		able := slices.DeleteFunc(slices.Clone(p.items), func(i item) bool {
			return birth.isXML && i.xml == "" || !birth.isXML && i.json == ""
		})
		r.Shuffle(len(able), func(i, j int) { able[i], able[j] = able[j], able[i] })
		n := r.IntN(3)
		if p.required || p.member == c.p.member {
			n = max(n, 1)
		}
		if p.single {
			n = min(n, 1)
		}
		c.before[p.member] = able[:min(n, len(able))]
	}
	if k == added {
		c.before[p.member] = nil
	}
	c.after = maps.Clone(c.before)
	switch k {
	case added, changed:
		c.after[p.member] = []item{p.next}
	case grown:
		c.after[p.member] = append(slices.Clone(c.before[p.member]), p.next)
	case removed:
		c.after[p.member] = nil
	}
	birth.store(t, c)
	return c
}

// document is a record as XML.
func (c *oneChange) document(of map[string][]item) string {
	var out strings.Builder
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<resource xmlns="http://datacite.org/schema/kernel-4">` +
		`<identifier identifierType="DOI">` + strings.ToUpper(c.doi) + `</identifier>`)
	for _, p := range properties {
		out.WriteString(p.inXML(of[p.member]))
	}
	return out.String() + "</resource>"
}

func (p property) inXML(items []item) string {
	text := ""
	for _, i := range items {
		text += i.xml
	}
	if text != "" && !p.single {
		text = "<" + p.element + ">" + text + "</" + p.element + ">"
	}
	return text
}

// attributes are a record as JSON.
func (c *oneChange) attributes(of map[string][]item) string {
	var all []string
	for _, p := range properties {
		if len(of[p.member]) > 0 {
			all = append(all, p.inJSON(of[p.member]))
		}
	}
	return strings.Join(all, ",")
}

func (p property) inJSON(items []item) string {
	var all []string
	for _, i := range items {
		all = append(all, i.json)
	}
	switch value := strings.Join(all, ","); {
	case !p.single:
		return fmt.Sprintf("%q:[%s]", p.member, value)
	case value == "":
		return fmt.Sprintf("%q:null", p.member)
	default:
		return fmt.Sprintf("%q:%s", p.member, value)
	}
}

func (c *oneChange) request(t *testing.T, method, path, kind, body string, want int) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth(datacitetest.Username, datacitetest.Password)
	if body != "" {
		req.Header.Set("Content-Type", kind)
	}
	res, err := c.HTTPClient().Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	if want > 0 {
		require.Equal(t, want, res.StatusCode, "%s %s: %s\n%s", method, path, data, body)
	}
	return data
}

func (c *oneChange) put(t *testing.T, attributes string) {
	t.Helper()
	data := c.request(t, "PUT", "/dois/"+c.doi, "application/vnd.api+json",
		`{"data":{"type":"dois","attributes":{`+attributes+`}}}`, 0)
	require.Contains(t, string(data), `"attributes"`, attributes)
}

// forms are both forms of a record as they are stored.
type forms struct {
	attributes map[string]any
	xml        string
}

func (c *oneChange) forms(t *testing.T) forms {
	t.Helper()
	var said struct {
		Data struct{ Attributes map[string]any }
	}
	require.NoError(t, json.Unmarshal(c.request(t, "GET", "/dois/"+c.doi+"?detail=true&affiliation=true&publisher=true",
		"", "", 200), &said))
	doc, err := base64.StdEncoding.DecodeString(fmt.Sprint(said.Data.Attributes["xml"]))
	require.NoError(t, err)
	return forms{said.Data.Attributes, string(doc)}
}

// elements are those in the root of a document, by name, each as a text with its attributes in order and
// without the blanks between elements; and where each begins and ends in the document.
func elements(t *testing.T, document string) (texts map[string]string, places map[string][2]int64) {
	t.Helper()
	texts, places = map[string]string{}, map[string][2]int64{}
	var name string
	var from int64
	depth := 0
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		at := d.InputOffset()
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, places
		}
		require.NoError(t, err, document)
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 2 {
				name, from = token.Name.Local, at
			}
			var attributes []string
			for _, a := range token.Attr {
				attributes = append(attributes, fmt.Sprintf(" %s=%q", a.Name.Local, a.Value))
			}
			slices.Sort(attributes)
			texts[name] += "<" + token.Name.Local + strings.Join(attributes, "") + ">"
		case xml.EndElement:
			texts[name] += "</" + token.Name.Local + ">"
			if depth--; depth == 1 {
				places[name] = [2]int64{from, d.InputOffset()}
				name = ""
			}
		case xml.CharData:
			if text := string(token); strings.TrimSpace(text) != "" {
				texts[name] += text
			}
		}
	}
}

// replaced is the document with another element of the property, or without it.
func (p property) replaced(t *testing.T, document, element string) string {
	t.Helper()
	_, places := elements(t, document)
	place, there := places[p.element]
	if !there {
		end := strings.LastIndex(document, "</resource>")
		return document[:end] + element + document[end:]
	}
	return document[:place[0]] + element + document[place[1]:]
}

// saidInXML is the element of the property as it is to be in a document.
func (c *oneChange) saidInXML(t *testing.T, document string) string {
	texts, places := elements(t, document)
	if c.kind != grown || strings.HasSuffix(texts[c.p.element], "></"+c.p.element+">") &&
		strings.Count(texts[c.p.element], "<") == 2 {
		return c.p.inXML(c.after[c.p.member][max(0, len(c.after[c.p.member])-1):])
	}
	place := places[c.p.element]
	element := document[place[0]:place[1]]
	end := strings.LastIndex(element, "</")
	if end < 0 { // it is empty
		return c.p.inXML([]item{c.p.next})
	}
	return element[:end] + c.p.next.xml + element[end:]
}

// saidInJSON is the member as it is to be, by what the service shows.
func (c *oneChange) saidInJSON(t *testing.T, shown map[string]any) any {
	var next any
	require.NoError(t, json.Unmarshal([]byte(c.p.next.json), &next))
	list, _ := shown[c.p.member].([]any)
	switch {
	case c.kind == removed && (c.p.single || len(list) == 0): // [] is what the service shows already
		return nil
	case c.kind == removed:
		return []any{}
	case c.kind == grown:
		return append(slices.Clone(list), next)
	case c.p.single:
		return next
	}
	return []any{next}
}

// byItself are attributes that each write changes, the schema's version that a record of JSON gets, and
// what others count.
var byItself = regexp.MustCompile(`^(xml|updated|metadataVersion|schemaVersion|published|identifiers|.*Count|.*OverTime)$`)

// values are both forms, each property by itself, without what the service adds: empty elements, and a date
// Issued of the year.
func (f forms) values(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, value := range f.attributes {
		if text := inWords(value); !byItself.MatchString(name) && !slices.Contains([]string{"null", "[]", "{}"}, text) {
			out["JSON "+name] = text
		}
	}
	texts, _ := elements(t, f.xml)
	for name, text := range texts {
		if text = ofYear.ReplaceAllString(text, ""); name != "" && text != "<"+name+"></"+name+">" {
			out["XML "+name] = text
		}
	}
	return out
}

// ofYear is a date that the service makes of the year of publication.
var ofYear = regexp.MustCompile(`<date dateType="Issued">202[01]</date>|\{"date":"202[01]","dateType":"Issued"\},?`)

func inWords(value any) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // it was read from JSON
	}
	return strings.Replace(ofYear.ReplaceAllString(strings.TrimSpace(out.String()), ""), ",]", "]", 1)
}

// damage is what else a change has changed, and what it has not changed as it was said.
func (c *oneChange) damage(t *testing.T, before, after forms, saysLess bool) (all []string) {
	t.Helper()
	was, is := before.values(t), after.values(t)
	for _, name := range slices.Sorted(maps.Keys(merged(was, is))) {
		if was[name] != is[name] && name != "JSON "+c.p.member && name != "XML "+c.p.element {
			all = append(all, fmt.Sprintf("%s was %s and is %s", name, was[name], is[name]))
		}
	}
	for _, name := range []string{"JSON " + c.p.member, "XML " + c.p.element} {
		has := strings.Contains(strings.ToLower(is[name]), strings.ToLower(c.p.token))
		if name != "XML " && (has != (c.kind != removed) || c.kind == removed && is[name] != "") {
			all = append(all, fmt.Sprintf("%s is not as said, but %s", name, is[name]))
		}
	}
	if c.kind == grown && !saysLess {
		list, _ := before.attributes[c.p.member].([]any)
		for _, i := range list {
			if !strings.Contains(is["JSON "+c.p.member], inWords(i)) && inWords(i) != `{"subject":""}` {
				all = append(all, fmt.Sprintf("JSON %s has lost %s: %s", c.p.member, inWords(i), is["JSON "+c.p.member]))
			}
		}
	}
	return all
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// A way is one by which a user changes a property.
type way struct {
	name string
	of   string                  // the command or function
	can  func(c *oneChange) bool // nil: each property, and each change of it
	do   func(t *testing.T, c *oneChange, stored forms) (refusal string)
}

var waysOfChange = []way{{name: "requests by hand", do: byHand}}

// byHand takes the road without a loss: the stored XML with another element, for a record of XML, and the
// property alone otherwise, with what the XML says in words that JSON no longer shows. What XML cannot say is
// written as JSON, and then the XML is put back.
func byHand(t *testing.T, c *oneChange, stored forms) string {
	said := c.p.inJSON(c.after[c.p.member])
	withXML := func(doc string) string { return `"xml":"` + base64.StdEncoding.EncodeToString([]byte(doc)) + `"` }
	sticks := c.kind == removed && (c.p.member == "language" || c.p.member == "version")
	switch {
	case c.p.member == "url":
		c.put(t, said)
	case c.birth.isXML:
		doc := stored.xml
		if c.p.element != "" {
			doc = c.p.replaced(t, doc, c.saidInXML(t, doc))
		}
		if c.p.element == "" || sticks {
			c.put(t, said)
		}
		c.put(t, withXML(doc))
	default:
		for _, p := range properties {
			if slices.Contains([]string{"rightsList", "language", "subjects", "geoLocations"}, p.member) &&
				p.member != c.p.member && len(c.before[p.member]) > 0 {
				said += "," + p.inJSON(c.before[p.member])
			}
		}
		c.put(t, said)
	}
	return ""
}

func TestOneChange(t *testing.T) {
	type cell struct {
		b     datacitetest.Behaviour
		birth birth
		p     property
		kind  kind
		way   way
	}
	var cells []cell
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		for _, birth := range births {
			for _, p := range properties {
				for _, k := range []kind{added, changed, grown, removed} {
					if p.required && (k == added || k == removed) || p.single && k == grown ||
						birth.isXML && p.element == "" && k != added && p.member != "url" {
						continue
					}
					for _, w := range slices.Concat(waysOfChange, commandWays, goWays) {
						if w.can == nil || w.can(&oneChange{birth: birth, p: p, kind: k}) {
							cells = append(cells, cell{b, birth, p, k, w})
						}
					}
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(46, 1))
	r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	for i := range *matrix {
		x := cells[i%len(cells)]
		t.Run(fmt.Sprintf("%d: %s, %s, %s %s by %s", i, x.b, x.birth.name, x.p.member, x.kind, x.way.name),
			func(t *testing.T) {
				srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: x.b})
				defer srv.Close()
				c := draw(t, rand.New(rand.NewPCG(46, uint64(i))), srv, "10.5072/one", x.birth, x.p, x.kind)
				if x.p.member == "container" && len(c.before["relatedItems"]) > 0 {
					return // the service makes the container of related items
				}
				before := c.forms(t)
				was := before.values(t)
				if x.kind == removed && was["JSON "+x.p.member]+was["XML "+x.p.element] == "" {
					return // the service has dropped the value
				}
				refusal := x.way.do(t, c, before)
				after := c.forms(t)
				isDocument := strings.Contains(x.way.name, "XML") || strings.Contains(x.way.name, "FOLDER")
				if isDocument && !c.birth.isXML {
					if strings.Contains(refusal, "would lose something else") && strings.Contains(refusal, " in the JSON") {
						assert.Equal(t, before, after, "a document that says less than JSON is refused, with each loss")
						return
					}
				}
				if x.way.of == "dois.Update" && strings.Contains(refusal, "package reconcile") {
					assert.Equal(t, before, after, "what JSON alone would lose is named, and nothing is written")
					return
				}
				require.Empty(t, refusal, "refused, although there is a road without a loss")
				assert.Empty(t, c.damage(t, before, after, isDocument && !c.birth.isXML)) // of which a document says less than JSON
			})
	}
}
