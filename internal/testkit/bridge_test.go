package testkit_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

// A record read through the DOI query is registered through the metadata store
// as it is, and reads the same again.
func TestARecordGoesFromOneInterfaceToTheOther(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented})
	defer srv.Close()
	reader, store := srv.DOIs(), srv.MDS()
	xml, err := os.ReadFile("../../testdata/records/full.xml")
	require.NoError(t, err)
	const address = "https://repository.example.org/1"
	given := mds.XML(xml)
	given.OtherDOI = true
	_, err = store.Register(t.Context(), "10.5072/first", address, given)
	require.NoError(t, err)

	all := &dois.GetOptions{Detail: true}
	first, err := reader.Get(t.Context(), "10.5072/first", all)
	require.NoError(t, err)
	doc, err := mds.NewDocument(&first.Record)
	require.NoError(t, err)
	doc.OtherDOI = true
	_, err = store.Register(t.Context(), "10.5072/second", address, doc)
	require.NoError(t, err)
	second, err := reader.Get(t.Context(), "10.5072/second", all)
	require.NoError(t, err)

	require.NotEmpty(t, first.RelatedItems)
	require.NotEmpty(t, first.GeoLocations)
	require.NotEmpty(t, first.FundingReferences)
	first.DOI, second.DOI = "", ""
	assert.Equal(t, first.Record, second.Record)
}
