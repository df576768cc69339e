package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/dois/archive"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A pager is a service with a number of pages of the same records under other names.
type pager struct {
	page  []byte
	pages int
}

func nameOf(page int, name string) string {
	return strings.Replace(name, "10.5072/r", fmt.Sprintf("10.5072/p%03dr", page), 1)
}

func (p pager) RoundTrip(r *http.Request) (*http.Response, error) {
	n, _ := strconv.Atoi(r.URL.Query().Get("page[cursor]"))
	body := bytes.ReplaceAll(p.page, []byte("10.5072/r"), []byte(nameOf(n, "10.5072/r")))
	body = bytes.ReplaceAll(body, []byte(`"suffix":"r`), fmt.Appendf(nil, `"suffix":"p%03dr`, n))
	body = bytes.Replace(body, fmt.Appendf(nil, `"total":%d`, pageRecords),
		fmt.Appendf(nil, `"total":%d`, p.pages*pageRecords), 1)
	if n < p.pages {
		body = bytes.Replace(body, []byte(`"links":{`),
			fmt.Appendf(nil, `"links":{"next":"http://localhost/dois?page[cursor]=%d",`, n+1), 1)
	}
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

// BenchmarkAudit compares records that are as desired, with all details.
func BenchmarkAudit(b *testing.B) {
	service := pager{page: pageOfRecords(true)}
	desired := desiredOf(b, service.page)
	for _, n := range []int{2, 4, 8, 16} {
		b.Run(fmt.Sprintf("%d000", n), func(b *testing.B) {
			service.pages = n
			c, err := reconcile.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
				HTTPClient: &http.Client{Transport: service}})
			require.NoError(b, err)
			perItem(b, n*pageRecords, func() error {
				for d, err := range c.Audit(context.Background(), times(n, desired),
					&reconcile.AuditOptions{Prefix: []string{"10.5072"}, TempDir: b.TempDir()}) {
					if err != nil {
						return err
					}
					return fmt.Errorf("%s differs", d)
				}
				return nil
			})
		})
	}
}

// desiredOf is what makes the records of a page right.
func desiredOf(b *testing.B, page []byte) (all []reconcile.Desired) {
	c, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: "http://localhost"},
		HTTPClient: &http.Client{Transport: inMemory(page)}})
	require.NoError(b, err)
	found, err := listPage(c)
	require.NoError(b, err)
	for _, r := range found.Records {
		all = append(all, reconcile.Desired{DOI: r.DOI, URL: r.URL, State: r.State, Metadata: &r.Record})
		r.Record.DOI = "" // it is under other names
	}
	return all
}

// times are the DOIs of n pages.
func times(n int, desired []reconcile.Desired) iter.Seq2[reconcile.Desired, error] {
	return func(yield func(reconcile.Desired, error) bool) {
		for page := range n {
			for _, d := range desired {
				if d.DOI = nameOf(page+1, d.DOI); !yield(d, nil) {
					return
				}
			}
		}
	}
}

// perItem measures work on n items, by the clock and by the processor.
func perItem(b *testing.B, n int, work func() error) {
	b.Helper()
	var clock, processor []float64
	for b.Loop() {
		r := measure(b, func() (int64, error) { return 0, work() })
		clock, processor = append(clock, float64(r.elapsed)/float64(n)), append(processor, float64(r.cpu)/float64(n))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(quantile(clock, 0.5)/float64(time.Microsecond), "µs/item")
	b.ReportMetric(quantile(processor, 0.5)/float64(time.Microsecond), "cpu-µs/item")
}

// BenchmarkArchive reads a data file on one processor.
func BenchmarkArchive(b *testing.B) {
	data := gzipped(b, archiveLines(b))
	perItem(b, archivePages*pageRecords, func() error {
		for _, err := range archive.NewReader(bytes.NewReader(data), nil).All() {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkDiff compares records that are equal, and records of which every text is another one.
func BenchmarkDiff(b *testing.B) {
	wanted := desiredOf(b, pageOfRecords(false))[0].Metadata
	for _, n := range []int{1, 2, 4, 8} {
		long := *wanted
		long.Creators, long.Subjects, long.Dates = slices.Repeat(wanted.Creators,
			n), slices.Repeat(wanted.Subjects, n), slices.Repeat(wanted.Dates, n)
		changed := changedIn(b, long)
		for name, found := range map[string]*metadata.Record{"equal": &long, "changed": changed} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				perItem(b, 1000, func() error {
					for range 1000 {
						metadata.Diff(&long, found)
					}
					return nil
				})
			})
		}
	}
}

// changedIn changes every text of a record.
func changedIn(b *testing.B, r metadata.Record) *metadata.Record {
	text, err := json.Marshal(r)
	require.NoError(b, err)
	text = regexp.MustCompile(`":"([^"\\]*)"`).ReplaceAll(text, []byte(`":"$1 changed"`))
	changed := new(metadata.Record)
	require.NoError(b, json.Unmarshal(text, changed))
	return changed
}
