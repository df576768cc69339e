package bench_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A content is what a response is made of: start, then piece after piece, then end. A # in
// a piece is a number that grows. Blanks make up the length between the pieces and end.
type content struct{ name, start, piece, end string }

// body is a response of size bytes.
func (c content) body(size int64) io.Reader {
	return &contentReader{content: c, left: size, rest: []byte(c.start)}
}

type contentReader struct {
	content
	left   int64  // bytes that are still to be read
	rest   []byte // that come next
	number int
	block  []byte // of pieces without a number
	ended  bool
}

func (r *contentReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.left > 0 {
		r.next()
	}
	n := copy(p[:min(int64(len(p)), r.left)], r.rest)
	r.rest, r.left = r.rest[n:], r.left-int64(n)
	if n == 0 && r.left == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// next makes the bytes that come next.
func (r *contentReader) next() {
	room := r.left - int64(len(r.end))
	switch {
	case room <= 0 || r.ended:
		r.rest, r.ended = []byte(r.end), true
	case len(r.piece) == 0:
		r.rest = blanks(room)
	case !strings.Contains(r.piece, "#"):
		if r.block == nil {
			r.block = bytes.Repeat([]byte(r.piece), 64<<10/len(r.piece)+1)
		}
		fit := min(room/int64(len(r.piece))*int64(len(r.piece)), int64(len(r.block)))
		if r.rest = r.block[:fit]; fit == 0 {
			r.rest = blanks(room)
		}
	default:
		r.block = r.block[:0]
		for len(r.block) < 32<<10 {
			before := len(r.block)
			for i, part := range strings.Split(r.piece, "#") {
				if i > 0 {
					r.block = strconv.AppendInt(r.block, int64(r.number), 10)
				}
				r.block = append(r.block, part...)
			}
			if int64(len(r.block)) > room {
				r.block = r.block[:before]
				break
			}
			r.number++
		}
		if r.rest = r.block; len(r.block) == 0 {
			r.rest = blanks(room)
		}
	}
}

func blanks(n int64) []byte { return bytes.Repeat([]byte(" "), int(min(n, 64<<10))) }

// The first one of all contents of a response costs nothing to keep: whatever its length is, the
// response is read up to the limit.

// aPage is what gateways send.
var aPage = content{"a page", `<html><title>`, `%25`, ``}

// members are the contents of JSON whose object goes on behind start, and ends with end.
func members(start, end string, more ...content) []content {
	all := []content{
		{"blanks", "", " ", start + `"x":1` + end},
		aPage,
		{"blanks inside", start + `"x":`, " ", `1` + end},
		{"one text", start + `"x":"`, strings.Repeat("a", 64), `"` + end},
		{"members", start, `"x#":1,`, `"x":1` + end},
		{"lists", start + `"x":[`, `[],`, `[]]` + end},
		{"depth", start + `"x":`, `[`, ``},
		{"escapes", start + `"x":"`, `\u0026`, `"` + end},
	}
	for _, c := range more {
		all = append(all, content{c.name, start + c.start, c.piece, c.end + end})
	}
	return all
}

// recordMembers are those of a DOI record that are read.
var recordMembers = []content{
	{"creators", `"creators":[{}`, `,{}`, `]`},
	{"affiliations", `"creators":[{"affiliation":[""`, `,""`, `]}]`},
	{"polygons", `"geoLocations":[{"geoLocationPolygon":[[]`, `,[]`, `]}]`},
	{"points", `"geoLocations":[{"geoLocationPolygon":[{"polygonPoint":{}}`, `,{"polygonPoint":{}}`, `]}]`},
	{"sizes", `"sizes":[""`, `,""`, `]`},
	{"related items", `"relatedItems":[{}`, `,{}`, `]`},
	{"references", `"references":[""`, `,""`, `]`},
	{"a state", `"state":"`, `%25`, `"`},
	{"a URL", `"url":"`, `\u0026`, `"`},
	{"XML", `"xml":"`, base64.StdEncoding.EncodeToString([]byte("<a/>&amp;%25")), `"`},
}

const aRecord = `{"data":{"id":"10.5072/a","type":"dois","attributes":{"doi":"10.5072/a","state":"findable",` +
	`"url":"https://example.org/"`

var (
	oneRecord = append(members(aRecord+`,`, `}}}`, recordMembers...),
		content{"included", aRecord + `}},"included":[{}`, `,{}`, `]}`})
	records = append(members(`{"data":[{"id":"10.5072/a","attributes":{"doi":"10.5072/a",`, `}}],"meta":{"total":1}}`,
		recordMembers...),
		content{"records", `{"data":[{"id":"a","attributes":{}}`, `,{"id":"#","attributes":{}}`, `]}`},
		content{"long records", `{"data":[{"id":"a","attributes":{}}`,
			`,{"id":"#","attributes":{"url":"` + strings.Repeat("u", 1<<20) + `"}}`, `]}`},
		content{"facets", `{"data":[],"meta":{"a":[{}`, `,{}`, `]}}`},
		content{"meta", `{"data":[],"meta":{"a":1`, `,"x#":1`, `}}`},
		content{"a cursor", `{"data":[],"links":{"next":"https://x.org/?page[cursor]=`, `%25`, `"}}`})
	reportList = append(members(`{"reports":[],"meta":{"total":0},`, `}`),
		content{"reports", `{"reports":[{}`, `,{"id":"#"}`, `]}`},
		content{"exceptions", `{"reports":[{"report-header":{"exceptions":[{}`, `,{}`, `]}}]}`},
		content{"a creator", `{"reports":[{"id":"` + reportID + `","report-header":{"created-by":"`, `%25`, `"}}]}`})
)

const (
	aReport  = `{"report":{"id":"` + reportID + `","report-header":{"created-by":"Example","exceptions":[{"code":69}]},`
	datasets = `"report-datasets":[{"dataset-id":[{"type":"doi","value":"10.5072/a"}]}]`
)

// storedReports are contents of a report, one of which has a subset as given.
func storedReports(subset string) []content {
	return append(members(aReport+datasets+`,`, `}}`,
		content{"datasets", `"report-datasets":[{}`, `,{}`, `]`},
		content{"performances", `"report-datasets":[{"performance":[{}`, `,{}`, `]}]`},
		content{"filters", `"report-header":{"report-filters":[{}`, `,{}`, `]}`},
		content{"a creator", `"report-header":{"created-by":"`, `%25`, `"}`},
	),
		content{"subsets", aReport + `"report-subsets":[{}`, `,{"gzip":""}`, `]}}`},
		content{"checksums", aReport + `"report-subsets":[{}`, `,{"checksum":"` + strings.Repeat("c", 1<<20) + `"}`, `]}}`},
		content{"data", aReport + `"report-subsets":[{"gzip":"`, `QUFB`, `"}]}}`},
		content{"small subsets", aReport + `"report-subsets":[{}`,
			`,` + strings.Replace(compressedPart(content{"", `{"report-datasets":[{}`, ``, `]}`}, 0), `"checksum":"a",`, "",
				1), `]}}`},
		content{"a subset that inflates", aReport + `"report-subsets":[` + subset, `,{}`, `]}}`},
	)
}

const anElement = `<resource xmlns="http://datacite.org/schema/kernel-4"><identifier ` +
	`identifierType="DOI">10.5072/a</identifier>`

// documents are metadata in XML.
var documents = []content{
	{"blanks", anElement + `<a`, ` `, `/></resource>`},
	aPage,
	{"one text", anElement, strings.Repeat("a", 64), `</resource>`},
	{"elements", anElement, `<a/>`, `</resource>`},
	{"other elements", anElement, `<a#/>`, `</resource>`},
	{"texts", anElement, `<a>b</a>`, `</resource>`},
	{"depth", anElement, `<a>`, ``},
	{"attributes", anElement + `<a`, ` a#=""`, `/></resource>`},
	{"elements with attributes", anElement, `<a b="" c=""/>`, `</resource>`},
	{"namespaces", anElement + `<a`, ` xmlns:a#="a"`, `/></resource>`},
	{"one attribute", anElement + `<a b="`, `%25`, `"/></resource>`},
	{"references", anElement, `&amp;`, `</resource>`},
	{"escapes", anElement, `%25`, `</resource>`},
	{"comments", anElement, `<!---->`, `</resource>`},
	{"CDATA", anElement, `<![CDATA[<b>]]>`, `</resource>`},
	{"instructions", anElement, `<?a?>`, `</resource>`},
	{"tags as text", anElement, `<b>`, `</resource>`},
	{"lost characters", anElement, `??`, `</resource>`},
	{"elements with lost characters", anElement, `<a>??</a>`, `</resource>`},
	{"a long name", `<resource xmlns="http://datacite.org/schema/kernel-4"><a` + strings.Repeat("a", 64<<10) + `>`, `<a/>`,
		``},
	{"open", anElement, `<`, ``},
}

// costly are those of the documents that take most memory or time.
var costly = slices.DeleteFunc(slices.Clone(documents), func(c content) bool {
	return !slices.Contains([]string{"blanks", "one text", "elements", "elements with lost characters"}, c.name)
})

// texts are contents of a response in plain text.
func texts(start string) []content {
	return []content{
		{"blanks", start, " ", ""},
		aPage,
		{"one text", start, strings.Repeat("a", 64), ""},
		{"lines", start, "a\n", ""},
		{"escapes", start, "%25", ""},
		{"more escapes", start, `\u0026`, ""},
		{"references", start, "&amp;", ""},
		{"lost characters", start, "??", ""},
		{"logins", start, "://a:b@", ""},
		{"brackets", start, "(10.5072/", ")"},
	}
}

// refusals are contents of a response that is an error.
var refusals = append(members(`{"errors":[{"title":"a",`, `}]}`,
	content{"titles", `"title":"`, `%25`, `"`},
	content{"sources", `"source":"`, `\u0026`, `"`},
),
	content{"errors", `{"errors":["a"`, `,"a"`, `]}`},
	content{"objects", `{"errors":[{"title":"a"}`, `,{"title":"a","source":"b"}`, `]}`},
	content{"fields", `{"a":["b"]`, `,"x#":["a"]`, `}`},
	content{"depth of fields", `{"a":`, `{"a":`, ``},
	content{"a text", ``, `aaaa`, ``},
	content{"no text", ``, ` `, ``},
	content{"escapes in a text", ``, `%25`, ``},
	content{"references in a text", ``, `&amp;`, ``},
	content{"semicolons", ``, `;`, ``},
	content{"slashes", ``, `\`, ``},
	content{"logins", ``, `://a:b@`, ``},
	content{"half logins", ``, `://a`, ``},
	content{"not text", ``, "\xff", ``},
	content{"a page", `<html><title>`, `%25`, `</title></html>`},
	content{"tags", `<html>`, `<h1>`, ``},
	content{"titles without end", `<html>`, `<title`, ``},
)
