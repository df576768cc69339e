package dois_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// series are n records, r000 and so on, made one second after the other.
func series(n int) []string {
	var records []string
	for i := range n {
		records = append(records, fmt.Sprintf(
			`{"doi":"10.5072/r%03d","created":"2020-01-01T00:%02d:%02dZ","client":"demo.c%d","provider":"p%d","types":{"resourceTypeGeneral":"%s"}}`,
			i, i/60, i%60, i%3, i%2, []string{"Dataset", "Software"}[i%2]))
	}
	return records
}

// TestPages reads pages in the ways of specification §4.2.
func TestPages(t *testing.T) {
	scene := func(name string, tell func(t *testing.T, client *dois.Client)) {
		story(t, name, series(60), func(t *testing.T, srv *datacitetest.Server) { tell(t, srv.DOIs()) })
	}
	scene("25 records without further word", func(t *testing.T, client *dois.Client) {
		found, err := client.List(t.Context(), nil)
		require.NoError(t, err)
		assert.Len(t, found.Records, 25)
		assert.Equal(t, 60, found.Total)
		assert.True(t, found.More)
		assert.Equal(t, query.Page{Number: 2}, found.Next)
	})
	scene("page number and size", func(t *testing.T, client *dois.Client) {
		opts := &dois.ListOptions{Sort: query.ByName, Page: query.Page{Number: 3, Size: 7}}
		found, err := client.List(t.Context(), opts)
		require.NoError(t, err)
		assert.Equal(t, words("r014 r015 r016 r017 r018 r019 r020"), suffixes(found.Records))
		assert.Equal(t, query.Page{Number: 4, Size: 7}, found.Next)
	})
	scene("last page by number", func(t *testing.T, client *dois.Client) {
		found, err := client.List(t.Context(), &dois.ListOptions{Sort: query.ByName, Page: query.Page{Number: 9, Size: 7}})
		require.NoError(t, err)
		assert.Equal(t, words("r056 r057 r058 r059"), suffixes(found.Records))
		assert.False(t, found.More)
	})
	scene("page after the last is empty", func(t *testing.T, client *dois.Client) {
		found, err := client.List(t.Context(), &dois.ListOptions{Page: query.Page{Number: 10, Size: 7}})
		require.NoError(t, err)
		assert.Empty(t, found.Records)
		assert.Equal(t, 60, found.Total)
		assert.False(t, found.More)
	})
	scene("cursor", func(t *testing.T, client *dois.Client) {
		opts := &dois.ListOptions{Page: query.Page{Cursor: "1", Size: 4}}
		first, err := client.List(t.Context(), opts)
		require.NoError(t, err)
		assert.Equal(t, words("r000 r001 r002 r003"), suffixes(first.Records), "in the order of creation")
		require.True(t, first.More)
		assert.NotEmpty(t, first.Next.Cursor)

		opts.Page = first.Next
		second, err := client.List(t.Context(), opts)
		require.NoError(t, err)
		assert.Equal(t, words("r004 r005 r006 r007"), suffixes(second.Records))
	})
	scene("random", func(t *testing.T, client *dois.Client) {
		found, err := client.List(t.Context(), &dois.ListOptions{Sample: query.Sample{Random: true}, Page: query.Page{Size: 20}})
		require.NoError(t, err)
		different := map[string]bool{}
		for _, r := range found.Records {
			different[r.DOI] = true
		}
		assert.Len(t, different, 20, "each record once")
		assert.Equal(t, 60, found.Total, "the service counts what the sample is taken from")
		assert.False(t, found.More, "another page would be another sample")
	})
	for _, tt := range []struct {
		name   string
		sample query.Sample
		want   int
	}{
		{"sample-group by client", query.Sample{Group: query.GroupClient}, 3},
		{"sample-group by provider", query.Sample{Group: query.GroupProvider}, 2},
		{"sample-group by resource type", query.Sample{Group: query.GroupResourceType}, 2},
		{"sample of several from each group", query.Sample{Group: query.GroupClient, Size: 5}, 15},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEachInTime(t, func(t *testing.T, srv *datacitetest.Server) {
				seed(t, srv, series(60)...)
				found, err := srv.DOIs().List(t.Context(), &dois.ListOptions{Sample: tt.sample})
				if deployed(t) {
					require.ErrorIs(t, err, datacite.ErrServer, "it has not served these since July 2026")
					return
				}
				require.NoError(t, err)
				assert.Len(t, found.Records, tt.want)
				assert.False(t, found.More)
			})
		})
	}
}
