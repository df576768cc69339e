package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

const corrected = "10.5072/corrected"

// forms are both stored forms of a record, without what counts its versions.
type forms struct {
	attributes map[string]any
	xml        string
}

func formsOf(t *testing.T, service *sandbox.Service) forms {
	t.Helper()
	attributes := kept(t, service)
	f := forms{attributes, strings.TrimSpace(attributes["xml"].(string))}
	for name := range strings.FieldsSeq("xml metadataVersion schemaVersion created registered updated source") {
		delete(attributes, name)
	}
	return f
}

// kept are the attributes of the record, with its XML as a text.
func kept(t *testing.T, service *sandbox.Service) map[string]any {
	t.Helper()
	path := "/dois/" + corrected + "?affiliation=true&publisher=true"
	attributes := at(call{method: "GET", path: path, as: "repo"}.do(t, service).read(t),
		"data.attributes").(map[string]any)
	text, err := base64.StdEncoding.DecodeString(attributes["xml"].(string))
	require.NoError(t, err)
	attributes["xml"] = string(text)
	return attributes
}

// elements are those in the root of a document, each as a text without the blanks between
// elements and with its attributes in order. What the service adds is left out.
func elements(t *testing.T, document string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var name, text string
	depth := 0
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err, document)
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 2 {
				name, text = token.Name.Local, ""
			}
			var attributes []string
			for _, a := range token.Attr {
				attributes = append(attributes, fmt.Sprintf(" %s=%q", a.Name.Local, a.Value))
			}
			slices.Sort(attributes)
			text += "<" + token.Name.Local + strings.Join(attributes, "") + ">"
		case xml.EndElement:
			text += "</" + token.Name.Local + ">"
			if depth--; depth == 1 {
				out[name] = text
			}
		case xml.CharData:
			if strings.TrimSpace(string(token)) != "" {
				text += string(token)
			}
		}
	}
	out["dates"] = strings.Replace(out["dates"], `<date dateType="Issued">2020</date>`, "", 1)
	maps.DeleteFunc(out, func(name, text string) bool { return text == "" || text == "<"+name+"></"+name+">" })
	return out
}

// correction is one row of the table.
type correction struct {
	content, json, byJSON, sentToo, byXML string
	property                              string // the corrected one
}

// document is the record in XML, with the content.
func (c correction) document(t *testing.T) string {
	document := testkit.Expand(t, recordTables, "[[RECORD: 10.5072/other => 10.5072/CORRECTED]]")
	for name := range elements(t, "<r>"+c.content+"</r>") {
		if from := strings.Index(document, "<"+name); from >= 0 {
			to := strings.Index(document, "</"+name+">") + len("</"+name+">")
			document = document[:from] + document[to:]
		}
	}
	return strings.Replace(document, "</resource>", c.content+"</resource>", 1)
}

// member is the corrected property in JSON.
func (c correction) member(text string) string {
	if c.property == "publisher" {
		return `"publisher":"` + text + `"`
	}
	return `"titles":[{"title":"` + text + `"}]`
}

// inXML corrects the property in a document.
func (c correction) inXML(t *testing.T, document, text string) string {
	before, after, found := strings.Cut(document, "<"+strings.TrimSuffix(c.property, "s")+">")
	_, after, closed := strings.Cut(after, "<")
	require.True(t, found && closed, document)
	return before + "<" + strings.TrimSuffix(c.property, "s") + ">" + text + "<" + after
}

func withXML(document string) string {
	return `"xml":"` + base64.StdEncoding.EncodeToString([]byte(document)) + `"`
}

// One property is corrected: what happens to the others, in both stored forms.
func TestCorrections(t *testing.T) {
	for i, row := range testkit.Table(t, recordTables, "Corrections") {
		for i, cell := range row {
			row[i] = testkit.Expand(t, recordTables, cell)
		}
		c := correction{row[0], row[1], row[2], row[3], row[4], "titles"}
		if strings.Contains(c.content, "<titles>") {
			c.property = "publisher"
		}
		name := fmt.Sprintf(" in row %d: %.60s", i+1, c.json)
		t.Run("XML"+name, c.ofXML)
		t.Run("JSON"+name, c.ofJSON)
	}
}

func (c correction) ofXML(t *testing.T) {
	if c.content == "–" {
		return
	}
	document := c.document(t)
	fill := func() (*sandbox.Service, forms) {
		service := deployed()
		a := update(corrected, `"event":"publish","url":"https://example.org/1","doi":"`+corrected+`",`+
			withXML(document)).do(t, service)
		if c.byJSON == "500" {
			require.Equal(t, 500, a.status, a.body)
			return service, forms{}
		}
		require.Equal(t, 201, a.status, a.body)
		return service, formsOf(t, service)
	}
	service, before := fill()
	if c.byJSON == "500" {
		return
	}
	store := deployed()
	require.Equal(t, 201, putMetadata(corrected, document).do(t, store).status)
	require.Equal(t, 201, putURL(corrected, corrected, "https://example.org/1").do(t, store).status)
	assert.Equal(t, before, formsOf(t, store), "the metadata store stores the same")

	changed := c.inXML(t, before.xml, "Peaks")
	require.Equal(t, 200, update(corrected, withXML(changed)).do(t, service).status)
	require.Equal(t, 201, putMetadata(corrected, changed).do(t, store).status)
	after := formsOf(t, service)
	assert.Equal(t, after, formsOf(t, store), "the metadata store stores the same")
	assert.Equal(t, changed, after.xml)
	c.assertOthers(t, before.attributes, after.attributes)

	for i, road := range []struct{ sent, want string }{{c.member("Peaks"), c.byJSON},
		{c.member("Peaks") + "," + c.json, c.sentToo}} {
		if road.want == "–" {
			continue
		}
		service, before := fill()
		a := update(corrected, road.sent).do(t, service)
		if road.want == "422" {
			assert.Equal(t, 422, a.status, a.body)
			assert.Equal(t, before, formsOf(t, service))
			continue
		}
		require.Equal(t, 200, a.status, a.body)
		after := formsOf(t, service)
		want := elements(t, changed)
		if road.want != "kept" {
			for name := range elements(t, "<r>"+c.content+"</r>") {
				delete(want, name)
			}
			maps.Copy(want, elements(t, "<r>"+road.want+"</r>"))
		}
		assert.Equal(t, want, elements(t, after.xml), road.sent)
		if i == 0 {
			c.assertOthers(t, before.attributes, after.attributes)
		}
	}
}

func (c correction) ofJSON(t *testing.T) {
	if c.json == "–" {
		return
	}
	sent := map[string]any{}
	for _, part := range []string{testkit.Expand(t, recordTables, "[[COMPLETE]]"), c.json} {
		require.NoError(t, json.Unmarshal([]byte("{"+part+"}"), &sent), part)
	}
	attributes := string(mustJSON(t, sent))[1 : len(mustJSON(t, sent))-1]
	fill := func() (*sandbox.Service, forms) {
		service := deployed()
		a := create(`"doi":"`+corrected+`","event":"publish",`+attributes).do(t, service)
		want := 201
		switch {
		case c.byXML == "500":
			want = 500
		case c.sentToo == "422":
			want = 422
		}
		require.Equal(t, want, a.status, a.body)
		if want != 201 {
			return nil, forms{}
		}
		return service, formsOf(t, service)
	}
	service, before := fill()
	if service == nil {
		return
	}
	require.Equal(t, 200, update(corrected, c.member("Peaks")).do(t, service).status)
	once := formsOf(t, service)
	c.assertOthers(t, before.attributes, once.attributes)
	require.Equal(t, 200, update(corrected, c.member("Seas")).do(t, service).status)
	assert.Equal(t, c.inXML(t, once.xml, "Seas"), formsOf(t, service).xml, "JSON again: the XML stays")

	if c.byXML == "–" {
		return
	}
	service, before = fill()
	changed := c.inXML(t, before.xml, "Peaks")
	require.Equal(t, 200, update(corrected, withXML(changed)).do(t, service).status)
	after := formsOf(t, service)
	assert.Equal(t, changed, after.xml)
	if c.byXML != "kept" {
		require.NoError(t, json.Unmarshal([]byte("{"+c.byXML+"}"), &before.attributes))
	}
	c.assertOthers(t, before.attributes, after.attributes)
}

// assertOthers compares all attributes but the corrected one, and without the date that
// the service makes of the year.
func (c correction) assertOthers(t *testing.T, before, after map[string]any) {
	t.Helper()
	of := func(attributes map[string]any) map[string]any {
		attributes = maps.Clone(attributes)
		delete(attributes, c.property)
		attributes["dates"] = slices.DeleteFunc(slices.Clone(attributes["dates"].([]any)), func(d any) bool {
			return at(d, "dateType") == "Issued" && at(d, "date") == "2020"
		})
		delete(attributes, "alternateIdentifiers")
		return attributes
	}
	assert.Equal(t, of(before), of(after))
}

// between are the blanks between elements.
var between = regexp.MustCompile(`>\s+<`)

// The rules by which the service makes one form of the other. What is sent are attributes, "old => new"
// in the stored XML and attributes beside it, the XML that was stored first, or a request to the store.
func TestCorrectionRules(t *testing.T) {
	const (
		title, kernel4 = `"titles":[{"title":"Peaks"}]`, `"schemaVersion":"http://datacite.org/schema/kernel-4"`
		content        = `<language>pt-BR</language><version>1</version><subjects><subject>a</subject></subjects><dates>` +
			`<date dateType="Created">c. 1850</date></dates>`
		long, short = "<language>pt-BR</language>", "<language>pt</language>"
		asSent      = long + "…c. 1850"
		free        = "c. 1850" // a date that the JSON road loses
	)
	type shown map[string]any
	for _, row := range []struct {
		rule, written string // as XML, if nothing else is said
		sent          []string
		has, lacks    string // of XML
		shown         shown  // by path
	}{
		{"1", "", []string{"PATCH " + title}, short, free, shown{"titles.0.title": "Peaks", "language": "pt"}},
		{"2", "", []string{`"contentUrl":[]`}, short, free, nil},
		{"2", "", []string{`"container":{}`}, short, free, nil},
		{"2", "", []string{`"types":{"resourceTypeGeneral":"Text"}`}, short, free, nil},
		{"2", "", []string{kernel4}, short, free, nil},
		{"2", "", []string{`"regenerate":true`}, short, free, nil},
		{"2", "", []string{`"titles":[{"title":"Climate of the Alps"}]`}, short, free, nil},
		{"2", "", []string{title + `,"regenerate":false`}, short, free, nil},
		{"2", "", []string{`"url":"https://example.org/2"`}, asSent, "xsi", nil},
		{"2", "", []string{`"event":"hide"`, `"event":"publish"`}, asSent, "xsi", nil},
		{"2", "", []string{`"reason":"r","source":"s","landingPage":{"status":200},"mode":"m"`}, asSent, "xsi", nil},
		{"2", "", []string{"PUT /doi"}, asSent, "xsi", nil},
		{"2", "", []string{"DELETE /metadata"}, asSent, "xsi", nil},
		{"3", "", []string{`Climate of the Alps => Peaks and "url":"https://example.org/2"`}, asSent, "xsi",
			shown{"titles.0.title": "Peaks"}},
		{"3", "", []string{"Climate of the Alps => Seas and " + title}, "<title>Peaks</title>…" + long, free,
			shown{"titles.0.title": "Peaks"}},
		{"3", "", []string{"Alps => Sea and " + kernel4}, "of the Sea…" + long, free,
			shown{"titles.0.title": "Climate of the Sea"}},
		{"3", "", []string{`"xml":"",` + title}, short, free, nil},
		{"3", "", []string{`"xml":null,` + title}, short, free, nil},
		{"4", "", []string{title + `,"language":"pt"`}, short, free, nil},
		{"4", "", []string{title + `,"language":"pt-BR"`}, long, free, shown{"language": "pt"}},
		{"4", "", []string{title + `,"language":"pt-BR"`, title}, short, free, nil},
		{"5", "", []string{long + "<version>1</version> => "}, free, "language", shown{"language": "pt", "version": "1"}},
		{"5", "", []string{long + "<version>1</version> => ", title}, short + "…<version>1</version>", free, nil},
		{"5", "", []string{`"language":null,"version":null`}, "<version/>", "language",
			shown{"language": nil, "version": nil}},
		{"5", "", []string{"<subjects><subject>a</subject></subjects> => "}, free, "subject", shown{"subjects": []any{}}},
		{"6", "", []string{`"publicationYear":2021`}, `<publicationYear>2021<…<date dateType="Issued">2020<`, free,
			shown{"dates.0.date": "2020"}},
		{"6", "", []string{"2020</p => 2021</p"}, "<publicationYear>2021<", "Issued",
			shown{"dates.0.date": "2021", "publicationYear": 2021.0}},
		{"7", "", []string{"10.5072/CORRECTED => 10.5072/other"}, "10.5072/OTHER", "xsi", shown{"doi": corrected}},
		{"8", "", []string{title, "first"}, asSent, "xsi", shown{"titles.0.title": "Climate of the Alps"}},
		{"9", "draft", []string{title}, short, free, nil},
		{"9", "draft", []string{"Climate of the Alps => Peaks"}, asSent, "xsi", shown{"titles.0.title": "Peaks"}},
		{"9", "draft", []string{`"creators":[]`}, "<creators/>", free, shown{"state": "draft"}},
		{"10", "kernel-3", []string{"422 " + title, `422 "url":"https://example.org/2"`, `422 "event":"hide"`}, asSent, "xsi",
			nil},
		{"10", "kernel-3", []string{kernel4}, short, free, nil},
		{"10", "kernel-3", []string{"kernel-3 => kernel-4"}, asSent, "xsi", nil},
		{"11", "", []string{"PUT /metadata"}, asSent, "xsi", shown{"source": "mds"}},
		{"JSON", "json", nil, long, "Issued", shown{"language": "pt", "schemaVersion": nil}},
		{"JSON", "json", []string{title}, short, "Issued", shown{"schemaVersion": "http://datacite.org/schema/kernel-4"}},
		{"JSON", "json", []string{"Alps => Peaks"}, long, "Issued", shown{"dates.0.date": "2020"}},
		{"JSON", "json", []string{`"schemaVersion":"4.5"`, "Alps => Peaks"}, short, "",
			shown{"schemaVersion": "http://datacite.org/schema/kernel-4"}},
	} {
		t.Run("rule "+row.rule+": "+strings.Join(row.sent, "; "), func(t *testing.T) {
			for _, behaviour := range []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed} {
				service := newServiceAs(behaviour)
				sent := withXML(correction{content: content}.document(t))
				switch row.written {
				case "json":
					sent = testkit.Expand(t, recordTables, `[[COMPLETE]],"event":"publish","language":"pt-BR"`)
				case "draft":
				default:
					sent += `,"url":"https://example.org/1","event":"publish"`
				}
				require.Equal(t, 201, update(corrected, sent).do(t, service).status)
				first := kept(t, service)
				if row.written == "kernel-3" { // of old: such a record cannot be written any more
					old := strings.ReplaceAll(first["xml"].(string), "kernel-4", "kernel-3")
					first["xml"], first["schemaVersion"] = base64.StdEncoding.EncodeToString([]byte(old)), "http://datacite.org/schema/kernel-3"
					service = newServiceAs(behaviour)
					seed(t, service, string(mustJSON(t, first)))
				}
				for _, sent := range row.sent {
					change, status := requestFor(t, service, sent, first["xml"].(string))
					a := change.do(t, service)
					require.Equal(t, status, a.status, a.body)
				}
				after := kept(t, service)
				xml := between.ReplaceAllString(after["xml"].(string), "><")
				assertForm(t, "…"+row.has+"…", xml)
				assert.False(t, row.lacks != "" && strings.Contains(xml, row.lacks), xml)
				for path, want := range row.shown {
					assert.Equal(t, want, at(after, path), path)
				}
			}
		})
	}
}

// requestFor is the request of a row, and the status that it gets.
func requestFor(t *testing.T, service *sandbox.Service, sent, first string) (c call, status int) {
	now := kept(t, service)["xml"].(string)
	switch from, to, xml := strings.Cut(sent, " => "); {
	case sent == "first":
		return update(corrected, withXML(first)), 200
	case sent == "PUT /doi":
		return putURL(corrected, corrected, "https://example.org/2"), 201
	case sent == "PUT /metadata":
		return putMetadata(corrected, now), 201
	case sent == "DELETE /metadata":
		return call{method: "DELETE", path: "/metadata/" + corrected, as: "repo"}, 200
	case xml:
		to, beside, _ := strings.Cut(to, " and ")
		now = between.ReplaceAllString(now, "><")
		require.Contains(t, now, from)
		return update(corrected, strings.TrimSuffix(withXML(strings.ReplaceAll(now, from, to))+","+beside, ",")), 200
	case strings.HasPrefix(sent, "422 "):
		return update(corrected, strings.TrimPrefix(sent, "422 ")), 422
	}
	c = update(corrected, strings.TrimPrefix(sent, "PATCH "))
	if strings.HasPrefix(sent, "PATCH ") {
		c.method = "PATCH"
	}
	return c, 200
}
