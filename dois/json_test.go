package dois_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	harvested "github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// A record is read from the resource that the service sends as well as from its
// attributes.
func TestRecordFromResource(t *testing.T) {
	const attributes = `{"doi":"10.5072/a","titles":[{"title":"A"}]}`
	var alone, inside dois.Record
	require.NoError(t, json.Unmarshal([]byte(attributes), &alone))
	require.NoError(t, json.Unmarshal([]byte(`{"id":"10.5072/a","type":"dois","attributes":`+attributes+
		`,"relationships":{"client":{"data":{"id":"ice.archive","type":"clients"}}}}`), &inside))
	assert.Equal(t, alone.Record, inside.Record)
	assert.Equal(t, attributes, string(inside.Raw))
	assert.Equal(t, "ice.archive", inside.Client)

	for text, want := range map[string]string{
		`{"id":"ice.archive","type":"clients","attributes":{"name":"Ice Archive"}}`: `not a record, but a resource of the ` +
			`type "clients"`,
		`{"id":"10.5072/a","type":"dois","attributes":null}`: "no attributes",
		`[]`:                                   "no attributes",
		`{"doi":"10.5072/a","id":"10.5072/b"}`: `id: is "10.5072/b", and doi is "10.5072/a"; a record has one name`,
		`{"identifiers":[{"identifier":"10.5072/a","identifierType":"DOI"},{"identifier":"10.5072/b","identifierType":"DOI"}]}`: `identifiers[1]: ` +
			`is "10.5072/b", and identifiers[0] is "10.5072/a"`,
		`{"doi":"10.5072/a","identifiers":[{"identifier":"10.5072/b","identifierType":"DOI"}],"prefix":"10.5072","suffix":"c"}`: `prefix and suffix: is "10.5072/c"`,
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), &inside), want, text)
	}

	for _, first := range []string{"id", "type", "relationships", "links", "meta"} {
		var r dois.Record
		require.NoError(t, json.Unmarshal([]byte(`{"`+first+`":null,"attributes":{"doi":"10.5072/a","version":"2"}}`), &r))
		assert.Equal(t, "2", r.Version, first)
	}
	for _, tt := range []struct{ text, want string }{
		{`{"id":"10.5072/B"}`, "10.5072/b"},
		{`{"prefix":"10.5072","suffix":"b"}`, "10.5072/b"},
		{`{"prefix":"10.5072","titles":[]}`, ""},
		{`{"titles":[{"title":"10.5072/b"}]}`, ""},
		{`{"attributes":{},"id":"10.5072/b"}`, "10.5072/b"},
		{`{"id":"10.5072/b","attributes":{}}`, "10.5072/b"},
		{`{"id":"10.5072/b","type":"dois","relationships":{},"links":{},"meta":{},"attributes":{}}`, "10.5072/b"},
		{`{"id":"10.5072/b","type":null,"attributes":{}}`, "10.5072/b"},
		{`{"identifiers":[{"identifier":"10.5072/b","identifierType":"DOI"}]}`, "10.5072/b"},
		{`{"identifiers":[{"identifier":"10.5072/b","identifierType":"Handle"}]}`, ""},
		{`{"doi":"10.5072/a","identifiers":[{"identifier":"10.5072/b","identifierType":"DOI"}]}`, "10.5072/a"},
		{`{"identifiers":[{"identifier":"x","identifierType":"DOI"},{"identifier":"10.5072/b","identifierType":"DOI"}]}`,
			"10.5072/b"},
	} {
		var named dois.Record
		require.NoError(t, json.Unmarshal([]byte(tt.text), &named), tt.text)
		assert.Equal(t, tt.want, strings.ToLower(named.DOI), tt.text)
	}
}

// FuzzRecord compares the reader of records with encoding/json: both must agree
// on what is JSON, and an object of whatever members is a record, unless it is a resource.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		fullRecord, `{}`, ` { } `, `{"a":1,}`, `{"a" 1}`, `{"a":01}`, `{"a":-}`, `{"a":1e}`, `{"a":tru}`, `{"a":nul`,
		`{"a":"\x"}`, `{"a":"\u12"}`,
		`{"a":"\ud800"}`, `{"doi":"` + "\xff" +
			`"}`, "{\"a\":\"\n\"}", `{"a":[1,2,{"b":[]}]}`, `{"a":[1 2]}`, `{"a":}`, `{`, `[]`, `null`, `1`, `{}{}`, "{}\x00", "{\x00}", ``, `{"doi":1,"doi":null}`,
		`{"creators":[[[]]],"viewCount":1e400,"contentUrl":[[]],"landingPage":[{}],` +
			`"container":[]}`, `{"a":"eight by\"te"}`, `{"a":"12345678\\90"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r dois.Record
		err := r.UnmarshalJSON(data)
		object := len(bytes.TrimLeft(data, " \t\r\n")) > 0 && bytes.TrimLeft(data, " \t\r\n")[0] == '{'
		var members map[string]json.RawMessage
		valid := json.Unmarshal(data, &members) == nil && object
		if fault := datacite.Findings(err); valid && len(fault) == 1 && (fault[0].Code == "encoding" ||
			fault[0].Code == "conflict") {
			return // encoding/json accepts it
		}
		if _, resource := members["attributes"]; resource && valid {
			return
		}
		if valid != (err == nil) {
			t.Fatalf("%q: JSON object %v, error %v", data, valid, err)
		}
		if err != nil {
			return
		}
		if got := bytes.Trim(data, " \t\r\n"); !bytes.Equal(got, r.Raw) {
			t.Fatalf("Raw is %q, want %q", r.Raw, got)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("%q cannot be written: %v", data, err)
		}
	})
}

// notUTF8 are texts of JSON that encoding/json would replace: Latin-1, a code of more bytes than it needs, a
// surrogate pair in bytes (CESU-8), and halves of pairs in escapes.
var notUTF8 = []string{"Glaci\xe8rs", "\xc0\xaf", "\xed\xa0\xbd\xed\xb8\x80", `\ud800`, `a\udc00b`, `\ud83d\ud83d`}

// Texts that are not UTF-8 are a warning of a stored record, which Draft refuses, and an error of a file and
// where there is no record.
func TestTextsThatAreNotUTF8(t *testing.T) {
	for _, text := range notUTF8 {
		attributes := `{"doi":"10.5072/a","titles":[{"title":"A"},{"title":"` + text + `"}],"odd":{"x":"` + text + `"}}`
		resource := `{"id":"10.5072/a","type":"dois","attributes":` + attributes + `}`
		alone := must(canned(t, []byte(`{"data":`+resource+`}`)).Get(t.Context(), "10.5072/a", nil))(t)
		listed := must(canned(t, []byte(`{"data":[{"id":"10.5072/b","attributes":{"doi":"10.5072/b"}},`+resource+
			`]}`)).List(t.Context(), nil))(t)
		assert.Empty(t, listed.Records[0].Warnings)
		for _, r := range []*dois.Record{alone, &listed.Records[1]} {
			assert.Contains(t, r.Titles[1].Title, "\ufffd")
			assert.True(t, r.Has("titles") && r.Has("odd"))
			paths := map[string]bool{}
			for _, f := range r.Warnings {
				assert.True(t, f.Warning && f.Code == "encoding", f)
				paths[f.Path] = true
			}
			assert.Equal(t, map[string]bool{"titles[1].title": true, "odd.x": true}, paths)
			_, err := r.Draft()
			require.ErrorIs(t, err, datacite.ErrInvalid)
			require.ErrorContains(t, err, "Record.titles[1].title: the stored text is not UTF-8")
			assert.NotContains(t, err.Error(), "odd")
		}
		for _, response := range []string{`{"data":[],"meta":{"` + text + `":1}}`,
			`{"data":[],"meta":{"total":0,"states":[{"id":"` + text + `"}]}}`} {
			require.ErrorContains(t, failure(canned(t, []byte(response)).List(t.Context(), nil)), "the text is not UTF-8",
				response)
		}

		var r dois.Record
		_, errMetadata := metadata.ParseJSON(strings.NewReader(attributes))
		errArchive := error(nil)
		for _, errArchive = range harvested.NewReader(strings.NewReader(`{"doi":"10.5072/b"}`+"\n"+attributes+"\n"),
			nil).All() {
		}
		assert.ErrorContains(t, errArchive, "line 2: byte ")
		for _, err := range []error{r.UnmarshalJSON([]byte(attributes)), r.UnmarshalJSON([]byte(resource)), errMetadata,
			errArchive} {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.Equal(t, datacite.Code("encoding"), datacite.Findings(err)[0].Code)
			assert.ErrorContains(t, err, "the text is not UTF-8")
		}
	}
	found := (&metadata.Record{Titles: []metadata.Title{{Title: "Glaci\ufffdrs"}}}).Findings()
	assert.True(t, slices.ContainsFunc(found, func(f datacite.Finding) bool {
		return f.Path == "titles[0].title" && f.Code == "encoding" && f.Warning
	}), found)
}

// TestAnyShapeIsKeptOrNamed puts values of every shape in the place of every member of a record. What is
// written there is in the record, or a warning names it and Draft refuses the record.
func TestAnyShapeIsKeptOrNamed(t *testing.T) {
	whole := template(reflect.TypeFor[struct {
		metadata.Record
		URL        string         `json:"url"`
		ContentURL []string       `json:"contentUrl"`
		Container  dois.Container `json:"container"`
	}]())
	text := must(json.Marshal(whole))(t)
	var sound dois.Record
	require.NoError(t, sound.UnmarshalJSON(text))
	require.Empty(t, sound.Warnings)
	members := 0
	for _, at := range places(whole) {
		if members++; strings.HasPrefix(at, "doi") {
			continue
		}
		for _, shape := range []string{`"zq"`, `4711`, `-0.5e3`, `true`, `null`, `[]`, `["zq","zr"]`, `[["zq"]]`,
			`{"lang":"zq","__content__":"zr"}`, `[{"zq":"zr"},7]`, `{"title":{"name":"zq"}}`} {
			attributes := strings.Replace(replaced(t, text, at, shape), `"doi":"x"`, `"doi":"10.5072/x"`, 1)
			response := `{"data":{"id":"10.5072/x","type":"dois","attributes":` + attributes + `}}`
			r, err := canned(t, []byte(response)).Get(t.Context(), "10.5072/x", nil)
			if err != nil {
				t.Fatalf("%s: %s: %v", at, shape, err)
			}
			named := func(code datacite.Code) bool {
				return slices.ContainsFunc(r.Warnings, func(f datacite.Finding) bool {
					return f.Code == code && (strings.HasPrefix(f.Path, at) || strings.HasPrefix(at, f.Path))
				})
			}
			written := must(json.Marshal(r))(t)
			kept := true
			for _, leaf := range regexp.MustCompile(`zq|zr|4711|-0.5e3|true|7`).FindAllString(shape, -1) {
				kept = kept && strings.Contains(string(written), leaf)
			}
			assert.True(t, kept || named("shape"), "%s: %s: %v", at, shape, r.Warnings)
			if _, err := r.Draft(); named("shape") && !strings.HasPrefix(at, "schemaVersion") {
				assert.ErrorContains(t, err, "Record.", "%s: %s", at, shape)
			}
		}
	}
	assert.Greater(t, members, 150)
	long := `{"data":{"id":"10.5072/x","attributes":{"doi":"10.5072/x","types":["a` + strings.Repeat("é", 100) + `"]}}}`
	odd := must(canned(t, []byte(long)).Get(t.Context(), "10.5072/x", nil))(t).Warnings
	require.Len(t, odd, 1)
	assert.Equal(t, `["a`+strings.Repeat("é", 38)+"…", odd[0].Value, "80 bytes of it")
	for _, nothing := range []string{"null", "[]", "{}", `""`, "[ ]"} {
		response := `{"data":{"id":"10.5072/x","attributes":{"doi":"10.5072/x","types":` + nothing + `,"other":` + nothing + `}}}`
		assert.Empty(t, must(canned(t, []byte(response)).Get(t.Context(), "10.5072/x", nil))(t).Warnings, nothing)
	}
}

// template is a JSON value with all members that a type has.
func template(of reflect.Type) any {
	switch {
	case of == reflect.TypeFor[metadata.Polygons]():
		point := map[string]any{"polygonPoint": template(reflect.TypeFor[metadata.Point]())}
		return []any{point, map[string]any{"inPolygonPoint": template(reflect.TypeFor[metadata.Point]())}}
	case of.Kind() == reflect.Slice:
		return []any{template(of.Elem())}
	case of.Kind() != reflect.Struct:
		return "x"
	}
	object := map[string]any{}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			maps.Copy(object, template(field.Type).(map[string]any))
		case name != "-" && name != "":
			object[name] = template(field.Type)
		}
	}
	return object
}

// places are the paths to all values inside a value.
func places(value any) (paths []string) {
	add := func(step string, inside any) {
		paths = append(paths, step)
		for _, path := range places(inside) {
			paths = append(paths, strings.Replace(step+"."+path, ".[", "[", 1))
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for name, inside := range value {
			add(name, inside)
		}
	case []any:
		for i, inside := range value {
			add(fmt.Sprintf("[%d]", i), inside)
		}
	}
	return paths
}

// replaced is a JSON text with another value at a path.
func replaced(t *testing.T, text []byte, path, by string) string {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	at := value
	steps := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	for i, step := range steps {
		last := i == len(steps)-1
		switch inside := at.(type) {
		case map[string]any:
			if at = inside[step]; last {
				inside[step] = json.RawMessage(by)
			}
		case []any:
			n, _ := strconv.Atoi(step)
			if at = inside[n]; last {
				inside[n] = json.RawMessage(by)
			}
		}
	}
	written := must(json.Marshal(value))(t)
	return string(written)
}

// realisticPage is a page of records with all that a record usually has.
func realisticPage(records int) []byte {
	var b strings.Builder
	b.WriteString(`{"data":[`)
	for i := range records {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"10.5072/r%04d","type":"dois","attributes":{"doi":"10.5072/r%04[1]d","identifiers":[{"identifier":"core-%[1]d","identifierType":"Local"}],
"creators":[{"name":"Lovelace, Ada","nameType":"Personal","givenName":"Ada","familyName":"Lovelace","affiliation":["Analytical Society","Ice Archive"],"nameIdentifiers":[{"schemeUri":"https://orcid.org","nameIdentifier":"https://orcid.org/0000-0001-2345-6789","nameIdentifierScheme":"ORCID"}]},
{"name":"Hopper, Grace","nameType":"Personal","givenName":"Grace","familyName":"Hopper","affiliation":[],"nameIdentifiers":[]}],
"titles":[{"title":"Ice core measurements, drilling site %[1]d, with \"raw\" data"}],"publisher":"Ice Archive","container":{},"publicationYear":2020,
"subjects":[{"subject":"ice cores"},{"subject":"glaciology","subjectScheme":"GCMD"},{"subject":"climate"}],"contributors":[],
"dates":[{"date":"2020-03-01","dateType":"Issued"},{"date":"2019","dateType":"Collected"}],"language":"en",
"types":{"ris":"DATA","bibtex":"misc","citeproc":"dataset","schemaOrg":"Dataset","resourceType":"Table","resourceTypeGeneral":"Dataset"},
"relatedIdentifiers":[{"relationType":"IsCitedBy","relatedIdentifier":"10.5072/paper-%[1]d","relatedIdentifierType":"DOI"}],"relatedItems":[],"sizes":["5 MB"],"formats":["text/csv"],"version":"1.0",
"rightsList":[{"rights":"Creative Commons Attribution 4.0 International","rightsUri":"https://creativecommons.org/licenses/by/4.0/legalcode","schemeUri":"https://spdx.org/licenses/","rightsIdentifier":"cc-by-4.0","rightsIdentifierScheme":"SPDX"}],
"descriptions":[{"description":"%[2]s","descriptionType":"Abstract"}],
"geoLocations":[{"geoLocationPoint":{"pointLatitude":"78.22","pointLongitude":"15.65"},"geoLocationPlace":"Svalbard"}],"fundingReferences":[{"funderName":"Ice Council","awardNumber":"42"}],
"url":"https://repository.example.org/records/%[1]d","contentUrl":null,"metadataVersion":2,"schemaVersion":"http://datacite.org/schema/kernel-4","source":"mds","isActive":true,"state":"findable","reason":null,
"viewCount":12,"downloadCount":3,"referenceCount":0,"citationCount":1,"partCount":0,"partOfCount":0,"versionCount":0,"versionOfCount":0,
"created":"2020-03-01T10:00:00Z","registered":"2020-03-01T10:00:01Z","published":null,"updated":"2021-07-08T09:53:54Z"},"relationships":{"client":{"data":{"id":"ice.archive","type":"clients"}}}}`,
			i, strings.Repeat("The site was drilled to a depth of four hundred metres. ", 12))
	}
	b.WriteString(`],"meta":{"totalPages":1,"page":1},"links":{"self":"https://localhost/dois"}}`)
	return []byte(b.String())
}

// canned is a client of a service that always gives the same response, and is asked once.
func canned(t testing.TB, data []byte) *dois.Client {
	t.Helper()
	client := must(dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
		HTTPClient: &http.Client{Transport: same(data)}, MaxAttempts: 1}))(t)
	return client
}

type same []byte

func (s same) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(s)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(s)),
	}, nil
}

// BenchmarkPage reads a page of 1,000 records of 3 KB each; internal/bench compares with encoding/json.
func BenchmarkPage(b *testing.B) {
	data := realisticPage(1000)
	client := canned(b, data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range client.All(b.Context(), &dois.ListOptions{Page: query.Page{Size: 1000}}) {
			require.NoError(b, err)
			n++
		}
		require.Equal(b, 1000, n)
	}
}
