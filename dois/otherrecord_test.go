package dois_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
)

// A cache or a gateway may answer with another record than the one that was asked for. It is
// not taken for that one, and above all it does not direct a write.
func TestTheRecordOfAnotherDOI(t *testing.T) {
	var written []string
	client := scripted(t, &datacite.Config{Username: "EXAMPLE.REPO", Password: "secret-of-tests", MaxAttempts: 1}, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			written = append(written, r.URL.Path)
		}
		fmt.Fprint(w, `{"data":{"id":"10.5072/theirs","type":"dois","attributes":{"doi":"10.5072/theirs","state":"draft","titles":[{"title":"Theirs"}]}}}`)
	})
	ctx := t.Context()
	_, get := client.Get(ctx, "10.5072/mine", nil)
	_, change := client.ChangeState(ctx, "10.5072/mine", dois.Publish, nil)
	require.Empty(t, written)
	_, update := client.Update(ctx, "10.5072/mine", &dois.Draft{URL: "https://example.org/"})
	_, create := client.Create(ctx, &dois.Draft{DOI: "10.5072/mine"})
	for call, err := range map[string]error{"Get": get, "ChangeState": change, "Update": update, "Create": create} {
		require.ErrorIs(t, err, datacite.ErrUnreadable, call)
		assert.ErrorContains(t, err, `it is the record of "10.5072/theirs", not of "10.5072/mine"`, call)
	}
	assert.Equal(t, []string{"/dois/10.5072/mine", "/dois"}, written)

	for _, spelling := range []string{"10.5072/THEIRS", "https://doi.org/10.5072/theirs", "doi:10.5072/Theirs"} {
		r, err := client.Get(ctx, spelling, nil)
		require.NoError(t, err)
		assert.Equal(t, "Theirs", r.Titles[0].Title)
	}
	r, err := client.Create(ctx, &dois.Draft{Prefix: "10.5072"})
	require.NoError(t, err)
	assert.Equal(t, "10.5072/theirs", r.DOI)
}
