package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

const gapTables = "unsupported.md"

// Each request of the table is refused by the row that the table says, and each row by one.
func TestUnsupportedIsRefusedByItsRow(t *testing.T) {
	reached := map[string]bool{}
	for _, row := range testkit.Table(t, gapTables, "Not supported") {
		name, request := row[0], row[1]
		reached[name] = true
		t.Run(name+" "+strings.Join(row[1:4], " "), func(t *testing.T) {
			assert.NotEmpty(t, row[4], "evidence")
			request, behaviours := supportedBy(request)
			for _, behaviour := range behaviours {
				service := serviceWithRecords(t, behaviour)
				names := service.Names()
				c := requestOf(request, "", "")
				if row[3] != "" {
					c = writeOf(t, request, row[3])
				}
				if header, value, given := strings.Cut(row[2], ": "); given {
					c.header[header] = value
				}
				a := c.do(t, service)
				assert.Equal(t, 501, a.status, "%s: %s", behaviour, a.body)
				assert.Contains(t, a.body, "Not supported by this test service: "+name, behaviour)
				assert.Contains(t, a.body, "datacite sandbox --unsupported, or "+gapTables+" of datacitetest.Rules")
				assert.Equal(t, names, service.Names(), "nothing is stored")
			}
		})
	}
	for _, gap := range wire.Gaps {
		assert.NotEmpty(t, gap.Note, "%q: the response has the rule itself", gap.Name)
		assert.True(t, reached[gap.Name], "no request meets %q", gap.Name)
	}
}

// supportedBy is a request of a table, and the behaviours that it is for: both, unless the text begins with one.
func supportedBy(text string) (request string, behaviours []sandbox.Behaviour) {
	if one, rest, found := strings.Cut(text, ": "); found {
		return rest, []sandbox.Behaviour{sandbox.Behaviour(strings.ToLower(one))}
	}
	return text, []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed}
}

// serviceWithRecords has 10.5072/draft, 10.5072/files with a file, and the findable 10.5072/found.
func serviceWithRecords(t testing.TB, behaviour sandbox.Behaviour) *sandbox.Service {
	t.Helper()
	service := newServiceAs(behaviour)
	complete := testkit.Expand(t, recordTables, "[[COMPLETE]]")
	for _, attributes := range []string{`"doi":"10.5072/draft",` + complete,
		`"doi":"10.5072/found","event":"publish",` +
			complete, `"doi":"10.5072/files","contentUrl":["https://example.org/1.csv"]`} {
		require.Equal(t, 201, create(attributes).do(t, service).status)
	}
	return service
}
