package dataset_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

var by = dataset.Repository{Name: "Rock & Ice", Public: "https://repository.example.org"}

// glacier is a dataset with versions in these states.
func glacier(states ...dataset.State) *dataset.Dataset {
	d := &dataset.Dataset{ID: 7, Owner: "ada", DOI: "10.5072/c"}
	for i, state := range states {
		v := &dataset.Version{
			Dataset: 7, Number: i + 1, DOI: "10.5072/v" + string(rune('1'+i)), State: state,
			About: dataset.About{Title: "100% {ice}_1", Year: "2026", License: "CC-BY-4.0",
				Creators: []dataset.Creator{{Family: "Lovelace", Given: "Ada"}, {Organisation: true, Family: "Rock and Ice"}}},
			Files: []dataset.File{{Name: "a b.csv", Size: 3, SHA256: "abc"}},
		}
		if state != dataset.Draft {
			v.Published = "2026-10-14"
		}
		d.Versions = append(d.Versions, v)
	}
	return d
}

// A record must not name a version that is not registered yet: the newest goes first,
// its concept DOI next.
func TestWanted(t *testing.T) {
	const draft, published, withdrawn = dataset.Draft, dataset.Published, dataset.Withdrawn
	for _, tt := range []struct {
		states []dataset.State
		want   string
		latest int
	}{
		{[]dataset.State{draft}, "", 0},
		{[]dataset.State{published}, "v1 findable, c findable", 1},
		{[]dataset.State{published, draft}, "v1 findable, c findable", 1},
		{[]dataset.State{published, published}, "v2 findable, c findable, v1 findable", 2},
		{[]dataset.State{published, withdrawn}, "v2 registered, c findable, v1 findable", 1},
		{[]dataset.State{withdrawn, withdrawn, draft}, "v2 registered, c registered, v1 registered", 2},
	} {
		d := glacier(tt.states...)
		var all []string
		for _, w := range d.Wanted(by) {
			all = append(all, strings.TrimPrefix(w.DOI, "10.5072/")+" "+string(w.State))
			require.NoError(t, w.Metadata.Validate())
		}
		assert.Equal(t, tt.want, strings.Join(all, ", "))
		if latest := d.Latest(); tt.latest > 0 {
			assert.Equal(t, tt.latest, latest.Number)
		} else {
			assert.Nil(t, latest)
		}
	}
	assert.Equal(t, datacite.StateFindable, glacier(published).Wanted(by)[0].State)
}

func TestBibTeX(t *testing.T) {
	assert.Equal(t, `@misc{10-5072-v1,
  author = {Lovelace, Ada and {Rock and Ice}},
  title = {{100\% \textbraceleft{}ice\textbraceright{}\_1}},
  year = {2026},
  publisher = {Rock \& Ice},
  version = {1},
  doi = {10.5072/v1},
  url = {https://doi.org/10.5072/v1},
}
`, glacier(dataset.Published).Versions[0].BibTeX(by))
	v := glacier(dataset.Published).Versions[0]
	v.About.Title, v.About.Creators = `ice { and } \}`, []dataset.Creator{{Family: "Rock and Sons", Given: "A, B"},
		{Family: "{Ice"}}
	entry := v.BibTeX(by)
	assert.Equal(t, strings.Count(entry, "{"), strings.Count(entry, "}"), "BibTeX counts braces also after a backslash")
	assert.Contains(t, entry, "author = {{Rock and Sons}, {A, B} and \\textbraceleft{}Ice},")
}

// RIS has a line for each text, and no text begins one.
func TestRIS(t *testing.T) {
	v := glacier(dataset.Published).Versions[0]
	v.About.Description, v.About.Keywords = "One.\n\nER  - \nTwo.", []string{"ice"}
	assert.Equal(t, strings.ReplaceAll(`TY  - DATA
TI  - 100% {ice}_1
AU  - Lovelace, Ada
AU  - Rock and Ice
PY  - 2026
PB  - Rock & Ice
ET  - 1
DO  - 10.5072/v1
UR  - https://doi.org/10.5072/v1
AB  - One. ER - Two.
KW  - ice
ER  - 
`, "\n", "\r\n"), v.RIS(by))
}

// Search engines hear of files when everybody may have them.
func TestSchemaOrg(t *testing.T) {
	d := glacier(dataset.Published)
	v := d.Versions[0]
	text := func() string {
		data, err := json.Marshal(d.SchemaOrg(v, by))
		require.NoError(t, err)
		return string(data)
	}
	assert.Contains(t, text(), `"contentUrl":"https://repository.example.org/datasets/v1/files/a%20b.csv"`)
	assert.Contains(t, text(), `"isPartOf":{"@id":"https://doi.org/10.5072/c"`)
	v.About.Embargo = time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	assert.NotContains(t, text(), "a%20b.csv")
	v.About.Embargo, v.State = "", dataset.Withdrawn
	assert.NotContains(t, text(), "a%20b.csv")
}

func TestWords(t *testing.T) {
	for term, want := range map[string]string{"DataCollector": "Data collector", "IsSupplementTo": "Is supplement to",
		"Dataset": "Dataset", "": ""} {
		assert.Equal(t, want, dataset.Words(term))
	}
}

func TestParagraphs(t *testing.T) {
	assert.Equal(t, []string{"a\nb", "c"}, dataset.Paragraphs("a\nb\n \n\nc\n"))
	assert.Empty(t, dataset.Paragraphs(""))
}
