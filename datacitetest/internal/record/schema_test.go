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

// faultyRecord are changes to a sound record that make it faulty.
var faultyRecord = [][2]string{
	{"<creators>", "<creators><creator/>"},
	{"<titles>", "<titles><subject>x</subject>"},
	{"</titles>", "</titles><titles/>"},
	{"<publicationYear>2026", "<publicationYear>26"},
	{"</publicationYear>", "</publicationYear>text"},
	{`resourceTypeGeneral="Dataset"`, `resourceTypeGeneral="dataset" unit="1"`},
	{`resourceTypeGeneral="Dataset"`, ``},
	{"<familyName>Lovelace</familyName>", "<familyName>Lovelace</familyName><givenName>A</givenName>"},
	{`xml:lang="en"`, `xml:lang="en_US" lang="en"`},
	{"<language>en", "<language>en_US"},
	{"<pointLongitude>8.03", "<pointLongitude>181"},
	{"<pointLongitude>8.03", "<pointLongitude>east"},
	{"<pointLatitude>46.44</pointLatitude>", ""},
	{"<size>", "<size><b/>"},
	{"<formats>", "<formats>text"},
	{"<funderName>Example Foundation</funderName>", ""},
	{"<funderName>Example Foundation</funderName>", "<funderName/><funderName/>"},
	{"<volume>7</volume>", "<lastPage>1</lastPage><volume>7</volume>"},
	{`relatedItemType="Journal"`, ``},
	{"<resource ", "<resources "},
	{"datacite.org/schema/kernel-4\"", "datacite.org/schema/kernel-4.5\""},
}

// The faults that are found in a document are those that the validator finds with
// which the deployed service checks it, in its words and its order.
func TestFaultsAreThoseOfTheValidator(t *testing.T) {
	dir := os.Getenv("DATACITE_SCHEMA")
	if _, err := exec.LookPath("xmllint"); err != nil || dir == "" {
		t.Skip("needs xmllint, and DATACITE_SCHEMA, a folder with the official schema")
	}
	sound, err := os.ReadFile("../../../testdata/records/full.xml")
	require.NoError(t, err)
	for _, change := range faultyRecord {
		t.Run(change[1], func(t *testing.T) {
			require.Contains(t, string(sound), change[0])
			text := strings.Replace(string(sound), change[0], change[1], 1)
			text = strings.Replace(text, "</resource>", "</"+strings.TrimSuffix(strings.TrimPrefix(rootOf.FindString(text), "<"), " ")+">", 1)
			var found []string
			for _, v := range violations(parsed(t, text).Root) {
				found = append(found, fmt.Sprintf("%d %s: %s", v.line, v.source, v.text))
			}
			assert.Equal(t, validated(filepath.Join(dir, "kernel-4", "metadata.xsd"), text), found)
		})
	}
}

var (
	rootOf    = regexp.MustCompile(`<resources? `)
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
