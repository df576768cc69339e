package bench_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports"
)

// An attack is a call, and a response to it that is small on the line and large in
// memory: start, then piece after piece, then end.
type attack struct {
	name              string
	start, piece, end string
	call              func(ctx context.Context, url string) error
}

// mostForAttack is the most memory, in MiB, that a response may cost at the defaults.
const mostForAttack = 300

const hostileID = "0148536f-bfbc-4775-b93c-524e91d0b9f6"

// of is the configuration of a client that does not ask again: each response is the same.
func of(url string) datacite.Config {
	return datacite.Config{Service: datacite.Service{API: url, MDS: url}, MaxAttempts: 1}
}

func getRecord(ctx context.Context, url string) error {
	c, err := dois.NewClient(of(url))
	if err == nil {
		_, err = c.Get(ctx, "10.5072/a", nil)
	}
	return err
}

func listRecords(ctx context.Context, url string) error {
	c, err := dois.NewClient(of(url))
	if err == nil {
		_, err = c.List(ctx, &dois.ListOptions{Page: query.Page{Size: 1000}})
	}
	return err
}

func walkRecords(ctx context.Context, url string) error {
	c, err := dois.NewClient(of(url))
	if err != nil {
		return err
	}
	for _, err := range c.All(ctx, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}

func listReports(ctx context.Context, url string) error {
	c, err := reports.NewClient(of(url))
	if err == nil {
		_, err = c.List(ctx, nil)
	}
	return err
}

func getReport(ctx context.Context, url string) error {
	c, err := reports.NewClient(of(url))
	if err == nil {
		_, err = c.Get(ctx, hostileID)
	}
	return err
}

func openReport(ctx context.Context, url string) error {
	c, err := reports.NewClient(of(url))
	if err != nil {
		return err
	}
	r, err := c.Open(ctx, hostileID)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, err := range r.Datasets() {
		if err != nil {
			return err
		}
	}
	return nil
}

func verifyReport(ctx context.Context, url string) error {
	c, err := reports.NewClient(of(url))
	if err == nil {
		err = c.Verify(ctx, &reports.Receipt{ReportID: hostileID, Datasets: 1, Subsets: []reports.Subset{{Checksum: "a"}}})
	}
	return err
}

func createReport(ctx context.Context, url string) error {
	config := of(url)
	config.Token = "a.b.c"
	c, err := reports.NewClient(config)
	if err == nil {
		_, err = c.Create(ctx, &reports.Report{Header: reports.NewHeader("Example", "2026-11-01", reports.Month(2026, 10)), Datasets: []reports.Dataset{{
			Title: "a", Platform: "a", Publisher: "a", DataType: reports.DataTypeDataset,
			DatasetID: []reports.TypedValue{{Type: reports.TypeDOI, Value: "10.5072/a"}},
			Performance: []reports.Performance{{Period: reports.Month(2026, 10), Instance: []reports.Instance{
				{Count: 1, MetricType: reports.TotalDatasetRequests, AccessMethod: reports.Regular},
			}}},
		}}})
	}
	return err
}

func metadataStore(call func(context.Context, *mds.Client) error) func(ctx context.Context, url string) error {
	return func(ctx context.Context, url string) error {
		config := of(url)
		config.Username, config.Password = "A.B", "password"
		c, err := mds.NewClient(config)
		if err == nil {
			err = call(ctx, c)
		}
		return err
	}
}

// compressedPart is a subset of a report: JSON in gzip in base64.
func compressedPart(start, piece, end string, n int) string {
	data, err := io.ReadAll(pieces(start, piece, end, n))
	if err != nil {
		panic(err)
	}
	return `{"checksum":"a","gzip":"` + base64.StdEncoding.EncodeToString(data) + `"}`
}

// attacks takes the subset of the attack that has one, for whoever sends it.
func attacks(subset string) []attack {
	const (
		attributes = `{"data":{"attributes":{"doi":"10.5072/a",`
		page       = `{"data":[{"attributes":{"doi":"10.5072/a",`
		report     = `{"report":{"report-header":{"created-by":"a","exceptions":[{"code":69}]},`
	)
	store := func(name, start, piece, end string, call func(context.Context, *mds.Client) error) attack {
		return attack{"mds." + name, start, piece, end, metadataStore(call)}
	}
	return []attack{
		{"dois.Get, creators", attributes + `"creators":[{}`, `,{}`, `]}}}`, getRecord},
		{"dois.Get, affiliations", attributes + `"creators":[{"affiliation":[""`, `,""`, `]}]}}}`, getRecord},
		{"dois.Get, polygons", attributes + `"geoLocations":[{"geoLocationPolygon":[[]`, `,[]`, `]}]}}}`, getRecord},
		{"dois.Get, sizes", attributes + `"sizes":[""`, `,""`, `]}}}`, getRecord},
		{"dois.Get, related items", attributes + `"relatedItems":[{}`, `,{}`, `]}}}`, getRecord},
		{"dois.Get, references", attributes + `"references":[""`, `,""`, `]}}}`, getRecord},
		{"dois.Get, one text", attributes + `"url":"`, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, `"}}}`, getRecord},
		{"dois.Get, unknown members", attributes + `"a":1`, `,"a":1`, `}}}`, getRecord},
		{"dois.Get, depth", attributes + `"a":`, `[`, ``, getRecord},
		{"dois.Get, included", attributes + `"a":1}},"included":[{}`, `,{}`, `]}`, getRecord},
		{"dois.Get, blanks", ` `, `                                `, `{}`, getRecord},
		{"dois.List, records", page + `"a":1}}`, `,{"attributes":{}}`, `]}`, listRecords},
		{"dois.List, creators", page + `"creators":[{}`, `,{}`, `]}}]}`, listRecords},
		{"dois.List, long records", page + `"a":1}}`, `,{"attributes":{"url":"` + strings.Repeat("u", 1<<20) + `"}}`, `]}`, listRecords},
		{"dois.List, facets", `{"data":[],"meta":{"a":[{}`, `,{}`, `]}}`, listRecords},
		{"dois.List, meta", `{"data":[],"meta":{"a":1`, `,"a":1`, `}}`, listRecords},
		{"dois.All, long records", page + `"a":1}}`, `,{"attributes":{"url":"` + strings.Repeat("u", 1<<20) + `"}}`, `]}`, walkRecords},
		{"reports.List, reports", `{"reports":[{}`, `,{}`, `]}`, listReports},
		{"reports.List, exceptions", `{"reports":[{"report-header":{"exceptions":[{}`, `,{}`, `]}}]}`, listReports},
		{"reports.Get, datasets", report + `"report-datasets":[{}`, `,{}`, `]}}`, getReport},
		{"reports.Get, performances", report + `"report-datasets":[{"performance":[{}`, `,{}`, `]}]}}`, getReport},
		{"reports.Get, subset in a subset", report + `"report-subsets":[` + subset, `,{}`, `]}}`, getReport},
		{"reports.Get, subsets", report + `"report-subsets":[{}`, `,` + `{"gzip":""}`, `]}}`, getReport},
		{"reports.Open, performances", report + `"report-datasets":[{"performance":[{}`, `,{}`, `]}]}}`, openReport},
		{"reports.Open, filters", `{"report":{"report-header":{"report-filters":[{}`, `,{}`, `]}}}`, openReport},
		{"reports.Verify, subsets", report + `"report-subsets":[{}`, `,{}`, `]}}`, verifyReport},
		{"reports.Verify, checksums", report + `"report-subsets":[{}`, `,{"checksum":"` + strings.Repeat("c", 1<<20) + `"}`, `]}}`, verifyReport},
		{"reports.Verify, counted", report + `"report-subsets":[{}`, `,` + strings.Replace(compressedPart(`{"report-datasets":[{}`, ``, `]}`, 0), `"checksum":"a",`, "", 1), `]}}`, verifyReport},
		{"reports.Create, datasets", `{"report":{"id":"` + hostileID + `","report-datasets":[{}`, `,{}`, `]}}`, createReport},
		store("Metadata, one text", `<resource>`, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, `</resource>`, func(ctx context.Context, c *mds.Client) error {
			_, err := c.Metadata(ctx, "10.5072/a")
			return err
		}),
		store("URL, one text", `https://`, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, ``, func(ctx context.Context, c *mds.Client) error {
			_, err := c.URL(ctx, "10.5072/a")
			return err
		}),
		store("PutURL, one text", `OK`, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, ``, func(ctx context.Context, c *mds.Client) error {
			_, err := c.PutURL(ctx, "10.5072/a", "https://example.org/")
			return err
		}),
		store("DOIs, lines", `10.5072/a`, "\na", ``, func(ctx context.Context, c *mds.Client) error {
			for _, err := range c.FirstPrefixDOIs(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		}),
		store("Media, lines", `a=b`, "\na=b", ``, func(ctx context.Context, c *mds.Client) error {
			_, err := c.ListMedia(ctx, "10.5072/a")
			return err
		}),
	}
}

// pieces is a response of about n bytes, compressed.
func pieces(start, piece, end string, n int) io.Reader {
	read, write := io.Pipe()
	go func() {
		z, _ := gzip.NewWriterLevel(write, gzip.BestSpeed)
		io.WriteString(z, start)
		block := bytes.Repeat([]byte(piece), max(1, (1<<20)/max(1, len(piece))))
		for left := n; left > 0 && len(piece) > 0; left -= len(block) {
			if _, err := z.Write(block); err != nil {
				return
			}
		}
		io.WriteString(z, end)
		write.CloseWithError(z.Close())
	}()
	return read
}

// BenchmarkHostileServers prints the peak of each attack.
func BenchmarkHostileServers(b *testing.B) {
	url := hostileServer(b)
	for i, a := range attacks("") {
		b.Run(strings.ReplaceAll(a.name, ", ", "/"), func(b *testing.B) {
			worst := 0
			for b.Loop() {
				peak, _ := attackApart(b, url, i)
				worst = max(worst, peak)
			}
			b.ReportMetric(0, "ns/op") // how long it takes says nothing
			b.ReportMetric(float64(worst), "MiB")
		})
	}
}

// hostileServer responds to everything with the attack that the path names.
func hostileServer(t testing.TB) (url string) {
	responses := map[string]func() []byte{}
	for i, a := range attacks(compressedPart(`{"report-datasets":[{}`, `,{}`, `]}`, *hostileMiB<<20)) {
		responses[fmt.Sprint(i)] = sync.OnceValue(func() []byte {
			data, err := io.ReadAll(pieces(a.start, a.piece, a.end, *hostileMiB<<20))
			if err != nil {
				panic(err)
			}
			return data
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		w.Write(responses[number]())
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestHostileServers lets a service send responses that are small on the line and
// large in memory, and reads how much memory the client took at its peak.
func TestHostileServers(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not tell how much memory a process took")
	}
	url := hostileServer(t)
	for i, a := range attacks("") {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			peak, outcome := attackApart(t, url, i)
			t.Logf("%4d MiB: %.150s", peak, outcome)
			if !raced {
				assert.LessOrEqual(t, peak, mostForAttack, "MiB")
			}
		})
	}
}

func attackApart(t testing.TB, url string, i int) (mib int, outcome string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=victim %s %d", roleVariable, url, i), "GOGC=", "GOMEMLIMIT=")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	number, outcome, _ := strings.Cut(string(out), " ")
	_, err = fmt.Sscan(number, &mib)
	require.NoError(t, err, "%s", out)
	return mib >> 10, strings.TrimSpace(outcome)
}

// beVictim is the process that attackApart starts.
func beVictim(arguments string) error {
	var url string
	var i int
	if _, err := fmt.Sscan(arguments, &url, &i); err != nil {
		return err
	}
	a := attacks("")[i]
	if err := forgetPeak(); err != nil {
		return err
	}
	outcome := a.call(context.Background(), fmt.Sprintf("%s/%d", url, i))
	peak, err := peakMemory()
	fmt.Println(peak, errors.Join(outcome))
	return err
}
