package reports_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

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
	damaged := strings.Replace(b, b64(gz(inner("c")))[:9], "H4sI!AAAA", 1)
	require.NotEqual(t, b, damaged)
	for _, tt := range []struct{ name, document, reason string }{
		{"the same", compressedDocument(a, b), ""},
		{"one missing", compressedDocument(a), "1 subsets stored, 2 sent"},
		{"one twice", compressedDocument(a, b, b), "is stored twice"},
		{"one more", compressedDocument(a, b, c), "3 subsets stored, 2 sent"},
		{"another one", compressedDocument(a, c), "was not sent"},
		{"another order", compressedDocument(b, a), ""},
		{"one instead of another", compressedDocument(b, b), "is stored twice"},
		{"none left", compressedDocument(), "datacite: incomplete"},
		{"other data under the same checksum", compressedDocument(a, stolen), "subset 2 has checksum"},
		{"one damaged character", compressedDocument(a, damaged), "subset 2: illegal base64 data"},
		{"no data under the checksum", compressedDocument(a, `{"gzip":null,"checksum":"`+sum(gz(inner("c")))+`"}`), "subset 2 has no data"},
		{"datasets shown", `{"report":{` + compressedHeader + `,"report-datasets":` + titled("a b c") + `}}`, ""},
		{"too few datasets shown", `{"report":{` + compressedHeader + `,"report-datasets":` + titled("a b") + `}}`, "2 datasets stored, 3 sent"},
		{"another creator", strings.Replace(compressedDocument(a, b), "Outer", "Another", 1), `created-by is "Another", that sent "Outer"`},
		{"another month", strings.Replace(compressedDocument(a, b), `"created-by"`, `"reporting-period":{"begin-date":"2018-04-01"},"created-by"`, 1), `reporting-period is {"2018-04-01" ""}, that sent {"" ""}`},
		{"no exception 69", strings.Replace(compressedDocument(a, b), `"code":69`, `"code":70`, 1), "exceptions are"},
		{"other filters", strings.Replace(compressedDocument(a, b), `"created-by"`, `"report-filters":["x"],"created-by"`, 1), "report-filters are"},
		{"other attributes", strings.Replace(compressedDocument(a, b), `"created-by"`, `"report-attributes":["x"],"created-by"`, 1), "report-attributes are"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := responding(t, 200, "application/json", tt.document).Verify(t.Context(), receiptOf("a b", "c"))
			if tt.reason == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.reason)
			assert.ErrorIs(t, err, datacite.ErrIncomplete)
		})
	}
}

func TestVerifyComparesWhatTheReceiptHas(t *testing.T) {
	client := responding(t, 200, "application/json", compressedDocument(part(inner("a b"))))
	r := receiptOf("a b")
	r.Header = reports.Header{}
	require.NoError(t, client.Verify(t.Context(), r), "a receipt without a header")
	r.Subsets[0].Checksum = strings.ToUpper(r.Subsets[0].Checksum)
	require.NoError(t, client.Verify(t.Context(), r))
	assert.ErrorIs(t, client.Verify(t.Context(), &reports.Receipt{ReportID: "x"}), datacite.ErrInvalid)
	missing := responding(t, 404, "application/json", `{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`)
	assert.ErrorIs(t, missing.Verify(t.Context(), r), datacite.ErrNotFound)
}

// What Verify finds, Submit mends: it looks at the data, not at the checksum beside
// them.
func TestSubmitMendsDamage(t *testing.T) {
	for name, damage := range map[string]func(subset map[string]any){
		"a changed count beside its checksum": func(subset map[string]any) { subset["gzip"] = b64(gz(inner("x"))) },
		"one damaged character":               func(subset map[string]any) { subset["gzip"] = "!" + subset["gzip"].(string)[1:] },
		"one character less":                  func(subset map[string]any) { subset["gzip"] = subset["gzip"].(string)[1:] },
		"another checksum":                    func(subset map[string]any) { subset["checksum"] = strings.Repeat("0", 64) },
		"no data":                             func(subset map[string]any) { subset["gzip"] = nil },
	} {
		t.Run(name, func(t *testing.T) {
			srv := deployedServer(t)
			damaged := false
			n := &network{srv: srv}
			n.before = func(r *http.Request) error {
				damaged = damaged && r.Method == http.MethodGet // a PUT replaces it
				return nil
			}
			n.instead = func(r *http.Request) *http.Response {
				if !damaged || r.URL.Path == "/reports" {
					return nil
				}
				res, err := srv.HTTPClient().Transport.RoundTrip(r)
				require.NoError(t, err)
				defer res.Body.Close()
				var response map[string]map[string]any
				require.NoError(t, json.NewDecoder(res.Body).Decode(&response))
				damage(response["report"]["report-subsets"].([]any)[0].(map[string]any))
				data, err := json.Marshal(response)
				require.NoError(t, err)
				return &http.Response{StatusCode: 200, Request: r, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(data))}
			}
			c := client(t, srv, &datacite.Config{Token: srv.Token(srv.Now().Add(year)), HTTPClient: &http.Client{Transport: n}})
			submit := func() *reports.Receipt {
				receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(4), &reports.SubmitOptions{MaxDatasets: 2})
				require.NoError(t, err)
				return receipt
			}
			receipt := submit()
			assert.Zero(t, submit().Sent)
			damaged = true
			require.ErrorIs(t, c.Verify(t.Context(), receipt), datacite.ErrIncomplete)
			if name != "no data" {
				_, err := c.Submit(t.Context(), header("Example", time.October), datasets(5), &reports.SubmitOptions{ZeroDropped: true})
				require.ErrorContains(t, err, "ZeroDropped cannot be met")
			}
			assert.Equal(t, 2, submit().Sent)
			require.NoError(t, c.Verify(t.Context(), receipt))
		})
	}
}
