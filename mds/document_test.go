package mds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/mds/mdstest"
	"github.com/datacite-go/datacite-go/mds/metadata"
)

// formats are small documents of everything that the service takes.
var formats = map[string]struct{ contentType, text string }{
	"DataCite XML": {mds.XMLType, string(record("Glacier length").Data)},
	"Crossref XML": {mds.TypeCrossref, `<doi_records><doi_record><crossref><journal><journal_metadata><full_title>J</full_title></journal_metadata>
		<journal_article><titles><title>Glacier length</title></titles><contributors><person_name><given_name>Ada</given_name><surname>Lovelace</surname></person_name></contributors>
		<publication_date><year>2026</year></publication_date></journal_article></journal></crossref></doi_record></doi_records>`},
	"schema.org": {mds.TypeSchemaOrg, `{"@context":"https://schema.org","@type":"Dataset","name":"Glacier length","author":{"name":"Ada Lovelace"},"publisher":{"name":"R"},"datePublished":"2026"}`},
	"Codemeta":   {mds.TypeCodemeta, `{"@context":["https://doi.org/10.5063/schema/codemeta-2.0","https://schema.org"],"@type":"SoftwareSourceCode","name":"Glacier length"}`},
	"Citeproc":   {mds.TypeCiteproc, `{"type":"dataset","title":"Glacier length","issued":{"date-parts":[[2026]]},"author":[{"family":"Lovelace","given":"Ada"}]}`},
	"RIS":        {mds.TypeRIS, "TY  - DATA\r\nTI  - Glacier length\r\nAU  - Lovelace, Ada\r\nPY  - 2026\r\nER  - \r\n"},
	"BibTeX":     {mds.TypeBibTeX, "@misc{a,\n  title = {Glacier length},\n  author = {Lovelace, Ada},\n  year = {2026}\n}\n"},
	"page":       {mds.TypePage, "https://repo.example.org/glacier/7"},
}

func TestDetect(t *testing.T) {
	for format, tt := range formats {
		t.Run(format, func(t *testing.T) {
			for _, data := range []string{tt.text, "\ufeff" + tt.text, "\n " + tt.text} {
				doc, err := mds.Detect([]byte(data))
				require.NoError(t, err)
				assert.Equal(t, tt.contentType, doc.ContentType)
				assert.Equal(t, data, string(doc.Data), "not a byte changed")
			}
		})
	}
	latin := strings.Replace(formats["DataCite XML"].text, "UTF-8", "ISO-8859-1", 1)
	doc, err := mds.Detect([]byte(latin))
	require.NoError(t, err, "whatever encoding it declares")
	assert.Equal(t, mds.XMLType, doc.ContentType)
	for text, fault := range map[string]string{
		"":                               "is empty",
		" \n":                            "is empty",
		"hello":                          "in no format that the service takes",
		"ada@example.org":                "in no format that the service takes",
		"@handle of somebody":            "in no format that the service takes",
		"https://a.example and more":     "in no format that the service takes",
		"[1]":                            "in no format that the service takes",
		"{":                              "not well-formed JSON",
		`{"title":"Glacier length"}`:     "is JSON, but neither",
		"<!-- nothing -->":               "without a root element",
		"<resource/>":                    "namespace may be missing",
		`<html><title>No</title></html>`: `root element "html"`,
	} {
		_, err := mds.Detect([]byte(text))
		require.ErrorIs(t, err, mds.ErrInvalid, text)
		assert.ErrorContains(t, err, fault)
	}
}

func TestEveryFormatIsRegistered(t *testing.T) {
	for format, tt := range formats {
		t.Run(format, func(t *testing.T) {
			eachBehaviour(t, func(t *testing.T, srv *mdstest.Server) {
				doc, err := mds.Detect([]byte(tt.text))
				require.NoError(t, err)
				_, err = srv.Client().Register(t.Context(), name, address, doc)
				if format == "page" && srv.Behaviour == mdstest.Deployed {
					require.ErrorIs(t, err, mds.ErrMediaType, "the deployed service fetches no pages")
					return
				}
				require.NoError(t, err)
				stored, err := srv.Client().Metadata(t.Context(), name)
				require.NoError(t, err)
				if format != "page" {
					assert.Contains(t, string(stored.Data), "Glacier length")
				}
				assert.Equal(t, mds.Findable, srv.State(name))
			})
		})
	}
}

func TestRecord(t *testing.T) {
	_, err := mds.Record(&metadata.Record{})
	require.ErrorIs(t, err, metadata.ErrInvalid)
	invalid, ok := errors.AsType[*metadata.ValidationError](err)
	require.True(t, ok)
	assert.Greater(t, len(invalid.Findings), 3, "all faults at once")

	doc := glacier()
	assert.Equal(t, mds.XMLType, doc.ContentType)
	_, err = newServer(t, nil).Client().PutMetadata(t.Context(), name, doc)
	require.NoError(t, err)
}

func TestNames(t *testing.T) {
	parsed, err := mds.ParseDOI("https://doi.org/10.5072/Gl%C3%A4ser%231")
	require.NoError(t, err)
	assert.Equal(t, "10.5072/Gläser#1", parsed)
	assert.Equal(t, "https://doi.org/10.5072/Gl%C3%A4ser%231", mds.DOIAddress(parsed))
	assert.True(t, mds.SameDOI("10.5072/ABC", "10.5072/abc"))
	assert.False(t, mds.SameDOI("10.5072/abc", "10.5072/abd"))
	require.NoError(t, mds.CheckNewDOI("10.5072/"+mds.NewSuffix()))
	require.NoError(t, mds.CheckSuffix(mds.NewSuffix()))
	require.ErrorIs(t, mds.CheckSuffix("003r-j077"), mds.ErrInvalidDOI)
	_, err = mds.ParseDOI("10.5072/a\u200bb")
	require.ErrorIs(t, err, mds.ErrInvalidDOI)
	assert.ErrorContains(t, err, "U+200B (zero-width space")
}

func TestANameWithARealDashIsReached(t *testing.T) {
	srv := newServer(t, nil)
	const dashed = "10.5072/a–b"
	seed(t, srv, map[string]any{"doi": dashed, "url": address})
	c := as(t, srv, account, &mds.ClientOptions{OldNames: true})
	done, err := c.Register(t.Context(), mds.DOIAddress(dashed), address, record("A"))
	require.NoError(t, err)
	assert.Equal(t, dashed, done.DOI)
	assert.Contains(t, paths(srv, 0), "PUT /metadata/10.5072/a%E2%80%93b")
}
