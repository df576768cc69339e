package count

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/reports"
)

// database is a database of countries.
func database(t *testing.T) string {
	return databaseOf(t, map[string]string{"192.0.2.0/24": "DE", "2001:db8::/32": "FR", "198.51.100.0/24": "T1"})
}

func databaseOf(t *testing.T, codes map[string]string) string {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-Country", IncludeReservedNetworks: true})
	require.NoError(t, err)
	for network, code := range codes {
		_, prefix, err := net.ParseCIDR(network)
		require.NoError(t, err)
		require.NoError(t, tree.Insert(prefix, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(code)}}))
	}
	var file bytes.Buffer
	_, err = tree.WriteTo(&file)
	require.NoError(t, err)
	return write(t, t.TempDir(), "countries.mmdb", file.String())
}

func TestCountries(t *testing.T) {
	known, err := openCountries(database(t))
	require.NoError(t, err)
	defer known.db.Close()
	for address, want := range map[string]string{
		"192.0.2.7": "DE", "2001:db8:0:0:0:0:0:7": "FR", "::ffff:192.0.2.7": "DE",
		"198.51.100.1": "T1", // no country: package logs drops it
		"203.0.113.1":  "", "": "", "unknown": "",
	} {
		code, err := known.of(address)
		require.NoError(t, err)
		assert.Equal(t, want, code, address)
	}
}

// TestCountriesThatAPlatformLookedUp: it had the address, and forgot it. --geoip looks up the
// others.
func TestCountriesThatAPlatformLookedUp(t *testing.T) {
	const log = `{"doi":"10.5072/a","time":"2026-10-14T10:00:00Z","url":"/a","cookie":"c","country":"FR"}` + "\n" +
		`{"doi":"10.5072/a","time":"2026-10-14T11:00:00Z","url":"/a","address":"192.0.2.1","country":"fr"}` + "\n" +
		`{"doi":"10.5072/a","time":"2026-10-14T12:00:00Z","url":"/a","address":"192.0.2.1"}` + "\n"
	for _, tt := range []struct {
		more []string
		want string
	}{
		{nil, `"country-counts":{"fr":2}`},
		{[]string{"--geoip", database(t)}, `"country-counts":{"de":1,"fr":2}`},
	} {
		done := runs(t.Context(), nil, log, args(append(tt.more, "--log-format", "json", "--output", "-", "-")...)...)
		require.Equal(t, 0, done.code, done.errors)
		assert.Contains(t, done.out, tt.want)
	}
}

// TestDatabasesWithoutCountries: no countries in the report would be the only sign of them.
func TestDatabasesWithoutCountries(t *testing.T) {
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "GeoLite2-ASN", IncludeReservedNetworks: true})
	require.NoError(t, err)
	_, prefix, err := net.ParseCIDR("192.0.2.0/24")
	require.NoError(t, err)
	require.NoError(t, tree.Insert(prefix, mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(64496)}))
	var other bytes.Buffer
	_, err = tree.WriteTo(&other)
	require.NoError(t, err)
	whole := shelltest.Read(t, database(t))
	folder, log := t.TempDir(), view("2026-10-14T10:01:00Z", "s1", "10.5072/a")
	asn := runs(t.Context(), nil, log, args("--geoip", write(t, folder, "asn.mmdb", other.String()), "--quiet", "-")...)
	assert.Equal(t, 2, asn.code)
	assert.Contains(t, asn.errors, "asn.mmdb: it contains no country data")

	damaged := 0
	for at := 0; at < len(whole); at += 41 {
		broken := bytes.Clone(whole)
		broken[at] ^= 0xff
		known, err := openCountries(write(t, folder, "broken.mmdb", string(broken)))
		if err != nil {
			damaged++
			continue
		}
		known.db.Close()
	}
	assert.Greater(t, damaged, 5, "another letter of a code is not noticed")
}

// TestAccessLogsAreDescribed: the log of a web server has no titles. They come from the
// service, with one request for 1,000 DOIs, or from an archive.
func TestAccessLogsAreDescribed(t *testing.T) {
	srv := service(t, nil)
	var log, archive strings.Builder
	const datasets = 1500
	for i := range datasets {
		fmt.Fprintf(&log, "192.0.2.1 - - [14/Oct/2026:10:%02d:00 +0000] \"GET /data/10.5072/R%04d HTTP/1.1\" 200 17 \"-\" "+
			"\"Mozilla/5.0 (X11)\"\n", i%60, i)
		record := fmt.Sprintf(`{"doi":"10.5072/r%04d","titles":[{"title":"Rain %d"}],"publisher":"Rain `+
			`Archive","publicationYear":2020,"url":"https://example.org/%d","creators":[{"name":"Doe, `+
			`Jane"}],"state":"findable"}`, i, i, i)
		require.NoError(t, srv.PutRecordJSON([]byte(record)))
		fmt.Fprintln(&archive, record)
	}
	folder := t.TempDir()
	file := write(t, folder, "records.jsonl", archive.String())
	for name, where := range map[string]string{"service": "service", "file": file, "folder": folder} {
		t.Run(name, func(t *testing.T) {
			done := runs(t.Context(), srv, log.String(),
				args("--log-format", "combined", "--investigations", "^/data/(10\\..*)", "--requests", "^/files/(10\\..*)",
					"--describe", where, "--output", "-", "-")...)
			require.Equal(t, 0, done.code, done.errors)
			var report reports.Report
			require.NoError(t, json.Unmarshal([]byte(done.out), &report))
			require.Len(t, report.Datasets, datasets)
			for i, d := range report.Datasets {
				require.Equal(t, fmt.Sprint("Rain ", i), d.Title)
				require.Equal(t, "Rain Archive", d.Publisher)
				require.Equal(t, "2020", d.YOP)
				require.Equal(t, fmt.Sprint("https://example.org/", i), d.URI)
				require.Equal(t, []reports.TypedValue{{Type: "name", Value: "Doe, Jane"}}, d.Contributors)
			}
			assert.Contains(t, done.errors, "1,500 datasets", "the summary makes room for the report")
			assert.NotContains(t, done.errors, "without a title")
		})
	}
	assert.Len(t, srv.Requests(), 2)
}

// TestUnknownDOIs: a path that is no dataset becomes one, which no record shows.
func TestUnknownDOIs(t *testing.T) {
	srv := service(t, nil)
	const record = `{"doi":"10.5072/known","titles":[{"title":"Rain"}],"publisher":"Rain Archive","state":"findable"}`
	require.NoError(t, srv.PutRecordJSON([]byte(record)))
	var log strings.Builder
	for i, path := range []string{"10.5072/known", "10.5072/KNOWN/", "10.5072/known;jsessionid=AB12", "10.5072/typo",
		"10.5072/other"} {
		fmt.Fprintf(&log, "192.0.2.%d - - [14/Oct/2026:10:00:00 +0000] \"GET /data/%s HTTP/1.1\" 200 17 \"-\" "+
			"\"Mozilla/5.0 (X11)\"\n", i, path)
	}
	for _, where := range []string{"service", write(t, t.TempDir(), "records.jsonl", record+"\n")} {
		given := args("--log-format", "combined", "--investigations", "^/data/(10\\..*)", "--requests", "^/files/(10\\..*)",
			"--describe", where, "--output", "-", "-")
		keep := runs(t.Context(), srv, log.String(), given...)
		assert.Equal(t, 0, keep.code)
		assert.Contains(t, keep.errors, "warning: --describe does not know 2 DOIs: 10.5072/other, 10.5072/typo; these "+
			"datasets are in the report without a title")
		assert.Contains(t, keep.errors, "2 of them without a title or publisher; nor has --describe;")
		assert.Contains(t, keep.errors, "3 datasets\n")

		without := runs(t.Context(), srv, log.String(), append(given, "--unknown", "leave-out", "--quiet")...)
		assert.Equal(t, 0, without.code)
		assert.Equal(t, "warning: --describe does not know 2 DOIs: 10.5072/other, 10.5072/typo; these datasets are left "+
			"out, with 2 investigations\n", without.errors)
		var report reports.Report
		require.NoError(t, json.Unmarshal([]byte(without.out), &report))
		require.Len(t, report.Datasets, 1)
		assert.EqualValues(t, 3, report.Datasets[0].Performance[0].Instance[0].Count)

		stopped := runs(t.Context(), srv, log.String(), append(given, "--unknown", "stop", "--quiet")...)
		assert.Equal(t, 2, stopped.code)
		assert.Equal(t, "datacite: --describe does not know 2 DOIs: 10.5072/other, 10.5072/typo\n", stopped.errors)
	}
}

// TestPathsThatSayNothing are in a table, which one writes from one's own database or logs: a session id
// in them makes no difference.
func TestPathsThatSayNothing(t *testing.T) {
	const log = `192.0.2.1 - - [14/Oct/2026:10:01:00 +0000] "GET /records/17 HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11)"` +
		"\n" +
		`192.0.2.1 - - [14/Oct/2026:10:02:00 +0000] "GET /bits/a%20b.csv?v=2 HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11)"` + "\n" +
		`192.0.2.1 - - [14/Oct/2026:10:03:00 +0000] "GET /style.css HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11)"` + "\n"
	table := write(t, t.TempDir(), "paths.csv",
		"path,doi,kind\n/records;jsessionid=AB12/17,10.5072/a,investigation\n\"/bits/a "+
			"b.csv\",https://doi.org/10.5072/A,request\n")
	done := runs(t.Context(), nil, log, args("--log-format", "combined", "--paths", table, "-")...)
	require.Equal(t, 0, done.code, done.errors)
	for _, want := range []string{"1 neither investigations nor requests", "1 dataset", "2 total investigations",
		"1 total requests"} {
		assert.Contains(t, done.out, want)
	}
}

// TestDSpace is the recipe of docs/counting-dspace.md: handles, items and files are in a table, also
// those that are no dataset, and the log is from west of Greenwich.
func TestDSpace(t *testing.T) {
	const item, file, thumbnail = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002", "33333333-aaaa-4bbb-8ccc-000000000003"
	table := write(t, t.TempDir(), "dois.csv",
		"name,doi\n123456789/17,10.5072/a\n123456789/17.2,10.5072/a\n123456789/2,\n"+item+",10.5072/a\n"+file+",10.5072/a\n"+
			thumbnail+",\n")
	var log strings.Builder
	for i, path := range []string{
		// five views
		"/handle/123456789/17", "/handle/123456789/17/", "/items/" + item, "/items/" + item + "/full",
		"/entities/publication/" + item,
		// a version
		"/handle/123456789/17.2",
		// a download
		"/server/api/core/bitstreams/" + file + "/content", "/server/api/core/bitstreams/" + thumbnail + "/content",
		"/handle/123456789/2", "/browse/title", "/server/api/core/items/" + item + "/thumbnail", // others
	} {
		fmt.Fprintf(&log, "data.example.org:443 192.0.2.1 - - [31/Oct/2026:22:%02d:00 -0400] \"GET %s HTTP/1.1\" 200 1 "+
			"\"-\" \"Mozilla/5.0 (X11)\"\n", i, path)
	}
	recipe := args("--zone", "America/New_York", "--log-format", "combined", "--dois", table,
		"--investigations", `^/handle/([0-9.]+/[0-9.]+)$`, "--investigations", `^/(?:items|entities/[a-z]+)/([0-9a-f-]{36}`+
			`)(?:/full)?$`,
		"--requests", `^/server/api/core/bitstreams/([0-9a-f-]{36})/content$`, "-")
	docs := shelltest.Read(t, "../../../../../docs/counting-dspace.md")
	for i, word := range recipe {
		if strings.HasPrefix(word, "^") {
			assert.Contains(t, string(docs), recipe[i-1]+" '"+word+"'")
		}
	}
	done := runs(t.Context(), nil, log.String(), recipe...)
	require.Equal(t, 0, done.code, done.errors)
	for _, want := range []string{"11 lines", "4 neither investigations nor requests", "7 total investigations",
		"1 total requests", "1 unique investigations"} {
		assert.Contains(t, done.out, want)
	}
	old := runs(t.Context(), nil, log.String()+strings.ReplaceAll(log.String(), "123456789/17", "123456789/18"), recipe...)
	assert.Equal(t, 2, old.code)
	assert.Contains(t, old.errors, `no-dataset: 3 lines`)
	assert.Contains(t, old.errors, `line 12: path is "/handle/123456789/18", whose dataset is not in the table`)
}

// TestDescriptionsOfTheLogStay: a record fills in what the log does not have.
func TestDescriptionsOfTheLogStay(t *testing.T) {
	file := write(t, t.TempDir(), "records.jsonl",
		`{"doi":"10.5072/fk2/abc","titles":[{"title":"Another title"}],"publisher":"Rain Archive","publicationYear":2020}`+
			"\n")
	done := runs(t.Context(), nil, view("2026-10-14T10:01:00Z", "s1", "10.5072/FK2/ABC"),
		args("--describe", file, "--output", "-", "-")...)
	require.Equal(t, 0, done.code, done.errors)
	var report reports.Report
	require.NoError(t, json.Unmarshal([]byte(done.out), &report))
	assert.Equal(t, "Data of 10.5072/FK2/ABC", report.Datasets[0].Title)
	assert.Equal(t, "Rain Archive", report.Datasets[0].Publisher)
	assert.Equal(t, "2024", report.Datasets[0].YOP)
}
