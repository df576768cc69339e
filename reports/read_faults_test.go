package reports_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
)

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
	return `{"report":{` + compressedHeader + `,"report-datasets":[],"report-subsets":[` + strings.Join(subsets, ",") + `]}}`
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
	for _, lost := range []string{`{"gzip":null,"checksum":"` + sum(data) + `"}`, `{"checksum":"` + sum(data) + `"}`, `{"checksum":"` + sum(data) + `","gzip":7}`} {
		titles, err := readAll(strings.NewReader(compressedDocument(part(inner("x")), lost, part(inner("y")))))
		assert.ErrorContains(t, err, "subset 2 has no data under its checksum", lost)
		assert.Equal(t, []string{"x"}, titles, lost)
	}
	for name, members := range map[string]string{
		"legacy, after":  `"gzip":"` + b64(data) + `","checksum":"` + wrong + `"`,
		"legacy, before": `"checksum":"` + wrong + `","gzip":"` + b64(data) + `"`,
	} {
		titles, err := readAll(strings.NewReader(`{"report":{` + compressedHeader + `,"report-datasets":{},` + members + `}}`))
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
		"base64 with line break": subset(b64(data)[:8] + `\n` + b64(data)[8:]),
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
		"blanks in a subset":        {compressedDocument(part(inner("a") + blanks)), limit},
		"datasets in a subset":      {compressedDocument(part(`{"report-datasets":[` + many + `]}`)), limit},
		"over many subsets":         {compressedDocument(strings.Repeat(part(`{"report-datasets":[`+some+`]}`)+",", 3) + part(inner("a"))), limit},
		"doubled JSON":              {compressedDocument(part(`"{\"report-datasets\":[` + blanks + `]}"`)), limit},
		"the response itself":       {`{"report":{` + plainHeader + `,"report-datasets":[` + many + `]}}`, limit},
		"a text of 20 MiB":          {compressedDocument(part(`{"report-datasets":[{"dataset-title":"` + strings.Repeat("x", 20<<20) + `"}]}`)), 0},
		"a dataset of 24 MiB":       {compressedDocument(part(`{"report-datasets":[{"performance":[` + list + `]}]}`)), 0},
		"a dataset of 24 MiB shown": {`{"report":{` + plainHeader + `,"report-datasets":[{"performance":[` + list + `]}]}}`, 0},
		"a header of 24 MiB":        {`{"report":{"report-header":{"report-filters":[` + list + `]},"report-datasets":[]}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := inMemory(t, tt.document, &datacite.Config{MaxReport: tt.limit})
			_, err := c.Get(t.Context(), id)
			assert.ErrorIs(t, err, datacite.ErrTooLarge)
		})
	}
	c := inMemory(t, `{"report":{`+plainHeader+`,"report-datasets":[`+many+`]}}`, &datacite.Config{MaxBody: limit})
	_, err := c.Get(t.Context(), id)
	require.ErrorIs(t, err, datacite.ErrTooLarge, "MaxBody is for what is held in memory")
	require.ErrorContains(t, err, "Client.Open")
	r, err := c.Open(t.Context(), id)
	require.NoError(t, err)
	n := 0
	for _, err := range r.All() {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, limit/4+1, n)
}

// inMemory is a client whose service responds with a document, without a network.
func inMemory(t *testing.T, document string, opts *datacite.Config) *reports.Client {
	t.Helper()
	return respondingWith(t, opts, func(context.Context) io.ReadCloser { return io.NopCloser(strings.NewReader(document)) })
}

func respondingWith(t *testing.T, opts *datacite.Config, body func(context.Context) io.ReadCloser) *reports.Client {
	t.Helper()
	if opts == nil {
		opts = &datacite.Config{}
	}
	opts.Service.API, opts.MaxAttempts = "http://localhost", 1
	opts.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: body(r.Context()), Request: r}, nil
	})}
	c, err := reports.NewClient(*opts)
	require.NoError(t, err)
	return c
}

// Whoever has seen enough leaves nothing behind: no goroutine, no open body, also
// when the service is in the middle of a subset and sends nothing more.
func TestLeavingEarly(t *testing.T) {
	document := compressedDocument(part(inner(strings.Repeat("title ", 200_000))))
	for name, leave := range map[string]func(*testing.T, *reports.Reader){
		"without reading": func(*testing.T, *reports.Reader) {},
		"after one": func(t *testing.T, r *reports.Reader) {
			for _, err := range r.All() {
				require.NoError(t, err)
				break
			}
		},
		"by a panic": func(t *testing.T, r *reports.Reader) {
			defer func() { assert.Equal(t, "enough", recover()) }()
			for range r.Scan() {
				panic("enough")
			}
		},
		"when the line goes dead": func(t *testing.T, r *reports.Reader) {
			assert.ErrorContains(t, lastError(r.All()), "no response: nothing sent or received")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var body *stalling
				c := respondingWith(t, &datacite.Config{}, func(ctx context.Context) io.ReadCloser {
					body = &stalling{Reader: strings.NewReader(document[:len(document)-1000]), ctx: ctx, closed: make(chan struct{})}
					return body
				})
				r, err := c.Open(t.Context(), id)
				require.NoError(t, err)
				leave(t, r)
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

func TestReadingStopsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := respondingWith(t, &datacite.Config{}, func(ctx context.Context) io.ReadCloser {
			document := compressedDocument(part(inner("a b c")))
			return &stalling{Reader: strings.NewReader(document[:len(document)-10]), ctx: ctx, closed: make(chan struct{})}
		})
		r, err := c.Open(ctx, id)
		require.NoError(t, err)
		go func() {
			synctest.Wait()
			cancel()
		}()
		var titles []string
		var last error
		for d, err := range r.All() {
			if last = err; err == nil {
				titles = append(titles, d.Title)
			}
		}
		require.ErrorIs(t, last, context.Canceled)
		assert.Equal(t, []string{"a", "b"}, titles, "the last one waits for the checksum")
		require.NoError(t, r.Close())
	})
}
