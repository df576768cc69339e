package reports_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// A missing count is no 0, which records would show: it is read, kept, written and refused as
// what it is.
func TestAMissingCountIsNotZero(t *testing.T) {
	for text, none := range map[string]bool{
		``: true, `"count":null,`: true, `"count":"",`: true, `"count":5,"count":null,`: true,
		`"count":0,`: false, `"count":"0",`: false, `"count":null,"count":0,`: false,
	} {
		entry := `{"dataset-id":[{"type":"doi","value":"10.5072/a"}],"performance":[{"instance":[{` + text + `"metric-type":"unique-dataset-requests","access-method":"regular"}]}]}`
		r, err := reports.NewReader(strings.NewReader(`{"report-datasets":[` + entry + `,` + entry + `]}`))
		require.NoError(t, err)
		var read []reports.Dataset
		for d, err := range r.All() {
			require.NoError(t, err)
			assert.Equal(t, none, d.Performance[0].Instance[0].NoCount, text)
			read = append(read, d)
		}
		written, err := json.Marshal(read)
		require.NoError(t, err)
		assert.Equal(t, none, strings.Contains(string(written), `"count":null`), "%s", written)
		var again []reports.Dataset
		require.NoError(t, json.Unmarshal(written, &again))
		assert.Equal(t, none, again[0].Performance[0].Instance[0].NoCount, text)
	}
	missing := views(0)
	missing.NoCount = true
	report := reports.Report{Header: header("Example", time.October), Datasets: []reports.Dataset{counted("10.5072/a", missing)}}
	err := report.Validate()
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.ErrorContains(t, err, "report-datasets[0].performance[0].instance[0].count: is missing")
	assert.Len(t, report.Findings(), 1, fmt.Sprint(report.Findings()))
	srv := deployedServer(t)
	_, err = srv.Reports().Submit(t.Context(), report.Header, reports.Source(report.Datasets), &reports.SubmitOptions{LockDir: t.TempDir()})
	require.ErrorIs(t, err, datacite.ErrInvalid)
	assert.Empty(t, srv.StoredReports())
}
