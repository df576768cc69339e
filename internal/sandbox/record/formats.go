package record

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// Format is a metadata format, recognised by the body alone as the service
// does (specification §4.3).
type Format string

const (
	Kernel    Format = "DataCite XML"
	crossref  Format = "Crossref XML"
	schemaOrg Format = "schema.org"
	page      Format = "page with schema.org" // the address of one
	codemeta  Format = "Codemeta"
	citeproc  Format = "Citeproc JSON"
	ris       Format = "RIS"
	bibtex    Format = "BibTeX"
)

var pageForm = regexp.MustCompile(`^https?://\S+$`)

// Recognise finds the format of a body. One that is none is 415; so is XML of
// another namespace, since it is some other format.
func Recognise(body []byte) (Format, error) {
	text := bytes.TrimSpace(body)
	switch {
	case len(text) == 0:
		return "", wire.Fail(http.StatusUnprocessableEntity, "Can't be blank")
	case text[0] == '<':
		return recogniseXML(text)
	case text[0] == '{':
		return recogniseJSON(text)
	case bytes.HasPrefix(text, []byte("TY  - ")):
		return ris, nil
	case text[0] == '@':
		return bibtex, nil
	case pageForm.Match(text):
		return page, nil
	}
	return "", ErrFormat
}

var ErrFormat = wire.Fail(http.StatusUnsupportedMediaType, "Metadata format not recognized")

func recogniseXML(body []byte) (Format, error) {
	doc, err := parseXML(body)
	if doc.Root == nil || err != nil && doc.sound <= doc.Root.inside {
		return "", wire.Fail(http.StatusUnprocessableEntity, "XML is not well formed: %v", err)
	}
	switch root := doc.Root.name; {
	case strings.HasPrefix(root.space, kernelSpaces):
		return Kernel, nil
	case strings.HasPrefix(root.space, "http://www.crossref.org/"), root.local == "doi_records":
		return crossref, nil
	}
	return "", ErrFormat
}

func recogniseJSON(body []byte) (Format, error) {
	var o struct {
		Context json.RawMessage `json:"@context"`
		Issued  *struct {
			Parts json.RawMessage `json:"date-parts"`
		} `json:"issued"`
	}
	if err := wire.Decode(body, &o); err != nil {
		return "", wire.Fail(http.StatusUnprocessableEntity, "JSON is not well formed: %v", err)
	}
	switch context := string(o.Context); {
	case strings.Contains(context, "codemeta"):
		return codemeta, nil
	case strings.Contains(context, "schema.org"):
		return schemaOrg, nil
	case o.Issued != nil && o.Issued.Parts != nil:
		return citeproc, nil
	}
	return "", ErrFormat
}

// SetMetadata replaces the metadata of a record by a body in the given format.
//
// DataCite XML is checked, kept, and read in full. Of the other formats the
// record takes title, creators, publisher, year and type, and the service
// writes DataCite XML from them; it does not fetch a page whose address is
// given and takes the address for the title.
func (rec *Record) SetMetadata(f Format, body []byte) error {
	if f != Kernel {
		rec.Attributes = foreignAttributes(f, bytes.TrimSpace(body))
		rec.XML = kernelXML(names.Upper(rec.DOI), rec.Attributes)
		return nil
	}
	doc, err := ReadXML(body)
	if err != nil {
		return err
	}
	rec.XML = doc.withIdentifier(body, names.Upper(rec.DOI))
	rec.Attributes = AttributesOf(doc.Root)
	return nil
}

// unknown stands for a mandatory value nobody gave (the schema's own sign).
const unknown = ":unav"

// brief is what the record takes from a format other than DataCite XML.
type brief struct {
	titles, creators []string
	publisher, year  string
	kind             string // resourceTypeGeneral
}

func foreignAttributes(f Format, body []byte) object {
	var b brief
	switch f {
	case page:
		b.titles = []string{string(body)}
	case ris:
		b = readRIS(string(body))
	case bibtex:
		b = readBibTeX(string(body))
	case crossref:
		b = readCrossref(body)
	default:
		b = readLinkedData(body)
	}
	return b.attributes()
}

func (b brief) attributes() object {
	o := object{"titles": []any{}, "creators": []any{}, "schemaVersion": kernelNamespace}
	for _, title := range orUnknown(b.titles) {
		o["titles"] = append(o["titles"].([]any), object{"title": title})
	}
	for _, name := range orUnknown(b.creators) {
		o["creators"] = append(o["creators"].([]any), object{
			"name": name, "nameIdentifiers": []any{}, "affiliation": []any{},
		})
	}
	o["publisher"] = object{"name": orUnknown([]string{b.publisher})[0]}
	year, _ := strconv.Atoi(yearIn.FindString(b.year))
	o["publicationYear"] = float64(year)
	if b.kind == "" {
		b.kind = "Other"
	}
	o["types"] = typesOf(b.kind, "")
	return o
}

var yearIn = regexp.MustCompile(`[0-9]{4}`)

func orUnknown(texts []string) []string {
	var out []string
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	if out == nil {
		return []string{unknown}
	}
	return out
}

func readRIS(text string) brief {
	var b brief
	for line := range strings.Lines(text) {
		tag, value, _ := strings.Cut(line, "  - ")
		value = strings.TrimSpace(value)
		switch tag {
		case "TY":
			b.kind = kindOf[value]
		case "TI", "T1":
			b.titles = append(b.titles, value)
		case "AU", "A1":
			b.creators = append(b.creators, value)
		case "PB":
			b.publisher = value
		case "PY", "Y1":
			b.year = value
		}
	}
	return b
}

// kindOf names the general resource type of RIS, BibTeX and schema.org types.
var kindOf = map[string]string{
	"DATA": "Dataset", "BOOK": "Book", "CHAP": "BookChapter", "JOUR": "JournalArticle", "RPRT": "Report",
	"THES": "Dissertation", "COMP": "Software", "CPAPER": "ConferencePaper",
	"article": "JournalArticle", "book": "Book", "inbook": "BookChapter", "inproceedings": "ConferencePaper",
	"phdthesis": "Dissertation", "techreport": "Report", "dataset": "Dataset", "software": "Software",
	"article-journal": "JournalArticle", "thesis": "Dissertation", "report": "Report",
	"Dataset": "Dataset", "SoftwareSourceCode": "Software", "ScholarlyArticle": "JournalArticle", "Book": "Book",
}

var (
	bibtexKind  = regexp.MustCompile(`^@\s*(\w+)`)
	bibtexField = regexp.MustCompile(`(?m)^\s*(\w+)\s*=\s*[{"]?(.*?)[}"]?,?\s*$`)
)

func readBibTeX(text string) brief {
	var b brief
	if m := bibtexKind.FindStringSubmatch(text); m != nil {
		b.kind = kindOf[strings.ToLower(m[1])]
	}
	for _, m := range bibtexField.FindAllStringSubmatch(text, -1) {
		value := strings.Trim(m[2], "{}")
		switch strings.ToLower(m[1]) {
		case "title":
			b.titles = []string{value}
		case "author":
			b.creators = strings.Split(value, " and ")
		case "publisher":
			b.publisher = value
		case "year":
			b.year = value
		}
	}
	return b
}

func readCrossref(body []byte) brief {
	doc, err := parseXML(body)
	if err != nil {
		return brief{}
	}
	var b brief
	doc.Root.walk(func(e *element) bool {
		switch e.name.local {
		case "title":
			b.titles = append(b.titles, e.trimmed())
		case "person_name":
			b.creators = append(b.creators, strings.Trim(e.ChildText("surname")+", "+e.ChildText("given_name"), ", "))
		case "publisher_name":
			b.publisher = e.trimmed()
		case "year":
			b.year = e.trimmed()
		}
		return true
	})
	return b
}

// readLinkedData reads schema.org, Codemeta and Citeproc JSON.
func readLinkedData(body []byte) brief {
	var o object
	_ = json.Unmarshal(body, &o) // recognise has read it before
	b := brief{
		titles:    namesIn(wire.First(o, "name", "title", "headline")),
		creators:  namesIn(wire.First(o, "creator", "author")),
		publisher: strings.Join(namesIn(o["publisher"]), ", "),
		kind:      kindOf[wire.String(wire.First(o, "@type", "type"))],
	}
	b.year = wire.String(o["datePublished"])
	if issued, ok := o["issued"].(object); ok {
		b.year = string(wire.Encode(issued["date-parts"]))
	}
	return b
}

// namesIn finds the names in a string, an object or a list of either.
func namesIn(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case object:
		family, given := wire.String(wire.First(v, "family", "familyName")), wire.String(wire.First(v, "given", "givenName"))
		if name := wire.String(wire.First(v, "name", "literal")); name != "" || family == "" {
			return []string{name}
		}
		return []string{strings.Trim(family+", "+given, ", ")}
	case []any:
		var out []string
		for _, item := range v {
			out = append(out, namesIn(item)...)
		}
		return out
	}
	return nil
}

// kernelXML writes the mandatory properties of a record as DataCite XML.
func kernelXML(name string, o object) []byte {
	var b bytes.Buffer
	put := func(open, text, end string) {
		b.WriteString(open)
		_ = xml.EscapeText(&b, []byte(text))
		b.WriteString(end)
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<resource xmlns="` + kernelNamespace + `">` + "\n")
	put(`  <identifier identifierType="DOI">`, name, "</identifier>\n  <creators>\n")
	for _, c := range o["creators"].([]any) {
		put("    <creator><creatorName>", wire.String(c.(object)["name"]), "</creatorName></creator>\n")
	}
	b.WriteString("  </creators>\n  <titles>\n")
	for _, t := range o["titles"].([]any) {
		put("    <title>", wire.String(t.(object)["title"]), "</title>\n")
	}
	put("  </titles>\n  <publisher>", wire.String(o["publisher"].(object)["name"]), "</publisher>\n")
	put("  <publicationYear>", fmtYear(o["publicationYear"]), "</publicationYear>\n")
	put(`  <resourceType resourceTypeGeneral="`, wire.String(o["types"].(object)["resourceTypeGeneral"]), `"/>`+"\n</resource>\n")
	return b.Bytes()
}

func fmtYear(year any) string {
	n, _ := year.(float64)
	return strconv.Itoa(10000 + int(n))[1:]
}
