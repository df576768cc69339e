package get_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/get"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

func service(t *testing.T, opts *datacitetest.Options) *datacitetest.Server {
	t.Helper()
	srv := shelltest.Serve(t, opts)
	for _, record := range []string{
		`{"doi":"10.5072/length","state":"findable","url":"https://a.example/length","publicationYear":2020,"citationCount":3,"titles":[{"title":"Glacier\u001b[31m length"}],
			"creators":[{"name":"Lovelace, Ada"},{"name":"Hopper, Grace"}],"types":{"resourceTypeGeneral":"Dataset"},"publisher":"Ice Archive"}`,
		`{"doi":"10.5072/draft","state":"draft","titles":[{"title":"Not yet"}]}`,
	} {
		require.NoError(t, srv.PutRecordJSON([]byte(record)))
	}
	return srv
}

// A citation is plain text, whatever is in the title; a wrong login is not taken for a DOI that is not there.
func TestPlainCitations(t *testing.T) {
	for _, b := range []datacitetest.Behaviour{datacitetest.Documented, datacitetest.Deployed} {
		srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: b})
		doc, err := mds.NewDocument(&metadata.Record{
			Titles:    metadata.List[metadata.Title]{{Title: "Salt & Pepper, a < b"}},
			Creators:  []metadata.Creator{metadata.Person("Lovelace", "Ada")},
			Publisher: metadata.Publisher{Name: "P & Q"}, PublicationYear: "2020", Types: metadata.Types{
				ResourceTypeGeneral: metadata.ResourceTypeDataset},
		})
		require.NoError(t, err)
		_, err = srv.MDS().Register(t.Context(), "10.5072/salt", "https://a.example/", doc, nil)
		require.NoError(t, err)
		code, out, notes := shelltest.Anonymous(srv).Do(t, get.Command, "get", "10.5072/salt", "--format", "citation")
		assert.Zero(t, code, notes)
		assert.Contains(t, out, "Salt & Pepper, a < b")
		assert.NotRegexp(t, "<i>|&amp;|&lt;", out)

		run := shelltest.At(srv)
		run.Env["DATACITE_PASSWORD"] = "wrong-one"
		code, _, notes = run.Do(t, get.Command, "get", "10.5072/none")
		assert.Equal(t, 2, code, notes)
		assert.Contains(t, notes, " refuses the login of EXAMPLE.REPO")
	}
}

func TestGet(t *testing.T) {
	srv := service(t, nil)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"10.5072/length"}, "10.5072/length  findable\n  title      Glacier [31m length\n  creators   Lovelace, " +
			"Ada; Hopper, Grace\n  publisher  Ice Archive\n  year       2020\n  type       Dataset\n  leads to   " +
			"https://a.example/length\n  usage      0 views, 0 downloads, 3 citations\n"},
		{[]string{"https://doi.org/10.5072/LENGTH", "--json", "--quiet"}, `"citationCount":3,`},
		{[]string{"doi:10.5072/length", "--format", "json"}, `"citationCount":3,`},
		{[]string{"10.5072/length", "--format", "bibtex"}, "author = {{Lovelace, Ada} and {Hopper, Grace}}"},
		{[]string{"10.5072/length", "--format", "citation"}, "(2020). "},
	} {
		code, out, notes := shelltest.Anonymous(srv).Do(t, get.Command, append([]string{"get"}, tt.args...)...)
		assert.Zero(t, code, notes)
		assert.Contains(t, out, tt.says, tt.args)
		if len(tt.args) == 1 || tt.args[2] == "citation" {
			assert.NotContains(t, out, "\x1b", "what controls a terminal; formats are exact in a pipe")
		}
		assert.Empty(t, notes)
	}
}

// Several DOIs, of which some are not shown.
func TestSeveral(t *testing.T) {
	srv := service(t, nil)
	run := shelltest.Anonymous(srv)
	run.Stdin = "10.5072/draft\n10.5072/none\n"
	code, out, notes := run.Do(t, get.Command, "get", "10.5072/length", "-")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "10.5072/length  findable\n")
	assert.Contains(t, notes, " does not know 10.5072/draft, or does not show it without a login\n")
	assert.Contains(t, notes, "\ndatacite: 1 of 3 DOIs shown\n")

	run = shelltest.At(srv)
	code, out, notes = run.Do(t, get.Command, "get", "10.5072/draft")
	assert.Zero(t, code, notes)
	assert.Contains(t, out, "10.5072/draft  draft\n", "with a login")
}

func TestToAFile(t *testing.T) {
	srv := service(t, nil)
	file := filepath.Join(t.TempDir(), "a.bib")
	code, out, notes := shelltest.Anonymous(srv).Do(t, get.Command, "get", "10.5072/length", "--format", "bibtex", "-o",
		file)
	assert.Zero(t, code, notes)
	assert.Empty(t, out)
	text := shelltest.Read(t, file)
	assert.Contains(t, string(text), "@")

	code, _, _ = shelltest.Anonymous(srv).Do(t, get.Command, "get", "10.5072/none", "-o",
		filepath.Join(filepath.Dir(file), "b"))
	assert.Equal(t, 1, code)
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestFaults(t *testing.T) {
	srv := service(t, nil)
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, 2, `arguments are missing: datacite get DOI…; "datacite get --help" shows how`},
		{[]string{"10.5072/length", "glacier"}, 2, `DOI name: "glacier" does not start with a prefix such as "10.5072"`},
		{[]string{"-"}, 2, "standard input has no DOI"},
		{[]string{"10.5072/length", "--style", "apa"}, 2, "--style and --locale are for --format citation"},
		{[]string{"10.5072/length", "--json", "--format", "ris"}, 2,
			"--json prints JSON, and --format ris something else; leave one of them out"},
		{[]string{"10.5072/length", "--format", "bibtx"}, 2, `--format: "bibtx" is unknown; did you mean bibtex?`},
		{[]string{"10.5072/length", "--format", "citation", "--style", "A P A"}, 2, "is not the name of a style"},
	} {
		code, out, notes := shelltest.Anonymous(srv).Do(t, get.Command, append([]string{"get"}, tt.args...)...)
		assert.Equal(t, tt.code, code, tt.args)
		assert.Empty(t, out)
		assert.Contains(t, notes, tt.says)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	srv := service(t, &datacitetest.Options{Faults: func(n int, _ *http.Request) *datacitetest.Fault {
		if n == 2 {
			interrupt()
		}
		return nil
	}})
	run := shelltest.Anonymous(srv)
	run.Ctx = ctx
	code, _, notes := run.Do(t, get.Command, "get", "10.5072/length", "10.5072/length", "10.5072/length")
	assert.Equal(t, 130, code)
	assert.Regexp(t, `^datacite: interrupted; [12] of 3 DOIs shown\n$`, notes)
}
