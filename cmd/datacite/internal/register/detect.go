package register

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// detect makes a Document of metadata in one of the formats that the service keeps, which it
// recognises by the bytes, as the deployed service does. The error of others says what they are.
func detect(data []byte) (mds.Document, error) {
	doc := mds.XML(data) // without what stands in front
	text, reason := doc.Data, "is in no format that the service accepts"
	doc.ContentType = ""
	switch {
	case len(text) == 0:
		reason = "is empty"
	case text[0] == '<':
		doc.ContentType, reason = detectXML(text)
	case !utf8.Valid(text):
		reason = "is not UTF-8; save it as UTF-8"
	case text[0] == '{':
		doc.ContentType, reason = detectJSON(text)
	case bytes.HasPrefix(text, []byte("TY  - ")):
		doc.ContentType, reason = detectRIS(text)
	case bytes.IndexByte(text, '@') >= 0:
		doc.ContentType, reason = detectBibTeX(text)
	case pageAddress().Match(text):
		reason = "is the address of a page, which the service does not fetch"
	}
	if doc.ContentType == "" {
		return mds.Document{}, errors.New(reason)
	}
	return doc, nil
}

var pageAddress = lazy.Regexp(`^https?://\S+\s*$`)

// detectXML looks at the root element; FindingsXML of package metadata looks at the rest. The
// service reads XML as UTF-8, whatever it declares.
func detectXML(text []byte) (contentType, reason string) {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := decoder.Token()
		if err != nil {
			return "", "is XML without a root element"
		}
		root, ok := token.(xml.StartElement)
		switch {
		case !ok:
			continue
		case strings.HasPrefix(root.Name.Space, kernelPrefix):
			return mds.XMLType, ""
		case strings.HasPrefix(root.Name.Space, "http://www.crossref.org/"), root.Name.Local == "doi_records":
			return "", "is Crossref XML, which the service accepts and keeps nothing of"
		}
		space := "has no namespace"
		if root.Name.Space != "" {
			space = fmt.Sprintf("is of the namespace %.100q", root.Name.Space)
		}
		return "", fmt.Sprintf("is XML whose root element %.100q %s; that of DataCite's is %q", root.Name.Local, space,
			metadata.Namespace)
	}
}

const (
	typeRIS          = "application/x-research-info-systems"
	typeBibTeX       = "application/x-bibtex"
	typeSchemaOrg    = "application/vnd.schemaorg.ld+json"
	typeCiteproc     = "application/vnd.citationstyles.csl+json"
	typeCodemeta     = "application/vnd.codemeta.ld+json"
	typeDataCiteJSON = "application/vnd.datacite.datacite+json"
	typeCrosscite    = "application/vnd.crosscite.crosscite+json"
)

const (
	kernelPrefix    = "http://datacite.org/schema/kernel"
	codemetaContext = "https://raw.githubusercontent.com/codemeta/codemeta/master/codemeta.jsonld"
)

func detectJSON(text []byte) (contentType, reason string) {
	var members map[string]json.RawMessage // a struct would read "doi" into DOI
	if err := json.Unmarshal(text, &members); err != nil {
		return "", "is not well-formed JSON: " + err.Error()
	}
	var issued map[string]json.RawMessage
	_ = json.Unmarshal(members["issued"], &issued) // empty if it is not an object
	context, version := textIn(members["@context"]), textIn(members["schema-version"])
	switch {
	case strings.HasPrefix(context, "http://schema.org"), strings.HasPrefix(context, "https://schema.org"):
		return typeSchemaOrg, ""
	case context == codemetaContext:
		return typeCodemeta, ""
	case strings.HasPrefix(version, kernelPrefix):
		return typeDataCiteJSON, ""
	case present(members["types"]) && present(members["publication_year"]):
		return typeCrosscite, ""
	case present(members["types"]):
		return "", `is JSON with "types" but neither "schema-version" nor "publication_year": the service accepts it and ` +
			`keeps nothing of it`
	case present(issued["date-parts"]) && !idForm().MatchString(cmp.Or(textIn(members["id"]), textIn(members["DOI"]))):
		return "", `is Citeproc JSON without a DOI in "id" or "DOI": the service would not find it`
	case present(issued["date-parts"]):
		return typeCiteproc, ""
	case members["@context"] != nil:
		return "", `is JSON-LD whose "@context" the service does not know; it accepts the text "https://schema.org" or ` +
			codemetaContext
	}
	return "", "is JSON in no format that the service accepts"
}

// textIn returns the text of a member, "" if it is not a text.
func textIn(member json.RawMessage) string {
	var text string
	_ = json.Unmarshal(member, &text)
	return text
}

var idForm = lazy.Regexp(`^(doi:)?10\.[0-9]{4,5}/.|^https?://[^/]`)

// present reports whether a member exists and is not empty.
func present(member json.RawMessage) bool {
	switch strings.Join(strings.Fields(string(member)), "") {
	case "", "null", "false", "{}", "[]", `""`:
		return false
	}
	return true
}

var doiLine = lazy.Regexp(`(?m)^DO  - *\S`)

func detectRIS(text []byte) (contentType, reason string) {
	if !doiLine().Match(text) {
		return "", `is RIS without a line "DO  - ": the service would not find the DOI`
	}
	return typeRIS, ""
}

var (
	bibTeXEntry = lazy.Regexp(`^[^@]*@([A-Za-z]+)\s*\{\s*[^\s,{}"=@]+\s*,`)
	bibTeXNext  = lazy.Regexp(`@[A-Za-z]+\s*[{(]`)
	bibTeXDOI   = lazy.Regexp(`(?i)[\s,{]doi\s*=\s*[{"]\s*[^\s}"]`)
)

func detectBibTeX(text []byte) (contentType, reason string) {
	m := bibTeXEntry().FindSubmatchIndex(text)
	if m == nil {
		return "", "is in no format that the service accepts; in BibTeX an entry and its key must come first"
	}
	switch kind := strings.ToLower(string(text[m[2]:m[3]])); kind {
	case "comment", "string", "preamble":
		return "", fmt.Sprintf("is BibTeX with @%s before the entry, which the service cannot read", kind)
	}
	entry, rest, closed := cutBraces(text[bytes.IndexByte(text, '{'):])
	switch {
	case !closed:
		return "", "is BibTeX whose entry does not end"
	case bibTeXNext().Match(rest):
		return "", "is BibTeX of more than one entry; the service keeps only the first"
	case !bibTeXDOI().Match(entry):
		return "", "is BibTeX without a field doi: the service would not find the DOI"
	}
	return typeBibTeX, ""
}

// cutBraces cuts text after the brace that closes the first one.
func cutBraces(text []byte) (inside, rest []byte, closed bool) {
	depth := 0
	for i, c := range text {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		}
		if depth == 0 {
			return text[:i+1], text[i+1:], true
		}
	}
	return text, nil, false
}
