package audit

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

var foreign = flag.Int("foreign", 26, "records of other clients in TestTableOfForeignRecords")

// A foreigner is a record as another client wrote it, and the row of it in one's own table.
type foreigner struct {
	doi    string
	stored map[string]any
	cells  map[string]string
}

type object = map[string]any

var tableColumns = []string{"doi", "url", "state", "title", "creators", "publisher", "year", "type", "description",
	"subjects", "rights", "language", "related identifiers", "dates"}

// A chooser makes random choices.
type chooser struct{ *rand.Rand }

func (c chooser) maybe() bool { return c.IntN(2) == 0 }

func one[T any](c chooser, of ...T) T { return of[c.IntN(len(of))] }

// foreignRecord makes a record. The names in it have no kind, affiliations are texts, schemes have
// no addresses, or all of that in another way.
func foreignRecord(c chooser, i int) *foreigner {
	doi := fmt.Sprintf("10.5072/f%05d", i)
	it := &foreigner{doi: doi, stored: object{
		"doi": doi, "url": "https://a.example/" + doi, "state": "findable",
		"schemaVersion":   "http://datacite.org/schema/kernel-4",
		"publicationYear": 2026, "titles": []any{object{"title": fmt.Sprint("Glaciers of valley ", i), "lang": "en"}},
		"contributors": []any{object{"name": "Example Institute", "contributorType": "HostingInstitution"}},
		"types":        object{"resourceTypeGeneral": "Dataset", "resourceType": one(c, "Table", "")},
	}, cells: map[string]string{"doi": doi, "url": "https://a.example/" + doi, "state": "findable", "year": "2026",
		"title": fmt.Sprint("Glaciers of valley ", i), "type": one(c, "Dataset", "dataset")}}
	if c.maybe() {
		it.stored["titles"] = append(it.stored["titles"].([]any),
			object{"title": "Gletscher", "titleType": "TranslatedTitle", "lang": "de"})
	}
	var creators []any
	var cells []string
	for range 1 + c.IntN(3) {
		creator, cell := foreignCreator(c, len(creators))
		creators, cells = append(creators, creator), append(cells, cell)
	}
	it.stored["creators"], it.cells["creators"] = creators, strings.Join(cells, "; ")

	it.stored["publisher"] = one[any](c, "Example Repository", object{"name": "Example Repository"},
		object{"name": "Example Repository", "lang": "en", "publisherIdentifier": "https://ror.org/04wxnsj81",
			"publisherIdentifierScheme": "ROR"})
	it.cells["publisher"] = "Example Repository"
	if p, ok := it.stored["publisher"].(object); ok && p["lang"] != nil && c.maybe() {
		it.cells["publisher"] += " | https://ror.org/04wxnsj81"
	}
	it.stored["descriptions"] = []any{object{"description": "How it was made", "descriptionType": "Methods"},
		object{"description": "What it is about", "descriptionType": "Abstract", "lang": "en"}}
	it.cells["description"] = "What it is about"
	it.stored["subjects"] = []any{object{"subject": "glaciers", "subjectScheme": "Example Thesaurus",
		"schemeUri": "https://t.example/", "valueUri": "https://t.example/7", "lang": "en"}, object{"subject": "climate"}}
	it.cells["subjects"] = one(c, "glaciers; climate", "glaciers | Example Thesaurus; climate", "climate; glaciers")
	it.stored["rightsList"] = []any{one[any](c, object{"rightsIdentifier": "cc-by-4.0"},
		object{"rightsIdentifier": "CC-BY-4.0", "rightsIdentifierScheme": "SPDX", "lang": "en"})}
	it.cells["rights"] = "CC-BY-4.0"
	it.stored["language"], it.cells["language"] = "en", one(c, "en", "eng")
	it.stored["relatedIdentifiers"] = []any{
		object{"relationType": "IsSupplementTo", "relatedIdentifierType": "DOI",
			"relatedIdentifier": one(c, "10.5072/article-1",
				"https://doi.org/10.5072/ARTICLE-1"), "resourceTypeGeneral": "JournalArticle"}}
	it.cells["related identifiers"] = "IsSupplementTo DOI 10.5072/article-1"
	it.stored["dates"] = []any{object{"date": "2020", "dateType": "Collected", "dateInformation": "in summer"},
		object{"date": "2026", "dateType": "Issued"}}
	it.cells["dates"] = "Collected 2020"
	for _, column := range []string{"description", "subjects", "rights", "language", "related identifiers", "dates"} {
		if c.IntN(5) == 0 {
			it.cells[column] = ""
		}
	}
	return it
}

func foreignCreator(c chooser, i int) (stored object, cell string) {
	if c.IntN(4) == 0 {
		name := []string{"Ice Group", "Salt & Snow", "Firn Institute"}[i]
		if c.maybe() {
			return object{"name": name}, "name: " + name
		}
		return object{"name": name, "nameType": "Organizational"}, "org: " + name
	}
	family, given := []string{"Lovelace", "Noether", "Curie"}[i], []string{"Ada", "Emmy", "Marie"}[i]
	orcid := []string{"0000-0001-5727-2427", "0000-0002-1825-0097", "0000-0001-5109-3700"}[i]
	stored, cell = object{"name": family + ", " + given}, family+", "+given
	if c.maybe() {
		stored["givenName"], stored["familyName"] = given, family
	}
	if c.maybe() {
		stored["nameType"] = "Personal"
	}
	if c.maybe() {
		id := object{"nameIdentifier": one(c, orcid, "https://orcid.org/"+orcid, "http://orcid.org/"+orcid),
			"nameIdentifierScheme": one(c, "ORCID", "orcid")}
		if c.maybe() {
			id["schemeUri"] = one(c, "http://orcid.org", "https://orcid.org/")
		}
		stored["nameIdentifiers"] = []any{id, object{"nameIdentifier": "0000 0001 2103 2683", "nameIdentifierScheme": "ISNI"}}
		if c.maybe() {
			cell += " | " + orcid
		}
	}
	if c.maybe() {
		stored["affiliation"] = []any{one[any](c, "Example University", object{"name": "Example University"},
			object{"name": "Example University", "affiliationIdentifier": "https://ror.org/04wxnsj81",
				"affiliationIdentifierScheme": "ROR"})}
		if c.maybe() {
			cell += " | Example University"
		}
	}
	return stored, cell
}

func ownTableOf(t *testing.T, items []*foreigner) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	require.NoError(t, w.Write(tableColumns))
	for _, it := range items {
		var cells []string
		for _, column := range tableColumns {
			cells = append(cells, it.cells[column])
		}
		require.NoError(t, w.Write(cells))
	}
	w.Flush()
	return shelltest.File(t, "own.csv", b.String())
}

// Records that other clients wrote differ from a table only where the table says something
// else, and a repair writes only that: what a cell cannot say stays.
func TestTableOfForeignRecords(t *testing.T) {
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		t.Run(string(behaviour), func(t *testing.T) { auditForeignRecords(t, behaviour) })
	}
}

func auditForeignRecords(t *testing.T, behaviour datacitetest.Behaviour) {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
	c := chooser{rand.New(rand.NewPCG(1, 2))}
	var items []*foreigner
	for i := range *foreign {
		it := foreignRecord(c, i)
		data, err := json.Marshal(it.stored)
		require.NoError(t, err)
		if c.maybe() { // a record of long ago, or one that the service has completed
			require.NoError(t, srv.PutRecordJSON(data))
		} else {
			draft := &dois.Draft{DOI: it.doi, URL: it.cells["url"], Event: dois.EventPublish}
			require.NoError(t, json.Unmarshal(data, &draft.Record))
			_, err := srv.DOIs().Create(t.Context(), draft)
			require.NoError(t, err)
		}
		items = append(items, it)
	}
	before := shelltest.Writes(srv)
	out, notes, code := call(t, srv, "--fix", "--yes", ownTableOf(t, items))
	require.Equal(t, shell.ExitDone, code, "%.3000s\n%s", out, notes)
	require.Empty(t, out)
	require.Equal(t, before, shelltest.Writes(srv))

	planted := map[string]string{} // paths by DOI
	for i, plant := range plants {
		it := items[i*len(items)/len(plants)]
		it.cells[plant.column] = plant.cell(it.cells[plant.column])
		planted[it.doi] = plant.path
		if plant.path == "" {
			planted[it.doi] = fmt.Sprintf("creators[%d]", len(it.stored["creators"].([]any)))
		}
	}
	was := map[string]*metadata.Record{}
	for doi := range planted {
		was[doi] = stored(t, srv, doi)
	}
	source := ownTableOf(t, items)
	out, notes, code = call(t, srv, "--fix", "--yes", "--format", "csv", source)
	assert.Equal(t, shell.ExitDone, code, notes)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	reported := map[string][]string{}
	for _, row := range rows[1:] {
		reported[row[0]] = append(reported[row[0]], row[5])
		assert.Equal(t, "repaired", row[10], row)
	}
	for doi, path := range planted {
		require.NotEmpty(t, reported[doi], doi)
		for _, c := range metadata.Diff(was[doi], stored(t, srv, doi)) {
			reported[doi] = append(reported[doi], c.Path)
		}
		for _, of := range reported[doi] {
			assert.True(t, strings.HasPrefix(of, path), "nothing else is written: %s, %s", of, path)
		}
	}
	assert.Len(t, reported, len(planted))
	assert.Equal(t, before+len(planted), shelltest.Writes(srv))
	out, notes, code = call(t, srv, source)
	assert.Equal(t, shell.ExitDone, code, "%s\n%s", out, notes)
}

// plants are what is changed in a table, and below which path it differs then; "" is a further creator.
var plants = []struct {
	column, path string
	cell         func(was string) string
}{
	{"title", "titles[0].", func(was string) string { return strings.Replace(was, "Glaciers", "Glacier", 1) }},
	{"title", "titles[0].", func(string) string { return "Quite another title" }},
	{"year", "publicationYear", func(string) string { return "2025" }},
	{"publisher", "publisher", func(was string) string { return strings.Replace(was, "Repository", "Repositories", 1) }},
	{"language", "language", func(string) string { return "de" }},
	{"description", "descriptions[1].", func(string) string { return "Why it was made" }},
	{"subjects", "subjects[0].", func(string) string { return "glacier; climate" }},
	{"subjects", "subjects[2]", func(string) string { return "glaciers; climate; snow" }},
	{"related identifiers", "relatedIdentifiers[0].relationType",
		func(string) string { return "Cites DOI 10.5072/article-1" }},
	{"related identifiers", "relatedIdentifiers[0].",
		func(string) string { return "IsSupplementTo DOI 10.5072/article-2" }},
	{"dates", "dates[0].", func(string) string { return "Collected 2021; Issued 2026" }},
	{"creators", "", func(was string) string { return was + "; Hopper, Grace" }},
	{"url", "url", func(was string) string { return was + "/moved" }},
}

// stored is a record as the service has it.
func stored(t *testing.T, srv *datacitetest.Server, doi string) *metadata.Record {
	r, err := srv.DOIs().Get(t.Context(), doi, nil)
	require.NoError(t, err)
	return &r.Record
}
