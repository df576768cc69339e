package doi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/doi"
)

func TestNamesThatWouldArriveAsAnother(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault string // "" if the name arrives as itself
		api   bool   // it does on the route of the API
	}{
		{name: "10.5072/abc"},
		{name: "10.5072/AbC.d-e_f;g(h)/i"},
		{name: "10.5072/a.", fault: ""},
		{name: "10.5072/...", fault: ""},
		{name: "10.5072/.a/b.", fault: ""},
		{name: "10.5072/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2"},
		{name: "10.5072/a+b&c=d,e!f$g'h*i~j@k|l\\m[n]{o}^p`q\"r"},
		{name: "10.5072/a b"},
		{name: "10.5072/a/", fault: `ends with "/"`, api: true},
		{name: "10.5072//", fault: `has "//"`, api: true},
		{name: "10.5072//a", fault: `has "//"`, api: true},
		{name: "10.5072/a//b", fault: `has "//"`, api: true},
		{name: "10.5072/a/.", fault: `the part "."`},
		{name: "10.5072/a/../b", fault: `the part ".."`},
		{name: "10.5072/../../clients/x", fault: `the part ".."`},
		{name: "10.5072/a#x", fault: "'#'", api: true},
		{name: "10.5072/a?x", fault: "'?'", api: true},
		{name: "10.5072/a%41", fault: "'%'", api: true},
		{name: "10.5072/a/media", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/MEDIA/1", fault: "belongs to another DOI", api: true},
		{name: "10.5072/events/2026", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/get-url", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/metadata/x", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/activities", fault: "belongs to another DOI", api: true},
		{name: "10.5072/media/a/b", fault: "belongs to another DOI", api: true},
		{name: "10.5072/a/events/1/2/3", fault: "belongs to another DOI", api: true},
		{name: "10.5072/get-url/a"},
		{name: "10.5072/a/mediation"},
		{name: "10.5072/Ä", fault: "may confuse with another"},
		{name: "10.5072/a\ufb01", fault: "may confuse with another"},
		{name: "10.5072/a\u200bb", fault: "zero-width space"},
		{name: "10.5072/a ", fault: "ends with a blank"},
		{name: "10.5072/" + strings.Repeat("a", 247)},
		{name: "10.5072/" + strings.Repeat("a", 248), fault: "256 characters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for route, fault := range map[doi.Route]string{doi.Store: tt.fault, doi.API: tt.fault} {
				if route == doi.API && tt.api {
					fault = ""
				}
				err := route.Check(tt.name)
				if fault == "" {
					assert.NoError(t, err)
					continue
				}
				assert.ErrorIs(t, err, doi.ErrName)
				assert.ErrorContains(t, err, fault)
			}
		})
	}
}

func TestNamesInPathsOfRoutes(t *testing.T) {
	for name, want := range map[string]string{
		"10.5072/a/b":       "10.5072/a/b",
		"10.5072/a//b":      "10.5072/a%2F%2Fb",
		"10.5072//a":        "10.5072/%2Fa",
		"10.5072/a/":        "10.5072/a%2F",
		"10.5072/a/media/1": "10.5072/a%2Fmedia%2F1",
		"10.5072/a#b/c":     "10.5072/a%23b/c",
	} {
		assert.Equal(t, want, doi.API.Path(name))
	}
	assert.Equal(t, "10.5072/a/b", doi.Store.Path("10.5072/a/b"))
}

func TestNamesUnderWhichNothingIsWritten(t *testing.T) {
	assert.NoError(t, doi.Store.CheckWritable("10.5072/<1::2>"))
	assert.ErrorContains(t, doi.Store.CheckWritable("10.5072/a/"), `ends with "/"`)
	for _, name := range []string{"10.824331/x", "10.123/x", "10.5072.1/abc"} {
		assert.ErrorContains(t, doi.Store.CheckWritable(name), "four or five digits", name)
		assert.NoError(t, doi.Store.Check(name), "it can be asked for")
	}
}
