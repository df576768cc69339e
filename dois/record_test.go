package dois_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v3/cassette"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// fullRecord has every field of specification §2.2.
const fullRecord = `{
	"doi":"10.5072/full","url":"https://example.org/full","created":"2020-01-02T03:04:05Z","registered":"2020-01-03T00:00:00Z",
	"titles":[{"title":"Ice cores"},{"title":"Cores of ice","titleType":"AlternativeTitle","lang":"en"}],
	"creators":[{"name":"Lovelace, Ada","nameType":"Personal","givenName":"Ada","familyName":"Lovelace",
		"affiliation":[{"name":"DataCite","schemeUri":"https://ror.org","affiliationIdentifier":"https://ror.org/04wxnsj81","affiliationIdentifierScheme":"ROR"},
			{"name":"A place without an identifier"}],
		"nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-2345-6789","nameIdentifierScheme":"ORCID"}]}],
	"publisher":{"name":"Example Press","schemeUri":"https://ror.org","publisherIdentifier":"https://ror.org/04z8jg394","publisherIdentifierScheme":"ROR","lang":"en"},
	"publicationYear":2020,
	"descriptions":[{"description":"What they say","descriptionType":"Abstract"}],
	"subjects":[{"subject":"glaciology"}],
	"types":{"resourceTypeGeneral":"Dataset","resourceType":"Table"},
	"relatedIdentifiers":[
		{"relationType":"Cites","relatedIdentifier":"10.5072/cited","relatedIdentifierType":"DOI"},
		{"relationType":"IsCitedBy","relatedIdentifier":"10.5072/citing","relatedIdentifierType":"DOI"},
		{"relationType":"HasPart","relatedIdentifier":"10.5072/part","relatedIdentifierType":"DOI"},
		{"relationType":"IsPartOf","relatedIdentifier":"10.5072/whole","relatedIdentifierType":"DOI"},
		{"relationType":"HasVersion","relatedIdentifier":"10.5072/v2","relatedIdentifierType":"DOI"},
		{"relationType":"IsVersionOf","relatedIdentifier":"10.5072/v0","relatedIdentifierType":"DOI"}],
	"viewCount":11,"downloadCount":7,"citationCount":3,
	"viewsOverTime":[{"yearMonth":"2020-01","total":5},{"yearMonth":"2020-02","total":6}],
	"citationsOverTime":[{"year":"2021","total":3}],
	"alternateIdentifiers":[{"alternateIdentifier":"core-17","alternateIdentifierType":"Local accession number"}],
	"xml":"PHJlc291cmNlLz4="}`

// TestRecordFields reads every field of specification §2.2, each way there is.
func TestRecordFields(t *testing.T) {
	list := func(t *testing.T, srv *datacitetest.Server) *dois.Record {
		found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{
			IDs: []string{"10.5072/full"}, Affiliation: true, Publisher: true, Detail: true,
		})
		require.NoError(t, err)
		require.Len(t, found.Records, 1)
		return &found.Records[0]
	}
	get := func(t *testing.T, srv *datacitetest.Server) *dois.Record {
		r := must(srv.DOIs().Get(t.Context(), "10.5072/full", &dois.GetOptions{Detail: true}))(t)
		return r
	}
	for name, read := range map[string]func(*testing.T, *datacitetest.Server) *dois.Record{"in a list": list,
		"alone": get} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				seed(t, srv, fullRecord)
				for _, related := range []string{"cited", "citing", "part", "whole", "v2", "v0"} {
					seed(t, srv, `{"doi":"10.5072/`+related+`"}`)
				}
				r := read(t, srv)

				written := must(json.Marshal(r))(t)
				assertKeeps(t, strings.NewReplacer(`"created":"2020-01-02T03:04:05Z",`, "", `"registered":"2020-01-03T00:00:00Z",`,
					"").Replace(fullRecord), string(written))
				assertKeeps(t, `{"prefix":"10.5072","suffix":"full","provider":"example","client":"example.repo","state":"findable",
					"references":["10.5072/cited"],"citations":["10.5072/citing"],"parts":["10.5072/part"],"partOf":["10.5072/whole"],
					"versions":["10.5072/v2"],"versionOf":["10.5072/v0"]}`, string(written))
				// with fractions of a second or without
				for at, day := range map[dois.Timestamp]int{r.Created: 2, r.Registered: 3} {
					read := must(at.Time())(t)
					assert.Equal(t, day, read.Day())
				}
			})
		})
	}
}

// TestEveryShapeOfARecord reads one record in each shape of specification §2.2 and §9: the
// type in Go stays, and identifiers are there only when asked for.
func TestEveryShapeOfARecord(t *testing.T) {
	scene := func(name string, tell func(t *testing.T, srv *datacitetest.Server)) {
		story(t, name, []string{fullRecord}, tell)
	}
	list := func(t *testing.T, srv *datacitetest.Server, opts dois.ListOptions) dois.Record {
		found := must(srv.DOIs().List(t.Context(), &opts))(t)
		require.Len(t, found.Records, 1)
		return found.Records[0]
	}
	raw := func(r dois.Record, name string) string {
		var v json.RawMessage
		must(r.Decode(name, &v))(t)
		return string(v)
	}
	scene("plain affiliations", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{})
		assert.Equal(t, metadata.List[metadata.Affiliation]{{Name: "DataCite"}, {Name: "A place without an identifier"}},
			r.Creators[0].Affiliation)
		assert.Contains(t, raw(r, "creators"), `"affiliation":["DataCite","A place without an identifier"]`)
	})
	scene("affiliations as objects", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{Affiliation: true})
		assert.Equal(t, "https://ror.org/04wxnsj81", r.Creators[0].Affiliation[0].AffiliationIdentifier)
		assert.Equal(t, metadata.Affiliation{Name: "A place without an identifier"}, r.Creators[0].Affiliation[1])
	})
	scene("plain publisher", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{})
		assert.Equal(t, metadata.Publisher{Name: "Example Press"}, r.Publisher)
		assert.Equal(t, `"Example Press"`, raw(r, "publisher"))
	})
	scene("publisher as an object", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{Publisher: true})
		assert.Equal(t, "https://ror.org/04z8jg394", r.Publisher.PublisherIdentifier)
	})
	scene("without detail", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{})
		assert.Empty(t, r.Prefix)
		assert.Nil(t, r.MetadataXML)
		assert.Nil(t, r.Citations)
		assert.Equal(t, []metadata.AlternateIdentifier{
			{AlternateIdentifier: "core-17", AlternateIdentifierType: "Local accession number"},
		}, []metadata.AlternateIdentifier(r.AlternateIdentifiers), "another attribute has them too")
	})
	scene("only some fields", func(t *testing.T, srv *datacitetest.Server) {
		r := list(t, srv, dois.ListOptions{Fields: []string{"doi", "titles"}})
		assert.Equal(t, "10.5072/full", r.DOI)
		assert.Len(t, r.Titles, 2)
		assert.Empty(t, r.Creators)
		assert.Empty(t, r.URL)
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(r.Raw, &members))
		assert.Len(t, members, 2, "nothing else was sent")
	})
	scene("fields without the name", func(t *testing.T, srv *datacitetest.Server) {
		assert.Equal(t, "10.5072/full", list(t, srv, dois.ListOptions{Fields: []string{"titles"}}).DOI)
	})
}

// xmlRecord is metadata XML as a Draft sends it.
const xmlRecord = `<resource xmlns="http://datacite.org/schema/kernel-4">` +
	`<identifier identifierType="DOI">10.5072/xml</identifier>` +
	`<creators><creator><creatorName>Hopper, Grace</creatorName></creator></creators>` +
	`<titles><title>From XML</title></titles><publisher>Example Press</publisher><publicationYear>2021</publicationYear>` +
	`<resourceType resourceTypeGeneral="Dataset">Table</resourceType></resource>`

// TestAttributesOfOddTypes reads attributes of types that the deployed service has been seen
// to send, and some that it has not. None fails the record, and what can be
// understood is. Package metadata has the tests of the metadata's.
func TestAttributesOfOddTypes(t *testing.T) {
	for name, tt := range map[string]struct {
		attributes string
		read       func(*dois.Record) any
		want       any
	}{
		"container": {`"container":{"type":"Series","title":"S","volume":7,"identifiers":[{"identifier":"1",` +
			`"identifierType":"ISSN"}]}`, func(r *dois.Record) any { return r.Container }, dois.Container{Type: "Series",
			Title: "S", Volume: "7", Identifiers: []dois.ContainerIdentifier{{Identifier: "1", IdentifierType: "ISSN"}}}},
		"xml": {`"xml":"PHJlc291cmNlLz4="`, func(r *dois.Record) any {
			return string(r.MetadataXML)
		}, "<resource/>"},
		"xml not in base64":  {`"xml":"<resource>"`, func(r *dois.Record) any { return len(r.MetadataXML) }, 0},
		"xml an object":      {`"xml":{"a":1}`, func(r *dois.Record) any { return len(r.MetadataXML) }, 0},
		"container a string": {`"container":"S"`, func(r *dois.Record) any { return r.Container.Title }, ""},
		"identifier null": {`"identifiers":[{"identifier":null,"identifierType":"DOI"}]`, func(r *dois.Record) any {
			return len(r.AlternateIdentifiers)
		}, 0},
		"identifier with the DOI": {`"identifiers":[{"identifier":"https://doi.org/10.5072/x","identifierType":"DOI"},` +
			`{"identifier":"7","identifierType":"local"}]`, func(r *dois.Record) any {
			return r.AlternateIdentifiers[0].AlternateIdentifier
		}, "7"},
		"content urls null": {`"contentUrl":null`, func(r *dois.Record) any { return len(r.ContentURL) }, 0},
		"content urls": {`"contentUrl":["a","b"]`, func(r *dois.Record) any {
			return r.ContentURL
		}, []string{"a", "b"}},
		"content url alone": {`"contentUrl":"a"`, func(r *dois.Record) any { return r.ContentURL }, []string{"a"}},
		"metadata version":  {`"metadataVersion":3`, func(r *dois.Record) any { return r.MetadataVersion }, 3},
		"active":            {`"isActive":true`, func(r *dois.Record) any { return r.IsActive }, true},
		"reason":            {`"reason":"gone"`, func(r *dois.Record) any { return r.Reason }, "gone"},
		"counter":           {`"viewCount":5`, func(r *dois.Record) any { return r.ViewCount }, 5},
		"counter a text":    {`"viewCount":"5"`, func(r *dois.Record) any { return r.ViewCount }, 5},
		"counter null":      {`"viewCount":null`, func(r *dois.Record) any { return r.ViewCount }, 0},
		"month by month": {`"viewsOverTime":[{"yearMonth":"2020-01","total":"3"},null,7]`,
			func(r *dois.Record) any { return r.ViewsOverTime }, dois.Series{{YearMonth: "2020-01", Total: 3}}},
		"year by year, as numbers": {`"citationsOverTime":[{"year":2020,"total":3}]`, func(r *dois.Record) any {
			return r.CitationsOverTime
		}, dois.Series{{Year: "2020", Total: 3}}},
		"published a number": {`"published":2016`, func(r *dois.Record) any { return string(r.Published) }, "2016"},
		"agency":             {`"agency":"crossref"`, func(r *dois.Record) any { return r.Agency }, "crossref"},
		"state a number":     {`"state":1`, func(r *dois.Record) any { return string(r.State) }, "1"},
		"names with escapes": {`"\u0075rl":"https://example.org"`, func(r *dois.Record) any {
			return r.URL
		}, "https://example.org"},
		"citations as attributes": {`"citations":["10.5072/a",{"id":"10.5072/b"}]`, func(r *dois.Record) any {
			return r.Citations
		}, []string{"10.5072/a", "10.5072/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			attributes := `{"doi":"10.5072/x",` + tt.attributes + `,"unknown":{"kept":[1,2.50,"three"]}}`
			r := recordFrom(t, attributes)
			assert.Equal(t, "10.5072/x", r.DOI)
			assert.Equal(t, tt.want, tt.read(r))
			assert.Equal(t, attributes, string(r.Raw), "Raw is what was sent, letter by letter")

			var decoded dois.Record
			require.NoError(t, json.Unmarshal([]byte(attributes), &decoded), "encoding/json reads it too")
			assert.Equal(t, tt.want, tt.read(&decoded))

			written := must(json.Marshal(r))(t)
			var again dois.Record
			require.NoError(t, json.Unmarshal(written, &again))
			assert.Equal(t, tt.want, tt.read(&again), "what is written can be read again: %s", written)
		})
	}
}

// The name of a record may come with the resource alone, beside identifiers that have it, too, and another DOI.
func TestNameOutsideTheIdentifiers(t *testing.T) {
	client := scripted(t, nil, reply(200, `{"data":{"id":"10.5072/x","attributes":{"identifiers":[
		{"identifier":"https://doi.org/10.5072/y","identifierType":"DOI"},
		{"identifier":"https://doi.org/10.5072/X","identifierType":"DOI"}]}}}`))
	r := must(client.Get(t.Context(), "10.5072/x", nil))(t)
	assert.Equal(t, "10.5072/x", r.DOI)
	assert.Equal(t, metadata.List[metadata.AlternateIdentifier]{
		{AlternateIdentifier: "https://doi.org/10.5072/y", AlternateIdentifierType: "DOI"}}, r.AlternateIdentifiers)
}

// TestWriteBackLosesNothing refuses to write back what was read without the
// identifiers.
func TestWriteBackLosesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		seed(t, srv, fullRecord)
		for _, opts := range []*dois.ListOptions{nil, {Affiliation: true}, {Publisher: true}} {
			found := must(srv.DOIs().List(t.Context(), opts))(t)
			require.ErrorIs(t, failure(found.Records[0].Draft()), datacite.ErrInvalid)
		}
		found := must(srv.DOIs().List(t.Context(), &dois.ListOptions{Affiliation: true, Publisher: true}))(t)
		must(found.Records[0].Draft())(t)
	})
}

func TestTimestamps(t *testing.T) {
	at := must(dois.Timestamp("2021-07-08T09:53:54Z").Time())(t)
	assert.Equal(t, int64(1625738034), at.Unix())
	err := failure(dois.Timestamp("soon").Time())
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.Equal(t, datacite.CodeDate, datacite.Findings(err)[0].Code)
}

func TestHas(t *testing.T) {
	listed := must(canned(t, []byte(`{"data":[{"id":"10.5072/x","attributes":{"doi":"10.5072/x"}}]}`)).List(t.Context(),
		&dois.ListOptions{Fields: []string{"doi"}}))(t)
	assert.Equal(t, []string{"doi"}, listed.Records[0].Fields, "no other was asked for")
	r := recordFrom(t, `{"doi":"10.5072/x","viewCount":0,"citationCount":null}`)
	assert.True(t, r.Has("viewCount"), "a zero that was counted")
	assert.True(t, r.Has("citationCount"))
	assert.False(t, r.Has("downloadCount"), "not counted")

	var extra int
	found, err := r.Decode("viewCount", &extra)
	assert.True(t, found)
	require.NoError(t, err)
	require.Error(t, failure(r.Decode("viewCount", new(string))))
	found, err = r.Decode("other", &extra)
	assert.False(t, found)
	require.NoError(t, err)
}

// TestRelationships reads the places where the service names other resources.
func TestRelationships(t *testing.T) {
	client := scripted(t, nil, reply(200,
		`{"data":{"id":"10.5072/X","type":"dois","attributes":{"doi":"10.5072/x"},"relationships":{
		"client":{"data":{"id":"a.b","type":"clients"}},"provider":{"data":{"id":"a","type":"providers"}},
		"media":{"data":{"id":"10.5072/x","type":"media"}},"citations":{"data":[{"id":"10.5072/c","type":"dois"},{"id":"10.5072/d","type":"dois"}]},
		"references":{"data":[]},"parts":{"data":null},"versions":null,"versionOf":{"id":"10.5072/v"},"partOf":"10.5072/whole"}},
		"included":[{"id":"a.b","type":"clients","attributes":{"name":"Repository","language":[]},
		"relationships":{"provider":{}}}]}`))
	r := must(client.Get(t.Context(), "10.5072/x", &dois.GetOptions{Include: []string{"client", "media"}}))(t)
	assert.Equal(t, "a.b", r.Client)
	assert.Equal(t, "a", r.Provider)
	assert.Equal(t, []string{"10.5072/c", "10.5072/d"}, r.Citations)
	assert.Equal(t, []string{}, r.References, "none, and the service said so")
	assert.Nil(t, r.Parts)
	assert.Nil(t, r.Versions)
	assert.Equal(t, []string{"10.5072/v"}, r.VersionOf)
	assert.Equal(t, []string{"10.5072/whole"}, r.PartOf)
	assert.Contains(t, string(r.Relationships), `"media"`)
	require.Len(t, r.Included, 1)
	assert.Equal(t, "clients a.b", r.Included[0].Type+" "+r.Included[0].ID)
	assert.JSONEq(t, `{"name":"Repository","language":[]}`, string(r.Included[0].Attributes))
	assert.JSONEq(t, `{"provider":{}}`, string(r.Included[0].Relationships))

	for name, relationships := range map[string]string{"null": "null", "a list": "[]", "a text": `"x"`,
		"client null": `{"client":{"data":null}}`} {
		t.Run(name, func(t *testing.T) {
			client := scripted(t, nil, reply(200,
				`{"data":{"id":"10.5072/x","attributes":{"doi":"10.5072/x"},"relationships":`+relationships+`}}`))
			r := must(client.Get(t.Context(), "10.5072/x", nil))(t)
			assert.Empty(t, r.Client)
		})
	}
}

// filled is a record with a value of its own in every field that JSON has.
func filled() *dois.Record {
	r := &dois.Record{}
	n := 0
	fill(reflect.ValueOf(r).Elem(), &n)
	r.PublicationYear = "2020"
	return r
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i), n)
			}
		}
	}
}

// A record that is written as JSON and read again has lost nothing, down to the
// least member.
func TestRecordKeepsEveryField(t *testing.T) {
	want := filled()
	data := must(json.Marshal(want))(t)
	var got dois.Record
	require.NoError(t, json.Unmarshal(data, &got))
	got.Raw = nil
	assert.Equal(t, want, &got)
}

// Nothing that the service sent is lost on the way to JSON, in whatever shape it
// came.
func TestRecordKeepsWhatWasSent(t *testing.T) {
	responses := []string{fullRecord,
		`{"doi":"10.5072/x","identifiers":[{"identifier":"acc-1","identifierType":"Accession"}]}`,
		`{"doi":"10.5072/x","alternateIdentifiers":[],"identifiers":[{"identifier":"acc-1","identifierType":"Accession"}]}`,
		`{"identifiers":[{"identifier":"10.5072/other","identifierType":"DOI"},{"identifier":"7"}],` +
			`"alternateIdentifiers":[{"alternateIdentifier":"7"},{"alternateIdentifier":"8"}],"doi":"10.5072/x"}`,
		`{"doi":"10.5072/x","provider":"a","citations":["10.5072/a",{"id":"10.5072/b"}],"xml":"PHJlc291cmNlLz4="}`,
	}
	files := must(filepath.Glob("../testdata/cassettes/dois*.yaml"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		tape := must(cassette.Load(strings.TrimSuffix(file, ".yaml")))(t)
		for _, exchange := range tape.Interactions {
			responses = append(responses, records(exchange.Response.Body)...)
		}
	}
	require.Greater(t, len(responses), 8)
	for _, sent := range responses {
		var r dois.Record
		require.NoError(t, json.Unmarshal([]byte(sent), &r))
		written := must(json.Marshal(r))(t)
		assertKeeps(t, sent, string(written))
	}
}

// records are the attributes of the records in a response.
func records(body string) []string {
	type resource struct {
		Attributes json.RawMessage `json:"attributes"`
	}
	var one struct{ Data resource }
	var list struct{ Data []resource }
	if json.Unmarshal([]byte(body), &one) == nil {
		list.Data = append(list.Data, one.Data)
	} else {
		_ = json.Unmarshal([]byte(body), &list)
	}
	var out []string
	for _, r := range list.Data {
		if r.Attributes != nil {
			out = append(out, string(r.Attributes))
		}
	}
	return out
}

// assertKeeps finds all the values of one JSON object in the same members of
// another, each once. Those that say nothing do not count.
func assertKeeps(t *testing.T, sent, kept string) {
	t.Helper()
	var before, after map[string]any
	require.NoError(t, json.Unmarshal([]byte(sent), &before))
	require.NoError(t, json.Unmarshal([]byte(kept), &after))
	for member, value := range before {
		if member == "identifiers" {
			member = "alternateIdentifiers"
		}
		rest := values(after[member])
		for _, v := range values(value) {
			i := slices.Index(rest, v)
			if assert.GreaterOrEqual(t, i, 0, "%s of %s is not in %s of %s", v, sent, member, kept) &&
				member != "alternateIdentifiers" {
				rest = slices.Delete(rest, i, i+1)
			}
		}
	}
	if others, ok := after["alternateIdentifiers"].([]any); ok {
		for i, id := range others {
			assert.NotContains(t, others[:i], id, "there twice: %s", kept)
		}
	}
}

func values(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			out = append(out, values(item)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, values(item)...)
		}
	case nil:
	default:
		if text := fmt.Sprint(v); text != "" && text != "0" && text != "false" {
			out = append(out, text)
		}
	}
	return out
}

// The name of a DOI is in the path of an update.
func TestDraftSendsNoNameInTheMetadata(t *testing.T) {
	assert.JSONEq(t, `{"version":"2"}`, sent(t, &dois.Draft{Record: metadata.Record{DOI: "10.5072/X", Version: "2"}}))
	var body []byte
	client := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-password"},
		func(w http.ResponseWriter, r *http.Request) {
			body, _ = io.ReadAll(r.Body)
			reply(201, `{"data":{"id":"10.5072/x","type":"dois","attributes":{"doi":"10.5072/x"}}}`)(w, r)
		})
	must(client.Create(t.Context(), &dois.Draft{DOI: "https://doi.org/10.5072/X", ClientID: "EXAMPLE.NEW"}))(t)
	assert.Contains(t, string(body), `"relationships":{"client":{"data":{"id":"EXAMPLE.NEW","type":"clients"}}}`)
	assert.Contains(t, strings.ToLower(string(body)), `"doi":"10.5072/x"`)
}

// Of the two lists that a record may come with, the service would keep the one that nobody changed.
func TestDraftSendsOneListOfIdentifiers(t *testing.T) {
	const others, copied = `"alternateIdentifiers":[{"alternateIdentifier":"old","alternateIdentifierType":"local"}]`,
		`"identifiers":[{"identifier":"old","identifierType":"local"}]`
	for _, read := range []string{others, copied, copied + "," + others} {
		d := must(recordFrom(t, `{"doi":"10.5072/x",`+read+`}`).Draft())(t)
		assert.JSONEq(t, `{"doi":"10.5072/x",`+others+`}`, sent(t, d), read)
		d.AlternateIdentifiers[0].AlternateIdentifier = "new"
		assert.JSONEq(t, `{"doi":"10.5072/x",`+strings.Replace(others, "old", "new", 1)+`}`, sent(t, d), read)
		d.AlternateIdentifiers = d.AlternateIdentifiers[:0]
		assert.JSONEq(t, `{"doi":"10.5072/x","alternateIdentifiers":[]}`, sent(t, d), read)
	}
}

// The service derives members of the types; those of another type are not sent.
func TestDraftSendsNoStaleTypes(t *testing.T) {
	for ris, change := range map[string]func(*metadata.Types){
		`"ris":"DATA"`: func(*metadata.Types) {},
		`"ris":"RPRT"`: func(types *metadata.Types) {
			types.ResourceTypeGeneral, types.RIS = metadata.ResourceTypeText, "RPRT"
		},
		`"resourceTypeGeneral":"Text"}`: func(types *metadata.Types) {
			types.ResourceTypeGeneral, types.ResourceType = metadata.ResourceTypeText, ""
		},
		`"types":{"resourceTypeGeneral":"Dataset","resourceType":"List"}`: func(types *metadata.Types) {
			types.ResourceType = "List"
		},
	} {
		d := must(recordFrom(t, `{"doi":"10.5072/x","types":{"ris":"DATA","resourceTypeGeneral":"Dataset",`+
			`"resourceType":"Table"}}`).Draft())(t)
		change(&d.Types)
		assert.Contains(t, sent(t, d), ris)
	}
}

func TestDraftNamesIdentifiersOnce(t *testing.T) {
	others := metadata.Record{AlternateIdentifiers: []metadata.AlternateIdentifier{{AlternateIdentifier: "new"}}}
	for name, d := range map[string]*dois.Draft{
		"more of them":  {Record: others, Extra: map[string]any{"identifiers": []any{}}},
		"none of them":  {Record: others, Clear: []string{"identifiers"}},
		"by both names": {Extra: map[string]any{"identifiers": []any{}}, Clear: []string{"alternateIdentifiers"}},
	} {
		_, err := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-password"},
			reply(200, "{}")).Update(t.Context(), "10.5072/x", d)
		require.ErrorIs(t, err, datacite.ErrInvalid, name)
	}
}

// All that a draft has is in what is sent.
func TestDraftSendsEveryField(t *testing.T) {
	r := filled()
	r.DOI, r.Raw = "10.5072/x", nil
	for i := range r.GeoLocations {
		r.GeoLocations[i].Polygons = r.GeoLocations[i].Polygons[:1] // JSON has one
	}
	d := must(r.Draft())(t)
	r.MetadataXML = []byte("<resource/>")
	d.MetadataXML = r.MetadataXML
	want, err := json.Marshal(map[string]any{
		"url": r.URL, "contentUrl": r.ContentURL, "container": r.Container, "xml": r.MetadataXML, "reason": "gone",
		"event": "hide",
	})
	require.NoError(t, err)
	d.Event, d.Reason = dois.EventHide, "gone"
	body := sent(t, d)
	assertKeeps(t, string(want), body)
	r.DOI, r.Types = "", metadata.Types{ResourceTypeGeneral: r.Types.ResourceTypeGeneral,
		ResourceType: r.Types.ResourceType}
	want = must(json.Marshal(r.Record))(t)
	assertKeeps(t, string(want), body)
}

// sent are the attributes that an update with the draft sends.
func sent(t *testing.T, d *dois.Draft) string {
	t.Helper()
	var body []byte
	client := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-password"},
		func(w http.ResponseWriter, r *http.Request) {
			body, _ = io.ReadAll(r.Body)
			reply(200, `{"data":{"id":"10.5072/x","type":"dois","attributes":{"doi":"10.5072/x"}}}`)(w, r)
		})
	must(client.Update(t.Context(), "10.5072/x", d))(t)
	assert.Contains(t, string(body), `"type":"dois"`)
	return records(string(body))[0]
}
