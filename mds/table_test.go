package mds_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/mds"
)

const deployedStore = "deployed-store.md"

// What the store changes in a document, the registration tells of.
func TestNothingIsChangedInSilence(t *testing.T) {
	taken := 0
	for _, row := range testkit.Table(t, deployedStore, "Documents") {
		text := testkit.Expand(t, deployedStore, row[0])
		srv, c := newDeployed(t)
		done, err := c.Register(t.Context(), name, address, mds.XML([]byte(text)))
		if err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalid, text)
			continue
		}
		taken++
		same := content(t, []byte(text)) == content(t, []byte(storedXML(t, srv, name)))
		assert.Equal(t, same, len(done.Altered) == 0, "%q: %s", done.Altered, text)
	}
	assert.Greater(t, taken, 10)
}

// What the store repairs, by dropping parts, is not sent.
func TestNothingIsRepaired(t *testing.T) {
	for _, row := range testkit.Table(t, deployedStore, "Broken documents") {
		srv, c := newDeployed(t)
		_, err := c.Register(t.Context(), name, address, mds.XML([]byte(testkit.Expand(t, deployedStore, row[0]))))
		require.ErrorIs(t, err, datacite.ErrInvalid, row[0])
		assert.Empty(t, srv.Requests(), row[0])
	}
}

// A URL that the client takes, the store takes as it is, by the table of its
// exchanges.
func TestAddressesOfTheTable(t *testing.T) {
	for _, row := range testkit.Table(t, deployedStore, "Exchanges") {
		_, sent, found := strings.Cut(testkit.Expand(t, deployedStore, row[2]), "\nurl=")
		if !found || !strings.HasPrefix(row[0], "PUT /doi/") || strings.ContainsAny(sent, "\r\n") {
			continue
		}
		srv, c := newDeployed(t)
		_, err := c.PutMetadata(t.Context(), name, record("A"))
		require.NoError(t, err)
		if _, err := c.PutURL(t.Context(), name, sent); err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.Empty(t, srv.Requests()[1:], "%q was sent", sent)
		}
	}
}
