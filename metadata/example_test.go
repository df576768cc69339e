package metadata_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

func ExampleRecord_XML() {
	rec := &metadata.Record{
		DOI:             "10.5072/engine",
		Creators:        []metadata.Creator{metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427")},
		Titles:          []metadata.Title{{Title: "Notes & Queries", Lang: "en"}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "1843",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeText},
		RightsList:      []metadata.Rights{metadata.SPDX("CC0-1.0")},
	}
	document, err := rec.XML()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(document))
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <resource xmlns="http://datacite.org/schema/kernel-4" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://datacite.org/schema/kernel-4 https://schema.datacite.org/meta/kernel-4/metadata.xsd">
	//   <identifier identifierType="DOI">10.5072/engine</identifier>
	//   <creators>
	//     <creator>
	//       <creatorName nameType="Personal">Lovelace, Ada</creatorName>
	//       <givenName>Ada</givenName>
	//       <familyName>Lovelace</familyName>
	//       <nameIdentifier nameIdentifierScheme="ORCID" schemeURI="https://orcid.org">https://orcid.org/0000-0001-5727-2427</nameIdentifier>
	//     </creator>
	//   </creators>
	//   <titles>
	//     <title xml:lang="en">Notes &amp; Queries</title>
	//   </titles>
	//   <publisher>Example Repository</publisher>
	//   <publicationYear>1843</publicationYear>
	//   <resourceType resourceTypeGeneral="Text"/>
	//   <rightsList>
	//     <rights rightsURI="https://spdx.org/licenses/CC0-1.0" rightsIdentifier="CC0-1.0" rightsIdentifierScheme="SPDX" schemeURI="https://spdx.org/licenses/"/>
	//   </rightsList>
	// </resource>
}

func ExampleRecord_Validate() {
	rec := &metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada"}, {}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "c. 1843",
		Types:           metadata.Types{ResourceTypeGeneral: "journal article"},
		Language:        "en_GB",
	}
	err := rec.Validate()
	fmt.Println(errors.Is(err, datacite.ErrInvalid))
	if invalid, ok := errors.AsType[*datacite.ValidationError](err); ok {
		for _, f := range invalid.Findings {
			fmt.Println(f)
		}
	}
	// Output:
	// true
	// creators[1].name: the name of a creator is mandatory; where it is not known, write :unkn, or :unav when it is not available
	// titles: a record needs a title; where there is none, write :unav
	// publicationYear: a year of publication is four digits
	// types.resourceTypeGeneral: the schema has no general resource type "journal article"; did you mean JournalArticle?
	// language: language tags have a hyphen: en-GB
}

func ExampleRecord_Findings() {
	rec := &metadata.Record{
		Creators:        []metadata.Creator{metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2428")},
		Titles:          []metadata.Title{{Title: "Notes"}},
		Publisher:       metadata.Publisher{Name: "Example Repository"},
		PublicationYear: "1843",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeText},
		Dates:           []metadata.Date{{Date: "September 1843", DateType: metadata.DateIssued}},
	}
	for _, f := range rec.Findings() {
		fmt.Println(f)
	}
	// Output:
	// warning: creators[0].nameIdentifiers[0].nameIdentifier: the check digit of this ORCID does not match its other digits: at least one digit is wrong
	// warning: dates[0].date: the service drops dates that are not YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DDThh:mm:ssZ or two of these separated by a slash
}

func ExampleValidateXML() {
	document := `<?xml version="1.0"?>
<resource xmlns="http://datacite.org/schema/kernel-4">
  <identifier identifierType="DOI"/>
  <creators><creator><creatorName>Lovelace, Ada</creatorName></creator></creators>
  <titles><title>Notes</title></titles>
  <publisher>Example Repository</publisher>
  <publicationYear>1843</publicationYear>
  <resourceType resourceTypeGeneral="Text"/>
  <relatedIdentifiers>
    <relatedIdentifier relatedIdentifierType="doi" relationType="Cites">10.5438/0012</relatedIdentifier>
  </relatedIdentifiers>
</resource>`
	err := metadata.ValidateXML(strings.NewReader(document))
	// The request will name the DOI, so the document need not.
	if invalid, ok := errors.AsType[*datacite.ValidationError](err); ok {
		err = invalid.Except("identifier")
	}
	fmt.Println(err)
	// Output:
	// datacite: line 10, column 24: relatedIdentifiers[0].relatedIdentifierType: the schema has no related identifier type "doi"; did you mean DOI?
}

func ExampleParseXML() {
	rec, err := metadata.ParseXML(strings.NewReader(`<ns:resource xmlns:ns="http://datacite.org/schema/kernel-4">
		<ns:identifier identifierType="DOI">10.5072/engine</ns:identifier>
		<ns:titles><ns:title xml:lang="en">Notes</ns:title></ns:titles>
		<ns:publicationYear>1843</ns:publicationYear>
	</ns:resource>`))
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := json.Marshal(rec)
	fmt.Println(string(data), err)
	// Output:
	// {"doi":"10.5072/engine","titles":[{"title":"Notes","lang":"en"}],"publicationYear":1843,"schemaVersion":"http://datacite.org/schema/kernel-4"} <nil>
}

func ExampleFindingsXML() {
	document := `<resource xmlns="http://datacite.org/schema/kernel-4">
  <identifier identifierType="DOI">10.5072/engine</identifier>
  <creators><creator><creatorName xml:lang="en">Analytical Society</creatorName></creator></creators>
  <titles><title>Notes</title></titles>
  <publisher>Example Repository</publisher>
  <publicationYear>1843</publicationYear>
  <resourceType resourceTypeGeneral="Postr"/>
  <rating>5</rating>
</resource>`
	findings, err := metadata.FindingsXML(strings.NewReader(document))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	// Output:
	// warning: line 3, column 35: creators[0].lang: the service keeps the language of a name only in its XML
	// line 7, column 17: types.resourceTypeGeneral: the schema has no general resource type "Postr"; did you mean Poster?
	// line 8, column 3: <rating> does not belong in <resource>
}

func ExamplePerson() {
	ada := metadata.Person("Lovelace", "Ada").ORCID("https://orcid.org/0000-0001-5727-2427").AffiliatedWith("Analytical Society", "04wxnsj81")
	editor := metadata.Contributor{Creator: ada, ContributorType: metadata.ContributorEditor}
	fmt.Println(ada.Name, ada.NameIdentifiers[0].NameIdentifier, ada.Affiliation[0].AffiliationIdentifier)
	fmt.Println(editor.Name, editor.ContributorType)
	// Output:
	// Lovelace, Ada https://orcid.org/0000-0001-5727-2427 https://ror.org/04wxnsj81
	// Lovelace, Ada Editor
}

func ExampleRelationType_Inverse() {
	for _, t := range []metadata.RelationType{metadata.RelationIsPartOf, "Eats"} {
		fmt.Printf("%s %q\n", t, t.Inverse())
	}
	// Output:
	// IsPartOf "HasPart"
	// Eats ""
}

func ExampleUpgrade() {
	old := `<resource xmlns="http://datacite.org/schema/kernel-3">
<identifier identifierType="DOI">10.5072/engine</identifier>
<creators><creator><creatorName>Lovelace, Ada</creatorName></creator></creators>
<titles><title>Notes</title></titles><publisher>Example Repository</publisher><publicationYear>1843</publicationYear>
<contributors><contributor contributorType="Funder"><contributorName>Treasury</contributorName></contributor></contributors>
</resource>`
	_, err := metadata.Upgrade(strings.NewReader(old), nil)
	fmt.Println(err)

	upgraded, err := metadata.Upgrade(strings.NewReader(old), &metadata.UpgradeOptions{
		Values: map[string]string{"types.resourceTypeGeneral": "Text"}, // which only its owner knows
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range upgraded.Derived {
		fmt.Println(d)
	}
	// Output:
	// datacite: line 1, column 1: types.resourceTypeGeneral: the general resource type is mandatory
	// schemaVersion: "http://datacite.org/schema/kernel-3" becomes "http://datacite.org/schema/kernel-4"
	// contributors[0].contributorType: "Funder" becomes "fundingReferences[0]"
	// types.resourceTypeGeneral: "" becomes "Text"
}

// Diff names what differs between two records.
func ExampleDiff() {
	wanted := &metadata.Record{Titles: []metadata.Title{{Title: "Glacier length"}}, PublicationYear: "2026"}
	found := &metadata.Record{Titles: []metadata.Title{{Title: "Glacier lenght"}}, PublicationYear: "2026"}
	for _, change := range metadata.Diff(wanted, found) {
		fmt.Println(change)
	}
	// Output: titles[0].title: "Glacier length" is wanted, and "Glacier lenght" was found
}
