package reports_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

func gz(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.Bytes()
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// part is a subset as the service shows it.
func part(text string) string {
	data := gz(text)
	return fmt.Sprintf(`{"gzip":"%s","checksum":"%s"}`, b64(data), sum(data))
}

// titled is a list of datasets that have nothing but a title.
func titled(titles string) string {
	var list []string
	for title := range strings.FieldsSeq(titles) {
		list = append(list, `{"dataset-title":"`+title+`"}`)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func inner(titles string) string {
	return `{"report-header":{"created-by":"Inner"},"report-datasets":` + titled(titles) + `}`
}

const (
	plainHeader      = `"id":"` + id + `","report-header":{"created-by":"Outer","exceptions":[]}`
	compressedHeader = `"id":"` + id + `","report-header":{"created-by":"Outer","exceptions":[{"code":3071},{"code":69}]}`
)

// Where a stored report has its data, and how often they count: once.
func TestEachLayoutOfAStoredReport(t *testing.T) {
	doubled := strconv.Quote(inner("c d"))
	legacy := gz(inner("a b"))
	twice := append(gz(inner("a b")), gz(inner("x y"))...)
	for _, tt := range []struct{ name, document, want string }{
		{"plain, no subsets", `{"report":{` + plainHeader + `,"report-datasets":` + titled("a b") + `}}`, "a b"},
		{"plain, and a subset that the service made", `{"report":{` + plainHeader + `,"report-datasets":` + titled("a b") + `,"report-subsets":[` + part(inner("a b")) + `]}}`, "a b"},
		{"plain, and a subset that a later PUT left stale", `{"report":{` + plainHeader + `,"report-datasets":` + titled("a b c") + `,"report-subsets":[` + part(inner("x")) + `]}}`, "a b c"},
		{"plain, the subset first", `{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a b")) + `],"report-datasets":` + titled("a b") + `}}`, "a b"},
		{"plain, the header last", `{"report":{"report-subsets":[` + part(inner("a b")) + `],"report-datasets":` + titled("a b") + `,` + plainHeader + `}}`, "a b"},
		{"compressed", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a b")) + `,` + part(inner("c")) + `]}}`, "a b c"},
		{"compressed, the subsets first", `{"report":{` + compressedHeader + `,"report-subsets":[` + part(inner("a b")) + `],"report-datasets":[]}}`, "a b"},
		{"compressed, nothing said, the subsets first", `{"report":{"report-subsets":[` + part(inner("a b")) + `],"report-datasets":[],` + plainHeader + `}}`, "a b"},
		{"compressed, no report-datasets", `{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a b")) + `]}}`, "a b"},
		{"compressed, report-datasets null (response to a POST of a resolution report)", `{"report":{` + compressedHeader + `,"report-datasets":null,"report-subsets":[` + part(inner("a b")) + `]}}`, "a b"},
		{"compressed in both members, subsets first", `{"report":{` + compressedHeader + `,"report-subsets":[` + part(inner("a b")) + `],"report-datasets":` + titled("a b") + `}}`, "a b"},
		{"two equal subsets", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a")) + `,` + part(inner("a")) + `]}}`, "a a"},
		{"compressed and empty, subsets not shown", `{"report":{` + compressedHeader + `,"report-datasets":[]}}`, ""},
		{"compressed and empty, no list of subsets", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":null}}`, ""},
		{"empty, and not compressed", `{"report":{` + plainHeader + `,"report-datasets":[],"report-subsets":[]}}`, ""},
		{"compressed, but shown", `{"report":{` + compressedHeader + `,"report-subsets":[],"report-datasets":` + titled("a") + `}}`, "a"},
		{"an empty subset among others", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("")) + `,` + part(inner("a")) + `,` + part(`{"report-header":{}}`) + `]}}`, "a"},
		{"legacy: gzip under report, report-datasets an object", `{"report":{` + compressedHeader + `,"report-datasets":{"empty":"too large"},"gzip":"` + b64(legacy) + `","checksum":"` + sum(legacy) + `"}}`, "a b"},
		{"legacy: gzip under report, first", `{"report":{"checksum":"` + sum(legacy) + `","gzip":"` + b64(legacy) + `","report-datasets":{},` + plainHeader + `}}`, "a b"},
		{"legacy: gzip under report, null", `{"report":{` + plainHeader + `,"report-datasets":` + titled("a") + `,"gzip":null,"checksum":null}}`, "a"},
		{"legacy: report-datasets a list of subsets, JSON in JSON, no id, no checksum", `{"report":{"report-header":{"exceptions":[{"code":69}]},"report-datasets":[` +
			`{"gzip":"` + b64(gz(strconv.Quote(inner("a b")))) + `","checksum":""},{"gzip":"` + b64(gz(doubled)) + `","checksum":""}]}}`, "a b c d"},
		{"a subset with other members first, and null", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[null,{"id":7,"gzip":"` + b64(legacy) + `","checksum":"` + sum(legacy) + `"},{"gzip":null}]}}`, "a b"},
		{"one subset that is no list", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":` + part(inner("a")) + `}}`, "a"},
		{"header with underscores in the subset", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
			part(`{"report-header":{"created_by":"x","reporting_period":{"begin_date":"2018-04-01"},"exceptions":[{"code":69,"help_url":""}]},"report-datasets":`+titled("a")+`}`) + `]}}`, "a"},
		{"the subset wrapped once more", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(`{"report":`+inner("a")+`}`) + `]}}`, "a"},
		{"datasets before the header in the subset", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(`{"report-datasets":`+titled("a b")+`,"report-header":{}}`) + `]}}`, "a b"},
		{"checksum before gzip, in capitals, and more members", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
			`{"id":1,"checksum":"` + strings.ToUpper(sum(legacy)) + `","gzip":"` + b64(legacy) + `"}]}}`, "a b"},
		{"slashes escaped in base64", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + strings.ReplaceAll(part(inner("a b")), "/", `\/`) + `]}}`, "a b"},
		{"only the first gzip member counts, as for the service", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[{"gzip":"` + b64(twice) + `","checksum":"` + sum(twice) + `"}]}}`, "a b"},
		{"not in a member report", `{` + plainHeader + `,"report-datasets":` + titled("a b") + `}`, "a b"},
		{"not in a member report, compressed", `{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a b")) + `]}`, "a b"},
		{"names with underscores and capitals", `{"report":{"ID":"` + id + `","report_header":{"Created_By":"Outer"},"Report-Datasets":` + titled("a") + `}}`, "a"},
		{"response of a subset's own address", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a")) + `],"exceptions":null}}`, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"file":            strings.NewReader(tt.document),
				"compressed file": bytes.NewReader(gz(tt.document)),
				"byte by byte":    &seekable{iotest.OneByteReader(strings.NewReader(tt.document)), tt.document},
			} {
				r, err := reports.NewReader(src)
				require.NoError(t, err, name)
				assert.Equal(t, strings.Fields(tt.want), titles(t, r), name)
			}
			c := responding(t, 200, "application/json", tt.document)
			got, err := c.Get(t.Context(), id)
			require.NoError(t, err)
			assert.Equal(t, id, got.ID)
			var found []string
			for _, d := range got.Datasets {
				found = append(found, d.Title)
			}
			assert.Equal(t, strings.Fields(tt.want), append([]string{}, found...))
			assert.NotEqual(t, "Inner", got.Header.CreatedBy, "the header of a subset does not count")
		})
	}
}

// A PUT that was refused for its header leaves a compressed report without subsets:
// its data are gone, and it is not a report of no datasets.
func TestDataThatARefusedPUTDropped(t *testing.T) {
	for _, members := range [][3]string{
		{compressedHeader, `"report-datasets":[]`, `"report-subsets":[]`},
		{compressedHeader, `"report-subsets":[]`, `"report-datasets":[]`},
		{`"report-subsets":[]`, `"report-datasets":[]`, compressedHeader},
		{`"report-datasets":[]`, `"report-subsets":[]`, compressedHeader},
		{compressedHeader, `"report-subsets":[]`, `"report-datasets":null`},
	} {
		document := `{"report":{` + strings.Join(members[:], ",") + `}}`
		c := responding(t, 200, "application/json", document)
		_, got := c.Get(t.Context(), id)
		opened, err := c.Open(t.Context(), id)
		require.NoError(t, err)
		defer opened.Close()
		file, err := reports.NewReader(strings.NewReader(document))
		require.NoError(t, err)
		_, source, err := reports.ReadFile(strings.NewReader(document))
		require.NoError(t, err)
		for name, err := range map[string]error{"Get": got, "Open": lastError(opened.All()), "NewReader": lastError(file.Scan()), "ReadFile": lastError(source)} {
			require.ErrorIs(t, err, datacite.ErrIncomplete, "%s of %s", name, document)
			assert.ErrorContains(t, err, "report-subsets is empty")
		}
	}
}

// lastError is what a sequence ends with.
func lastError[T any](seq iter.Seq2[T, error]) (last error) {
	for _, err := range seq {
		last = err
	}
	return last
}

// titles reads a report to its end.
func titles(t *testing.T, r *reports.Reader) []string {
	t.Helper()
	list := []string{}
	for d, err := range r.Scan() {
		require.NoError(t, err)
		list = append(list, d.Title)
	}
	return list
}

// seekable reads text byte by byte, from its start when it is asked to.
type seekable struct {
	io.Reader
	text string
}

func (s *seekable) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		s.Reader = iotest.OneByteReader(strings.NewReader(s.text[offset:]))
	}
	return 0, nil
}

// A report whose subsets come before anything that tells whether they count is
// asked for twice, at the most.
func TestSubsetsFirstCostASecondRequest(t *testing.T) {
	for name, tt := range map[string]struct {
		document string
		requests int
	}{
		"usual order":         {`{"report":{` + plainHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a")) + `]}}`, 1},
		"first, header tells": {`{"report":{` + compressedHeader + `,"report-subsets":[` + part(inner("a")) + `],"report-datasets":[]}}`, 1},
		"first, data shown":   {`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a")) + `],"report-datasets":` + titled("a") + `}}`, 1},
		"first":               {`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a")) + `],"report-datasets":[]}}`, 2},
	} {
		requests := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, tt.document)
		}))
		c, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}})
		require.NoError(t, err)
		r, err := c.Open(t.Context(), id)
		require.NoError(t, err, name)
		assert.Equal(t, []string{"a"}, titles(t, r), name)
		assert.Equal(t, "Outer", r.Header.CreatedBy, name)
		require.NoError(t, r.Close())
		assert.Equal(t, tt.requests, requests, name)
		srv.Close()
	}
	_, err := reports.NewReader(struct{ io.Reader }{strings.NewReader(`{"report":{"report-subsets":[]}}`)})
	require.NoError(t, err)
	r, err := reports.NewReader(struct{ io.Reader }{strings.NewReader(`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a")) + `],"report-datasets":[]}}`)})
	require.NoError(t, err)
	assert.ErrorContains(t, lastError(r.All()), "not an io.Seeker", "a pipe cannot be read twice")
}

func TestReaderTellsTheSubsets(t *testing.T) {
	first, second := gz(inner("a b")), gz(inner("c"))
	c := responding(t, 200, "application/json", `{"report":{`+compressedHeader+`,"report-datasets":[],"report-subsets":[`+part(inner("a b"))+`,`+part(inner("c"))+`]}}`)
	r, err := c.Open(t.Context(), id)
	require.NoError(t, err)
	defer r.Close()
	assert.Equal(t, "Outer", r.Header.CreatedBy, "known before the datasets are read")
	assert.Len(t, titles(t, r), 3)
	assert.Equal(t, []reports.Subset{
		{Checksum: sum(first), Datasets: 2, Bytes: int64(len(first))},
		{Checksum: sum(second), Datasets: 1, Bytes: int64(len(second))},
	}, r.Subsets)
}
