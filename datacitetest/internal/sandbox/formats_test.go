package sandbox_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Specification §4.3: metadata in other formats.
func TestOtherFormats(t *testing.T) {
	inParts := []string{"schema.org", "Citeproc", "Crossref XML"}
	for name, want := range map[string]struct {
		header, body  string
		title, person string
		year          any
		kind          string
	}{
		"RIS": {
			"application/x-research-info-systems", "TY  - DATA\nT1  - Alps\nAU  - Garza, K.\nPB  - P\nPY  - 2019\nER  - \n",
			"Alps", "Garza, K.", 2019.0, "Dataset",
		},
		"BibTeX": {
			"application/x-bibtex", "@book{key,\n  title = {Alps},\n  author = {Garza, K. and Fenner, M.},\n  publisher = {P},\n  year = 2019\n}",
			"Alps", "Garza, K.", 2019.0, "Book",
		},
		"schema.org": {
			"application/ld+json", `{"@context":"https://schema.org","@type":"Dataset","name":"Alps","author":[{"name":"Garza, K.","givenName":"K.","familyName":"Garza"}],"publisher":{"name":"P"},"datePublished":"2019-02-01"}`,
			"Alps", "Garza, K.", 2019.0, "Dataset",
		},
		"Citeproc": {
			"application/vnd.citationstyles.csl+json", `{"type":"article-journal","title":"Alps","author":[{"family":"Garza","given":"K."}],"publisher":"P","issued":{"date-parts":[[2019,2]]}}`,
			"Alps", "Garza, K.", 2019.0, "JournalArticle",
		},
		"Codemeta": {
			"application/vnd.codemeta.ld+json", `{"@context":"https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld","@type":"SoftwareSourceCode","name":"Alps","agents":[{"name":"Garza, K."}],"publisher":"P","datePublished":"2019"}`,
			"Alps", "Garza, K.", 2019.0, "Software",
		},
		"Crossref XML": {
			"application/xml", `<doi_batch xmlns="http://www.crossref.org/schema/4.4.0"><body><journal><journal_article><titles><title>Alps</title></titles><contributors><person_name><given_name>K.</given_name><surname>Garza</surname></person_name></contributors><publisher><publisher_name>P</publisher_name></publisher><publication_date><year>2019</year></publication_date></journal_article></journal></body></doi_batch>`,
			"Alps", "Garza, K.", 2019.0, "Other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := newService()
			c := call{method: "PUT", path: "/metadata/10.5072/x", header: map[string]string{"Content-Type": want.header}, body: want.body, as: "repo"}
			a := c.do(t, service)
			require.Equal(t, 201, a.status, a.body)
			require.Equal(t, 201, putURL("10.5072/x", "10.5072/x", "https://example.org/x").do(t, service).status)
			record := call{method: "GET", path: "/dois/10.5072/x"}.do(t, service).read(t)
			assert.Equal(t, want.title, at(record, "data.attributes.titles.0.title"))
			assert.Equal(t, want.person, at(record, "data.attributes.creators.0.name"))
			if family, given := at(record, "data.attributes.creators.0.familyName"), at(record, "data.attributes.creators.0.givenName"); slices.Contains(inParts, name) {
				assert.Equal(t, []any{"Garza", "K."}, []any{family, given})
			} else {
				assert.Nil(t, family)
			}
			assert.Equal(t, want.year, at(record, "data.attributes.publicationYear"))
			assert.Equal(t, want.kind, at(record, "data.attributes.types.resourceTypeGeneral"))
			a = call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service)
			assert.Equal(t, 200, a.status, "it can be read as XML: %s", a.body)
			assert.Contains(t, a.body, "<title>"+want.title+"</title>")
		})
	}
}
