package main

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/metadata"
)

// filled is a form with something in every field.
func filled() map[string]string {
	form := fields("Glacier length")
	maps.Copy(form, map[string]string{
		"methods": "With a tape.\r\n\r\nTwice.", "keywords": "glaciers\r\n\r\nice; and stones \r\nglaciers", "type": "Image",
		"language": "de", "year": "",
		"term0": "Gletscher", "scheme0": "GND", "termuri0": "https://d-nb.info/gnd/4021302-4", "term1": "moraines", "scheme1": "AGROVOC",
		"role0": "DataCollector", "cokind0": "Person", "cofamily0": "Byron", "cogiven0": "Anne", "coorcid0": "0000-0002-1825-0097", "coaffiliation0": "Snow Institute https://ror.org/05dxps055\r\n\r\nIce Club of 1871",
		"role1": "Sponsor", "cokind1": "Organisation", "cofamily1": "Ice Society",
		"relation0": "IsSupplementTo", "related0": "https://doi.org/10.5072/article-1", "relatedtype0": "JournalArticle",
		// the last row is empty
		"relation1": "IsDerivedFrom", "related1": "https://maps.example.org/1871?sheet=7", "relatedtype1": "", "relatedtype2": "",
		"funder1": "Snow Fund", "kind0": "Person", "given1": "",
	})
	return form
}

var inputs = regexp.MustCompile(`(?s)<input [^>]*name="([a-z0-9]+)" type="(?:text|date|url)" ` +
	`value="([^"]*)"|<textarea [^>]*name="([a-z0-9]+)"[^>]*>\n(.*?)</textarea>|<select ` +
	`[^>]*name="([a-z0-9]+)"[^>]*>.*?value="([A-Za-z]*)" selected.*?</select>`)

// typed is what a browser would send of a form as it is.
func typed(page string) map[string]string {
	form := map[string]string{}
	for _, m := range inputs.FindAllStringSubmatch(page, -1) {
		form[m[1]+m[3]+m[5]] = html.UnescapeString(m[2] + m[4] + m[6])
	}
	form["revision"] = revision.FindStringSubmatch(page)[1]
	return form
}

// What is typed is stored, published in the record, and in the form when it is opened
// again: nothing is lost, and nothing changes.
func TestAFormComesBack(t *testing.T) {
	both(t, nil, func(t *testing.T, srv *datacitetest.Server) {
		c := open(t, srv).as("ada")
		path := c.draft(filled())
		_, v := c.now(path)
		value := reflect.ValueOf(v.About)
		for i := range value.NumField() {
			name := value.Type().Field(i).Name
			assert.Equal(t, name == "Year" || name == "Embargo", value.Field(i).IsZero(), "%s is in the form", name)
		}
		assert.Equal(t, []string{"glaciers", "ice; and stones"}, v.About.Keywords)
		assert.Equal(t, "10.5072/article-1", v.About.Related[0].ID)

		_, page := c.get(path + "/edit")
		status, again := c.post(path+"/edit", typed(page))
		require.Equal(t, http.StatusOK, status, again)
		_, same := c.now(path)
		assert.Equal(t, v.About, same.About)

		c.decide(path+"/publish", nil)
		d, v := c.settled(path)
		at, err := srv.DOIs().Get(t.Context(), v.DOI, nil)
		require.NoError(t, err)
		wanted := *d.Record(v, c.platform.outbox.By)
		assert.Empty(t, metadata.Diff(&wanted, &at.Record))
		assert.Equal(t, v.About, about(&at.Record), "the record has all of it")
	})
}

// about is the way back from a record to what was typed.
func about(r *metadata.Record) (a dataset.About) {
	creator := func(c metadata.Creator) dataset.Creator {
		out := dataset.Creator{Family: c.FamilyName, Given: c.GivenName}
		if out.Organisation = c.NameType == metadata.NameOrganizational; out.Organisation {
			out.Family = c.Name
		}
		for _, id := range c.NameIdentifiers {
			switch id.NameIdentifierScheme {
			case "ORCID":
				out.ORCID = strings.TrimPrefix(id.NameIdentifier, "https://orcid.org/")
			case "ROR":
				out.ROR = strings.TrimPrefix(id.NameIdentifier, "https://ror.org/")
			}
		}
		for _, affiliation := range c.Affiliation {
			out.Affiliations = append(out.Affiliations,
				dataset.Affiliation{Name: affiliation.Name,
					ROR: strings.TrimPrefix(affiliation.AffiliationIdentifier, "https://ror.org/")})
		}
		return out
	}
	a = dataset.About{Title: r.Titles[0].Title, Type: string(r.Types.ResourceTypeGeneral), Language: r.Language,
		License: "CC-BY-4.0"}
	for _, text := range r.Descriptions {
		if text.DescriptionType == metadata.DescriptionMethods {
			a.Methods = text.Description
		} else {
			a.Description = text.Description
		}
	}
	for _, s := range r.Subjects {
		if s.SubjectScheme == "" {
			a.Keywords = append(a.Keywords, s.Subject)
		} else {
			a.Subjects = append(a.Subjects, dataset.Subject{Term: s.Subject, Scheme: s.SubjectScheme, URI: s.ValueURI})
		}
	}
	for _, c := range r.Creators {
		a.Creators = append(a.Creators, creator(c))
	}
	for _, c := range r.Contributors {
		a.Contributors = append(a.Contributors,
			dataset.Contributor{Role: string(c.ContributorType), Creator: creator(c.Creator)})
	}
	for _, related := range r.RelatedIdentifiers {
		if !strings.HasSuffix(string(related.RelationType), "VersionOf") {
			a.Related = append(a.Related, dataset.Related{Relation: string(related.RelationType), ID: related.RelatedIdentifier,
				Type: string(related.ResourceTypeGeneral)})
		}
	}
	for _, f := range r.FundingReferences {
		a.Funders = append(a.Funders, dataset.Funder{Name: f.FunderName,
			ROR: strings.TrimPrefix(f.FunderIdentifier, "https://ror.org/"), Award: f.AwardNumber, AwardTitle: f.AwardTitle})
	}
	return a
}

// marked is metadata with a text of its own in each field, and the paths of the fields by their texts.
func marked() (a dataset.About, paths map[string]string) {
	paths = map[string]string{}
	var mark func(path string, v reflect.Value)
	mark = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			text := fmt.Sprintf("mark%dx", len(paths)+100)
			paths[text] = path
			v.SetString(text)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			mark(path, v.Index(0))
		case reflect.Struct:
			for i := range v.NumField() {
				mark(strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), v.Field(i))
			}
		}
	}
	mark("", reflect.ValueOf(&a).Elem())
	a.Year, a.Embargo, a.Language = "2026", "", "de"
	return a, paths
}

// Whoever adds a field finds here where it is missing. Of a tombstone, only what is listed here stays,
// and what "Delete the files and the description" deletes is nowhere.
func TestEachFieldHasItsPlaces(t *testing.T) {
	_, reader, c := repository(t)
	a, paths := marked()
	id, err := c.platform.store.Create(t.Context(), "ada", "", datacitetest.Prefix, a)
	require.NoError(t, err)
	draft, err := c.platform.store.Dataset(t.Context(), id)
	require.NoError(t, err)
	path := draft.Last().Path()
	c.upload(path, "lengths.csv", "x")
	decide := func(state dataset.State) {
		d, v := c.now(path)
		require.NoError(t, c.platform.store.Decide(t.Context(), d, v.As(state, "2026-11-01", "Wrong.")))
	}
	all := func() (texts map[string]string) {
		texts = map[string]string{}
		_, texts["page"] = reader.get(path)
		for _, name := range []string{"datacite.json", "schema.jsonld", "bibtex.bib", "reference.ris", "citation.txt"} {
			_, texts[name] = reader.get(path + "/export/" + name)
		}
		_, header := reader.headers(http.MethodGet, path)
		texts["links"] = strings.Join(header.Values("Link"), "\n")
		return texts
	}
	// have no marks; are of organisations
	elsewhere := map[string]bool{"Year": true, "Embargo": true, "Language": true, "Creators.ROR": true,
		"Contributors.Creator.ROR": true}
	unsearched := map[string]bool{"Type": true, "License": true, "Subjects.Scheme": true, "Subjects.URI": true,
		"Contributors.Role": true, "Related.Relation": true, "Related.Type": true}
	stays := []string{"Title", "Type", "Year", "License", "Creators", "Contributors", "Related", "Funders"}

	decide(dataset.Published)
	texts := all()
	for mark, field := range paths {
		if elsewhere[field] {
			continue
		}
		for _, text := range []string{"page", "datacite.json"} {
			assert.Contains(t, texts[text], mark, "%s in %s", field, text)
		}
		_, found := reader.get("/?q=" + mark)
		assert.Equal(t, !unsearched[field], strings.Contains(found, path), "%s is searched", field)
	}
	decide(dataset.Withdrawn)
	texts = all()
	_, v := c.now(path)
	require.NoError(t, c.platform.store.Erase(t.Context(), v))
	for _, name := range []string{"platform.db", "platform.db-wal"} {
		data, err := os.ReadFile(filepath.Join(c.folder(), name))
		require.NoError(t, err)
		texts[name] = string(data)
	}
	for mark, field := range paths {
		member, _, _ := strings.Cut(field, ".")
		for name, text := range texts {
			if !slices.Contains(stays, member) {
				assert.NotContains(t, text, mark, "%s in %s of a tombstone", field, name)
			}
		}
	}
}
