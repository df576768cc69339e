package reports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// refusing lets everything pass but writes, to which it responds itself.
func refusing(status int, body string) func(r *http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		if r.Method == http.MethodGet {
			return nil
		}
		return &http.Response{StatusCode: status, Request: r, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader(body))}
	}
}

func TestRefusalsAreNotRepeated(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   error
		says   string
	}{
		{"409, another account has it", 409, `{"errors":[{"status":"409","title":"The resource already exists."}]}`,
			datacite.ErrConflict, "under another id or for another account"},
		{"413, too large for a gateway", 413, `<html><title>413 Request Entity Too Large</title>`, datacite.ErrTooLarge,
			"set SubmitOptions.MaxDatasets below 2"},
		{"422", 422, `{"report_id":["can't be blank"]}`, datacite.ErrInvalid, "report_id: can't be blank"},
		{"500: Invalid encoding", 500, `{"status":400,"title":"Invalid encoding"}`, datacite.ErrServer, "Invalid encoding"},
		{"500: Data too long", 500, `{"status":400,"title":"Data too long"}`, datacite.ErrServer, "Data too long"},
		{"500: Invalid request parameters", 500, `{"status":400,"title":"Invalid request parameters"}`, datacite.ErrServer, "Invalid request parameters"},
		{"500 about the request itself", 500, `{"status":400,"title":"invalid date"}`, datacite.ErrServer, "invalid date"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
				n.instead = refusing(tt.status, tt.body)
				sent := 0
				n.before = func(r *http.Request) error {
					if r.Method != http.MethodGet {
						sent++
					}
					return nil
				}
				start := time.Now()
				_, err := c.Submit(t.Context(), header("Example", time.October), datasets(6),
					&reports.SubmitOptions{MaxDatasets: 2})
				require.ErrorIs(t, err, tt.want)
				assert.ErrorContains(t, err, tt.says)
				assert.Equal(t, tt.status == 413, strings.Contains(err.Error(), "SubmitOptions.MaxDatasets"))
				e, ok := errors.AsType[*reports.SubmitError](err)
				require.True(t, ok)
				assert.Equal(t, reports.SubmitUntouched, e.State)
				assert.NotContains(t, err.Error(), "not known", "it is: nothing was stored")
				assert.Equal(t, 1, sent)
				assert.Less(t, time.Since(start), time.Minute)

				n.instead = nil
				_, err = c.Submit(t.Context(), header("Example", time.October), datasets(6), nil)
				require.NoError(t, err)
				assert.Less(t, time.Since(start), time.Minute, "the next run knows that nothing is in progress")
			})
		})
	}
}

// What a gateway says about the request may pass.
func TestAGatewayIsAskedAgain(t *testing.T) {
	onNetwork(t, documented, func(t *testing.T, n *network, c *reports.Client) {
		first := once(http.MethodPut)
		n.instead = func(r *http.Request) *http.Response {
			if !first(r) {
				return nil
			}
			return refusing(502, `{"status":400,"title":"invalid date"}`)(r)
		}
		_, err := c.Submit(t.Context(), header("Example", time.October), datasets(2), nil)
		require.NoError(t, err)
	})
}

// Subsets that another release of a compressor made, or cut elsewhere, have other checksums. A run
// recognises them by their datasets and goes on from there, also if the service shows no checksums
// until something is sent.
func TestAnotherReleaseGoesOn(t *testing.T) {
	for _, tt := range []struct {
		behaviour           datacitetest.Behaviour
		size, datasets, new int // of the second release
	}{{datacitetest.Deployed, 2, 6, 0}, {datacitetest.Deployed, 2, 8, 1}, {datacitetest.Deployed, 3, 14, 3},
		{datacitetest.Documented, 3, 14, 3}} {
		onNetwork(t, datacitetest.Options{Behaviour: tt.behaviour}, func(t *testing.T, n *network, c *reports.Client) {
			h := header("Example", time.October)
			first, err := c.Submit(t.Context(), h, datasets(6), &reports.SubmitOptions{MaxDatasets: 2, Level: 1})
			require.NoError(t, err)
			second, err := c.Submit(t.Context(), h, datasets(tt.datasets),
				&reports.SubmitOptions{MaxDatasets: tt.size, Level: 9, LockDir: t.TempDir()})
			require.NoError(t, err)
			assert.Equal(t, tt.new, second.Sent, "the first 6 datasets were there")
			assert.EqualValues(t, tt.datasets, second.Datasets)
			require.Len(t, second.Subsets, 3+tt.new)
			for _, s := range first.Subsets {
				same := func(o reports.Subset) bool { return o.Checksum == s.Checksum }
				assert.True(t, slices.ContainsFunc(second.Subsets, same), "the receipt has what is stored")
			}
			assert.Equal(t, all(tt.datasets), stored(t, c, second.ReportID))
			require.NoError(t, c.Verify(t.Context(), second))
		})
	}
}

// unreadable are the responses of the deployed service to every request that makes it read a
// report that is broken; 500 also while the report is being written.
var unreadable = []struct {
	name   string
	status int
	body   string
}{
	{"a subset is not in the document", 500,
		`{"status":400,"title":"[UsageReports] Cannot find report-subset gzip field."}`},
	{"no document", 500, `{"status":400,"title":"The attachment for this report cannot be found: /report_files/a.json"}`},
	{"a subset without its bytes", 500, `{"status":400,"title":"no implicit conversion of nil into String"}`},
	{"damaged base64", 500, `{"status":400,"title":"invalid base64"}`},
	{"a document that is cut off", 422,
		`{"errors":[{"status":"422","title":"quoted string not terminated (after report.report-subsets[0].checksum) at ` +
			`line 1, column 1298 [parse.c:384] in '{\"report\":{\"id\":\"Guide of Manila"}]}`},
	{"an empty document", 422, `{"errors":[{"status":"422","title":"An empty string is not a valid JSON string."}]}`},
	{"no subset left", 422, "{\"errors\":[{\"status\":\"422\",\"title\":\"undefined method `checksum' for " +
		"nil:NilClass\"}]}"},
}

// without responds for a service that cannot read its reports and works otherwise.
func without(status int, body string) func(*http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		if r.Method == http.MethodGet && r.URL.Path == "/reports" {
			return nil
		}
		return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body))}
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
					"Put": read(c.Put(t.Context(), stored.ID,
						r)), "Put, compressed": read(c.Put(t.Context(), stored.ID, compressed)),
					"Create": read(c.Create(t.Context(), r)), "Create, compressed": read(c.Create(t.Context(), compressed)),
				} {
					require.ErrorIs(t, err, reports.ErrBroken, call)
					assert.ErrorContains(t, err, "the service cannot read the stored report, which is broken unless another program "+
						"is writing to it now", call)
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
						reasons := map[string]bool{}
						opts.Progress = func(p reports.Progress) { reasons[p.Reason] = true }
						_, err = c.Submit(t.Context(), header("Example", time.October), datasets(6), opts)
						assert.Contains(t, reasons, "the service cannot read the report, which is normal while it is written")
						if passes {
							require.NoError(t, err)
							assert.Equal(t, from == 0, reasons["another program may be writing to the report"],
								"it waits for a write that it has not begun")
							assert.Equal(t, all(6), stored(t, c, reports.DeriveID(header("Example", time.October))))
							return
						}
						require.ErrorIs(t, err, reports.ErrBroken)
						assert.NotErrorIs(t, err, datacite.ErrInvalid)
						assert.False(t, datacite.Temporary(err))
						assert.ErrorContains(t, err, "has been unreadable for 3")
						assert.GreaterOrEqual(t, time.Since(broke), 30*time.Minute, "it may have been a write under way")
						assert.LessOrEqual(t, posts*2, from+2, "nothing is sent to it")
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
		_, err = c.Submit(t.Context(), header("Example", time.October), datasets(3),
			&reports.SubmitOptions{MaxOutage: time.Minute})
		require.Error(t, err)
		assert.NotErrorIs(t, err, reports.ErrBroken)
		assert.True(t, datacite.Temporary(err))
	})
}

// receiptOf is the receipt of a report of these subsets.
func receiptOf(subsets ...string) *reports.Receipt {
	r := &reports.Receipt{ReportID: id,
		Header: reports.Header{CreatedBy: "Outer", Exceptions: []reports.Exception{{Code: 3071}, {Code: 69}}}}
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
		{"no data under the checksum", compressedDocument(a, `{"gzip":null,"checksum":"`+sum(gz(inner("c")))+`"}`),
			"subset 2 has no data"},
		{"datasets shown", `{"report":{` + compressedHeader + `,"report-datasets":` + titled("a b c") + `}}`, ""},
		{"too few datasets shown", `{"report":{` + compressedHeader + `,"report-datasets":` + titled("a b") + `}}`,
			"2 datasets stored, 3 sent"},
		{"a dataset shown beside the subsets", strings.Replace(compressedDocument(a, b), `"report-datasets":[]`,
			`"report-datasets":`+titled("a"), 1), "1 datasets stored, 3 sent"},
		{"another creator", strings.Replace(compressedDocument(a, b), "Outer", "Another", 1),
			`created-by is "Another", want "Outer"`},
		{"another id", strings.Replace(compressedDocument(a, b), `"created-by"`, `"report-id":"x","created-by"`, 1),
			`report-id is "x", want ""`},
		{"another name", strings.Replace(compressedDocument(a, b), `"created-by"`, `"report-name":"x","created-by"`, 1),
			`report-name is "x", want ""`},
		{"another release", strings.Replace(compressedDocument(a, b), `"created-by"`, `"release":"x","created-by"`, 1),
			`release is "x", want ""`},
		{"another month", strings.Replace(compressedDocument(a, b), `"created-by"`,
			`"reporting-period":{"begin-date":"2018-04-01"},`+
				`"created-by"`, 1), `reporting-period is {"2018-04-01" ""}, want {"" ""}`},
		{"no exception 69", strings.Replace(compressedDocument(a, b), `"code":69`, `"code":70`, 1), "exceptions are"},
		{"other filters", strings.Replace(compressedDocument(a, b), `"created-by"`, `"report-filters":["x"],"created-by"`, 1),
			"report-filters are"},
		{"other attributes", strings.Replace(compressedDocument(a, b), `"created-by"`,
			`"report-attributes":["x"],"created-by"`, 1), "report-attributes are"},
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
	assert.ErrorContains(t, client.Verify(t.Context(), nil), "r: is nil")
	missing := responding(t, 404, "application/json",
		`{"errors":[{"status":"404","title":"The resource you are looking for doesn't exist."}]}`)
	assert.ErrorIs(t, missing.Verify(t.Context(), r), datacite.ErrNotFound)
}

// What Verify finds, Submit mends: it looks at the data, not at the checksum beside
// them.
func TestSubmitMendsDamage(t *testing.T) {
	for name, damage := range map[string]func(subset map[string]any){
		"a changed count beside its checksum": func(subset map[string]any) { subset["gzip"] = b64(gz(inner("x"))) },
		"one damaged character": func(subset map[string]any) {
			subset["gzip"] = "!" + subset["gzip"].(string)[1:]
		},
		"one character less": func(subset map[string]any) { subset["gzip"] = subset["gzip"].(string)[1:] },
		"another checksum":   func(subset map[string]any) { subset["checksum"] = strings.Repeat("0", 64) },
		"no data":            func(subset map[string]any) { subset["gzip"] = nil },
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
				receipt, err := c.Submit(t.Context(), header("Example", time.October), datasets(4),
					&reports.SubmitOptions{MaxDatasets: 2})
				require.NoError(t, err)
				return receipt
			}
			receipt := submit()
			assert.Zero(t, submit().Sent)
			damaged = true
			require.ErrorIs(t, c.Verify(t.Context(), receipt), datacite.ErrIncomplete)
			if name != "no data" {
				_, err := c.Submit(t.Context(), header("Example", time.October), datasets(5),
					&reports.SubmitOptions{ZeroDropped: true})
				require.ErrorContains(t, err, "ZeroDropped cannot be met")
			}
			assert.Equal(t, 2, submit().Sent)
			require.NoError(t, c.Verify(t.Context(), receipt))
		})
	}
}
