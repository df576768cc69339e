package reports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

// receiptOf is the receipt of a report of these subsets.
func receiptOf(subsets ...string) *reports.Receipt {
	r := &reports.Receipt{ReportID: id, Header: reports.Header{CreatedBy: "Outer", Exceptions: []reports.Exception{{Code: 3071}, {Code: 69}}}}
	for _, titles := range subsets {
		data := gz(inner(titles))
		n := len(strings.Fields(titles))
		r.Subsets = append(r.Subsets, reports.Subset{Checksum: sum(data), Datasets: n, Bytes: int64(len(data))})
		r.Datasets += int64(n)
	}
	return r
}

func TestVerifyFindsEachDifference(t *testing.T) {
	a, b, c := part(inner("a b")), part(inner("c")), part(inner("d"))
	stolen := strings.Replace(b, b64(gz(inner("c"))), b64(gz(inner("x"))), 1)
	const none = reports.VerifyLevel(0)
	for _, tt := range []struct {
		name, document string
		from           reports.VerifyLevel // the first level that finds it
		reason         string
	}{
		{"the same", compressedDocument(a, b), none, ""},
		{"one missing", compressedDocument(a), reports.VerifyChecksums, "1 subsets stored, 2 sent"},
		{"one twice", compressedDocument(a, b, b), reports.VerifyChecksums, "is stored twice"},
		{"one more", compressedDocument(a, b, c), reports.VerifyChecksums, "3 subsets stored, 2 sent"},
		{"another one", compressedDocument(a, c), reports.VerifyChecksums, "was not sent"},
		{"another order", compressedDocument(b, a), none, ""},
		{"one instead of another", compressedDocument(b, b), reports.VerifyChecksums, "is stored twice"},
		{"none left", compressedDocument(), reports.VerifyChecksums, "datacite: incomplete"},
		{"other data under the same checksum", compressedDocument(a, stolen), reports.VerifyData, "subset 2 has checksum"},
		{"datasets shown", `{"report":{` + compressedHeader + `,"report-datasets":` + titled("a b c") + `}}`, none, ""},
		{"too few datasets shown", `{"report":{` + compressedHeader + `,"report-datasets":` + titled("a b") + `}}`, reports.VerifyChecksums, "2 datasets stored, 3 sent"},
		{"another creator", strings.Replace(compressedDocument(a, b), "Outer", "Another", 1), reports.VerifyHeader, `created-by is "Another", that sent "Outer"`},
		{"another month", strings.Replace(compressedDocument(a, b), `"created-by"`, `"reporting-period":{"begin-date":"2018-04-01"},"created-by"`, 1), reports.VerifyHeader, `reporting-period is {"2018-04-01" ""}, that sent {"" ""}`},
		{"no exception 69", strings.Replace(compressedDocument(a, b), `"code":69`, `"code":70`, 1), reports.VerifyHeader, "exceptions are"},
		{"other filters", strings.Replace(compressedDocument(a, b), `"created-by"`, `"report-filters":["x"],"created-by"`, 1), reports.VerifyHeader, "report-filters are"},
		{"other attributes", strings.Replace(compressedDocument(a, b), `"created-by"`, `"report-attributes":["x"],"created-by"`, 1), reports.VerifyHeader, "report-attributes are"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := answering(t, 200, "application/json", tt.document)
			for level := reports.VerifyHeader; level <= reports.VerifyData; level++ {
				err := client.VerifyAt(t.Context(), receiptOf("a b", "c"), level)
				if tt.from == none || level < tt.from {
					require.NoError(t, err, "level %d", level)
					continue
				}
				require.ErrorContains(t, err, tt.reason, "level %d", level)
				assert.ErrorIs(t, err, datacite.ErrIncomplete)
			}
		})
	}
}

func TestVerifyComparesWhatTheReceiptHas(t *testing.T) {
	client := answering(t, 200, "application/json", compressedDocument(part(inner("a b"))))
	r := receiptOf("a b")
	r.Header = reports.Header{}
	require.NoError(t, client.Verify(t.Context(), r), "a receipt without a header")
	r.Subsets[0].Checksum = strings.ToUpper(r.Subsets[0].Checksum)
	require.NoError(t, client.Verify(t.Context(), r))
	r.Subsets[0].Datasets++
	require.ErrorContains(t, client.Verify(t.Context(), r), "holds 2 datasets, that sent 3")
	require.NoError(t, client.VerifyAt(t.Context(), r, reports.VerifyChecksums), "the data are not looked at")

	for _, level := range []reports.VerifyLevel{0, -1, reports.VerifyData + 1} {
		assert.ErrorIs(t, client.VerifyAt(t.Context(), r, level), datacite.ErrInvalid)
	}
	assert.ErrorIs(t, client.Verify(t.Context(), &reports.Receipt{ReportID: "x"}), datacite.ErrInvalid)
	missing := answering(t, 404, "application/json", `{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`)
	assert.ErrorIs(t, missing.Verify(t.Context(), r), datacite.ErrNotFound)
}
