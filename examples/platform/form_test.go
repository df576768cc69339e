package main

import (
	"html"
	"maps"
	"net/http"
	"reflect"
	"regexp"
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
		"methods": "With a tape.\r\n\r\nTwice.", "keywords": "glaciers\r\n\r\nice; and stones \r\nglaciers", "type": "Image", "language": "de", "year": "",
		"term0": "Gletscher", "scheme0": "GND", "termuri0": "https://d-nb.info/gnd/4021302-4", "term1": "moraines", "scheme1": "AGROVOC",
		"role0": "DataCollector", "cokind0": "Person", "cofamily0": "Byron", "cogiven0": "Anne", "coorcid0": "0000-0002-1825-0097", "coaffiliation0": "Snow Institute", "coror0": "05dxps055",
		"role1": "Sponsor", "cokind1": "Organisation", "cofamily1": "Ice Society",
		"relation0": "IsSupplementTo", "related0": "https://doi.org/10.5072/article-1", "relatedtype0": "JournalArticle",
		"relation1": "IsDerivedFrom", "related1": "https://maps.example.org/1871?sheet=7", "relatedtype1": "", "relatedtype2": "", // the last row is empty
		"funder1": "Snow Fund", "kind0": "Person", "given1": "",
	})
	return form
}

var inputs = regexp.MustCompile(`(?s)<input [^>]*name="([a-z0-9]+)" type="(?:text|date|url)" value="([^"]*)"|<textarea [^>]*name="([a-z]+)"[^>]*>\n(.*?)</textarea>|<select [^>]*name="([a-z0-9]+)"[^>]*>.*?value="([A-Za-z]*)" selected.*?</select>`)

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
			out.Affiliation, out.ROR = affiliation.Name, strings.TrimPrefix(affiliation.AffiliationIdentifier, "https://ror.org/")
		}
		return out
	}
	a = dataset.About{Title: r.Titles[0].Title, Type: string(r.Types.ResourceTypeGeneral), Language: r.Language, License: "CC-BY-4.0"}
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
		a.Contributors = append(a.Contributors, dataset.Contributor{Role: string(c.ContributorType), Creator: creator(c.Creator)})
	}
	for _, related := range r.RelatedIdentifiers {
		if !strings.HasSuffix(string(related.RelationType), "VersionOf") {
			a.Related = append(a.Related, dataset.Related{Relation: string(related.RelationType), ID: related.RelatedIdentifier, Type: string(related.ResourceTypeGeneral)})
		}
	}
	for _, f := range r.FundingReferences {
		a.Funders = append(a.Funders, dataset.Funder{Name: f.FunderName, ROR: strings.TrimPrefix(f.FunderIdentifier, "https://ror.org/"), Award: f.AwardNumber, AwardTitle: f.AwardTitle})
	}
	return a
}
