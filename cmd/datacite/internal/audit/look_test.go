package audit

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
)

var picture = flag.String("picture", "", "`file` for a picture of a page, docs/audit.png")

// People who do not see, or see little, or have a telephone can use the page.
func TestAccessibility(t *testing.T) {
	srv := shelltest.Serve(t, &datacitetest.Options{Behaviour: datacitetest.Deployed})
	var source strings.Builder
	source.WriteString("doi,url,title\n")
	for i := range 50 {
		title := fmt.Sprintf("Glacier length in valley %d", i)
		var more strings.Builder
		for j, part := range []string{
			`,"rightsList":[{"rightsIdentifier":"cc-by-4.0"}]`,
			`,"descriptions":[{"description":"It is cold","descriptionType":"Abstract"}]`,
			`,"fundingReferences":[{"funderName":"Ice Fund"}` +
				`]`, `,"relatedIdentifiers":[{"relatedIdentifier":"10.5072/x","relatedIdentifierType":"DOI",` +
				`"relationType":"Cites"}]`,
		} {
			if i%(3+j) > 0 {
				more.WriteString(part)
			}
		}
		creator := `{"name":"Lovelace, Ada"}`
		if i%5 < 3 {
			creator = `{"name":"Lovelace, Ada","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001-5727-2427",` +
				`"nameIdentifierScheme":"ORCID"}],"affiliation":[{"name":"U","affiliationIdentifier":"https://ror.org/04wxnsj81"}]}`
		}
		address, found := fmt.Sprintf("https://repo.example.org/items/%d", i), title
		switch i {
		case 10: // several parts differ, and one of them is long
			address, found = "http://old.example.org/"+strings.Repeat("a-very-long-path/",
				12), `<script>alert("Glaciar")</script> & more`
		case 20:
			found = ""
		}
		if i != 40 { // it is missing
			require.NoError(t, srv.PutRecordJSON(fmt.Appendf(nil,
				`{"doi":"10.5072/valley-%d","url":%q,"titles":[{"title":%q}],"creators":[%s],
				"publisher":{"name":"Ice Archive"},"publicationYear":2020,"types":{"resourceTypeGeneral":"Dataset"},"schemaVersion":"http://datacite.org/schema/kernel-4"%s}`, i, address, found, creator, more.String())))
		}
		if i == 30 { // it is extra
			continue
		}
		fmt.Fprintf(&source, "10.5072/valley-%d,https://repo.example.org/items/%[1]d,%s\n", i, title)
	}
	var pages [][]byte // what was found, what was fixed, and what is right
	for n, args := range [][]string{nil, {"--fix", "--yes"}, {"--only", "url"}} {
		path := filepath.Join(t.TempDir(), "report.html")
		_, notes, code := call(t, srv, append(args, "--html", path, shelltest.File(t, "items.csv", source.String()))...)
		require.LessOrEqual(t, code, 1, notes)
		html := shelltest.Read(t, path)
		if pages = append(pages, html); *picture != "" && n == 0 {
			shelltest.Picture(t, path, *picture)
		}
	}
	srv, h := shelltest.Serve(t, nil), landingHost(t)
	path := filepath.Join(t.TempDir(), "report.html")
	_, notes, code := askLinks(t, t.Context(), srv, h.register(t, srv, "right", "moved", "gone", "empty"),
		"--allow-private", "--html", path)
	require.Equal(t, 1, code, notes)
	shelltest.Accessible(t, append(pages, shelltest.Read(t, path))...)
}
