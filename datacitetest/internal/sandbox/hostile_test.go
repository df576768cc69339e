//go:build !race

// What is measured here says nothing with the race detector, which needs memory of
// its own, and minutes for what is inflated.

package sandbox_test

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

var inflated = flag.Int("hostile", 1,
	"MiB of hostile requests as the service reads them, which of those that are not compressed are some 9 or 19 at most")

// fill repeats a text up to a size.
func fill(size int, text string) string { return strings.Repeat(text, size/len(text)) }

// most repeats a text as often as the service takes it in the body of a report or
// of another request; a tenth of that, if not at length.
func most(limit int, text string) string {
	if *inflated < 9 {
		limit /= 10
	}
	return strings.Repeat(text, (limit-200)/max(sandbox.Pieces(text), 1))
}

// bomb is gzip of the text repeated to so many MiB, and of what stands around it. Its
// checksum is wrong, which shows at the end only.
func bomb(before, text string, size int, after string) string {
	deflated := func(plain string, last bool) string {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.DefaultCompression)
		io.WriteString(w, plain)
		if last {
			w.Close()
		} else {
			w.Flush()
		}
		return out.String()
	}
	block := deflated(fill(mib, cmp.Or(text, " ")), false) // refers to nothing before it
	return "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + deflated(before, false) + strings.Repeat(block,
		size) + deflated(after, true) + strings.Repeat("\x00", 8)
}

func inDOI(attributes string) string {
	return `{"data":{"type":"dois","attributes":{"doi":"10.5072/x",` + attributes + `}}}`
}

const (
	mib        = 1 << 20
	hostileTop = `{"report-header":{"report-name":"x","report-id":"DSR","release":"rd1","created":"2020-02-01",` +
		`"created-by":"x",` +
		`"reporting-period":{"begin-date":"2020-01-01","end-date":"2020-01-31"}`
)

// hostile are requests that ask for much more memory than they take to send.
func hostile() map[string]call {
	zipped := map[string]string{"Content-Type": "application/gzip", "Content-Encoding": "gzip"}
	plain := map[string]string{"Content-Type": "application/json"}
	jsonAPI := map[string]string{"Content-Type": "application/vnd.api+json"}
	jsonAPIZipped := map[string]string{"Content-Type": "application/vnd.api+json", "Content-Encoding": "gzip"}
	long, longer := min(*inflated, 9)*mib, min(*inflated, 19)*mib
	const maxPieces, values = sandbox.MaxPieces, sandbox.MaxValues
	report := func(header map[string]string, body string) call {
		return call{method: "POST", path: "/reports", header: header, body: body, as: "token"}
	}
	dois := func(header map[string]string, body string) call {
		return call{method: "POST", path: "/dois", header: header, body: body, as: "repo"}
	}
	list := func(body string) call { return call{method: "GET", path: "/dois", header: plain, body: body} }
	store := func(kind, body string) call {
		return call{method: "PUT", path: "/metadata/10.5072/x", header: map[string]string{"Content-Type": kind}, body: body,
			as: "repo"}
	}
	xml := func(body string) call { return store("application/xml;charset=UTF-8", body) }
	names := strings.Builder{}
	for i := range 50_000 {
		fmt.Fprintf(&names, `"a%d":0,`, i)
	}
	return map[string]call{
		"a body without end":   report(plain, fill(64*mib, " ")),
		"a record without end": xml(fill(64*mib, " ")),
		"gzip of one text":     report(zipped, bomb(`{"report-header":{"report-name":"`, "a", 1500, `"}}`)),
		"gzip of one number":   report(zipped, bomb(`{"report-header":`, "1", 1500, `}`)),
		"gzip of blanks":       report(zipped, bomb("", " ", 300, hostileTop+`},"report-datasets":[]}`)),
		"gzip of a header": report(zipped,
			bomb(hostileTop+`,"report-filters":["x"`, `,"x"`, 400, `]},"report-datasets":[]}`)),
		"header of objects": report(plain,
			hostileTop+`,"report-filters":[{"name":"","value":""}`+fill(longer,
				`,{"name":"","value":""}`)+`]},"report-datasets":[]}`),
		"datasets of what is known": report(plain, hostileTop+`},"report-datasets":[{}`+fill(longer, `,{"yop":""}`)+`]}`),
		"most datasets":             report(plain, hostileTop+`},"report-datasets":[{}`+most(values, `,{"yop":0}`)+`]}`),
		"most filters, gzip": report(zipped,
			bomb(hostileTop+`,"exceptions":[{"code":69}`+most(values, `,{"code":1}`)+`]},"report-datasets":[]}`, "", 0, "")),
		"gzip of what counts": report(zipped,
			bomb(hostileTop+`,"exceptions":[{"code":69}]},"report-datasets":[{}`, `,`+used("10.5072/a", viewed(1)), *inflated,
				"]}")),
		"gzip of one dataset": report(zipped,
			bomb(hostileTop+`,"exceptions":[{"code":69}]},"report-datasets":[{"a":[{}`, `,{}`, *inflated, "]}]}")),
		"gzip of a DOI":         dois(jsonAPIZipped, bomb(`{"data":{"x":"`, "a", 1500, `"}}`)),
		"attributes of objects": dois(jsonAPI, inDOI(`"creators":[0`+fill(long, `,{"":0}`)+`]`)),
		"most creators":         dois(jsonAPI, inDOI(`"creators":[{"name":""}`+most(maxPieces, `,{"name":""}`)+`]`)),
		"attributes of lists":   dois(jsonAPI, inDOI(`"creators":[0`+fill(long, `,[]`)+`]`)),
		"record in base64": dois(jsonAPI,
			inDOI(`"xml":"`+base64.StdEncoding.EncodeToString([]byte(kernel(fill(6*mib, "<a/>"))))+`"`)),
		"parameters nested":        list(fill(60_000, `{"aaa":`) + `{` + names.String() + `"b":0}` + fill(60_000/7, "}")),
		"parameters with one name": list(`{"` + fill(4*mib, "a") + `":{` + names.String() + `"b":0}}`),
		"query of words":           list(`{"query":"` + fill(long, "a ") + `"}`),
		"elements":                 xml(kernel(fill(long, "<a/>"))),
		"elements with text":       xml(kernel(fill(long, "<a>x</a>"))),
		"most elements":            xml(record("<subjects>" + most(maxPieces, "<subject/>") + "</subjects>")),
		"most escapes": xml(record("<descriptions><description descriptionType='Abstract'>" + most(maxPieces,
			">") + "</description></descriptions>")),
		"creators":             xml(kernel("<creators>" + fill(long, "<creator/>") + "</creators>")),
		"attributes":           xml(kernel("<a " + fill(long, `b="" `) + "/>")),
		"elements in elements": xml(kernel(fill(600_000, "<a>x"))),
		"deep text":            xml(kernel(fill(750, "<a>") + fill(3*mib, "x") + fill(1000, "</a>"))),
		"text to escape":       xml(kernel("<titles><title>" + fill(long, ">") + "</title></titles>")),
		"values to escape":     xml(kernel("<titles><title a='" + fill(long, `"`) + "'/></titles>")),
		"RIS": store("application/x-research-info-systems",
			"TY  - DATA\nDO  - 10.5072/x\n"+fill(long, "AU  - a\n")),
		"BibTeX": store("application/x-bibtex", "@book{key,\n doi={10.5072/x},\n author={a"+fill(long, " and a")+"}}"),
		"Citeproc": store("application/vnd.citationstyles.csl+json",
			`{"DOI":"10.5072/x","issued":{"date-parts":[[2020]]},"author":[{}`+fill(long, ",{}")+`]}`),
		"Crossref": store("application/xml;charset=UTF-8",
			`<doi_records><doi_record><crossref>`+fill(long, "<title/>")+`</crossref></doi_record></doi_records>`),
		"lines": {method: "PUT", path: "/doi/10.5072/x", header: textType, body: fill(long, "a\n"), as: "repo"},
	}
}

// within are the requests that are not over a limit, or not with both behaviours.
var within = []string{"creators", "datasets of what is known", "deep text", "gzip of one dataset", "gzip of what counts",
	"most creators", "most datasets", "most elements", "most escapes", "most filters, gzip", "parameters nested",
	"parameters with one name", "query of words"}

// No request takes more than 300 MiB, whatever is in it.
func TestHostileRequests(t *testing.T) {
	requests := hostile()
	for i, name := range slices.Sorted(maps.Keys(requests)) {
		for k, behaviour := range []sandbox.Behaviour{sandbox.Documented, sandbox.Deployed} {
			if *inflated < 9 && k != i%2 {
				continue // both read requests with the same code: at length, each gets all
			}
			t.Run(string(behaviour)+"/"+name, func(t *testing.T) {
				service := []func() *sandbox.Service{newService, deployed}[k]()
				taken := peak(func() {
					a := requests[name].do(t, service)
					if !slices.Contains(within, name) {
						assert.Equal(t, 413, a.status)
					}
					service.ProcessUsage()
				})
				t.Logf("%d MiB", taken/mib)
				assert.Less(t, taken, uint64(300*mib))
			})
		}
	}
}

// A list of large records is too much for one answer, and can be read in smaller pages.
func TestListsOfLargeRecords(t *testing.T) {
	service := newService()
	place := fill(9*mib, "x") // of which the index has nothing
	for i := range 8 {
		require.NoError(t, service.PutRecord(fmt.Appendf(nil,
			`{"doi":"10.5072/%d","state":"findable","geoLocations":[{"geoLocationPlace":"%s"}]}`, i, place)))
	}
	taken := peak(func() { assert.Equal(t, 413, call{method: "GET", path: "/dois"}.do(t, service).status) })
	assert.Less(t, taken, uint64(300*mib))
	assert.Equal(t, 200, call{method: "GET", path: "/dois?page[size]=1"}.do(t, service).status)
}

// peak is how much larger the heap is at its largest while something is done.
//
// It gives all of it one processor: on a busy machine the operating system could otherwise
// stop the garbage collector and not the work.
func peak(do func()) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	base, largest := heap(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			largest = max(largest, heap())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	do()
	close(stop)
	<-done
	return max(largest, base) - base
}
