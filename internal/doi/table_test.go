package doi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

// By the tables of names on their route to the deployed service: what is sent for a
// name reaches that DOI, or the name is refused.
func TestNamesOfTheTables(t *testing.T) {
	for route, section := range map[doi.Route]string{doi.Store: "Names", doi.API: "Names in the DOI API"} {
		t.Run(section, func(t *testing.T) {
			reached := map[string]string{}
			for _, row := range testkit.Table(t, "deployed-store.md", section) {
				reached[row[0]] = decoded(t, row[1])
			}
			sent, refused := 0, 0
			for path := range reached {
				name, err := doi.Parse(decoded(t, path))
				if err != nil {
					continue
				}
				path := route.Path(name)
				arrives, known := reached[path]
				if err := route.Check(name); err != nil {
					refused++
					assert.True(t, !known || arrives != doi.Normal(name) || doubtful(name), "%q reaches itself", name)
					continue
				}
				sent++
				if known && arrives != "-" {
					assert.True(t, doi.Equal(name, arrives), "%q is sent as %q and reaches %q", name, path, arrives)
				}
			}
			assert.Greater(t, sent, 5)
			assert.Greater(t, refused, 2)
		})
	}
}

// doubtful names are refused whether they arrive or not: they have characters of
// which some are taken for others, or directions that anything on the route may take.
func doubtful(name string) bool {
	beyond := strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 })
	return beyond || strings.Contains(name, "%") || strings.Contains(name+"/", "/./") || strings.Contains(name+"/", "/../")
}

func decoded(t *testing.T, text string) string {
	t.Helper()
	out, err := url.PathUnescape(text)
	require.NoError(t, err)
	return out
}
