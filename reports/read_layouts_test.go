package reports_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

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
		{"plain, and a subset that the service made",
			`{"report":{` + plainHeader + `,"report-datasets":` + titled("a b") + `,"report-subsets":[` + part(inner("a b")) +
				`]}}`, "a b"},
		{"plain, and a subset that a later PUT left stale",
			`{"report":{` + plainHeader + `,"report-datasets":` + titled("a b c") + `,"report-subsets":[` + part(inner("x")) +
				`]}}`, "a b c"},
		{"plain, the subset first", `{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a b")) +
			`],"report-datasets":` + titled("a b") + `}}`, "a b"},
		{"plain, the header last", `{"report":{"report-subsets":[` + part(inner("a b")) + `],"report-datasets":` +
			titled("a b") + `,` + plainHeader + `}}`, "a b"},
		{"compressed", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a b")) +
			`,` + part(inner("c")) + `]}}`, "a b c"},
		{"compressed, the subsets first",
			`{"report":{` + compressedHeader + `,"report-subsets":[` + part(inner("a b")) + `],"report-datasets":[]}}`, "a b"},
		{"compressed, nothing said, the subsets first",
			`{"report":{"report-subsets":[` + part(inner("a b")) + `],"report-datasets":[],` + plainHeader + `}}`, "a b"},
		{"compressed, no report-datasets", `{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a b")) + `]}}`,
			"a b"},
		{"compressed, report-datasets null (response to a POST of a resolution report)",
			`{"report":{` + compressedHeader + `,"report-datasets":null,"report-subsets":[` + part(inner("a b")) + `]}}`, "a b"},
		{"compressed in both members, subsets first",
			`{"report":{` + compressedHeader + `,"report-subsets":[` + part(inner("a b")) + `],"report-datasets":` +
				titled("a b") + `}}`, "a b"},
		{"two equal subsets", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
			part(inner("a")) + `,` + part(inner("a")) + `]}}`, "a a"},
		{"compressed and empty, subsets not shown", `{"report":{` + compressedHeader + `,"report-datasets":[]}}`, ""},
		{"compressed and empty, no list of subsets",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":null}}`, ""},
		{"empty, and not compressed", `{"report":{` + plainHeader + `,"report-datasets":[],"report-subsets":[]}}`, ""},
		{"compressed, but shown", `{"report":{` + compressedHeader + `,"report-subsets":[],"report-datasets":` + titled("a") +
			`}}`, "a"},
		{"an empty subset among others",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("")) + `,` +
				part(inner("a")) + `,` + part(`{"report-header":{}}`) + `]}}`, "a"},
		{"legacy: gzip under report, report-datasets an object",
			`{"report":{` + compressedHeader + `,"report-datasets":{"empty":"too large"},"gzip":"` + b64(legacy) +
				`","checksum":"` + sum(legacy) + `"}}`, "a b"},
		{"legacy: gzip under report, first",
			`{"report":{"checksum":"` + sum(legacy) + `","gzip":"` + b64(legacy) + `","report-datasets":{},` + plainHeader +
				`}}`, "a b"},
		{"legacy: gzip under report that is no text",
			`{"report":{` + compressedHeader + `,"report-datasets":{},"gzip":7,"checksum":null}}`, ""},
		{"a subset with other lists",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
				part(`{"report-subsets":[`+part(inner("x"))+`],"gzip":"x","report-datasets":`+titled("a")+`}`) + `]}}`, "a"},
		{"legacy: gzip under report, null",
			`{"report":{` + plainHeader + `,"report-datasets":` + titled("a") + `,"gzip":null,"checksum":null}}`, "a"},
		{"legacy: report-datasets a list of subsets, JSON in JSON, no id, no checksum",
			`{"report":{"report-header":{"exceptions":[{"code":69}]},"report-datasets":[` +
				`{"gzip":"` + b64(gz(strconv.Quote(inner("a b")))) + `","checksum":""},{"gzip":"` + b64(gz(doubled)) +
				`","checksum":""}]}}`, "a b c d"},
		{"a subset with other members first, and null",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[null,{"id":7,"gzip":"` + b64(legacy) +
				`","checksum":"` + sum(legacy) + `"},{"gzip":null}]}}`, "a b"},
		{"one subset that is no list", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":` +
			part(inner("a")) + `}}`, "a"},
		{"header with underscores in the subset",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
				part(`{"report-header":{"created_by":"x","reporting_period":{"begin_date":"2018-04-01"},"exceptions":[{"code":69,`+
					`"help_url":""}]},"report-datasets":`+titled("a")+`}`) + `]}}`, "a"},
		{"the subset wrapped once more",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(`{"report":`+inner("a")+`}`) +
				`]}}`, "a"},
		{"datasets before the header in the subset",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
				part(`{"report-datasets":`+titled("a b")+`,"report-header":{}}`) + `]}}`, "a b"},
		{"checksum before gzip, in capitals, and more members",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
				`{"id":1,"checksum":"` + strings.ToUpper(sum(legacy)) + `","gzip":"` + b64(legacy) + `"}]}}`, "a b"},
		{"slashes escaped in base64", `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` +
			strings.ReplaceAll(part(inner("a b")), "/", `\/`) + `]}}`, "a b"},
		{"only the first gzip member counts, as for the service",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[{"gzip":"` + b64(twice) +
				`","checksum":"` + sum(twice) + `"}]}}`, "a b"},
		{"not in a member report", `{` + plainHeader + `,"report-datasets":` + titled("a b") + `}`, "a b"},
		{"not in a member report, compressed",
			`{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a b")) + `]}`, "a b"},
		{"names with underscores and capitals",
			`{"report":{"ID":"` + id + `","report_header":{"Created_By":"Outer"},"Report-Datasets":` + titled("a") + `}}`, "a"},
		{"response of a subset's own address",
			`{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a")) +
				`],"exceptions":null}}`, "a"},
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

// The deployed service takes and stores texts with tabs and line breaks that are not escaped.
func TestControlCharactersInStoredTexts(t *testing.T) {
	title := "a\tb\r\nc"
	within := `{"report-header":{"created-by":"In` + title + `"},"report-datasets":[{"dataset-title":"` + title + `","` +
		title + `":"` + title + `"}]}`
	header := strings.Replace(compressedHeader, "Outer", "Outer"+title, 1)
	for _, subset := range []string{within, `"` + strings.ReplaceAll(within, `"`, `\"`) + `"`} {
		got, err := responding(t, 200, "application/json",
			`{"report":{`+header+`,"report-datasets":[],"report-subsets":[`+part(subset)+`]}}`).Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, "Outer"+title, got.Header.CreatedBy)
		assert.Equal(t, []reports.Dataset{{Title: title}}, got.Datasets)
	}
	var file reports.Report
	require.NoError(t, file.UnmarshalJSON([]byte(within)))
	assert.Equal(t, title, file.Datasets[0].Title)
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
		for name, err := range map[string]error{"Get": got, "Open": lastError(opened.All()),
			"NewReader": lastError(file.Scan()), "ReadFile": lastError(source)} {
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
		"usual order": {`{"report":{` + plainHeader + `,"report-datasets":[],"report-subsets":[` + part(inner("a")) +
			`]}}`, 1},
		"first, header tells": {`{"report":{` + compressedHeader + `,"report-subsets":[` + part(inner("a")) +
			`],"report-datasets":[]}}`, 1},
		"first, data shown": {`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a")) +
			`],"report-datasets":` + titled("a") + `}}`, 1},
		"first": {`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a")) + `],"report-datasets":[]}}`, 2},
	} {
		requests := 0
		c := respondingWith(t, &datacite.Config{}, 200, "application/json", func(context.Context) io.ReadCloser {
			requests++
			return io.NopCloser(strings.NewReader(tt.document))
		})
		r, err := c.Open(t.Context(), id)
		require.NoError(t, err, name)
		assert.Equal(t, []string{"a"}, titles(t, r), name)
		assert.Equal(t, "Outer", r.Header.CreatedBy, name)
		require.NoError(t, r.Close())
		assert.Equal(t, tt.requests, requests, name)
	}
	_, err := reports.NewReader(struct{ io.Reader }{strings.NewReader(`{"report":{"report-subsets":[]}}`)})
	require.NoError(t, err)
	r, err := reports.NewReader(struct{ io.Reader }{
		strings.NewReader(`{"report":{` + plainHeader + `,"report-subsets":[` + part(inner("a")) +
			`],"report-datasets":[]}}`)})
	require.NoError(t, err)
	assert.ErrorContains(t, lastError(r.All()), "not an io.Seeker", "a pipe cannot be read twice")
}

func TestReaderListsTheSubsets(t *testing.T) {
	first, second := gz(inner("a b")), gz(inner("c"))
	c := responding(t, 200, "application/json",
		`{"report":{`+compressedHeader+`,"report-datasets":[],"report-subsets":[`+part(inner("a b"))+`,`+part(inner("c"))+
			`]}}`)
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

// readAll returns what was read before the error that ended it.
func readAll(src io.Reader) (titles []string, err error) {
	r, err := reports.NewReader(src)
	if err != nil {
		return nil, err
	}
	for d, err := range r.All() {
		if err != nil {
			return titles, err
		}
		titles = append(titles, d.Title)
	}
	return titles, nil
}

func compressedDocument(subsets ...string) string {
	return `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + strings.Join(subsets,
		",") + `]}}`
}

// A subset that is not what its checksum says is not read to its end, wherever
// the checksum stands.
func TestChecksumsAreProved(t *testing.T) {
	data := gz(inner("a b c"))
	wrong := sum([]byte("something else"))
	for name, document := range map[string]string{
		"after":  compressedDocument(part(inner("x")), `{"gzip":"`+b64(data)+`","checksum":"`+wrong+`"}`),
		"before": compressedDocument(part(inner("x")), `{"checksum":"`+wrong+`","gzip":"`+b64(data)+`"}`),
	} {
		titles, err := readAll(strings.NewReader(document))
		assert.ErrorContains(t, err, "subset 2 has checksum "+sum(data)+", but the service says \""+wrong, name)
		assert.Equal(t, []string{"x", "a", "b"}, titles, "%s: who gets the last dataset has a proved subset", name)
	}
	for _, lost := range []string{`{"gzip":null,"checksum":"` + sum(data) + `"}`, `{"checksum":"` + sum(data) + `"}`,
		`{"checksum":"` + sum(data) + `","gzip":7}`} {
		titles, err := readAll(strings.NewReader(compressedDocument(part(inner("x")), lost, part(inner("y")))))
		assert.ErrorContains(t, err, "subset 2 has no data under its checksum", lost)
		assert.Equal(t, []string{"x"}, titles, lost)
	}
	for name, members := range map[string]string{
		"legacy, after":  `"gzip":"` + b64(data) + `","checksum":"` + wrong + `"`,
		"legacy, before": `"checksum":"` + wrong + `","gzip":"` + b64(data) + `"`,
	} {
		titles, err := readAll(strings.NewReader(`{"report":{` + compressedHeader + `,"report-datasets":{},` + members +
			`}}`))
		assert.ErrorContains(t, err, "subset 1 has checksum", name)
		assert.Equal(t, []string{"a", "b"}, titles, name)
	}
	c := responding(t, 200, "application/json", compressedDocument(`{"gzip":"`+b64(data)+`","checksum":"`+wrong+`"}`))
	_, err := c.Get(t.Context(), id)
	assert.ErrorIs(t, err, datacite.ErrUnreadable)
}

func TestDamagedSubsets(t *testing.T) {
	data := gz(inner("a b"))
	flipped := bytes.Clone(data)
	flipped[len(flipped)-6] ^= 1 // in the gzip trailer
	subset := func(content string) string { return compressedDocument(`{"gzip":"` + content + `","checksum":""}`) }
	for name, document := range map[string]string{
		"no gzip":                subset(b64([]byte("plain text that is longer than a gzip header"))),
		"empty":                  subset(""),
		"gzip cut off":           subset(b64(data[:len(data)-9])),
		"gzip header cut off":    subset(b64(data[:5])),
		"wrong CRC":              subset(b64(flipped)),
		"no base64":              subset("####"),
		"base64 cut off":         subset(strings.TrimRight(b64(data), "=")[:len(b64(data))-3]),
		"more after the padding": subset(b64([]byte("ab"))[:4] + b64(data)),
		"no JSON":                compressedDocument(part(`report`)),
		"JSON cut off":           compressedDocument(part(inner("a b")[:60])),
		"JSON goes on":           compressedDocument(part(inner("a b") + "{}")),
		"a list":                 compressedDocument(part(`[]`)),
		"doubled JSON goes on":   compressedDocument(part(strconv.Quote(inner("a b")) + "1")),
		"a subset in a subset":   compressedDocument(part(compressedDocument(part(inner("a"))))[:40]),
	} {
		_, err := readAll(strings.NewReader(document))
		assert.Error(t, err, name)
	}
	titles, err := readAll(strings.NewReader(subset(b64(data)[:76] + `\r\n` + b64(data)[76:] + `\n`)))
	require.NoError(t, err, "base64 with line breaks")
	assert.Equal(t, []string{"a", "b"}, titles)
	whole := compressedDocument(part(inner("a b")), part(inner("c d")))
	for end := 1; end < len(whole); end += 7 {
		titles, err := readAll(strings.NewReader(whole[:end]))
		require.Error(t, err, "cut off at %d", end)
		assert.Less(t, len(titles), 4)
	}
}

// A report that inflates without end is stopped where the caller said, and
// whatever the size of the response, one dataset must not fill the memory.
func TestReportsThatInflateWithoutEndAreStopped(t *testing.T) {
	const limit = 1 << 20
	blanks := strings.Repeat(" ", 8*limit)
	many := strings.Repeat(`{"yop":"2010"},`, limit/4) + "{}"
	some := strings.Repeat(`{"yop":"2010"},`, limit/30) + "{}"
	list := strings.Repeat("{},", 8<<20) + "{}"
	for name, tt := range map[string]struct {
		document string
		limit    int64
	}{
		"blanks in a subset":   {compressedDocument(part(inner("a") + blanks)), limit},
		"datasets in a subset": {compressedDocument(part(`{"report-datasets":[` + many + `]}`)), limit},
		"over many subsets": {compressedDocument(strings.Repeat(part(`{"report-datasets":[`+some+`]}`)+",",
			3) + part(inner("a"))), limit},
		"doubled JSON":        {compressedDocument(part(`"{\"report-datasets\":[` + blanks + `]}"`)), limit},
		"the response itself": {`{"report":{` + plainHeader + `,"report-datasets":[` + many + `]}}`, limit},
		"a text of 20 MiB": {compressedDocument(part(`{"report-datasets":[{"dataset-title":"` + strings.Repeat("x",
			20<<20) + `"}]}`)), 0},
		"a dataset of 24 MiB": {compressedDocument(part(`{"report-datasets":[{"performance":[` + list + `]}]}`)), 0},
		"a dataset of 24 MiB shown": {`{"report":{` + plainHeader + `,"report-datasets":[{"performance":[` + list + `]}]}}`,
			0},
		"a header of 24 MiB": {`{"report":{"report-header":{"report-filters":[` + list + `]},"report-datasets":[]}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := inMemory(t, tt.document, &datacite.Config{MaxReport: tt.limit})
			_, err := c.Get(t.Context(), id)
			assert.ErrorIs(t, err, datacite.ErrTooLarge)
			r, err := c.Open(t.Context(), id)
			if err == nil {
				err = lastError(r.All())
			}
			assert.ErrorIs(t, err, datacite.ErrTooLarge)
		})
	}
	c := inMemory(t, `{"report":{`+plainHeader+`,"report-datasets":[`+many+`]}}`, &datacite.Config{MaxBody: limit})
	_, err := c.Get(t.Context(), id)
	require.ErrorIs(t, err, datacite.ErrTooLarge, "MaxBody is for what is held in memory")
	require.ErrorContains(t, err, "Client.Open")
	r, err := c.Open(t.Context(), id)
	require.NoError(t, err)
	assert.Len(t, collect(t, r.All()), limit/4+1)
	document := `{"report":{` + plainHeader + `,"report-datasets":[` + some + `]}}`
	for less, want := range []error{nil, datacite.ErrTooLarge} {
		_, err = inMemory(t, document, &datacite.Config{MaxReport: int64(len(document) - less)}).Get(t.Context(), id)
		assert.ErrorIs(t, err, want, "the limit is what may be read")
	}
}

// inMemory is a client whose service responds with a document, without a network.
func inMemory(t *testing.T, document string, opts *datacite.Config) *reports.Client {
	t.Helper()
	return respondingWith(t, opts, 200, "application/json", func(context.Context) io.ReadCloser {
		return io.NopCloser(strings.NewReader(document))
	})
}

func respondingWith(t *testing.T, opts *datacite.Config, status int, contentType string,
	body func(context.Context) io.ReadCloser) *reports.Client {
	t.Helper()
	opts.Service.API, opts.MaxAttempts = "http://localhost", 1
	opts.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: body(r.Context()),
			Request: r}, nil
	})}
	c, err := reports.NewClient(*opts)
	require.NoError(t, err)
	return c
}

// Whoever has seen enough leaves nothing behind: no goroutine, no open body, also
// when the service is in the middle of a subset and sends nothing more.
func TestLeavingEarly(t *testing.T) {
	document := compressedDocument(part(inner(strings.Repeat("title ", 200_000))))
	for name, leave := range map[string]func(t *testing.T, r *reports.Reader, cancel func()){
		"without reading": func(*testing.T, *reports.Reader, func()) {},
		"after one": func(t *testing.T, r *reports.Reader, _ func()) {
			for _, err := range r.All() {
				require.NoError(t, err)
				break
			}
		},
		"by a panic": func(t *testing.T, r *reports.Reader, _ func()) {
			defer func() { assert.Equal(t, "enough", recover()) }()
			for range r.Scan() {
				panic("enough")
			}
		},
		"when the line goes dead": func(t *testing.T, r *reports.Reader, _ func()) {
			assert.ErrorContains(t, lastError(r.All()), "no response: nothing sent or received")
		},
		"when its context ends": func(t *testing.T, r *reports.Reader, cancel func()) {
			go func() {
				synctest.Wait()
				cancel()
			}()
			require.ErrorIs(t, lastError(r.All()), context.Canceled)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var body *stalling
				c := respondingWith(t, &datacite.Config{}, 200, "application/json", func(ctx context.Context) io.ReadCloser {
					body = &stalling{Reader: strings.NewReader(document[:len(document)-1000]), ctx: ctx, closed: make(chan struct{})}
					return body
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r, err := c.Open(ctx, id)
				require.NoError(t, err)
				leave(t, r, cancel)
				require.NoError(t, r.Close())
				synctest.Wait()
				select {
				case <-body.closed:
				default:
					t.Error("the body is still open")
				}
			})
		})
	}
}

// stalling is a body that ends in silence until it is closed or its request is
// given up.
type stalling struct {
	io.Reader
	ctx    context.Context
	closed chan struct{}
}

func (s *stalling) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	select {
	case <-s.closed:
		return n, io.ErrClosedPipe
	case <-s.ctx.Done():
		return n, context.Cause(s.ctx)
	}
}

func (s *stalling) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return nil
}
