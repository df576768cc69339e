package sheet

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
)

// A part is an XML document in an .xlsx file.
type part struct {
	name  string
	bytes *counted
	xml   *xml.Decoder
	depth int
	root  bool // was there
}

func (b *workbook) open(name string) (*part, error) {
	file := b.parts[name]
	if file == nil {
		return nil, broken("the part %q is missing", name)
	}
	src, err := file.Open()
	if err != nil {
		return nil, broken("%s: %w", name, err)
	}
	// Closing src would only put its decompressor back into a pool.
	p := &part{name: name, bytes: &counted{src: bufio.NewReaderSize(src, 32<<10),
		most: int(min(maxPart, max(anyRatio, maxRatio*b.size)))}}
	p.xml = xml.NewDecoder(p.bytes)
	return p, nil
}

// counted bounds the length of a document and of a token, which is held in memory.
type counted struct {
	src                *bufio.Reader
	total, token, most int
}

func (c *counted) ReadByte() (byte, error) {
	c.token++
	c.total++
	switch {
	case c.token > maxToken, c.total > maxPart:
		return 0, errors.New("it is too long")
	case c.total > c.most:
		return 0, fmt.Errorf("it unpacks to more than %d times its size", maxRatio)
	}
	return c.src.ReadByte()
}

// Read is never called: a decoder reads bytes where it can.
func (c *counted) Read(p []byte) (int, error) { return c.src.Read(p) }

// next returns the next token. The error is [io.EOF] after a document that is well formed.
func (p *part) next() (xml.Token, error) {
	p.bytes.token = 0
	token, err := p.xml.Token()
	switch token.(type) {
	case xml.StartElement:
		if p.depth == 0 && p.root {
			err = errors.New("it has two root elements")
		}
		if p.depth++; p.depth > maxDepth {
			err = errors.New("its elements are too deep")
		}
		p.root = true
	case xml.EndElement:
		p.depth--
	case xml.Directive:
		err = errors.New("it has a document type declaration")
	}
	switch {
	case err == io.EOF && p.root:
		return nil, io.EOF
	case err != nil:
		return nil, broken("%s: %w", p.name, err)
	}
	return token, nil
}

// elements calls visit with the start of each element of a part.
func (b *workbook) elements(name string, visit func(xml.StartElement) error) error {
	p, err := b.open(name)
	for err == nil {
		var token xml.Token
		token, err = p.next()
		if e, ok := token.(xml.StartElement); ok && err == nil {
			err = visit(e)
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// text returns the text in the element that has begun.
func (p *part) text() (string, error) {
	var text strings.Builder
	for {
		token, err := p.next()
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.EndElement:
			return text.String(), nil
		case xml.CharData:
			text.Write(e)
		case xml.StartElement:
			return "", fmt.Errorf("an element %.20q is in a text", e.Name.Local)
		}
		if text.Len() > MaxSize {
			return "", ErrTooLong
		}
	}
}

// richText returns the text of the runs in the element that has begun, without how they
// look and how they are pronounced.
func (p *part) richText() (string, error) {
	var all strings.Builder
	for depth := 1; depth > 0; {
		token, err := p.next()
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			switch e.Name.Local {
			case "t":
				text, err := p.text()
				if err != nil {
					return "", err
				}
				all.WriteString(text)
			case "rPh", "rPr", "phoneticPr":
				if err := p.skip(); err != nil {
					return "", err
				}
			case "r":
				depth++
			default:
				return "", broken("%s: an element %.20q is in a text", p.name, e.Name.Local)
			}
		case xml.CharData:
			if !blank(e) {
				return "", broken("%s: the text %.20q is in no element for texts", p.name, e)
			}
		}
		if all.Len() > MaxSize {
			return "", ErrTooLong
		}
	}
	return unescaped(all.String()), nil
}

// skip reads to the end of the element that has begun.
func (p *part) skip() error {
	for until := p.depth - 1; p.depth > until; {
		if _, err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// relation is the attribute r:id.
func relation(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return ""
}

func truth(text string) bool { return text == "1" || text == "true" || text == "on" }

func blank(text []byte) bool { return strings.TrimSpace(string(text)) == "" }

// escapedChar stands for a character that XML cannot contain.
var escapedChar = lazy.Regexp(`_x[0-9A-Fa-f]{4}_`)

const escapedSize = len("_x0000_")

func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escapedChar().ReplaceAllStringFunc(text, func(code string) string {
		n, _ := strconv.ParseUint(code[2:6], 16, 16) // the pattern has digits only
		if utf16.IsSurrogate(rune(n)) {
			return code
		}
		return string(rune(n))
	})
}
