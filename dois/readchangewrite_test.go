package dois_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// Reading a record, changing it and writing it back keeps the rest of it, with whatever
// options it was read.
func TestReadChangeWrite(t *testing.T) {
	whole := everything(t)
	for name, opts := range map[string]*dois.GetOptions{
		"no options": nil, "no option set": {}, "with the repository": {Include: []string{"client"}}, "in detail": {Detail: true},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, srv *datacitetest.Server) {
				c := srv.DOIs()
				_, err := c.Create(t.Context(), &dois.Draft{DOI: "10.5072/a", Record: *whole})
				require.NoError(t, err)
				before, err := c.Get(t.Context(), "10.5072/a", nil)
				require.NoError(t, err)

				r, err := c.Get(t.Context(), "10.5072/a", opts)
				require.NoError(t, err)
				d, err := r.Draft()
				require.NoError(t, err)
				d.Titles[0].Title = "Better"
				_, err = c.Update(t.Context(), r.DOI, d)
				require.NoError(t, err)

				after, err := c.Get(t.Context(), "10.5072/a", nil)
				require.NoError(t, err)
				changes := metadata.Diff(&before.Record, &after.Record)
				require.Len(t, changes, 1)
				assert.Equal(t, "titles[0].title", changes[0].Path)
				assert.NotEmpty(t, after.Creators[0].Affiliation[0].AffiliationIdentifier)
				assert.NotEmpty(t, after.Publisher.PublisherIdentifier)
			})
		})
	}
}

// A record without identifiers, as from a list or a file, says at once all that it lacks.
func TestDraftNamesAllThatWasNotRead(t *testing.T) {
	var r dois.Record
	require.NoError(t, json.Unmarshal([]byte(`{"doi":"10.5072/a","creators":[{"name":"A","affiliation":["B"]}],"contributors":[{"name":"C","affiliation":["D"]}],"publisher":"E"}`), &r))
	_, err := r.Draft()
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.EqualError(t, err, "datacite: Record: has no identifiers in creators, contributors, publisher, and writing it would remove them; read it with Get, or list it with Affiliation and Publisher")
}

// Each part of a container is written again, also alone.
func TestDraftKeepsTheContainer(t *testing.T) {
	for _, c := range []dois.Container{{Title: "Glaciers"}, {Type: "Series"}, {Identifier: "1234-5679"}} {
		d, err := (&dois.Record{Container: c}).Draft()
		require.NoError(t, err)
		assert.Equal(t, &c, d.Container)
	}
	d, err := new(dois.Record).Draft()
	require.NoError(t, err)
	assert.Nil(t, d.Container)
}

// An option that the service would ignore is refused.
func TestGetRefusesWhatTheServiceIgnores(t *testing.T) {
	onEach(t, func(t *testing.T, srv *datacitetest.Server) {
		for _, name := range []string{"", " ", "Client", "client,media", "client ", "clients"} {
			_, err := srv.DOIs().Get(t.Context(), "10.5072/a", &dois.GetOptions{Include: []string{name}})
			require.ErrorIs(t, err, datacite.ErrInvalid, name)
			assert.ErrorContains(t, err, "GetOptions.Include")
		}
		assert.Empty(t, srv.Requests())
	})
}
