package reports_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// unreadable are the responses of the deployed service to every request that makes it read a
// report that is broken; 500 also while the report is being written.
var unreadable = []struct {
	name   string
	status int
	body   string
}{
	{"a subset is not in the document", 500, `{"status":400,"title":"[UsageReports] Cannot find report-subset gzip field."}`},
	{"no document", 500, `{"status":400,"title":"The attachment for this report cannot be found: /report_files/a.json"}`},
	{"a subset without its bytes", 500, `{"status":400,"title":"no implicit conversion of nil into String"}`},
	{"damaged base64", 500, `{"status":400,"title":"invalid base64"}`},
	{"a document that is cut off", 422, `{"errors":[{"status":"422","title":"quoted string not terminated (after report.report-subsets[0].checksum) at line 1, column 1298 [parse.c:384] in '{\"report\":{\"id\":\"Guide of Manila"}]}`},
	{"an empty document", 422, `{"errors":[{"status":"422","title":"An empty string is not a valid JSON string."}]}`},
	{"no subset left", 422, "{\"errors\":[{\"status\":\"422\",\"title\":\"undefined method `checksum' for nil:NilClass\"}]}"},
}

// without responds for a service that cannot read its reports and works otherwise.
func without(status int, body string) func(*http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		if r.Method == http.MethodGet && r.URL.Path == "/reports" {
			return nil
		}
		return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
	}
}

// A report that the service cannot read is broken, whatever the response says, and neither
// the caller's data nor the login are.
func TestAReportThatTheServiceCannotRead(t *testing.T) {
	for _, tt := range unreadable {
		t.Run(tt.name, func(t *testing.T) {
			onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
				r := report("Example", 2)
				stored, err := c.Create(t.Context(), r)
				require.NoError(t, err)
				compressed := &reports.Report{Header: packed(r.Header), Datasets: r.Datasets}
				n.instead = without(tt.status, tt.body)
				read := func(_ any, err error) error { return err }
				for call, err := range map[string]error{
					"Get": read(c.Get(t.Context(), stored.ID)), "Open": read(c.Open(t.Context(), stored.ID)),
					"Verify": c.Verify(t.Context(), &reports.Receipt{ReportID: stored.ID}),
					"Put":    read(c.Put(t.Context(), stored.ID, r)), "Put, compressed": read(c.Put(t.Context(), stored.ID, compressed)),
					"Create": read(c.Create(t.Context(), r)), "Create, compressed": read(c.Create(t.Context(), compressed)),
				} {
					require.ErrorIs(t, err, reports.ErrBroken, call)
					assert.ErrorContains(t, err, "the service cannot read the stored report, which is broken unless another program is writing to it now", call)
					assert.NotErrorIs(t, err, datacite.ErrInvalid, call)
					assert.NotErrorIs(t, err, datacite.ErrUnauthorized, call)
					assert.Equal(t, tt.status == 500, datacite.Temporary(err), "%s: another program may be writing", call)
				}
			})
		})
	}
}

// A service that fails altogether is not a report that is broken.
func TestAServiceThatFailsAltogether(t *testing.T) {
	for status, want := range map[int]error{500: datacite.ErrServer, 422: datacite.ErrInvalid, 502: datacite.ErrServer} {
		c := responding(t, status, "application/json", `{"status":400,"title":"Can't connect to MySQL server"}`)
		_, err := c.Get(t.Context(), id)
		require.ErrorIs(t, err, want)
		assert.NotErrorIs(t, err, reports.ErrBroken)
	}
}

// Submit waits for a report that cannot be read, since it may be under way, and says that it
// is broken only when that has lasted.
func TestSubmitOverAReportThatTheServiceCannotRead(t *testing.T) {
	for _, tt := range unreadable {
		for _, from := range []int{0, 2} { // subsets sent before it happens
			for _, passes := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, after %d, passes %v", tt.name, from, passes), func(t *testing.T) {
					onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
						opts := &reports.SubmitOptions{MaxDatasets: 2}
						_, err := c.Submit(t.Context(), header("Example", time.October), datasets(2), opts)
						require.NoError(t, err)
						posts, broke := 0, time.Time{}
						respond := without(tt.status, tt.body)
						n.instead = func(r *http.Request) *http.Response {
							if r.Method == http.MethodPost {
								posts++
							}
							if broke.IsZero() && posts*2 >= from {
								broke = time.Now()
							}
							if broke.IsZero() || passes && time.Since(broke) > 10*time.Minute {
								return nil
							}
							return respond(r)
						}
						_, err = c.Submit(t.Context(), header("Example", time.October), datasets(6), opts)
						if passes {
							require.NoError(t, err)
							assert.Equal(t, all(6), stored(t, c, reports.DeriveID(header("Example", time.October))))
							return
						}
						require.ErrorIs(t, err, reports.ErrBroken)
						assert.NotErrorIs(t, err, datacite.ErrInvalid)
						assert.False(t, datacite.Temporary(err))
						assert.ErrorContains(t, err, "has been unreadable for 3")
					})
				})
			}
		}
	}
}

// A run that ends while the report cannot be read does not claim that it is broken.
func TestSubmitThatEndsWhileAReportIsWritten(t *testing.T) {
	onNetwork(t, datacitetest.Options{}, func(t *testing.T, n *network, c *reports.Client) {
		_, err := c.Submit(t.Context(), header("Example", time.October), datasets(2), nil)
		require.NoError(t, err)
		n.instead = without(500, unreadable[0].body)
		_, err = c.Submit(t.Context(), header("Example", time.October), datasets(3), &reports.SubmitOptions{MaxOutage: time.Minute})
		require.Error(t, err)
		assert.NotErrorIs(t, err, reports.ErrBroken)
		assert.True(t, datacite.Temporary(err))
	})
}
