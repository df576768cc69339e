package register

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
)

const bibTeX = "@misc{a,\n  title = {Glacier length},\n  author = {Lovelace, Ada},\n  publisher = {R},\n  doi = " +
	"{10.5072/glacier-7},\n  year = {2026}\n}\n"

// detected are small documents of each format, by their types.
var detected = map[string]string{
	mds.XMLType: `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI"></identifier><creators><creator><creatorName>Lovelace, Ada</creatorName></creator></creators>
		<titles><title>Glacier length</title></titles><publisher>R</publisher><publicationYear>2026</publicationYear><resourceType resourceTypeGeneral="Dataset"/></resource>`,
	"application/vnd.schemaorg.ld+json": `{"@context":"https://schema.org","@type":"Dataset","name":"Glacier ` +
		`length","author":{"name":"Ada Lovelace"},"publisher":{"name":"R"},"datePublished":"2026"}`,
	"application/vnd.codemeta.ld+json": `{"@context":"https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld","@type":"SoftwareSourceCode","title":"Glacier length",
		"name":"Glacier length","author":{"name":"Ada Lovelace"},"agents":[{"@type":"person","givenName":"Ada","familyName":"Lovelace"}],"publisher":"R","datePublished":"2026"}`,
	"application/vnd.datacite.datacite+json": `{"schema-version":"http://datacite.org/schema/kernel-4","types":{"resourceTypeGeneral":"Dataset"},"creators":[{"name":"Lovelace, Ada"}],
		"titles":[{"title":"Glacier length"}],"publisher":"R","publicationYear":2026}`,
	"application/vnd.crosscite.crosscite+json": `{"types":{"resourceTypeGeneral":"Dataset"},` +
		`"creators":[{"name":"Lovelace, Ada"}],"titles":[{"title":"Glacier ` +
		`length"}],"publisher":"R","publication_year":2026}`,
	"application/vnd.citationstyles.csl+json": `{"type":"dataset","DOI":"10.5072/glacier-7","title":"Glacier ` +
		`length","publisher":"R","issued":{"date-parts":[[2026]]},"author":[{"family":"Lovelace","given":"Ada"}]}`,
	"application/x-research-info-systems": "TY  - DATA\r\nT1  - Glacier length\r\nAU  - Lovelace, Ada\r\nPB  - R\r\nPY  " +
		"- 2026\r\nDO  - 10.5072/glacier-7\r\nER  - \r\n",
	"application/x-bibtex": bibTeX,
}

func TestDetect(t *testing.T) {
	for contentType, text := range detected {
		for _, front := range []string{"", "\ufeff", "\n ", "\ufeff\r\n"} {
			doc, err := detect([]byte(front + text))
			require.NoError(t, err, contentType)
			assert.Equal(t, contentType, doc.ContentType)
			assert.Equal(t, text, string(doc.Data), "only what stands in front is left out")
		}
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
		_, err := srv.MDS().PutMetadata(t.Context(), "10.5072/glacier-7",
			mds.Document{ContentType: contentType, Data: []byte(text)})
		require.NoError(t, err, contentType)
		stored, err := srv.Record("10.5072/glacier-7")
		require.NoError(t, err)
		assert.Equal(t, "Glacier length", stored.Titles[0].Title, "the service keeps it")
	}
	for _, text := range []string{"% by hand\n" + bibTeX, "Exported\n\n" + bibTeX, strings.ToUpper(bibTeX)} {
		doc, err := detect([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, "application/x-bibtex", doc.ContentType)
	}
	doc, err := detect([]byte(`{"issued":{"date-parts":[[2026]]},"id":"10.5072/a","title":"Glacier length"}`))
	require.NoError(t, err)
	assert.Equal(t, typeCiteproc, doc.ContentType, "its DOI may be the id")
	for _, nothing := range []string{"null", "false", "{}", " [ ] ", `""`} {
		_, err := detect([]byte(`{"types":` + nothing + `,"publication_year":2026}`))
		require.ErrorContains(t, err, "in no format that the service accepts", nothing)
	}
	for text, fault := range map[string]string{
		"":                                     "is empty",
		" \n":                                  "is empty",
		"hello":                                "in no format that the service accepts",
		"ada@example.org":                      "in no format that the service accepts",
		"@":                                    "in no format that the service accepts",
		"@ misc{":                              "in no format that the service accepts",
		"@ misc{a, title={b}}":                 "in no format that the service accepts",
		"@misc{title={b}, doi={c}}":            "an entry and its key must come first",
		"@misc{a, title={b}}":                  "without a field doi",
		"@misc{a, doi={b}":                     "does not end",
		bibTeX + bibTeX:                        "more than one entry",
		"@string{a=\"b\"}\n" + bibTeX:          "must come first",
		"@string{a, b}\n" + bibTeX:             "with @string before the entry",
		"@comment{a, b}\n" + bibTeX:            "with @comment before the entry",
		"@preamble{a, b}\n" + bibTeX:           "with @preamble before the entry",
		"TY  - DATA\nT1  - a\nDO  -\n":         `without a line "DO  - "`,
		"TY - DATA":                            "in no format that the service accepts",
		"https://a.example":                    "the address of a page",
		"https://a.example and more":           "in no format that the service accepts",
		"[1]":                                  "in no format that the service accepts",
		"{":                                    "not well-formed JSON",
		`{"title":"Glacier length"}`:           "in no format that the service accepts",
		`{"@context":["https://schema.org"]}`:  `whose "@context" the service does not know`,
		`{"@context":"http://www.schema.org"}`: `whose "@context" the service does not know`,
		`{"@context":"https://doi.org/10.5063/schema/codemeta-2.0"}`:                                            `whose "@context" the service does not know`,
		`{"schemaVersion":"http://datacite.org/schema/kernel-4","types":{"ris":"DATA"},"publicationYear":2026}`: "keeps nothing of it",
		`{"issued":{"date-parts":[[2026]]},"doi":"10.5072/a"}`:                                                  `without a DOI in "id" or "DOI"`,
		`{"issued":"2026"}`: "in no format that the service accepts",
		"<!-- nothing -->":  "without a root element",
		"<resource/>": `"resource" has no namespace; that of DataCite's is ` +
			`"http://datacite.org/schema/kernel-4"`,
		`<resource xmlns="urn:x"/>`: `"resource" is of the namespace "urn:x"; that of ` +
			`DataCite's is "http://datacite.org/schema/kernel-4"`,
		"<doi_records/>": "Crossref XML, which the service accepts and keeps " +
			"nothing of",
		`<html><title>No</title></html>`:                        `root element "html"`,
		"TY  - DATA\nT1  - L\xe4nge\nDO  - 10.5072/glacier-7\n": "is not UTF-8",
	} {
		_, err := detect([]byte(text))
		require.ErrorContains(t, err, fault, text)
	}
}

// FuzzDetect: it never panics, and what it takes can be sent with AllowOtherDOI; the rest of XML is checked later.
func FuzzDetect(f *testing.F) {
	for _, text := range detected {
		f.Add([]byte(text))
	}
	accepted := transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(strings.NewReader("OK")),
			Header: http.Header{}, Request: r}, nil
	})
	c, err := mds.NewClient(datacite.Config{
		Service: datacite.Service{MDS: "https://mds.example"}, Username: "A", Password: "b", MaxAttempts: 1,
		HTTPClient: &http.Client{Transport: accepted},
	})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := detect(data)
		if err != nil || doc.ContentType == mds.XMLType {
			return
		}
		doc.AllowOtherDOI = true
		_, err = c.PutMetadata(t.Context(), "10.5072/a", doc)
		require.NotErrorIs(t, err, datacite.ErrInvalid)
	})
}
