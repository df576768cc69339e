package metadata_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

// A text of the service's JSON is that of the XML, where the service makes the one of the
// other. Without the XML it is the text with the fewest references, and named.
func TestUnescape(t *testing.T) {
	for _, tt := range []struct{ json, xml, want, alone string }{
		{"Salt &amp; Pepper", "Salt & Pepper", "Salt & Pepper", "Salt & Pepper"},
		{"Salt &amp; Pepper", "Salt &amp; Pepper", "Salt &amp; Pepper", "Salt & Pepper"},
		{"Salt & Pepper", "Salt & Pepper", "Salt & Pepper", "Salt & Pepper"},
		{"Salt & Pepper, &amp;", "Salt & Pepper, &amp;", "Salt & Pepper, &amp;", "Salt & Pepper, &amp;"},
		{"a &lt; b &gt; c", "a < b > c", "a < b > c", "a < b > c"},
		{"a &lt;b", "a &lt;b", "a &lt;b", "a &lt;b"},
		{"1 &lt; 2, &lt;i&gt;", "1 < 2, &lt;i&gt;", "1 < 2, &lt;i&gt;", "1 &lt; 2, &lt;i&gt;"},
		{"AT&amp;amp;T", "AT&amp;amp;T", "AT&amp;amp;T", "AT&amp;amp;T"},
		{"AT&amp;T;", "AT&amp;T;", "AT&amp;T;", "AT&amp;T;"},
		{"é", "&eacute;", "&eacute;", "é"},
		{"a", "<p>a</p>", "<p>a</p>", "a"},
		{"H<sub>2</sub>O &amp; more", "H<sub>2</sub>O & more", "H<sub>2</sub>O & more", "H<sub>2</sub>O & more"},
		{"Salt &amp; Pepper", "another & title", "Salt & Pepper", "Salt & Pepper"}, // the XML is of another time
		{"Alps", "Alps", "Alps", "Alps"},
		{"&amp; Co", "& Co", "& Co", "& Co"},
		// as an earlier version of the service read it
		{"with $30.3$ GeV", "with $3 < p$ and $p > 0.3$ GeV", "with $30.3$ GeV", "with $30.3$ GeV"},
	} {
		stored := must((&metadata.Record{Titles: []metadata.Title{{Title: tt.xml}}}).XML())(t)
		r := &metadata.Record{Titles: []metadata.Title{{Title: tt.json}}}
		guessed := metadata.Unescape(r, stored)
		assert.Equal(t, tt.want, r.Titles[0].Title, "%q with XML", tt.json)
		if tt.xml == "another & title" || tt.json == "with $30.3$ GeV" {
			require.Len(t, guessed, 1)
			assert.Equal(t, []any{datacite.Code("lossy"), tt.json, true},
				[]any{guessed[0].Code, guessed[0].Value, guessed[0].Warning})
			assert.Contains(t, guessed[0].Reason, tt.xml)
		} else {
			assert.Empty(t, guessed, "%q with XML", tt.json)
		}

		r = &metadata.Record{Titles: []metadata.Title{{Title: "first"}, {Title: tt.json}}}
		guessed = metadata.Unescape(r, nil)
		assert.Equal(t, tt.alone, r.Titles[1].Title, "%q without XML", tt.json)
		if tt.alone == tt.json {
			assert.Empty(t, guessed, tt.json)
		} else if assert.Len(t, guessed, 1, tt.json) {
			assert.Equal(t, "titles[1].title", guessed[0].Path)
			assert.Equal(t, datacite.Code("ambiguous"), guessed[0].Code)
			assert.True(t, guessed[0].Warning)
			assert.Equal(t, tt.json, guessed[0].Value)
		}
		again := r.Titles[1].Title
		assert.Empty(t, metadata.Unescape(r, nil), "%q: what was read once is read as it is", tt.json)
		assert.Equal(t, again, r.Titles[1].Title)
	}
}

// So it is in each place, with nothing beside it that would call for the XML.
func TestUnescape_everyText(t *testing.T) {
	type item = metadata.RelatedItem
	inItem := func(set func(i *item, text string)) func(*metadata.Record, string) {
		return func(r *metadata.Record, text string) {
			r.RelatedItems = make([]item, 1)
			set(&r.RelatedItems[0], text)
		}
	}
	for name, tt := range map[string]struct {
		asHTML bool // or the service resolves references
		set    func(r *metadata.Record, text string)
	}{
		"title": {true, func(r *metadata.Record, text string) { r.Titles = []metadata.Title{{Title: text}} }},
		"subject": {true, func(r *metadata.Record, text string) {
			r.Subjects = []metadata.Subject{{Subject: text}}
		}},
		"size":   {true, func(r *metadata.Record, text string) { r.Sizes = []string{text} }},
		"format": {true, func(r *metadata.Record, text string) { r.Formats = []string{text} }},
		"description": {true, func(r *metadata.Record, text string) {
			r.Descriptions = []metadata.Description{{Description: text}}
		}},
		"title of an item": {true, inItem(func(i *item, text string) { i.Titles = []metadata.Title{{Title: text}} })},
		"volume":           {false, inItem(func(i *item, text string) { i.Volume = text })},
		"issue":            {false, inItem(func(i *item, text string) { i.Issue = text })},
		"first page":       {false, inItem(func(i *item, text string) { i.FirstPage = text })},
		"last page":        {false, inItem(func(i *item, text string) { i.LastPage = text })},
		"publisher":        {false, inItem(func(i *item, text string) { i.Publisher = text })},
		"edition":          {false, inItem(func(i *item, text string) { i.Edition = text })},
		"author":           {false, inItem(func(i *item, text string) { i.Creators = []metadata.Creator{{Name: text}} })},
		"editor": {false, inItem(func(i *item, text string) {
			i.Contributors = []metadata.Contributor{{Creator: metadata.Creator{Name: text}}}
		})},
		"creator": {false, func(r *metadata.Record, text string) { r.Creators = []metadata.Creator{{Name: text}} }},
		"given name": {false, func(r *metadata.Record, text string) {
			r.Creators = []metadata.Creator{{Name: "A", GivenName: text}}
		}},
		"family name": {false, func(r *metadata.Record, text string) {
			r.Creators = []metadata.Creator{{Name: "A", FamilyName: text}}
		}},
		"contributor": {false, func(r *metadata.Record, text string) {
			r.Contributors = []metadata.Contributor{{Creator: metadata.Creator{Name: text}}}
		}},
		"affiliation": {false, func(r *metadata.Record, text string) {
			r.Creators = []metadata.Creator{{Name: "A", Affiliation: []metadata.Affiliation{{Name: text}}}}
		}},
		"place": {false, func(r *metadata.Record, text string) { r.GeoLocations = []metadata.GeoLocation{{Place: text}} }},
		"award number": {false, func(r *metadata.Record, text string) {
			r.FundingReferences = []metadata.FundingReference{{AwardNumber: text}}
		}},
	} {
		var given, shown metadata.Record
		tt.set(&given, "A &amp; B")
		stored, err := given.XML()
		require.NoError(t, err, name)
		tt.set(&shown, map[bool]string{true: "A &amp; B", false: "A & B"}[tt.asHTML])
		assert.Empty(t, metadata.Unescape(&shown, stored), name)
		assert.Equal(t, given, shown, name)
		guessed := metadata.Unescape(&shown, nil)
		assert.Equal(t, tt.asHTML, len(guessed) > 0, "%s without XML", name)
		for _, f := range guessed {
			assert.Equal(t, map[string]string{"title": "titles[0].title", "subject": "subjects[0].subject", "size": "sizes[0]",
				"format": "formats[0]", "description": "descriptions[0].description",
				"title of an item": "relatedItems[0].titles[0].title"}[name], f.Path)
		}
	}
	twice := metadata.Record{Titles: []metadata.Title{{Title: "&amp;"}, {Title: "&amp;"}}}
	assert.Empty(t, metadata.Unescape(&twice, []byte(resource("<titles><title>&amp;</title>"+
		"<title>&amp;amp;</title></titles>"))))
	assert.Equal(t, []string{"&", "&amp;"}, []string{twice.Titles[0].Title, twice.Titles[1].Title}, "in their order")
	titled := metadata.Record{Titles: []metadata.Title{{Title: "a"}}}
	assert.Empty(t, metadata.Unescape(&titled, []byte(resource("<titles><title><![CDATA[<p>a</p>]]></title></titles>"))))
	assert.Equal(t, "<p>a</p>", titled.Titles[0].Title)
	given := metadata.Record{Descriptions: []metadata.Description{{Description: "one\ntwo", Breaks: []int{3}}}}
	shown := metadata.Record{Descriptions: []metadata.Description{{Description: "onetwo"}}}
	assert.Empty(t, metadata.Unescape(&shown, must(given.XML())(t)))
	assert.Equal(t, given, shown, "a line break")
}

// A text that was written back as it was shown is a difference, in each place.
func TestDiff_findsTextsThatWereStoredEscaped(t *testing.T) {
	record := func(text string) *metadata.Record {
		return &metadata.Record{
			Titles: []metadata.Title{{Title: text}}, Sizes: []string{text}, Formats: []string{text},
			Subjects:     []metadata.Subject{{Subject: text}},
			Descriptions: []metadata.Description{{Description: text}}, Creators: []metadata.Creator{{Name: text}},
			GeoLocations: []metadata.GeoLocation{{Place: text}}, Publisher: metadata.Publisher{Name: text},
		}
	}
	for _, tt := range [][2]string{{"Salt & Pepper", "Salt &amp; Pepper"}, {"a < b", "a &lt; b"},
		{"<i>x</i> & y", "<i>x</i> &amp; y"}, {"a &amp; b", "a &amp;amp; b"}} {
		assert.Len(t, metadata.Diff(record(tt[0]), record(tt[1])), 8, "%q", tt)
	}
}
