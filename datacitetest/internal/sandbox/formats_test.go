package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/testkit"
)

// Specification §4.3: metadata in other formats. Each has the title "Alps", of Garza, K., from 2019, and
// TYPE for its type, of which some are given with the general type that they become.
func TestOtherFormats(t *testing.T) {
	const schemaOrg = "Article:Text AudioObject:Sound Blog:Text BlogPosting:Text Book:Book Chapter:BookChapter " +
		"Collection:Collection DataCatalog:Dataset " +
		"Dataset:Dataset Event:Event ImageObject:Image Movie:Audiovisual Poster:Poster " +
		"PresentationDigitalDocument:Presentation PublicationIssue:Text " +
		"Report:Report Review:PeerReview ScholarlyArticle:Text Service:Service SoftwareSourceCode:Software Thesis:Text " +
		"VideoObject:Audiovisual " +
		"WebPage:Text WebSite:Text Person:Other"
	for name, c := range map[string]struct {
		header, body string
		inParts      bool // the name of the person
		types        string
	}{
		"RIS": {
			"application/x-research-info-systems", "TY  - TYPE\nT1  - Alps\nAU  - Garza, K.\nPB  - P\nPY  - 2019\nER  - \n",
			false,
			"BLOG:Text COMP:Software CTLG:Collection DATA:Dataset ELEC:Text FIGURE:Image GEN:Poster JOUR:JournalArticle " +
				"MPCT:Audiovisual SLIDE:Presentation THES:Dissertation VIDEO:Audiovisual X:Other",
		},
		"BibTeX": {
			"application/x-bibtex", "@TYPE{key,\n  title = {Alps},\n  author = {Garza, K. and Fenner, M.},\n  publisher = " +
				"{P},\n  year = 2019\n}", false,
			"article:JournalArticle Book:Book inbook:BookChapter misc:Other phdthesis:Dissertation " +
				"proceedings:ConferenceProceeding techreport:Report x:Text",
		},
		"schema.org": {
			"application/ld+json", `{"@context":"https://schema.org","@type":"TYPE","name":"Alps","author":[{"name":"Garza, ` +
				`K.","givenName":"K.","familyName":"Garza"}],"publisher":{"name":"P"},"datePublished":"2019-02-01"}`, true,
			schemaOrg,
		},
		"Citeproc": {
			"application/vnd.citationstyles.csl+json",
			`{"type":"TYPE","title":"Alps","author":[{"family":"Garza","given":"K."}],"publisher":"P",` +
				`"issued":{"date-parts":[[2019,2]]}}`, true,
			"article-journal:JournalArticle broadcast:Audiovisual dataset:Dataset document:Poster graphic:Image " +
				"motion_picture:Audiovisual post-weblog:Text presentation:Presentation song:Audiovisual webpage:Text x:Other",
		},
		"Codemeta": {
			"application/vnd.codemeta.ld+json",
			`{"@context":"https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld","@type":"TYPE",` +
				`"name":"Alps","agents":[{"name":"Garza, K."}],"publisher":"P","datePublished":"2019"}`, false,
			schemaOrg,
		},
		"Crossref XML": {
			"application/xml", `<doi_batch xmlns="http://www.crossref.org/schema/4.4.0"><body><journal><journal_article>` +
				`<titles><title>Alps</title></titles><contributors><person_name><given_name>K.</given_name><surname>` +
				`Garza</surname></person_name></contributors><publisher><publisher_name>P</publisher_name></publisher>` +
				`<publication_date><year>2019</year></publication_date></journal_article></journal></body></doi_batch>`, true,
			"TYPE:Other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := newService()
			for kind := range strings.FieldsSeq(c.types) {
				kind, general, _ := strings.Cut(kind, ":")
				put := call{method: "PUT", path: "/metadata/10.5072/x", header: map[string]string{"Content-Type": c.header},
					body: strings.Replace(c.body, "TYPE", kind, 1), as: "repo"}
				a := put.do(t, service)
				require.Equal(t, 201, a.status, a.body)
				record := at(call{method: "GET", path: "/dois/10.5072/x", as: "repo"}.do(t, service).read(t), "data.attributes")
				assert.Equal(t, general, at(record, "types.resourceTypeGeneral"), kind)
				assert.Equal(t, []any{"Alps", "Garza, K.", 2019.0},
					[]any{at(record, "titles.0.title"), at(record, "creators.0.name"), at(record, "publicationYear")})
				assert.Equal(t, c.inParts, at(record, "creators.0.familyName") == "Garza" &&
					at(record, "creators.0.givenName") == "K.")
			}
			a := call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service)
			assert.Contains(t, a.body, "<title>Alps</title>", "it can be read as XML")
		})
	}
}

// The types of other vocabularies that are derived from a general one and an own one.
func TestRecordTypes(t *testing.T) {
	service := deployed()
	for _, row := range testkit.Table(t, recordTables, "Types") {
		sent := map[string]any{}
		if row[0] != "" {
			sent["resourceTypeGeneral"] = row[0]
		}
		if row[1] != "" {
			sent["resourceType"] = row[1]
		}
		a := update("10.5072/x", `"types":`+string(mustJSON(t, sent))).do(t, service)
		types := at(a.read(t), "data.attributes.types").(map[string]any)
		assert.Equal(t, row[2], fmt.Sprint(types["schemaOrg"], "; ", types["citeproc"], "; ", types["bibtex"], "; ",
			types["ris"]), row[:2])
	}
}
