package bench_test

import (
	"bytes"
	"encoding/base64"
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
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A pager is a service with a number of pages of the same records under other names. What it sends is rendered
// beforehand, but for the digits of the names and the end, so that its work does not count.
type pager struct {
	page  []byte // up to the end of the list
	names []int  // places of the digits in page
	pages int
}

// nameOf is the name of a record on a page, from 1.
func nameOf(page int, name string) string {
	return strings.Replace(name, "10.5072/r", fmt.Sprintf("10.5072/p%03dr", page), 1)
}

// pagerOf serves the records of a page with XML of their own, if isMarkup with titles that the JSON shows as HTML.
// It returns what is desired, too.
func pagerOf(b *testing.B, isMarkup bool) (*pager, []reconcile.Desired) {
	page := pageOfRecords(true)
	if isMarkup {
		page = bytes.ReplaceAll(page, []byte(`"title":"Ice core`), []byte(`"title":"Ice &amp; core`))
	}
	desired, next := desiredOf(b, page), 0
	page = regexp.MustCompile(`"xml":"[^"]*"`).ReplaceAllFunc(page, func([]byte) []byte {
		xml, err := desired[next].Metadata.XML()
		require.NoError(b, err)
		next++
		return fmt.Appendf(nil, `"xml":"%s"`, base64.StdEncoding.EncodeToString(xml))
	})
	page, _, _ = bytes.Cut(page, []byte(`],"meta":`))
	for _, lead := range []string{`"10.5072/`, `"suffix":"`} {
		page = bytes.ReplaceAll(page, []byte(lead+"r0"), []byte(lead+"p000r0"))
	}
	p := &pager{page: page}
	for _, place := range regexp.MustCompile(`"(?:10\.5072/)?p000r`).FindAllIndex(page, -1) {
		p.names = append(p.names, place[1]-len("000r"))
	}
	return p, desired
}

func (p *pager) RoundTrip(r *http.Request) (*http.Response, error) {
	n, _ := strconv.Atoi(r.URL.Query().Get("page[cursor]"))
	digits, next := fmt.Sprintf("%03d", n), ""
	for _, place := range p.names {
		copy(p.page[place:], digits)
	}
	if n < p.pages {
		next = fmt.Sprintf(`"next":"http://localhost/dois?page[cursor]=%d"`, n+1)
	}
	end := fmt.Sprintf(`],"meta":{"total":%d,"totalPages":%d},"links":{%s}}`, p.pages*pageRecords, p.pages, next)
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(io.MultiReader(bytes.NewReader(p.page), strings.NewReader(end))),
	}, nil
}

// BenchmarkAudit compares records that are as desired, with all details, plain ones and ones with markup, for which the
// stored XML is read. Beside it are what every audit does: reading the list, and reading the XML.
func BenchmarkAudit(b *testing.B) {
	for name, isMarkup := range map[string]bool{"plain": false, "markup": true} {
		service, desired := pagerOf(b, isMarkup)
		cfg := datacite.Config{Service: datacite.Service{API: "http://localhost"},
			HTTPClient: &http.Client{Transport: service}}
		c, err := reconcile.NewClient(cfg)
		require.NoError(b, err)
		list, err := dois.NewClient(cfg)
		require.NoError(b, err)
		for _, n := range []int{2, 4, 8, 16} {
			b.Run(fmt.Sprintf("%s/%d000", name, n), func(b *testing.B) {
				service.pages = n
				perItem(b, n*pageRecords, func() error {
					for d, err := range c.Audit(b.Context(), times(n, desired),
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
		b.Run(name+"/list", func(b *testing.B) {
			perItem(b, service.pages*pageRecords, func() error {
				for _, err := range list.All(b.Context(), &dois.ListOptions{Detail: true, Page: query.Page{Size: pageRecords}}) {
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
		xml, err := desired[0].Metadata.XML()
		require.NoError(b, err)
		b.Run(name+"/XML", func(b *testing.B) {
			perItem(b, pageRecords, func() error {
				for range pageRecords {
					if _, err := metadata.ParseXML(bytes.NewReader(xml)); err != nil {
						return err
					}
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
