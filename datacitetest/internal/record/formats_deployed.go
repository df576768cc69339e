package record

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// The deployed store recognises the format of metadata by their bytes, and passes
// them on. The DOI service behind it recognises the format again, by other signs,
// and reads them.

const (
	crosscite    Format = "Crosscite JSON"
	dataciteJSON Format = "DataCite JSON"
	emptyRecord  Format = "" // unknown to the service behind
)

var contentTags = tagEscapes("strong", "em", "b", "i", "code", "pre", "sub", "sup", "br")

// tagEscapes escapes tags, anywhere in a document.
func tagEscapes(names ...string) *strings.Replacer {
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, "<"+name+">", "&lt;"+name+"&gt;", "</"+name+">", "&lt;/"+name+"&gt;")
	}
	return strings.NewReplacer(pairs...)
}

// StoreFormat is the format that the store sees, "" for none, and the body as
// it passes it on: recognising the format has escaped some tags.
func StoreFormat(body []byte) (Format, []byte) {
	text := contentTags.Replace(string(body))
	if wire.IsBlank(text) {
		return Kernel, nil
	}
	if f, ok := recogniseBytes(text, "doi_records/doi_record/crossref", func(object) bool { return true }); ok {
		return f, []byte(text)
	}
	return "", nil
}

// behindFormat is the format that the service behind recognises.
func behindFormat(text string) Format {
	f, _ := recogniseBytes(text, "crossref_result/query_result/body/query/doi_record/crossref", func(o object) bool {
		return isPresent(o["publication_year"])
	})
	return f
}

// recogniseBytes looks for the signs of the formats, in order. crossrefPath is
// where Crossref XML has its record, isCrosscite what that format needs besides
// types.
func recogniseBytes(text, crossrefPath string, isCrosscite func(object) bool) (f Format, ok bool) {
	if hasElements(text, strings.Split(crossrefPath, "/")) {
		return crossref, true
	}
	if recovered(text).namespace() != "" {
		return Kernel, true
	}
	var value any
	if wire.Decode([]byte(text), &value) != nil {
		value = nil
	}
	switch o := value.(type) {
	case object:
		if f := recogniseMembers(o, isCrosscite); f != "" {
			return f, true
		}
	case []any:
		if len(o) > 0 {
			return "", false
		}
	case string, float64, bool:
		return "", false
	}
	if strings.HasPrefix(text, "TY  - ") {
		return ris, true
	}
	_, ok = firstBibTeX(text)
	if !ok {
		return "", false
	}
	return bibtex, true
}

func recogniseMembers(o object, isCrosscite func(object) bool) Format {
	context := wire.String(o["@context"])
	issued, _ := o["issued"].(object)
	switch {
	case strings.HasPrefix(context, "http://schema.org"), strings.HasPrefix(context, "https://schema.org"):
		return schemaOrg
	case context == "https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld":
		return codemeta
	case strings.HasPrefix(wire.String(o["schema-version"]), kernelSpaces):
		return dataciteJSON
	case isPresent(o["types"]) && isCrosscite(o):
		return crosscite
	case isPresent(issued["date-parts"]):
		return citeproc
	}
	return ""
}

// isPresent is the opposite of Ruby's blank?.
func isPresent(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return !wire.IsBlank(v)
	case []any:
		return len(v) > 0
	case object:
		return len(v) > 0
	}
	return true
}

// hasElements says whether a text is well-formed XML with elements of these names,
// each inside the one before, and the last of them not empty.
func hasElements(text string, path []string) bool {
	if !strings.Contains(text, path[0]) {
		return false
	}
	doc, err := parseXML([]byte(text))
	if err != nil || doc.Root.name.local != path[0] {
		return false
	}
	e := doc.Root
	for _, name := range path[1:] {
		e = e.child(name)
	}
	for range e.elements {
		return true
	}
	return e.trimmed() != ""
}

// bibEntry is an entry of BibTeX; one without a key has no fields, but
// the service accepts it.
type bibEntry struct {
	kind   string
	fields map[string]string
}

var (
	bibHead = regexp.MustCompile(`\A\s*(\w+)\s*\{`)
	// Without an object the text is still accepted if it has no name after "@", or a
	// quoted string after the name, as in JSON.
	bibNamed  = regexp.MustCompile(`\A\s*\w`)
	bibOddity = regexp.MustCompile(`\A\s*\w+":.*"`)

	bibKey = regexp.MustCompile(`\A\s*([^,={}\s][^,={}]*),`)
)

// firstBibTeX is the first object of a text after "@"; text before it is a
// comment. ok is false if there is no readable object.
func firstBibTeX(text string) (e bibEntry, ok bool) {
	_, rest, found := strings.Cut(text, "@")
	if !found {
		return e, false
	}
	head := bibHead.FindStringSubmatch(rest)
	if head == nil {
		return e, !bibNamed.MatchString(rest) || bibOddity.MatchString(rest) && !strings.Contains(rest, `{"@`)
	}
	body, closed := braced(rest[len(head[0]):])
	if !closed {
		return e, false
	}
	e.kind = strings.ToLower(head[1])
	if slices.Contains([]string{"comment", "string", "preamble"}, e.kind) {
		return e, true
	}
	key := bibKey.FindString(body)
	if key == "" {
		return e, false
	}
	e.fields = bibFields(body[len(key):])
	return e, true
}

// braced is the text up to the closing brace.
func braced(text string) (inside string, closed bool) {
	depth := 1
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i], true
			}
		}
	}
	return "", false
}

var bibName = regexp.MustCompile(`\A[\s,]*([\w-]+)\s*=\s*`)

func bibFields(text string) map[string]string {
	fields := map[string]string{}
	for {
		m := bibName.FindStringSubmatch(text)
		if m == nil {
			return fields
		}
		text = text[len(m[0]):]
		var value string
		switch {
		case strings.HasPrefix(text, "{"):
			value, _ = braced(text[1:])
			text = text[min(len(text), len(value)+2):]
		case strings.HasPrefix(text, `"`):
			value, text, _ = strings.Cut(text[1:], `"`)
		default:
			value, text, _ = strings.Cut(text, ",")
		}
		fields[strings.ToLower(m[1])] = strings.TrimSpace(value)
	}
}

// errNotThere is the response to metadata of these formats without a DOI, which
// the service treats as a record that was not found.
var errNotThere = wire.Fail(http.StatusNotFound, wire.NotFound)

// readForeign reads metadata of another format than DataCite XML as the
// deployed service does.
func readForeign(f Format, body []byte) (b brief, err error) {
	named := true
	switch f {
	case ris:
		b, named = readDeployedRIS(string(body))
	case bibtex:
		b, named = readDeployedBibTeX(string(body))
	case citeproc:
		b = readLinkedData(body)
		o := objectIn(body)
		named = isPresent(o["id"]) || isPresent(o["DOI"])
	case codemeta:
		b = readLinkedData(body)
		o := objectIn(body)
		b.creators = namesIn(wire.First(o, "agents", "authors"))
	case schemaOrg:
		b = readLinkedData(body)
	case crosscite, dataciteJSON:
		b = readCrosscite(objectIn(body))
	}
	if !named {
		return b, errNotThere
	}
	return b, nil
}

// typesIn is the type in metadata of a format.
func typesIn(f Format, body []byte) object {
	o := objectIn(body)
	switch f {
	case ris:
		return foreignTypes(f, last(risFields(string(body))["TY"]), nil)
	case bibtex:
		e, _ := firstBibTeX(string(body))
		return foreignTypes(f, e.kind, nil)
	case crosscite, dataciteJSON:
		types, _ := o["types"].(object)
		return types
	case citeproc:
		return foreignTypes(f, wire.String(o["type"]), nil)
	}
	return foreignTypes(f, wire.String(o["@type"]), o["additionalType"])
}

func objectIn(body []byte) object {
	var o object
	_ = wire.Decode(body, &o)
	return o
}

// readDeployedRIS reads titles only from T1, and requires DO.
func readDeployedRIS(text string) (b brief, named bool) {
	f := risFields(text)
	b = brief{titles: f["T1"], creators: f["AU"], publisher: "(:unav)", year: last(f["PY"])}
	if f["PB"] != nil {
		b.publisher = last(f["PB"])
	}
	return b, last(f["DO"]) != ""
}

func readDeployedBibTeX(text string) (b brief, named bool) {
	e, _ := firstBibTeX(text)
	return e.brief(), e.fields["doi"] != ""
}

func (e bibEntry) brief() brief {
	b := brief{publisher: e.fields["publisher"], year: e.fields["year"]}
	if title := e.fields["title"]; title != "" {
		b.titles = []string{title}
	}
	if author := e.fields["author"]; author != "" {
		b.creators = strings.Split(author, " and ")
	}
	return b
}

func readCrosscite(o object) brief {
	b := brief{
		creators: namesIn(o["creators"]), publisher: strings.Join(namesIn(o["publisher"]), ", "),
		year: string(wire.Encode(wire.First(o, "publication_year", "publicationYear", "publication-year"))),
	}
	titles, _ := o["titles"].([]any)
	for _, t := range titles {
		if t, ok := t.(object); ok {
			b.titles = append(b.titles, wire.String(t["title"]))
		}
	}
	return b
}
