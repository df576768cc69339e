package sandbox_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// relates is a record with related identifiers, given as "IsVersionOf 10.5072/a".
func relates(doi, state string, related ...string) string {
	var list []string
	for _, text := range related {
		relation, to, _ := strings.Cut(text, " ")
		list = append(list, fmt.Sprintf(`{"relatedIdentifier":%q,"relatedIdentifierType":"DOI","relationType":%q}`, to,
			relation))
	}
	return fmt.Sprintf(`{"doi":%q,"state":%q,"updated":"2024-05-01","relatedIdentifiers":[%s]}`, doi, state,
		strings.Join(list, ","))
}

// relationsOf are the relationships of a DOI that are not empty: "versions 1 10.5072/b". The
// number is the count.
func relationsOf(t *testing.T, service *sandbox.Service, doi string) string {
	t.Helper()
	var parts []string
	record := service.ShowRecord(doi)
	for _, name := range []string{"references", "citations", "parts", "partOf", "versions", "versionOf"} {
		count := at(record, "attributes."+strings.TrimSuffix(name, "s")+"Count")
		var text strings.Builder
		text.WriteString(fmt.Sprintf("%s %v", name, count))
		for _, related := range at(record, "relationships."+name+".data").([]any) {
			text.WriteString(" " + strings.TrimPrefix(at(related, "id").(string), "10.5072/"))
		}
		if text.String() != name+" 0" {
			parts = append(parts, text.String())
		}
	}
	return strings.Join(parts, ", ")
}

// What becomes of related identifiers. Records are 10.5072/a, which is seeded first and names
// nothing, and those of the row.
func TestDeployedRelations(t *testing.T) {
	for name, c := range map[string]struct {
		records []string
		want    map[string]string
	}{
		"a new version that names the old one": {[]string{relates("10.5072/b", "findable", "IsVersionOf 10.5072/a")},
			map[string]string{"a": "versions 1 b", "b": "versionOf 1 a"}},
		"an old one that names the new": {[]string{relates("10.5072/b", "findable", "HasVersion 10.5072/A")},
			map[string]string{"a": "versionOf 1 b", "b": "versions 1 a"}},
		"both name each other": {
			[]string{relates("10.5072/b", "findable", "IsVersionOf 10.5072/a"),
				relates("10.5072/a", "findable",
					"HasVersion https://doi.org/10.5072/b")}, map[string]string{"a": "versions 1 b", "b": "versionOf 1 a"}},
		"a part": {
			[]string{relates("10.5072/b", "findable", "IsPartOf 10.5072/a"),
				relates("10.5072/c", "findable",
					"HasPart 10.5072/a")}, map[string]string{"a": "parts 1 b, partOf 1 c", "b": "partOf 1 a", "c": "parts 1 a"}},
		"each relation of a citation": {
			[]string{relates("10.5072/b", "findable", "Cites 10.5072/a", "References 10.5072/a"),
				relates("10.5072/c", "findable",
					"IsCitedBy 10.5072/a")}, map[string]string{"a": "references 1 c, citations 1 b", "b": "references 1 a",
				"c": "citations 1 a"}},
		"relations that are not counted": {
			[]string{relates("10.5072/b", "findable", "IsNewVersionOf 10.5072/a", "IsDerivedFrom 10.5072/a")},
			map[string]string{"a": "", "b": ""}},
		"other identifiers than DOIs": {[]string{
			strings.ReplaceAll(relates("10.5072/b", "findable", "IsVersionOf 10.5072/a"), `"DOI"`, `"URL"`),
			relates("10.5072/c", "findable",
				"IsVersionOf https://example.org/10.5072/a")}, map[string]string{"a": "", "b": "", "c": ""}},
		"a draft counts when it becomes findable": {
			[]string{relates("10.5072/b", "draft", "IsVersionOf 10.5072/a"),
				relates("10.5072/c", "registered",
					"IsVersionOf 10.5072/a"), relates("10.5072/d", "draft",
					"IsVersionOf 10.5072/a"), relates("10.5072/d", "findable", "IsVersionOf 10.5072/a")},
			map[string]string{"a": "versions 1 d", "b": "", "c": "", "d": "versionOf 1 a"}},
		"a DOI without a record": {[]string{relates("10.5072/b", "findable", "IsVersionOf 10.5072/none")},
			map[string]string{"b": "versionOf 1"}},
		"a relation that was removed stays": {
			[]string{relates("10.5072/b", "findable", "IsVersionOf 10.5072/a"), relates("10.5072/b", "findable")},
			map[string]string{"a": "versions 1 b", "b": "versionOf 1 a"}},
		"numbers that a record was given": {
			[]string{strings.Replace(relates("10.5072/b", "findable", "IsVersionOf 10.5072/a"), "{",
				`{"versionOfCount":7,"citationCount":3,`, 1)}, map[string]string{"b": "citations 3, versionOf 7 a"}},
	} {
		t.Run(name, func(t *testing.T) {
			service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed})
			for _, r := range append([]string{relates("10.5072/a", "findable")}, c.records...) {
				seed(t, service, r)
				service.ProcessUsage()
			}
			var saved bytes.Buffer
			require.NoError(t, service.Save(&saved))
			restored := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed})
			require.NoError(t, restored.Restore(&saved))
			for suffix, want := range c.want {
				assert.Equal(t, want, relationsOf(t, service, "10.5072/"+suffix), suffix)
				assert.Equal(t, want, relationsOf(t, restored, "10.5072/"+suffix), suffix)
			}
		})
	}
	t.Run("documented", func(t *testing.T) {
		service := newService()
		seed(t, service, relates("10.5072/a", "findable"), relates("10.5072/b", "findable", "Cites 10.5072/a"))
		service.ProcessUsage()
		assert.Empty(t, relationsOf(t, service, "10.5072/a"), "records are as they were written")
	})
	t.Run("citations over time", func(t *testing.T) {
		service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed})
		seed(t, service, relates("10.5072/a", "findable"),
			relates("10.5072/b", "findable", "Cites 10.5072/a", "References 10.5072/a"),
			strings.Replace(relates("10.5072/c", "findable", "Cites 10.5072/a"), "2024", "2026",
				1), relates("10.5072/d", "findable", "Cites 10.5072/a"))
		assert.Equal(t, []any{map[string]any{"year": "2024", "total": 2.0}, map[string]any{"year": "2026", "total": 1.0}},
			at(service.ShowRecord("10.5072/a"), "attributes.citationsOverTime"))
	})
	t.Run("a draft that is deleted", func(t *testing.T) {
		service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed})
		seed(t, service, relates("10.5072/a", "draft"), relates("10.5072/b", "findable", "IsVersionOf 10.5072/a"))
		assert.Equal(t, "versionOf 1 a", relationsOf(t, service, "10.5072/b"))
		require.Equal(t, 204, call{method: "DELETE", path: "/dois/10.5072/a", as: "repo"}.do(t, service).status)
		assert.Empty(t, relationsOf(t, service, "10.5072/b"))
	})
}

// A relation is shown in both records once workers have read the one that has it, and in lists
// when the index has it.
func TestDeployedRelationsLag(t *testing.T) {
	now := time.Date(2026, 12, 5, 0, 0, 0, 0, time.UTC)
	service := sandbox.New(&sandbox.Options{Behaviour: sandbox.Deployed, UsageLag: time.Hour, IndexLag: 24 * time.Hour,
		Now: func() time.Time { return now }})
	seed(t, service, relates("10.5072/a", "findable"), relates("10.5072/b", "findable"))
	a := update("10.5072/b", complete+`,"relatedIdentifiers":[{"relatedIdentifier":"10.5072/a",`+
		`"relatedIdentifierType":"DOI","relationType":"IsVersionOf"}]`).do(t, service)
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, 0.0, at(a.read(t), "data.attributes.versionOfCount"), "not even in the response")
	for _, c := range []struct {
		after        time.Duration
		a, b, listed string
	}{{59 * time.Minute, "", "", ""}, {time.Minute, "versions 1 b", "versionOf 1 a", ""},
		{23 * time.Hour, "versions 1 b", "versionOf 1 a", ""}, {time.Hour, "versions 1 b", "versionOf 1 a", "a"}} {
		service.Advance(c.after)
		assert.Equal(t, c.a, relationsOf(t, service, "10.5072/a"))
		assert.Equal(t, c.b, relationsOf(t, service, "10.5072/b"))
		assert.Equal(t, c.listed, strings.Join(found(listed(t, service, "has-versions=1", "")), " "))
	}
	seed(t, service, relates("10.5072/c", "draft", "IsVersionOf 10.5072/a"))
	service.Advance(40 * time.Minute)
	require.Equal(t, 200, update("10.5072/c", `"event":"publish",`+complete).do(t, service).status)
	service.Advance(40 * time.Minute)
	assert.Equal(t, "versions 1 b", relationsOf(t, service, "10.5072/a"), "a draft is not read")
	service.Advance(20 * time.Minute)
	assert.Contains(t, relationsOf(t, service, "10.5072/a"), "versions 2")
}
