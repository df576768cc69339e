package register

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
)

// A document with what JSON does not have, of which the language can be removed in two writes only.
const inXMLOnly = `<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="http://datacite.org/schema/kernel-4">
  <identifier identifierType="DOI">10.5072/odd</identifier>
  <creators><creator><creatorName xml:lang="en">Ice Group</creatorName></creator></creators>
  <titles><title>Glacier length</title></titles>
  <publisher>Ice and Snow</publisher>
  <publicationYear>2020</publicationYear>
  <resourceType resourceTypeGeneral="Dataset"/>
  <language>en</language>
  <descriptions><description descriptionType="Abstract">one<br/>two</description></descriptions>
</resource>
`

// Between the two writes of a correction, only the command has the document: whatever ends it there, it is on disk.
func TestACorrectionThatIsUnfinished(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  *datacitetest.Fault // of the second write, and of what comes after it
		isDead bool
	}{
		"well":    {},
		"refused": {&datacitetest.Fault{Status: 422}, false},
		"killed":  {&datacitetest.Fault{Kind: datacitetest.FaultDropBefore}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var running atomic.Pointer[os.Process]
			written := 0
			srv := shelltest.Serve(t, nil)
			_, err := srv.MDS().PutMetadata(t.Context(), "10.5072/odd", mds.XML([]byte(inXMLOnly)))
			require.NoError(t, err)
			_, err = srv.MDS().PutURL(t.Context(), "10.5072/odd", "https://example.org/odd")
			require.NoError(t, err)
			stored := func() string {
				r, err := srv.DOIs().Get(t.Context(), "10.5072/odd", &dois.GetOptions{Detail: true})
				require.NoError(t, err)
				return string(r.MetadataXML)
			}
			wanted := strings.Replace(stored(), "\n  <language>en</language>", "", 1)
			srv.SetFaults(datacitetest.Faults(func(int, *http.Request) *datacitetest.Fault {
				if written++; written < 2 || tt.fault == nil {
					return nil
				}
				if tt.isDead {
					_ = running.Load().Kill()
				}
				return tt.fault
			}).When(datacitetest.Writes))
			require.NoError(t, os.WriteFile("odd.json", []byte(`{"doi":"10.5072/odd","language":null}`), 0o600))
			command, _, stderr := shelltest.At(srv).Process(t, "register", "odd.json")
			require.NoError(t, command.Start())
			running.Store(command.Process)
			code := shelltest.ExitCode(t, command.Wait())
			left, err := filepath.Glob("*.unfinished.xml")
			require.NoError(t, err)
			if tt.fault == nil {
				assert.Zero(t, code, stderr)
				assert.Empty(t, left)
				assert.Equal(t, wanted, stored())
				return
			}
			assert.NotZero(t, code)
			require.Equal(t, []string{"10.5072-odd.unfinished.xml"}, left)
			assert.NotContains(t, stored(), "<br/>", "which is why the file is needed")
			says := `10.5072-odd.unfinished.xml has the XML, which "datacite register 10.5072-odd.unfinished.xml" stores ` +
				`again; then delete the file`
			if !tt.isDead {
				assert.Contains(t, stderr.String(), says)
			}
			srv.SetFaults(nil)
			code, _, notes := start(t, srv, left[0])
			assert.Zero(t, code, notes)
			assert.Contains(t, notes, says)
			assert.Equal(t, wanted, stored())
		})
	}
}
