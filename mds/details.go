package mds

import (
	"encoding/xml"
	"errors"
	"mime"
	"net/http"
	"regexp"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// How the schema validator and the service name an element.
var (
	namedElement = regexp.MustCompile(`^(?:\d+:\d+: )?(?:[A-Z]+: )?Element '(?:\{[^}]*\})?([^']+)'`)
	leadingName  = regexp.MustCompile(`^([A-Za-z]+)(?:', attribute '[^']*')?: `)
)

// explainRefusal adds to a refusal of metadata the element at the fault, and to a 404
// what the service may mean by it.
func explainRefusal(err error, doc Document) error {
	why := errUnknownAccount
	if !doc.isXML() {
		why = errForeignFormat
	}
	err = notMade(err, why)
	e, ok := errors.AsType[*datacite.Error](err)
	if !ok || e.StatusCode != http.StatusUnprocessableEntity {
		return err
	}
	if len(e.Details) == 0 {
		line, column := transport.Position(e.Message)
		e.Details = []datacite.Finding{{Code: "refused", Reason: e.Message, Line: line, Column: column}}
	}
	for i, d := range e.Details {
		if d.Path == "" {
			e.Details[i].Path = faultyElement(d, doc)
		}
	}
	return err
}

func faultyElement(d datacite.Finding, doc Document) string {
	if m := namedElement.FindStringSubmatch(d.Reason); m != nil {
		return m[1]
	}
	if m := leadingName.FindStringSubmatch(d.Reason); m != nil && knownElement(doc, m[1]) {
		return m[1]
	}
	return elementAt(doc, d.Line)
}

// elementAt is the first element that begins on a line of an XML document, or
// else the last one before it.
func elementAt(doc Document, line int) string {
	name := ""
	for element, at := range elements(doc) {
		if at > line {
			break
		}
		if name = element; at == line {
			break
		}
	}
	return name
}

func knownElement(doc Document, name string) bool {
	for element := range elements(doc) {
		if element == name {
			return true
		}
	}
	return false
}

// elements ranges over the start tags of an XML document: local name, and the line on
// which the tag ends, which is the one that validators name.
func elements(doc Document) func(yield func(string, int) bool) {
	return func(yield func(string, int) bool) {
		if kind, _, _ := mime.ParseMediaType(doc.ContentType); kind != "application/xml" {
			return
		}
		decoder := newDecoder(doc.Data)
		for {
			token, err := decoder.Token()
			if err != nil {
				return
			}
			line, _ := decoder.InputPos()
			if start, ok := token.(xml.StartElement); ok && !yield(start.Name.Local, line) {
				return
			}
		}
	}
}
