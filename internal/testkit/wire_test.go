package testkit_test

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/testkit"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports"
)

// The cassettes hold one exchange for each endpoint of specification §4 and each
// form of its request. They are replayed by default and recorded anew with
//
//	go test ./internal/testkit -record

const (
	name    = "10.5072/wire-1"
	address = "https://repository.example.org/item?a=1+2&b=50%25"
	record  = `<?xml version="1.0" encoding="UTF-8"?>
<resource xmlns="http://datacite.org/schema/kernel-4" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://datacite.org/schema/kernel-4 https://schema.datacite.org/meta/kernel-4/metadata.xsd">
  <identifier identifierType="DOI"/>
  <creators><creator><creatorName nameType="Personal">Lovelace, Ada</creatorName></creator></creators>
  <titles><title>Glacier length</title></titles>
  <publisher>Example Repository</publisher>
  <publicationYear>2024</publicationYear>
  <resourceType resourceTypeGeneral="Dataset">Table</resourceType>
</resource>
`
)

// An account is who the cassettes are recorded as. While they are replayed, any
// credentials will do.
type account struct {
	username, password, token, prefix string
	upstream                          http.RoundTripper
}

func recordingAccount() account {
	live := account{
		username: os.Getenv("DATACITE_USERNAME"), password: os.Getenv("DATACITE_PASSWORD"),
		token: os.Getenv("DATACITE_TOKEN"), prefix: os.Getenv("DATACITE_PREFIX"),
		upstream: http.DefaultTransport,
	}
	if live.username != "" && live.password != "" && live.token != "" && live.prefix != "" {
		return live
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true,
		Now: func() time.Time { return start }})
	return account{
		username: datacitetest.Username, password: datacitetest.Password,
		token: srv.Token(start.AddDate(1, 0, 0)), prefix: datacitetest.Prefix,
		upstream: srv.HTTPClient().Transport,
	}
}

type clients struct {
	mds     *mds.Client
	dois    *dois.Client
	reader  *dois.Client // without credentials
	reports *reports.Client
	anyone  *reports.Client // without a token
}

// play makes clients that replay a cassette. Nothing is sent twice, so that a
// request that is not on it fails at once.
func play(t *testing.T, cassette string) clients {
	t.Helper()
	a := recordingAccount()
	hc := testkit.Cassette(t, cassette, a.upstream, testkit.Replacements{a.prefix: "10.5072", a.username: "EXAMPLE.REPO"})
	store := must(mds.NewClient(datacite.Config{Service: datacite.Test, Username: a.username, Password: a.password,
		HTTPClient: hc, MaxAttempts: 1}))(t)
	records := must(dois.NewClient(datacite.Config{Service: datacite.Test, HTTPClient: hc, MaxAttempts: 1,
		Username: a.username, Password: a.password}))(t)
	reader := must(dois.NewClient(datacite.Config{Service: datacite.Test, HTTPClient: hc, MaxAttempts: 1}))(t)
	usage := must(reports.NewClient(datacite.Config{Service: datacite.Test, HTTPClient: hc, MaxAttempts: 1,
		Token: a.token}))(t)
	anyone := must(reports.NewClient(datacite.Config{Service: datacite.Test, HTTPClient: hc, MaxAttempts: 1}))(t)
	return clients{store, records, reader, usage, anyone}
}

func TestWireMetadataStore(t *testing.T) {
	c, ctx := play(t, "mds").mds, t.Context()

	require.ErrorIs(t, only(c.PutURL(ctx, name, address)), mds.ErrMetadataMissing)
	must(c.PutMetadata(ctx, name, mds.XML([]byte(record))))(t)
	must(c.PutURL(ctx, name, address))(t)
	got := must(c.URL(ctx, name))(t)
	assert.Equal(t, address, got)
	doc := must(c.Metadata(ctx, name))(t)
	assert.Contains(t, string(doc.Data), "Glacier length")
	require.NoError(t, c.Hide(ctx, name))

	must(c.PutMetadata(ctx, "10.5072/wire-draft", mds.XML([]byte(record))))(t)
	require.NoError(t, c.DeleteDraft(ctx, "10.5072/wire-draft"))

	require.ErrorIs(t, only(c.Metadata(ctx, "10.5072/wire <a+b>")), datacite.ErrNotFound)
}

func TestWireMint(t *testing.T) {
	c := play(t, "mds-mint").mds
	doc := mds.XML([]byte(record))
	res := must(c.Do(t.Context(), &datacite.Request{Method: http.MethodPut, Path: "/metadata/10.5072",
		ContentType: doc.ContentType, Body: doc.Data}))(t)
	assert.Regexp(t, `^OK \(10\.5072/|/metadata/10\.5072/`, string(res.Body)+res.Header.Get("Location"))
}

func TestWireDOIs(t *testing.T) {
	all, ctx := play(t, "dois"), t.Context()
	must(all.mds.Register(ctx, "10.5072/wire-2", address, mds.XML([]byte(record)), nil))(t)

	one := must(all.reader.Get(ctx, "10.5072/wire-2", &dois.GetOptions{Detail: true}))(t)
	assert.Equal(t, "Glacier length", one.Titles[0].Title)
	require.ErrorIs(t, only(all.reader.Get(ctx, "10.5072/wire#a b?c%d//e", nil)), datacite.ErrNotFound)

	opts := &dois.ListOptions{
		Query: query.And(query.FieldTitle.Is("glacier"), query.Phrase("a + b")), Sort: query.ByCreated.Desc(),
		Page:       query.Page{Number: 1, Size: 2},
		ProviderID: []string{"example"}, ClientID: []string{
			"example.repo"}, ConsortiumID: "example", ResourceTypeID: []string{"dataset"}, Prefix: []string{"10.5072"},
		Registered: "2026", Created: "2025,2026", SchemaVersion: "4", Affiliation: true, Publisher: true, Detail: true, Fields: []string{"doi", "titles"},
	}
	must(all.reader.List(ctx, opts))(t)
	opts.InBody = true
	must(all.reader.List(ctx, opts))(t)
	found := 0
	for r, err := range all.reader.All(ctx, &dois.ListOptions{Prefix: []string{"10.5072"}, Page: query.Page{Size: 2}}) {
		require.NoError(t, err)
		assert.NotEmpty(t, r.DOI)
		found++
	}
	assert.Positive(t, found)
	must(all.reader.List(ctx, &dois.ListOptions{Sample: query.Sample{Random: true}, Page: query.Page{Size: 3}}))(t)
	must(all.reader.List(ctx, &dois.ListOptions{Sample: query.Sample{Group: query.GroupClient, Size: 1}}))(t)
}

func TestWireDOIWrites(t *testing.T) {
	c, ctx := play(t, "dois-write").dois, t.Context()
	draft := &dois.Draft{DOI: "10.5072/wire-3", URL: address}
	must(c.Create(ctx, draft))(t)
	must(c.Update(ctx, "10.5072/wire-3", &dois.Draft{MetadataXML: []byte(record), Clear: []string{"version"}}))(t)
	require.NoError(t, c.Delete(ctx, "10.5072/wire-3"))
}

func usageReport(datasets int) *reports.Report {
	period := reports.Month(2025, time.December)
	r := &reports.Report{Header: reports.NewHeader("datacite-go wire tests", "2026-01-02", period)}
	for i := range datasets {
		r.Datasets = append(r.Datasets, reports.Dataset{
			Title: "Glacier length", YOP: "2024", URI: address, Platform: "example", DataType: reports.DataTypeDataset,
			Publisher:    "Example Repository",
			PublisherID:  []reports.TypedValue{{Type: "grid", Value: "grid.0000.0"}},
			DatasetID:    []reports.TypedValue{{Type: reports.TypeDOI, Value: name + string(rune('a'+i))}},
			Dates:        []reports.TypedValue{{Type: reports.TypePubDate, Value: "2024-05-17"}},
			Contributors: []reports.TypedValue{{Type: reports.TypeName, Value: "Lovelace, Ada"}},
			Performance: []reports.Performance{{Period: period, Instance: []reports.Instance{{
				Count: 5, MetricType: reports.MetricUniqueDatasetRequests, AccessMethod: reports.AccessMachine,
				CountryCounts: reports.CountryCounts{{Country: "de", Count: 3}, {Country: "fr", Count: 2}},
			}}}},
		})
	}
	return r
}

func TestWireReports(t *testing.T) {
	all, ctx := play(t, "reports"), t.Context()
	const id = "3f0c9d2e-7f3b-4b57-9a53-2f1d6c1c9a01"
	r := usageReport(1)
	must(all.reports.Put(ctx, id, r))(t)
	again := must(all.reports.Create(ctx, r))(t)
	assert.Equal(t, id, again.ID)

	got := must(all.anyone.Get(ctx, id))(t)
	assert.Equal(t, r.Datasets, got.Datasets)
	page := must(all.anyone.List(ctx,
		&reports.ListOptions{CreatedBy: "datacite-go wire tests", Page: query.Page{Number: 1, Size: 10}}))(t)
	assert.Equal(t, id, page.Reports[0].ID)
	require.ErrorIs(t, only(all.anyone.Get(ctx, "00000000-0000-4000-8000-000000000000")), datacite.ErrNotFound)
}

func TestWireReportSubsets(t *testing.T) {
	all, ctx := play(t, "reports-subsets"), t.Context()
	r := usageReport(5)
	r.Header.ReportingPeriod = reports.Month(2025, time.November)
	receipt, err := all.reports.Submit(ctx, r.Header, reports.Source(r.Datasets), &reports.SubmitOptions{
		// a request that is not on the cassette fails after that
		LockDir: t.TempDir(), MaxDatasets: 2, HelpURL: "https://support.datacite.org/docs", MaxOutage: time.Minute,
		MaxProcessing: 1,
	})
	require.NoError(t, err)
	assert.Len(t, receipt.Subsets, 3)
	got := must(all.anyone.Get(ctx, receipt.ReportID))(t)
	assert.Equal(t, r.Datasets, got.Datasets)
}

func TestCassettesHoldNoSecrets(t *testing.T) {
	files := must(filepath.Glob("../../testdata/cassettes/*.yaml"))(t)
	require.NotEmpty(t, files)
	secret := regexp.MustCompile(`(?i)(basic|bearer) (\S+)|eyJ[A-Za-z0-9_-]{10,}|` +
		regexp.QuoteMeta(datacitetest.Password))
	for _, file := range files {
		data := must(os.ReadFile(file))(t)
		for _, found := range secret.FindAllString(string(data), -1) {
			assert.Regexp(t, `^(Basic|Bearer) REDACTED$`, found, file)
		}
		for _, header := range []string{"User-Agent", "X-Request-Id", "X-Credential-Username", "Set-Cookie"} {
			assert.NotContains(t, string(data), header, file)
		}
		for _, env := range []string{"DATACITE_USERNAME", "DATACITE_PASSWORD", "DATACITE_TOKEN"} {
			if value := cmp.Or(os.Getenv(env), "\x00"); strings.Contains(string(data), value) {
				t.Errorf("%s holds the value of %s", file, env)
			}
		}
	}
}

// A request that differs from the recording in anything that matters must fail,
// or the cassettes would prove nothing.
func TestCassetteRefusesWhatIsNotOnIt(t *testing.T) {
	if testkit.Recording() {
		t.Skip("cassettes are being recorded")
	}
	const url = "https://mds.test.datacite.org/doi/10.5072/wire-draft"
	for _, tt := range []struct {
		name, method, url, body string
		header                  http.Header
		found                   bool
	}{
		{"the same request", "DELETE", url, "", http.Header{"Authorization": {"Basic whatever"}}, true},
		{"headers without meaning", "DELETE", url, "",
			http.Header{"Authorization": {"Basic whatever"}, "User-Agent": {"x"}, "X-Request-Id": {"y"}}, true},
		{"another method", "GET", url, "", http.Header{"Authorization": {"Basic whatever"}}, false},
		{"another address", "DELETE", url + "?x=1", "", http.Header{"Authorization": {"Basic whatever"}}, false},
		{"a body", "DELETE", url, "x", http.Header{"Authorization": {"Basic whatever"}}, false},
		{"another scheme", "DELETE", url, "", http.Header{"Authorization": {"Bearer whatever"}}, false},
		{"no credentials", "DELETE", url, "", http.Header{}, false},
		{"a content type", "DELETE", url, "",
			http.Header{"Authorization": {"Basic whatever"}, "Content-Type": {"text/plain"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hc := testkit.Cassette(t, "mds", nil, nil)
			req := must(http.NewRequest(tt.method, tt.url, strings.NewReader(tt.body)))(t)
			req.Header = tt.header
			res, err := hc.Do(req)
			if !tt.found {
				require.ErrorContains(t, err, "requested interaction not found")
				return
			}
			require.NoError(t, err)
			defer res.Body.Close()
			must(io.ReadAll(res.Body))(t)
		})
	}
}
