package mds

import (
	"encoding/xml"
	"errors"
	"mime"
	"net/http"
	"regexp"
	"strconv"
)

// The schema validator's faults, as the deployed service passes them on and as
// the validator writes them:
//
//	DOI 10.5072/x: This element is not expected. at line 9, column 0
//	9:0: ERROR: Element '{http://datacite.org/schema/kernel-4}title': …
var (
	atLine       = regexp.MustCompile(`at line (\d+), column (\d+)`)
	lineInFront  = regexp.MustCompile(`^(\d+):(\d+): `)
	namedElement = regexp.MustCompile(`^(?:\d+:\d+: )?(?:[A-Z]+: )?Element '(?:\{[^}]*\})?([^']+)'`)
	leadingName  = regexp.MustCompile(`^([A-Za-z]+)(?:', attribute '[^']*')?: `)
)

// explainRefusal adds to a refusal of metadata where the fault is: the line and the
// column that the service names, and the element that stands there; and what it may
// mean by 404.
func explainRefusal(err error, doc Document) error {
	why := errUnknownAccount
	if !doc.isXML() {
		why = errForeignFormat
	}
	err = notMade(err, why)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.StatusCode != http.StatusUnprocessableEntity {
		return err
	}
	if len(e.Details) == 0 {
		e.Details = []Detail{{Message: e.Message}}
	}
	for i := range e.Details {
		e.Details[i].locate(doc)
	}
	return err
}

func (d *Detail) locate(doc Document) {
	m := atLine.FindStringSubmatch(d.Message)
	if m == nil {
		m = lineInFront.FindStringSubmatch(d.Message)
	}
	if m != nil {
		d.Line, _ = strconv.Atoi(m[1])
		d.Column, _ = strconv.Atoi(m[2])
	}
	if d.Field != "" {
		return
	}
	if m := namedElement.FindStringSubmatch(d.Message); m != nil {
		d.Field = m[1]
	} else if m := leadingName.FindStringSubmatch(d.Message); m != nil && knownElement(doc, m[1]) {
		d.Field = m[1]
	} else if d.Line > 0 {
		d.Field = elementAt(doc, d.Line)
	}
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

// elements ranges over the start tags of an XML document: local name, and the
// line on which the tag ends, which is what validators name.
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
