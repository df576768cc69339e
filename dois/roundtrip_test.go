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
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// filled is a record with a value of its own in every field that JSON has.
func filled() *dois.Record {
	r := &dois.Record{}
	n := 0
	fill(reflect.ValueOf(r).Elem(), &n)
	r.PublicationYear = "2020"
	r.Identifiers = nil // the same as AlternateIdentifiers
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
	data, err := json.Marshal(want)
	require.NoError(t, err)
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
		`{"identifiers":[{"identifier":"10.5072/other","identifierType":"DOI"},{"identifier":"7"}],"alternateIdentifiers":[{"alternateIdentifier":"7"},{"alternateIdentifier":"8"}],"doi":"10.5072/x"}`,
		`{"doi":"10.5072/x","provider":"a","citations":["10.5072/a",{"id":"10.5072/b"}],"xml":"PHJlc291cmNlLz4="}`,
	}
	files, err := filepath.Glob("../testdata/cassettes/dois*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		tape, err := cassette.Load(strings.TrimSuffix(file, ".yaml"))
		require.NoError(t, err)
		for _, exchange := range tape.Interactions {
			responses = append(responses, records(exchange.Response.Body)...)
		}
	}
	require.Greater(t, len(responses), 8)
	for _, sent := range responses {
		var r dois.Record
		require.NoError(t, json.Unmarshal([]byte(sent), &r))
		written, err := json.Marshal(r)
		require.NoError(t, err)
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
			if assert.GreaterOrEqual(t, i, 0, "%s of %s is not in %s of %s", v, sent, member, kept) && member != "alternateIdentifiers" {
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

// Of the two lists a draft may have of the same, the service would keep the one
// that nobody changed.
func TestDraftSendsOneListOfIdentifiers(t *testing.T) {
	old := metadata.List[metadata.Identifier]{{Identifier: "old", IdentifierType: "local"}}
	for name, tt := range map[string]struct {
		record metadata.Record
		want   string
	}{
		"one":     {metadata.Record{AlternateIdentifiers: []metadata.AlternateIdentifier{{AlternateIdentifier: "new", AlternateIdentifierType: "local"}}}, `{"alternateIdentifiers":[{"alternateIdentifier":"new","alternateIdentifierType":"local"}]}`},
		"other":   {metadata.Record{Identifiers: old}, `{"identifiers":[{"identifier":"old","identifierType":"local"}]}`},
		"both":    {metadata.Record{Identifiers: old, AlternateIdentifiers: []metadata.AlternateIdentifier{{AlternateIdentifier: "new"}}}, `{"alternateIdentifiers":[{"alternateIdentifier":"new","alternateIdentifierType":""}]}`},
		"cleared": {metadata.Record{Identifiers: old, AlternateIdentifiers: []metadata.AlternateIdentifier{}}, `{"alternateIdentifiers":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.JSONEq(t, tt.want, sent(t, &dois.Draft{Record: tt.record}))
		})
	}
}

func TestDraftNamesIdentifiersOnce(t *testing.T) {
	others := metadata.Record{AlternateIdentifiers: []metadata.AlternateIdentifier{{AlternateIdentifier: "new"}}}
	for name, d := range map[string]*dois.Draft{
		"more of them":  {Record: others, Extra: map[string]any{"identifiers": []any{}}},
		"none of them":  {Record: others, Clear: []string{"identifiers"}},
		"by both names": {Extra: map[string]any{"identifiers": []any{}}, Clear: []string{"alternateIdentifiers"}},
	} {
		_, err := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-password"}, reply(200, "{}", nil)).Update(t.Context(), "10.5072/x", d)
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
	d, err := r.Draft()
	require.NoError(t, err)
	r.MetadataXML = []byte("<resource/>")
	d.MetadataXML = r.MetadataXML
	want, err := json.Marshal(map[string]any{
		"url": r.URL, "contentUrl": r.ContentURL, "container": r.Container, "xml": r.MetadataXML, "reason": "gone", "event": "hide",
	})
	require.NoError(t, err)
	d.Event, d.Reason = dois.Hide, "gone"
	body := sent(t, d)
	assertKeeps(t, string(want), body)
	r.DOI, r.Types = "", metadata.Types{ResourceTypeGeneral: r.Types.ResourceTypeGeneral, ResourceType: r.Types.ResourceType}
	want, err = json.Marshal(r.Record)
	require.NoError(t, err)
	assertKeeps(t, string(want), body)
}

// sent are the attributes that an update with the draft sends.
func sent(t *testing.T, d *dois.Draft) string {
	t.Helper()
	var body []byte
	client := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-password"}, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		reply(200, `{"data":{"id":"10.5072/x","type":"dois","attributes":{"doi":"10.5072/x"}}}`, nil)(w, r)
	})
	_, err := client.Update(t.Context(), "10.5072/x", d)
	require.NoError(t, err)
	return records(string(body))[0]
}
