package record_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/dois"
)

// What a record has without a value is to be empty, and what it does not have is not spoken of. An empty list is as the
// service shows what only its XML has.
func TestClear(t *testing.T) {
	for text, want := range map[string]struct{ cleared, lists []string }{
		`{"doi":"10.5072/a","titles":[{"title":"T"}]}`: {},
		`{"subjects":[],"language":null,"version":"","types":{},"container":null}`: {[]string{"types", "language", "version"},
			[]string{"subjects"}},
		`{"subjects":[{}],"sizes":null,"formats":["x"],"contentUrl":[]}`: {cleared: []string{"sizes"}},
		`{"subjects":[{}],"sizes":[""],"formats":["x"],"contentUrl":[]}`: {},
		`{"identifiers":[]}`: {
			lists: []string{"alternateIdentifiers"}},
		`{"identifiers":[],"alternateIdentifiers":null}`: {
			lists: []string{"alternateIdentifiers"}},
		`{"alternateIdentifiers":[],"identifiers":[{"identifier":"a"}]}`:             {},
		`{"alternateIdentifiers":[{"alternateIdentifier":"a"}],"identifiers":[]}`:    {},
		`{"url":null,"reason":null,"viewCount":0,"isActive":false,"unknown":[null]}`: {},
	} {
		var r dois.Record
		require.NoError(t, r.UnmarshalJSON([]byte(text)))
		s, err := record.Read(&r)
		require.NoError(t, err)
		assert.ElementsMatch(t, want.cleared, s.Clear, text)
		assert.Empty(t, s.Left, text)
		var lists []string
		for f, value := range reflect.ValueOf(s.Record.Record).Fields() {
			if value.Kind() == reflect.Slice && value.Len() == 0 && !value.IsNil() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				lists = append(lists, name)
			}
		}
		assert.ElementsMatch(t, want.lists, lists, text)
	}
}

// A list whose items were written without a value is neither emptied nor passed over without a word.
func TestItemsWithoutAValue(t *testing.T) {
	var r dois.Record
	require.NoError(t, r.UnmarshalJSON([]byte(`{"doi":"10.5072/a","creators":[{"name":""}],"geoLocations":[{}]}`)))
	s, err := record.Read(&r)
	require.NoError(t, err)
	assert.Empty(t, s.Clear)
	require.Len(t, s.Left, 1)
	assert.Equal(t, "creators", s.Left[0].Path)
	assert.True(t, s.Left[0].Warning)
}

// What is removed from one of the two lists of alternate identifiers is in the other one. The DOI itself, which old
// records and DataCite's schema have in one of them, does not count.
func TestListsThatDiffer(t *testing.T) {
	const own, a = `{"identifier":"10.5072/A","identifierType":"DOI"}`, `{"identifier":"a","identifierType":"local"}`
	const other = `"alternateIdentifiers":[{"alternateIdentifier":"a","alternateIdentifierType":"local"}]`
	for text, warned := range map[string]bool{
		`"identifiers":[` + a + `],` + other:                                   false,
		`"identifiers":[` + own + `,` + a + `],` + other:                       false,
		`"identifiers":[` + own + `],` + other:                                 false,
		`"identifiers":[` + a + `,{"identifier":"b"}],` + other:                true,
		`"identifiers":[{"identifier":"a","identifierType":"other"}],` + other: true,
		`"identifiers":[` + a + `],"alternateIdentifiers":[]`:                  false,
	} {
		var r dois.Record
		require.NoError(t, r.UnmarshalJSON([]byte(`{"doi":"10.5072/a",`+text+`}`)))
		s, err := record.Read(&r)
		require.NoError(t, err)
		assert.Equal(t, warned, len(s.Left) == 1 && s.Left[0].Path == "identifiers", "%s: %v", text, s.Left)
	}
}
