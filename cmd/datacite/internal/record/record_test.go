package record_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/dois"
)

// What a record has without a value is to be empty, and what it does not have is not spoken of.
func TestClear(t *testing.T) {
	for text, want := range map[string][]string{
		`{"doi":"10.5072/a","titles":[{"title":"T"}]}`:                             nil,
		`{"subjects":[],"language":null,"version":"","types":{},"container":null}`: {"types", "language", "version", "subjects"},
		`{"subjects":[{}],"sizes":[""],"formats":["x"],"contentUrl":[]}`:           nil,
		`{"identifiers":[]}`:                                                         {"alternateIdentifiers"},
		`{"identifiers":[],"alternateIdentifiers":null}`:                             {"alternateIdentifiers"},
		`{"alternateIdentifiers":[],"identifiers":[{"identifier":"a"}]}`:             nil,
		`{"alternateIdentifiers":[{"alternateIdentifier":"a"}],"identifiers":[]}`:    nil,
		`{"url":null,"reason":null,"viewCount":0,"isActive":false,"unknown":[null]}`: nil,
	} {
		var r dois.Record
		require.NoError(t, r.UnmarshalJSON([]byte(text)))
		s, err := record.Read(&r)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, s.Clear, text)
		assert.Empty(t, s.Subjects, text)
		assert.Empty(t, s.Left, text)
	}
}
