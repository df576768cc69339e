package metadata_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

// A program fills builders from a table with empty cells: they add nothing.
func TestBuilders_addNothingForEmptyValues(t *testing.T) {
	ada := metadata.Creator{Name: "Ada", NameType: metadata.NamePersonal, GivenName: "Ada"}
	for _, empty := range []string{"", " ", "\t\n", "\u00a0"} {
		assert.Equal(t, ada, metadata.Person(empty, "Ada"))
		assert.Equal(t, metadata.Creator{Name: "Ada", NameType: metadata.NamePersonal, FamilyName: "Ada"}, metadata.Person("Ada", empty))
		assert.Zero(t, metadata.Person(empty, empty))
		assert.Zero(t, metadata.Organization(empty))
		assert.Equal(t, ada, ada.ORCID(empty).ROR(empty).AffiliatedWith(empty, empty))
		assert.Zero(t, metadata.SPDX(empty))
		assert.Equal(t, metadata.List[metadata.Affiliation]{{Name: "Example University"}}, ada.AffiliatedWith("Example University", empty).Affiliation)
	}
	assert.Equal(t, ada, ada.ORCID("https://orcid.org/").ROR("https://ror.org/"), "an address without an identifier")
}

// Blanks around what a form was given do not become part of an identifier.
func TestBuilders_trimTheirValues(t *testing.T) {
	ada := metadata.Person(" Lovelace", "Ada ").ORCID(" 0000-0001-5727-2427 ").AffiliatedWith(" Example ", " https://ror.org/04wxnsj81\n")
	assert.Equal(t, metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427").AffiliatedWith("Example", "04wxnsj81"), ada)
	assert.Equal(t, metadata.Organization("Example").ROR("04wxnsj81"), metadata.Organization(" Example ").ROR(" 04wxnsj81 "))
	assert.Equal(t, metadata.SPDX("CC0-1.0"), metadata.SPDX(" CC0-1.0"))
}

// An item of a list in which nothing is set is not stored without a finding.
func TestFindings_nameEmptyItemsOfLists(t *testing.T) {
	r := &metadata.Record{}
	var each func(v reflect.Value, path string)
	each = func(v reflect.Value, path string) {
		for field, list := range v.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if list.Kind() != reflect.Slice || name == "-" {
				continue
			}
			before := r.Findings()
			list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
			at := path + name
			assert.True(t, slices.ContainsFunc(r.Findings(), func(f datacite.Finding) bool { return !slices.Contains(before, f) }), at)
			if item := list.Index(0); item.Kind() == reflect.Struct {
				each(item, at+"[0].")
			}
			list.SetZero()
		}
	}
	each(reflect.ValueOf(r).Elem(), "")
}

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

func ExampleVersions_Relations() {
	glacier := metadata.Versions{Concept: "10.5072/glacier", DOIs: []string{"10.5072/glacier.v1", "10.5072/glacier.v2"}}
	for _, name := range append([]string{glacier.Concept}, glacier.DOIs...) {
		rec := &metadata.Record{DOI: name, RelatedIdentifiers: glacier.Relations(name)}
		for _, r := range rec.RelatedIdentifiers {
			fmt.Println(name, r.RelationType, r.RelatedIdentifier)
		}
	}
	// Output:
	// 10.5072/glacier HasVersion 10.5072/glacier.v1
	// 10.5072/glacier HasVersion 10.5072/glacier.v2
	// 10.5072/glacier.v1 IsVersionOf 10.5072/glacier
	// 10.5072/glacier.v1 IsPreviousVersionOf 10.5072/glacier.v2
	// 10.5072/glacier.v2 IsVersionOf 10.5072/glacier
	// 10.5072/glacier.v2 IsNewVersionOf 10.5072/glacier.v1
}

// Whatever DOI of a resource has a relation to another one, that one has the opposite.
func TestVersionsAreRelatedBothWays(t *testing.T) {
	for n := range 6 {
		for _, concept := range []string{"", "10.5072/C"} {
			v := metadata.Versions{Concept: concept}
			for i := range n {
				v.DOIs = append(v.DOIs, fmt.Sprint("10.5072/V", i))
			}
			count := 0
			for _, name := range append([]string{concept}, v.DOIs...) {
				for _, r := range v.Relations(name) {
					count++
					back := metadata.RelatedIdentifier{RelatedIdentifier: name, RelatedIdentifierType: metadata.IdentifierDOI, RelationType: r.RelationType.Inverse()}
					assert.Contains(t, v.Relations(r.RelatedIdentifier), back)
					assert.False(t, doi.Same(name, r.RelatedIdentifier))
				}
			}
			want := 2 * max(n-1, 0)
			if concept != "" {
				want += 2 * n
			}
			assert.Equal(t, want, count, "%d versions, concept %q", n, concept)
		}
	}
}

func TestVersionsKnowTheirOwnNamesOnly(t *testing.T) {
	v := metadata.Versions{Concept: "10.5072/C", DOIs: []string{"10.5072/V"}}
	assert.Nil(t, v.Relations("10.5072/other"))
	assert.Nil(t, v.Relations(""))
	assert.Len(t, v.Relations("10.5072/c"), 1, "case does not count")
	assert.Nil(t, metadata.Versions{DOIs: []string{"10.5072/V"}}.Relations("10.5072/V"), "one version alone")
}
