package query_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	. "github.com/datacite-go/datacite-go/query"
)

// fieldKinds lists the fields with a constant, by what their comments say.
var fieldKinds = map[string][]Field{
	"text": {
		FieldTitle, FieldDescription, FieldSubject, FieldCreatorName, FieldCreatorGivenName, FieldCreatorFamilyName,
		FieldCreatorAffiliationName, FieldPublisher, FieldPublisherName, FieldURL, FieldContributorName,
		Field("contributors.affiliation.name"), FieldFunderName,
	},
	"keyword": {
		FieldPrefix, Field("suffix"), "creators.nameType", FieldCreatorNameIdentifier,
		"creators.nameIdentifiers.nameIdentifierScheme",
		"creators.affiliation.schemeUri", FieldCreatorAffiliationIdentifier, "creators.affiliation.affiliationIdentifierScheme",
		"publisher.schemeUri", Field("publisher.publisherIdentifier"), "publisher.publisherIdentifierScheme", "publisher.lang",
		FieldResourceTypeGeneral, FieldRelationType, "relatedIdentifiers.relatedIdentifierType", FieldLanguage, FieldVersion, FieldSchemaVersion,
		Field("contributors.contributorType"), FieldContributorNameIdentifier, Field(
			"contributors.affiliation.affiliationIdentifier"), "identifiers.identifierType",
		Field("fundingReferences.awardNumber"), Field(
			"geoLocations.geoLocationPlace"), FieldState, FieldClientID, FieldProviderID, "organization_id", Field("affiliation_id"),
		Field("funder_rors"),
	},
	"keyword, any case": {
		FieldDOI, FieldResourceType, FieldRelatedIdentifier, FieldAlternateIdentifier, FieldFunderIdentifier,
		FieldRightsIdentifier,
	},
	"year": {FieldPublicationYear},
	"date": {FieldCreated, FieldUpdated, FieldRegistered},
	"count": {FieldViewCount, FieldDownloadCount, FieldCitationCount, FieldReferenceCount, FieldPartCount,
		FieldVersionCount},
}

var valuesOfKind = map[string]string{
	"text": "Some Words", "keyword": "Some/Value", "keyword, any case": "Some/Value", "year": "2015", "date": "2015-06-30",
	"count": "17",
}

// A record with a value in every field is found by every field, on the service
// with its renames, and each field compares as its comment says.
func TestFieldsOfTheService(t *testing.T) {
	t.Parallel()
	var texts []string
	var found []bool
	ask := func(e Expr, want bool) {
		require.NoError(t, Check(e), e)
		texts, found = append(texts, e.String()), append(found, want)
	}
	for kind, fields := range fieldKinds {
		v := valuesOfKind[kind]
		for _, f := range fields {
			ask(f.Is(v), true)
			ask(f.Exists(), true)
			ask(f.Is(v[:1]+"9"+v[2:]), false)
			switch kind {
			case "text":
				ask(f.Is("words"), true)
				ask(f.Is("words some"), false)
				ask(f.StartsWith("wor"), true)
			case "keyword", "keyword, any case":
				ask(f.Is(strings.ToLower(v)), kind != "keyword")
				ask(f.Is("Value"), false)
				ask(f.StartsWith("Some/"), true)
			default:
				ask(f.Between(v, ""), true)
				ask(f.Between("", v), true)
				ask(f.Within(Range{Low: v, ExcludeLow: true}), false)
			}
		}
	}
	answers := startOracle(t, "exec", "--docs", fullRecord(t), "--mapping", "datacite", "--server",
		"datacite").found(texts)
	for i, ids := range answers {
		assert.Equal(t, map[bool]string{true: "full"}[found[i]], ids, texts[i])
	}
}

// fullRecord writes a file with a record that has all fields, and one that has
// none.
func fullRecord(t *testing.T) string {
	record := map[string]any{"id": "full"}
	for kind, fields := range fieldKinds {
		for _, f := range fields {
			if f == FieldPublisher { // the object has it
				continue
			}
			object, path := record, strings.Split(string(f), ".")
			for _, name := range path[:len(path)-1] {
				if object[name] == nil {
					object[name] = map[string]any{}
				}
				object = object[name].(map[string]any)
			}
			object[path[len(path)-1]] = valuesOfKind[kind]
		}
	}
	line, err := json.Marshal(record)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "records.jsonl")
	require.NoError(t, os.WriteFile(file, append(line, "\n{\"id\":\"empty\"}\n"...), 0o600))
	return file
}

// The service refuses what Check refuses in a field of that kind.
func TestFieldsRefuseWhatTheServiceRefuses(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, kind := range []string{"year", "date", "count"} {
		for _, f := range fieldKinds[kind] {
			for _, e := range []Expr{f.StartsWith("20"), f.Like("2?"), f.Fuzzy("2015", 1), f.Is("abc"), f.Is("2010-2015"),
				f.Between("x", ""), f.Match(Raw("2010 2011"))} {
				require.ErrorIs(t, Check(e), datacite.ErrInvalid, e)
				texts = append(texts, e.String())
			}
		}
	}
	for i, answer := range startOracle(t, "exec", "--docs", fullRecord(t), "--mapping", "datacite", "--server",
		"datacite").found(texts) {
		assert.True(t, strings.HasPrefix(answer, "ERR"), "%s: %s", texts[i], answer)
	}
}
