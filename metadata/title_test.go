package metadata_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/metadata"
)

func ExampleRecord_Title() {
	record := &metadata.Record{Language: "de", Titles: []metadata.Title{
		{Title: "Zweiter Band", TitleType: metadata.TitleSubtitle},
		{Title: "Gletscher"},
		{Title: "Glaciers", TitleType: metadata.TitleTranslated, Lang: "en-GB"},
	}}
	fmt.Println(record.Title())
	fmt.Println(record.Title("fr", "en"))
	// Output:
	// Gletscher
	// Glaciers
}

func TestTheTitleThatPeopleAreShown(t *testing.T) {
	main, second := metadata.Title{Title: "Main"}, metadata.Title{Title: "Second"}
	german := metadata.Title{Title: "Haupttitel", Lang: "de"}
	blank := metadata.Title{Title: " \n"}
	subtitle := metadata.Title{Title: "Subtitle", TitleType: metadata.TitleSubtitle, Lang: "en"}
	alternative := metadata.Title{Title: "Alternative", TitleType: metadata.TitleAlternative, Lang: "en"}
	other := metadata.Title{Title: "Other", TitleType: metadata.TitleOther}
	strange := metadata.Title{Title: "Strange", TitleType: "RunningTitle"}
	english := metadata.Title{Title: "English", TitleType: metadata.TitleTranslated, Lang: "en"}
	british := metadata.Title{Title: "British", TitleType: metadata.TitleTranslated, Lang: "EN-gb"}
	for _, tt := range []struct {
		name      string
		titles    []metadata.Title
		resource  string
		languages []string
		want      string
	}{
		{"none", nil, "", nil, ""},
		{"the first main title", []metadata.Title{subtitle, alternative, english, main, second}, "", nil, "Main"},
		{"a main title of blanks is none", []metadata.Title{blank, english}, "", nil, "English"},
		{"an alternative one before a translated one", []metadata.Title{subtitle, other, english, alternative}, "", nil, "Alternative"},
		{"another one before a subtitle", []metadata.Title{subtitle, other}, "", nil, "Other"},
		{"so is a type that the schema does not list", []metadata.Title{subtitle, strange}, "", nil, "Strange"},
		{"a subtitle before nothing", []metadata.Title{subtitle}, "", nil, "Subtitle"},
		{"a language that a title has", []metadata.Title{german, english}, "", []string{"en"}, "English"},
		{"a language that no title has", []metadata.Title{german, english}, "", []string{"fr"}, "Haupttitel"},
		{"the order of languages", []metadata.Title{german, english}, "", []string{"fr", "de", "en"}, "Haupttitel"},
		{"a language includes its countries", []metadata.Title{german, british}, "", []string{"en"}, "British"},
		{"a country does not include the language", []metadata.Title{german, english, british}, "", []string{"en-GB"}, "British"},
		{"en is not enm", []metadata.Title{german, {Title: "Englisch", TitleType: metadata.TitleTranslated, Lang: "enm"}}, "", []string{"en"}, "Haupttitel"},
		{"the main title is in the language of the resource", []metadata.Title{main, english}, "de", []string{"de", "en"}, "Main"},
		{"or in none", []metadata.Title{main, english}, "", []string{"de", "en"}, "English"},
		{"a subtitle in a preferred language is a subtitle", []metadata.Title{german, subtitle, alternative}, "", []string{"en"}, "Haupttitel"},
	} {
		record := &metadata.Record{Titles: tt.titles, Language: tt.resource}
		assert.Equal(t, tt.want, record.Title(tt.languages...), tt.name)
	}
	assert.Empty(t, (*metadata.Record)(nil).Title())
}
