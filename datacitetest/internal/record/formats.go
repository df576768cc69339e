package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Format is a metadata format, recognised by the body alone as the service
// does (specification §4.3).
type Format string

const (
	Kernel    Format = "DataCite XML"
	crossref  Format = "Crossref XML"
	schemaOrg Format = "schema.org"
	page      Format = "page with schema.org" // its URL
	codemeta  Format = "Codemeta"
	citeproc  Format = "Citeproc JSON"
	ris       Format = "RIS"
	bibtex    Format = "BibTeX"
)

var pageForm = regexp.MustCompile(`^https?://\S+$`)

// Recognise finds the format of a body. An unknown one is 415; so is XML of
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
// DataCite XML is checked, stored, and read in full. From other formats only title,
// creators, publisher, year and type are read, and DataCite XML is written from
// them. A page is not fetched: its URL becomes the title.
func (rec *Record) SetMetadata(f Format, body []byte) error {
	if f != Kernel {
		b := foreign(f, bytes.TrimSpace(body))
		rec.Attributes = b.attributes()
		written := maps.Clone(rec.Attributes)
		written["publicationYear"] = YearText(written["publicationYear"])
		rec.XML = kernelXML(written, names.Upper(rec.DOI))
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

// unknown stands for a missing mandatory value (the schema's own code).
const unknown = ":unav"

// brief is what is read from a format other than DataCite XML.
type brief struct {
	titles, creators []string
	publisher, year  string
	kind             string // resourceTypeGeneral
	types            object // if not nil, all members of the type
}

func foreign(f Format, body []byte) brief {
	switch f {
	case page:
		return brief{titles: []string{string(body)}}
	case ris:
		return readRIS(string(body))
	case bibtex:
		return readBibTeX(string(body))
	case crossref:
		return readCrossref(body)
	}
	return readLinkedData(body)
}

// filled puts unknown in place of missing mandatory values.
func (b brief) filled() brief {
	b.titles, b.creators, b.publisher = orUnknown(b.titles), orUnknown(b.creators), orUnknown([]string{b.publisher})[0]
	b.year, b.kind = cmp.Or(yearIn.FindString(b.year), "0000"), cmp.Or(b.kind, "Other")
	return b
}

func (b brief) attributes() object {
	o := b.filled().columns()
	o["types"].(object)["resourceType"], o["schemaVersion"] = "", kernelNamespace
	return o
}

// columns are its members of a record.
func (b brief) columns() object {
	titles, creators := []any{}, []any{}
	for _, title := range b.titles {
		titles = append(titles, object{"title": title})
	}
	for _, name := range b.creators {
		creators = append(creators, object{"name": name, "nameIdentifiers": []any{}, "affiliation": []any{}})
	}
	o := object{"titles": titles, "creators": creators, "types": b.types}
	if b.types == nil {
		o["types"] = typesOf(object{"resourceTypeGeneral": orNull(b.kind)})
	}
	if year := yearIn.FindString(b.year); year != "" {
		year, _ := strconv.Atoi(year)
		o["publicationYear"] = float64(year)
	}
	if b.publisher != "" {
		o["publisher"] = object{"name": b.publisher}
	}
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

func readRIS(text string) brief {
	f := risFields(text)
	return brief{
		kind: kindOf[last(f["TY"])], titles: slices.Concat(f["TI"], f["T1"]), creators: slices.Concat(f["AU"], f["A1"]),
		publisher: last(f["PB"]), year: cmp.Or(last(f["PY"]), last(f["Y1"])),
	}
}

func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
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

func readBibTeX(text string) brief {
	e, _ := firstBibTeX(text)
	b := e.brief()
	b.kind = kindOf[e.kind]
	for i := range b.titles {
		b.titles[i] = strings.Trim(b.titles[i], "{}")
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
	_ = json.Unmarshal(body, &o) // Recognise has checked the syntax
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

func fmtYear(year any) string {
	n, _ := year.(float64)
	return strconv.Itoa(10000 + int(n))[1:]
}
