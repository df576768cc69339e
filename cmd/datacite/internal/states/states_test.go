package states_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/states"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

// The commands change the state and nothing else; what they cannot change, they name, with the way to go.
func TestStates(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: b})
		doc, err := mds.NewDocument(datacitetest.RandomRecord(4))
		require.NoError(t, err)
		for _, name := range []string{"10.5072/a", "10.5072/b"} {
			_, err = srv.MDS().Register(t.Context(), name, "https://a.example/", doc, nil)
			require.NoError(t, err)
		}
		_, err = srv.DOIs().Create(t.Context(), &dois.Draft{DOI: "10.5072/draft"})
		require.NoError(t, err)
		stored := func() string {
			r, err := srv.DOIs().Get(t.Context(), "10.5072/a", &dois.GetOptions{Detail: true})
			require.NoError(t, err)
			return string(r.MetadataXML)
		}
		before := stored()
		for _, tt := range []struct {
			command shell.Maker
			args    []string
			code    int
			says    string
			state   string // of 10.5072/a, and the reason
		}{
			{states.Hide, []string{"hide", "10.5072/a", "10.5072/draft"}, 1,
				"10.5072/draft is a draft, which nobody else sees; datacite delete removes it\ndatacite: 1 of 2 DOIs cannot be " +
					"hidden; nothing was changed", "findable "},
			{states.Hide, []string{"hide", "10.5072/none.csv"}, 1, "does not know 10.5072/none.csv", "findable "},
			{states.Hide, []string{"hide", "10.5072/a", "10.5072/none"}, 1, "does not know 10.5072/none", "findable "},
			{states.Hide, []string{"hide", "10.5072/a", "--dry-run"}, 0, "10.5072/a can be hidden at ", "findable "},
			{states.Hide, []string{"hide", "https://doi.org/10.5072/A", "10.5072/b", "--reason", "twice"}, 0,
				"10.5072/a hidden at ", "registered twice"},
			{states.Hide, []string{"hide", "10.5072/a"}, 0, "10.5072/a is hidden at ", "registered twice"},
			{states.Hide, []string{"hide", "10.5072/a", "--reason", "spam", "--json"}, 0,
				`"doi":"10.5072/a","state":"registered","result":"hidden"`, "registered spam"},
			{states.Delete, []string{"delete", "10.5072/a", "10.5072/draft", "--yes"}, 1,
				"10.5072/a is registered, and is never deleted", "registered spam"},
			{states.Show, []string{"show", "10.5072/a"}, 0, "10.5072/a shown at ", "findable "},
			{states.Show, []string{"show", "10.5072/a"}, 0, "10.5072/a is shown at ", "findable "},
			{states.Show, []string{"show", "10.5072/draft"}, 1, "datacite register registers it", "findable "},
			{states.Delete, []string{"delete", "10.5072/a", "--yes"}, 1, "datacite hide takes it out of searches", "findable "},
			{states.Delete, []string{"delete", "10.5072/draft"}, 2, "Delete 10.5072/draft at ", "findable "},
			{states.Delete, []string{"delete", "10.5072/draft", "--yes"}, 0, "10.5072/draft deleted at ", "findable "},
			{states.Delete, []string{"delete", "10.5072/draft", "--yes"}, 0, "there is nothing to delete", "findable "},
		} {
			code, out, notes := shelltest.At(srv).Do(t, tt.command, tt.args...)
			assert.Equal(t, tt.code, code, "%v: %s", tt.args, notes)
			assert.Contains(t, out+notes, tt.says, tt.args)
			r, err := srv.DOIs().Get(t.Context(), "10.5072/a", nil)
			require.NoError(t, err)
			assert.Equal(t, tt.state, string(r.State)+" "+r.Reason, tt.args)
			assert.Equal(t, before, stored(), tt.args)
		}
		assert.Empty(t, srv.State("10.5072/draft"))
	}
}

// A run that fails between two DOIs says how far it is, and the next one does the rest.
func TestAFailureInTheMiddle(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Faults: func(_ int, r *http.Request) *datacitetest.Fault {
		if r.Method == http.MethodPut && r.URL.Path == "/dois/10.5072/b" {
			return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: http.StatusForbidden}
		}
		return nil
	}})
	defer srv.Close()
	for _, name := range []string{"a", "b"} {
		require.NoError(t, srv.PutRecordJSON([]byte(`{"doi":"10.5072/`+name+
			`","state":"findable","url":"https://a.example/","titles":[{"title":"A"}],"creators":[{"name":"Ice"}],`+
			`"publisher":"R","publicationYear":2026,"types":{"resourceTypeGeneral":"Dataset"}}`)))
	}
	code, out, notes := shelltest.At(srv).Do(t, states.Hide, "hide", "10.5072/a", "10.5072/b")
	assert.Equal(t, 3, code, notes)
	assert.Contains(t, out, "10.5072/a hidden at ")
	assert.Contains(t, notes, "; 1 of 2 DOIs hidden; run the same command again to continue")
	srv.SetFaults(nil)
	code, out, notes = shelltest.At(srv).Do(t, states.Hide, "hide", "10.5072/a", "10.5072/b")
	assert.Zero(t, code, notes)
	assert.Contains(t, out, "10.5072/a is hidden at ")
	assert.Contains(t, out, "10.5072/b hidden at ")
}
