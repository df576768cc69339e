package record

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Format is a metadata format, recognised by the body alone as the service
// does (specification §4.3).
type Format string

const (
	Kernel    Format = "DataCite XML"
	crossref  Format = "Crossref XML"
	schemaOrg Format = "schema.org"
	codemeta  Format = "Codemeta"
	citeproc  Format = "Citeproc JSON"
	crosscite Format = "Crosscite JSON" // and DataCite JSON
	ris       Format = "RIS"
	bibtex    Format = "BibTeX"
)

var (
	ErrFormat = wire.Fail(http.StatusUnsupportedMediaType, "Metadata format not recognized")
	// errNotThere is the response to metadata without a DOI, which the deployed service treats
	// as a record that was not found.
	errNotThere = wire.Fail(http.StatusNotFound, wire.NotFound)
)

var pageForm = lazy.Regexp(`^https?://\S+$`)

// Recognise finds the format of a body by the specification: an unknown one is 415.
func Recognise(body []byte) (Format, error) {
	text := strings.TrimSpace(string(body))
	if text == "" {
		return "", ErrBlank
	}
	if pageForm().MatchString(text) {
		return "", wire.PageMetadata.Refusal()
	}
	if isXML(text) {
		if _, err := parseXML([]byte(text)); err != nil {
			return "", notWellFormed(err)
		}
	}
	f, _, err := recognise(text)
	if f == "" && err == nil {
		err = ErrFormat
	}
	return f, err
}

func notWellFormed(err error) error {
	return wire.Fail(http.StatusUnprocessableEntity, "XML is not well formed: %v", err)
}

// StoreFormat is the format that the deployed store sees, "" for none, and the body as
// it passes it on: recognising the format has escaped some tags.
func StoreFormat(body []byte) (Format, []byte, error) {
	text := contentTags().Replace(string(body))
	if wire.IsBlank(text) {
		return Kernel, nil, nil
	}
	f, doc, err := recognise(text)
	if f == crossref && doc.Root.name.local != "doi_records" {
		f = ""
	}
	return f, []byte(text), err
}

var contentTags = sync.OnceValue(func() *strings.Replacer {
	return tagEscapes("strong", "em", "b", "i", "code", "pre", "sub", "sup", "br")
})

// tagEscapes escapes tags, anywhere in a document.
func tagEscapes(names ...string) *strings.Replacer {
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, "<"+name+">", "&lt;"+name+"&gt;", "</"+name+">", "&lt;/"+name+"&gt;")
	}
	return strings.NewReplacer(pairs...)
}

func isXML(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, blanks+string(wire.ByteOrderMark)), "<")
}

// recognise finds the format of a text by its signs, "" for none, and parses XML.
func recognise(text string) (f Format, doc *Document, err error) {
	if isXML(text) {
		if doc, err = parseXML([]byte(text)); err != nil {
			return "", nil, wire.BrokenXML.Refusal(err.Error())
		}
		switch root := doc.Root.name; {
		case doc.namespace() != "":
			f = Kernel
		case strings.HasPrefix(root.space, "http://www.crossref.org/"), root.local == "doi_records":
			f = crossref
		}
		return f, doc, nil
	}
	kind, _ := entryOf(text)
	o := objectIn(text)
	switch {
	case formatOf(o) != "":
		return formatOf(o), nil, nil
	case strings.HasPrefix(text, "TY  - "):
		return ris, nil, nil
	case o == nil && kind != "":
		return bibtex, nil, nil
	case strings.Contains(text, "@"):
		return "", nil, wire.OddText.Refusal()
	}
	return "", nil, nil
}

func objectIn(text string) (o object) {
	if wire.Decode([]byte(text), &o) != nil {
		return nil
	}
	return o
}

func formatOf(o object) Format {
	context := wire.String(o["@context"])
	switch {
	case strings.HasPrefix(context, "http://schema.org"), strings.HasPrefix(context, "https://schema.org"):
		return schemaOrg
	case context == "https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld":
		return codemeta
	case strings.HasPrefix(wire.String(o["schema-version"]), kernelSpaces), isPresent(o["types"]):
		return crosscite
	case isPresent(Member(o, "issued", "date-parts")):
		return citeproc
	}
	return ""
}

// SetMetadata replaces the metadata of a record by a body in the given format, by the
// specification. DataCite XML is checked, stored, and read in full. Of other formats
// the members of a brief are read, and DataCite XML is written from them.
func (rec *Record) SetMetadata(f Format, body []byte) error {
	if f == Kernel {
		doc, err := ReadXML(body)
		if err != nil {
			return err
		}
		doc.Root.child("identifier").children = []*element{{text: names.Upper(rec.DOI), isText: true}}
		read, err := readKernel(doc)
		if err == nil {
			rec.Assign(Sent{object: read, xml: doc.bytes()}, true)
		}
		return err
	}
	rec.Columns = nil
	b, err := readForeign(f, strings.TrimSpace(string(body)))
	if err != nil {
		return err
	}
	rec.Attributes = b.columns()
	rec.Attributes["schemaVersion"] = kernelNamespace
	for _, name := range Missing(rec.Attributes) {
		return wire.Fail(http.StatusUnprocessableEntity, "%s: Can't be blank", name)
	}
	rec.XML = kernelXML(rec.Attributes, names.Upper(rec.DOI))
	return nil
}

// brief is what is read from a format other than DataCite XML. The deployed service reads
// more: bolognese lib/bolognese/readers.
type brief struct {
	titles          []string
	creators        []object // names and their parts
	publisher, year string
	issued          string // a day, a month or a year
	types           object
	unnamed         bool // it lacks the DOI that the deployed service requires of this format
}

// maxPeople are the most creators in a format in which each may be a few characters.
const maxPeople = wire.MaxPieces / 10

// readForeign reads metadata of another format than DataCite XML.
func readForeign(f Format, text string) (b brief, err error) {
	kind, o := "", objectIn(text)
	switch f {
	case ris:
		tags := risFields(text)
		kind = last(tags["TY"])
		b = brief{titles: tags["T1"], creators: peopleNamed(tags["AU"]), publisher: "(:unav)", year: last(tags["PY"]),
			unnamed: last(tags["DO"]) == ""}
		if tags["PB"] != nil {
			b.publisher = last(tags["PB"])
		}
	case bibtex:
		var fields map[string]string
		kind, fields = entryOf(text)
		b = brief{publisher: fields["publisher"], year: fields["year"], unnamed: fields["doi"] == ""}
		b.titles = slices.DeleteFunc([]string{fields["title"]}, wire.IsBlank)
		b.creators = peopleNamed(slices.DeleteFunc(strings.Split(fields["author"], " and "), wire.IsBlank))
	case crossref:
		if b, err = readCrossref(text); err != nil {
			return b, err
		}
	case crosscite:
		types, _ := o["types"].(object)
		year := wire.First(o, "publication_year", "publicationYear", "publication-year")
		return brief{
			titles: namesIn(o["titles"]), creators: peopleIn(o["creators"]),
			publisher: strings.Join(namesIn(o["publisher"]), ", "),
			year:      string(wire.Encode(year)), types: types,
		}, nil
	default:
		kind = wire.String(wire.First(o, "@type", "type"))
		b = brief{
			titles: namesIn(wire.First(o, "name", "title")), creators: peopleIn(wire.First(o, "author", "creator")),
			publisher: strings.Join(namesIn(o["publisher"]), ", "), year: wire.String(o["datePublished"]),
		}
		if f == citeproc {
			b.year, b.unnamed = string(wire.Encode(Member(o, "issued", "date-parts"))), !isPresent(o["id"]) &&
				!isPresent(o["DOI"])
		}
		if f == codemeta {
			b.creators = peopleIn(wire.First(o, "agents", "authors"))
		}
		for _, p := range b.creators { // both parts count for more than the name that is given
			if family, given := wire.String(p["familyName"]), wire.String(p["givenName"]); family != "" && given != "" {
				p["name"] = family + ", " + given
			}
		}
		if f == schemaOrg && day().MatchString(b.year) {
			b.issued = b.year
		}
	}
	if len(b.creators) > maxPeople {
		return b, wire.ErrTooMuch
	}
	b.types = object{"resourceTypeGeneral": generalType(f, kind)}
	return b, nil
}

// columns are its members of a record.
func (b brief) columns() object {
	titles, creators := []any{}, []any{}
	for _, title := range b.titles {
		titles = append(titles, object{"title": title})
	}
	for _, p := range b.creators {
		p["nameIdentifiers"], p["affiliation"] = []any{}, []any{}
		creators = append(creators, p)
	}
	o := object{"titles": titles, "creators": creators, "types": typesOf(b.types)}
	if year := yearIn().FindString(b.year); year != "" {
		year, _ := strconv.Atoi(year)
		o["publicationYear"] = float64(year)
	}
	if b.issued != "" {
		o["dates"] = []any{object{"date": b.issued, "dateType": "Issued"}}
	}
	if b.publisher != "" {
		o["publisher"] = object{"name": b.publisher}
	}
	return o
}

var (
	yearIn = lazy.Regexp(`[0-9]{4}`)
	day    = lazy.Regexp(`^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$`)
)

// risFields are the values of the tags of RIS.
func risFields(text string) map[string][]string {
	fields := map[string][]string{}
	for line := range strings.Lines(text) {
		tag, value, _ := strings.Cut(line, "-")
		tag = strings.TrimSpace(tag)
		fields[tag] = append(fields[tag], strings.TrimSpace(value))
	}
	return fields
}

func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

var (
	bibEntry = lazy.Regexp(`\A[^@]*@\s*(\w+)\s*\{\s*[^,={}\s][^,={}]*,`)
	bibName  = lazy.Regexp(`\A[\s,]*([\w-]+)\s*=\s*`)
)

// entryOf is the first entry of BibTeX in a text, with its kind; "" if there is none. Text
// before it is a comment.
func entryOf(text string) (kind string, fields map[string]string) {
	head := bibEntry().FindStringSubmatch(text)
	if head == nil {
		return "", nil
	}
	body, closed := braced(text[len(head[0]):])
	if !closed {
		return "", nil
	}
	return strings.ToLower(head[1]), bibFields(body)
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

func bibFields(text string) map[string]string {
	fields := map[string]string{}
	for {
		m := bibName().FindStringSubmatch(text)
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

func readCrossref(text string) (b brief, err error) {
	doc, err := parseXML([]byte(text))
	if err != nil {
		return b, notWellFormed(err)
	}
	doc.Root.walk(func(e *element) bool {
		switch e.name.local {
		case "title":
			b.titles = append(b.titles, e.trimmed())
		case "person_name":
			b.creators = append(b.creators, person(object{"family": e.ChildText("surname"), "given": e.ChildText("given_name")}))
		case "publisher_name":
			b.publisher = e.trimmed()
		case "year":
			b.year = e.trimmed()
		}
		return true
	})
	return b, nil
}

// namesIn finds the names in a string, an object or a list of either.
func namesIn(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case object:
		return []string{wire.String(wire.First(v, "name", "literal", "title"))}
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, namesIn(item)...)
		}
		return out
	}
	return nil
}

// peopleIn finds people and organisations in a string, an object or a list of either.
func peopleIn(v any) (people []object) {
	for _, v := range listed(v) {
		switch v := v.(type) {
		case string:
			people = append(people, object{"name": v})
		case object:
			people = append(people, person(v))
		}
	}
	return people
}

func peopleNamed(names []string) (people []object) {
	for _, name := range names[:min(len(names), maxPeople+1)] {
		people = append(people, object{"name": name})
	}
	return people
}

// person has the parts of a name that a document gives, if the family name is one of them:
// bolognese lib/bolognese/author_utils.rb and utils.rb (from_citeproc, from_schema_org_creators).
func person(o object) object {
	first := func(members ...string) any { return orNull(wire.String(wire.First(o, members...))) }
	p := object{"name": first("name", "literal"), "nameType": first("nameType")}
	if p["nameType"] == nil {
		p["nameType"] = nameType(o["@type"])
	}
	family, given := first("family", "familyName"), first("given", "givenName")
	if family != nil {
		p["familyName"], p["givenName"] = family, given
	}
	if p["name"] == nil && o["familyName"] == nil {
		p["name"] = strings.Trim(wire.String(family)+", "+wire.String(given), ", ")
	}
	return compact(p).(object)
}

// nameType is the type of a name by the type of schema.org, or the first of several that has one.
func nameType(kind any) any {
	for _, kind := range listed(kind) {
		switch strings.ToLower(wire.String(kind)) {
		case "person":
			return "Personal"
		case "organization":
			return "Organizational"
		}
	}
	return nil
}

// generalTypes are the general types of types in other formats: bolognese
// lib/bolognese/readers and utils.rb.
var generalTypes = map[Format]map[string]string{
	bibtex: {
		"article": "JournalArticle", "book": "Book", "inbook": "BookChapter", "misc": "Other", "phdthesis": "Dissertation",
		"proceedings": "ConferenceProceeding", "techreport": "Report",
	},
	ris: {
		"BLOG": "Text", "COMP": "Software", "CTLG": "Collection", "DATA": "Dataset", "ELEC": "Text", "FIGURE": "Image",
		"GEN":  "Poster",
		"JOUR": "JournalArticle", "MPCT": "Audiovisual", "SLIDE": "Presentation", "THES": "Dissertation", "VIDEO": "Audiovisual",
	},
	citeproc: {
		"article-journal": "JournalArticle", "broadcast": "Audiovisual", "dataset": "Dataset", "document": "Poster",
		"graphic":        "Image",
		"motion_picture": "Audiovisual", "post-weblog": "Text", "presentation": "Presentation", "song": "Audiovisual", "webpage": "Text",
	},
	schemaOrg: generalOf,
	codemeta:  generalOf,
}

func generalType(f Format, kind string) string {
	return cmp.Or(generalTypes[f][kind], map[Format]string{bibtex: "Text"}[f], "Other")
}
