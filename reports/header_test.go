package reports_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/reports"
)

// A new header is sent as it is: it lacks nothing that the service requires.
func TestNewHeaderNeedsNothingElse(t *testing.T) {
	h := reports.NewHeader("Example Repository", "1999-11-01", reports.Month(1999, time.October))
	require.NoError(t, (&reports.Report{Header: h, Datasets: []reports.Dataset{dataset(1)}}).Validate())
	assert.Equal(t, reports.Header{
		ReportName: "Dataset Report", ReportID: "dsr", Release: "rd1", CreatedBy: "Example Repository", Created: "1999-11-01",
		ReportingPeriod: reports.Period{BeginDate: "1999-10-01", EndDate: "1999-10-31"},
	}, h)
	assert.Error(t, (&reports.Report{Header: reports.NewHeader("", "", reports.Period{}), Datasets: []reports.Dataset{dataset(1)}}).Validate())
}
