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

// A name that arrives as another one on the way to the deployed service is refused,
// by the tables of names. One that arrives as itself is not, unless it has
// characters of which some are taken for others.
func TestNamesOfTheTables(t *testing.T) {
	for way, section := range map[doi.Way]string{doi.Store: "Names", doi.API: "Names in the DOI API"} {
		t.Run(section, func(t *testing.T) {
			arrived, refused := 0, 0
			for _, row := range testkit.Table(t, "deployed-store.md", section) {
				path, arrives := row[0], row[1]
				given, err := url.PathUnescape(path)
				require.NoError(t, err)
				name, err := doi.Parse(given)
				if err != nil || arrives == "-" {
					continue
				}
				reached, err := url.PathUnescape(arrives)
				require.NoError(t, err)
				err = way.Check(name)
				switch {
				case !doi.Equal(name, reached):
					assert.Error(t, err, "%q reaches %q", name, reached)
					refused++
				case !strings.ContainsAny(name, "%") && isASCII(name):
					assert.NoError(t, err, "%q reaches itself", name)
					arrived++
				}
			}
			assert.Greater(t, arrived, 5)
			assert.Greater(t, refused, 5)
		})
	}
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
}
