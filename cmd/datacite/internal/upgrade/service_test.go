package upgrade

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// put stores a DOI as the service has it since the time of kernel 2 or 3.
func put(t *testing.T, srv *datacitetest.Server, doi, document string) {
	t.Helper()
	r, err := metadata.ParseXML(strings.NewReader(document))
	require.NoError(t, err)
	require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
		`{"doi":%q,"state":"registered","url":"https://a.example/%[1]s","schemaVersion":%q,"xml":%q,"client":"example.repo",
		"creators":[{"name":"Ice"}],"titles":[{"title":"A"}],"publisher":{"name":"R"},"publicationYear":%q,"types":{"resourceTypeGeneral":%q}}`,
		doi, r.SchemaVersion, base64.StdEncoding.EncodeToString([]byte(document)), r.PublicationYear, r.Types.ResourceTypeGeneral)))
}

// DOIs are checked, what is missing is filled in, they are upgraded, and then there is nothing to do.
// Only their metadata change.
func TestUpgradeOfDOIs(t *testing.T) {
	const place = `<geoLocations><geoLocation><geoLocationPoint>46.5 8.1</geoLocationPoint></geoLocation></geoLocations>`
	for _, behaviour := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: behaviour})
		t.Chdir(t.TempDir())
		put(t, srv, "10.5072/a", xml("3", "10.5072/A", typed+place+`<rightsList><rights>Free</rights></rightsList>`))
		put(t, srv, "10.5072/b", xml("2.2", "10.5072/b", `<publicationYear>2014</publicationYear>`+dated))
		put(t, srv, "10.5072/d", xml("4", "10.5072/d", typed))
		put(t, srv, "10.5072/e", xml("3", "10.5072/other", typed))
		run := shelltest.At(srv)
		code, out, notes := run.Do(t, Command, "upgrade", "--prefix", "10.5072", "--missing", "missing.csv")
		assert.Equal(t, 2, code)
		assert.Contains(t, out, "10.5072/a: kernel 3, can be upgraded\n")
		assert.Contains(t, notes, "error: 10.5072/b, line 1: types.resourceTypeGeneral: the general resource type is "+
			"mandatory\n")
		assert.Contains(t, notes, "2 of 3 DOIs with metadata of kernel 2 or 3 at ")
		assert.Zero(t, shelltest.Writes(srv))

		rows := fillIn(t, "missing.csv",
			map[string]string{"types.resourceTypeGeneral": "Dataset", "dates[0].dateType": "Other",
				"dates[1].dateType": "Other"})
		assert.Equal(t, []string{"", "10.5072/b", "types.resourceTypeGeneral", "Dataset", ""}, rows[0])
		assert.Len(t, rows, 3)
		code, out, notes = run.Do(t, Command, "upgrade", "--client", "example.repo", "--values", "missing.csv", "--fix",
			"--yes", "--output", "done.csv")
		assert.Equal(t, 1, code, notes)
		lines := strings.Split(string(shelltest.Read(t, "done.csv")), "\n")
		assert.Equal(t, "\ufeffdoi,kernel,result,derived,error", strings.TrimSpace(lines[0]))
		assert.Equal(t, "10.5072/a,3,upgraded,,", strings.TrimSpace(lines[1]))
		assert.Contains(t, lines[2], "10.5072/b,2.2,upgraded,")
		assert.Contains(t, lines[3], "10.5072/e,3,failed,")
		assert.Contains(t, notes, "error: 10.5072/e: ")
		assert.Contains(t, notes, "1 of 3 DOIs with metadata of kernel 2 or 3 were not upgraded")
		assert.Contains(t, out, "10.5072/b: kernel 2.2, upgraded\n")
		for name, want := range map[string]string{"10.5072/a": "<pointLatitude>46.5</pointLatitude>",
			"10.5072/b": `dateInformation="EndDate"`} {
			now, err := srv.DOIs().Get(t.Context(), name, &dois.GetOptions{Detail: true})
			require.NoError(t, err)
			assert.Contains(t, string(now.MetadataXML), want)
			assert.NoError(t, metadata.ValidateXML(bytes.NewReader(now.MetadataXML)))
			assert.Equal(t, metadata.Namespace, now.SchemaVersion)
			assert.Equal(t, "https://a.example/"+name, now.URL)
			assert.Equal(t, datacite.StateRegistered, now.State)
		}

		sent := shelltest.Writes(srv)
		_, _, notes = run.Do(t, Command, "upgrade", "--client", "example.repo", "--fix", "--yes")
		assert.Contains(t, notes, "0 of 1 DOI with metadata of kernel 2 or 3 upgraded")
		assert.Equal(t, sent, shelltest.Writes(srv), "nothing is sent twice")
		require.NoError(t, os.Remove("missing.csv"))
		require.NoError(t, os.Remove("done.csv"))
	}
}

// A run that ends in the middle says that it has written something, and what it has not.
func TestUpgradeThatIsNotComplete(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	t.Chdir(t.TempDir())
	for i := range 9 {
		name := fmt.Sprintf("10.5072/%d", i)
		put(t, srv, name, xml("3", name, typed))
	}
	srv.SetFaults(func(_ int, r *http.Request) *datacitetest.Fault {
		if r.Method != http.MethodPut || r.URL.Path != "/dois/10.5072/8" {
			return nil
		}
		return &datacitetest.Fault{Status: http.StatusUnauthorized}
	})
	args := []string{"upgrade", "--prefix", "10.5072", "--fix", "--yes", "--missing", "missing.csv"}
	code, _, notes := shelltest.At(srv).Do(t, Command, args...)
	assert.Equal(t, 1, code)
	assert.Contains(t, notes, "8 DOIs upgraded; missing.csv was not written; run the same command again to continue")
	assert.NoFileExists(t, "missing.csv")
	code, _, notes = shelltest.At(srv).Do(t, Command, args...)
	assert.Equal(t, 2, code, "nothing was written")
	assert.Contains(t, notes, "0 DOIs upgraded; missing.csv was not written; ")
}

// A run that is interrupted at its first write is continued, and no DOI is written twice.
func TestUpgradeOfDOIsIsContinued(t *testing.T) {
	srv := shelltest.Serve(t, nil)
	for i := range 20 {
		name := fmt.Sprintf("10.5072/%d", i)
		put(t, srv, name, xml("3", name, typed))
	}
	target, err := url.Parse(srv.URL)
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
		if r.Method == http.MethodPut {
			interrupt()
		}
	}))
	run := shelltest.At(srv)
	stopped := shelltest.Run{Ctx: ctx, Env: maps.Clone(run.Env)}
	stopped.Env["DATACITE_SERVICE"] = proxy.URL
	args := []string{"upgrade", "--prefix", "10.5072", "--fix", "--yes"}
	code, _, notes := stopped.Do(t, Command, args...)
	assert.Equal(t, 130, code, notes)
	assert.Contains(t, notes, "run the same command again to continue")
	proxy.Close() // when all that was sent has been served
	code, _, notes = run.Do(t, Command, args...)
	assert.Zero(t, code, notes)
	assert.Regexp(t, "^(19 of 19|18 of 18|17 of 17|16 of 16) DOIs with metadata of kernel 2 or 3 upgraded", notes)
	assert.Equal(t, 20, shelltest.Writes(srv))
}
