package mds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// What package metadata knows of the metadata reaches everybody who registers them, whether
// they are written or not.
func TestRegistrationsWarn(t *testing.T) {
	rec, err := metadata.ParseXML(strings.NewReader(string(record("A").Data)))
	require.NoError(t, err)
	rec.Creators[0].Lang = "en"
	rec.RelatedItems = metadata.List[metadata.RelatedItem]{{
		RelatedItemType: metadata.ResourceTypeJournal, RelationType: metadata.RelationIsPublishedIn,
		Titles:   metadata.List[metadata.Title]{{Title: "Notes"}},
		Creators: metadata.List[metadata.Creator]{metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427")},
	}}
	ofRecord, err := mds.NewDocument(rec)
	require.NoError(t, err)
	raw := mds.XML([]byte(strings.Replace(string(record("A").Data), "<creatorName>", `<creatorName xml:lang="en">`, 1)))

	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		c := srv.MDS()
		for range 2 { // new, and unchanged
			done, err := c.Ensure(t.Context(), name, address, ofRecord, nil)
			require.NoError(t, err)
			assert.Equal(t, []string{"creators[0].lang", "relatedItems[0].creators[0]"}, pathsOf(done.Warnings), "the second is not in the XML")
		}
		done, err := c.Register(t.Context(), name, address, raw)
		require.NoError(t, err)
		require.Equal(t, []string{"creators[0].lang"}, pathsOf(done.Warnings))
		assert.Contains(t, done.Warnings[0].String(), "warning: line 5, column 27: creators[0].lang")
	})
}

// A document full of faults does not fill the memory of who registers many.
func TestWarningsHaveABound(t *testing.T) {
	rec, err := metadata.ParseXML(strings.NewReader(string(record("A").Data)))
	require.NoError(t, err)
	rec.Sizes = slices.Repeat([]string{" "}, 1000)
	doc, err := mds.NewDocument(rec)
	require.NoError(t, err)
	done, err := newServer(t, nil).MDS().Register(t.Context(), name, address, doc)
	require.NoError(t, err)
	assert.Len(t, done.Warnings, 100)
	assert.Len(t, doc.Findings(), 1000)
}

func pathsOf(findings []datacite.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, f.Path)
	}
	return all
}
