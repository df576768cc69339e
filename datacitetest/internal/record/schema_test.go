package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The faults of a document are those of the validator with which the deployed service checks it,
// in its words and its order. With xmllint, and the official schema in the folder
// DATACITE_SCHEMA, it is asked, too.
func TestFaultsAreThoseOfTheValidator(t *testing.T) {
	sound, err := os.ReadFile("../../../testdata/records/full.xml")
	require.NoError(t, err)
	schema := os.Getenv("DATACITE_SCHEMA")
	for _, row := range []struct{ old, replacement, want string }{
		{`<creators>`, `<creators><creator/>`, `4 creator: Missing child element(s). Expected is ( creatorName ).`},
		{`<titles>`, `<titles><subject>x</subject>`, `16 subject: This element is not expected. Expected is ( title ).`},
		{`</titles>`, `</titles><titles/>`,
			`19 titles: This element is not expected. Expected is one of ( publisher, publicationYear, resourceType, ` +
				`subjects, contributors, dates, language, alternateIdentifiers, relatedIdentifiers, sizes ).`},
		{`<publicationYear>2026`, `<publicationYear>26`,
			`21 publicationYear: [facet 'pattern'] The value '26' is not accepted by the pattern '[\d]{4}'.`},
		{`</publicationYear>`, `</publicationYear>text`,
			`2 resource: Character content other than whitespace is not allowed because the content type is 'element-only'.`},
		{`resourceTypeGeneral="Dataset"`, `resourceTypeGeneral="dataset" unit="1"`,
			"22 resourceType', attribute 'resourceTypeGeneral: [facet 'enumeration'] The value 'dataset' is not an element of " +
				"the set {'Audiovisual', …}.\n22 resourceType', attribute 'unit: The attribute 'unit' is not allowed."},
		{`resourceTypeGeneral="Dataset"`, ``,
			`22 resourceType: The attribute 'resourceTypeGeneral' is required but missing.`},
		{"<givenName>Ada</givenName>\n      <familyName>Lovelace</familyName>",
			`<familyName>Lovelace</familyName><givenName>A</givenName>`, `7 givenName: This element is not expected. Expected ` +
				`is one of ( nameIdentifier, affiliation ).`},
		{`xml:lang="en">Gl`, `xml:lang="en_US" lang="en">Gl`,
			"17 lang: 'en_US' is not a valid value of the local union type.\n17 title', attribute 'lang: The attribute 'lang' " +
				"is not allowed."},
		{`<language>en`, `<language>en_US`, `37 language: 'en_US' is not a valid value of the atomic type 'xs:language'.`},
		{`<pointLongitude>8.03`, `<pointLongitude>181`,
			`61 pointLongitude: [facet 'maxInclusive'] The value '181' is greater than the maximum value allowed ('180').`},
		{`<pointLongitude>8.03`, `<pointLongitude>east`,
			`61 pointLongitude: 'east' is not a valid value of the atomic type 'longitudeType'.`},
		{`<pointLatitude>46.44`, `<pointLatitude>-90.1`,
			`62 pointLatitude: [facet 'minInclusive'] The value '-90.1' is less than the minimum value allowed ('-90').`},
		{`<pointLatitude>46.44</pointLatitude>`, ``,
			`60 geoLocationPoint: Missing child element(s). Expected is ( pointLatitude ).`},
		{`<size>`, `<size><b/>`, `45 size: Element content is not allowed, because the type definition is simple.`},
		{`<formats>`, `<formats>text`, `47 formats: Character content other than whitespace is not allowed because the ` +
			`content type is 'element-only'.`},
		{`<funderName>Example Foundation</funderName>`, ``,
			`67 fundingReference: Missing child element(s). Expected is ( funderName ).`},
		{`<funderName>Example Foundation</funderName>`, `<funderName/><funderName/>`,
			"68 funderName: [facet 'minLength'] The value has a length of '0'; this underruns the allowed minimum length of " +
				"'1'.\n68 funderName: This element is not expected."},
		{`<volume>7</volume>`, `<lastPage>1</lastPage><volume>7</volume>`,
			`81 volume: This element is not expected. Expected is one of ( publisher, edition, contributors ).`},
		{`relatedItemType="Journal"`, ``, `75 relatedItem: The attribute 'relatedItemType' is required but missing.`},
		{`<resource `, `<resources `, `2 resources: No matching global declaration available for the validation root.`},
		{`datacite.org/schema/kernel-4"`, `datacite.org/schema/kernel-4.5"`,
			`2 resource: No matching global declaration available for the validation root.`},
		{`contributorType="ContactPerson"`, `contributorType="Boss"`,
			`27 contributor', attribute 'contributorType: [facet 'enumeration'] The value 'Boss' is not an element of the set ` +
				`{'ContactPerson', …}.`},
		{`nameType="Personal"`, `nameType=""`,
			`6 creatorName', attribute 'nameType: [facet 'enumeration'] The value '' is not an element of the set ` +
				`{'Organizational', …}.`},
		{`relatedIdentifierType="DOI" `, ``,
			`42 relatedIdentifier: The attribute 'relatedIdentifierType' is required but missing.`},
		{`>Example Repository<`, `><`, `20 publisher: [facet 'minLength'] The value has a length of '0'; this underruns ` +
			`the allowed minimum length of '1'.`},
		{`summer.</`, `summer.<br>x</br></`, `55 br: Character content is not allowed, because the content type is empty.`},
		{`<size>12`, `<size xmlns="urn:x">12`, `45 size: This element is not expected. Expected is ( size ).`},
		{`<geoLocationPlace>Aletsch</geoLocationPlace>`,
			`<geoLocationPolygon><polygonPoint><pointLongitude>1</pointLongitude><pointLatitude>1</pointLatitude>` +
				`</polygonPoint></geoLocationPolygon>`, `59 geoLocationPolygon: Missing child element(s). Expected is ( ` +
				`polygonPoint ).`},
		{`<title>Journal of Ice</title>`,
			`<title>Journal of Ice</title></titles><creators><creator><creatorName>D</creatorName><nameIdentifier/></creator>` +
				`</creators><titles>`, `78 creators: This element is not expected. Expected is one of ( publicationYear, volume, ` +
				`issue, number, firstPage, lastPage, publisher, edition, contributors ).`},
	} {
		t.Run(row.replacement, func(t *testing.T) {
			require.Contains(t, string(sound), row.old)
			text := strings.Replace(string(sound), row.old, row.replacement, 1)
			text = strings.Replace(text, "</resource>", "</"+rootOf.FindStringSubmatch(text)[1]+">", 1)
			var found []string
			for _, v := range violations(parsed(t, text).Root) {
				found = append(found, fmt.Sprintf("%d %s: %s", v.line, v.source, v.text))
			}
			shown := strings.ReplaceAll(strings.Join(found, "\n"), "{"+kernelNamespace+"}", "")
			assert.Regexp(t, `\A`+strings.ReplaceAll(regexp.QuoteMeta(row.want), "…", ".*")+`\z`, shown)
			if _, err := exec.LookPath("xmllint"); err == nil && schema != "" {
				assert.Equal(t, validated(filepath.Join(schema, "kernel-4", "metadata.xsd"), text), found)
			}
		})
	}
}

var (
	rootOf    = regexp.MustCompile(`<(resources?) `)
	faultLine = regexp.MustCompile(`(?m)^-:(\d+): element .*?: Schemas validity error : Element '(.*?)': (\S.*)$`)
)

// validated are the faults that xmllint finds. What it says besides of a value that is
// not in a list is the same fault once more.
func validated(schema, text string) (found []string) {
	cmd := exec.Command("xmllint", "--nonet", "--noout", "--schema", schema, "-")
	cmd.Stdin = strings.NewReader(text)
	out, _ := cmd.CombinedOutput() // fails when it finds something
	for _, m := range faultLine.FindAllStringSubmatch(string(out), -1) {
		found = append(found, fmt.Sprintf("%s %s: %s", m[1], m[2][strings.LastIndex(m[2], "}")+1:], m[3]))
	}
	return found
}
