package record

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// The deployed service reads XML with a parser that recovers, and keeps what
// that made of it. repaired does the same, as far as it matters to clients.

// node is a piece of XML: an element if it has a name.
type node struct {
	name     string
	attrs    []attribute
	children []*node
	markup   string // of other pieces: as it is written
	isText   bool
}

type attribute struct{ name, value string }

// repair is XML on its way through the recovering parser.
type repair struct {
	text string
	at   int
	top  []*node
	open []*node
	root *node

	broken bool // something was wrong; from then on references to names are lost
}

// repaired is the document that the recovering parser sees; its root is nil if
// there is none.
func repaired(text string) *repair {
	p := &repair{text: strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)}
	if p.begins("\ufeff") {
		p.at += len("\ufeff")
	}
	p.blanks()
	if p.begins("<?xml") {
		p.through("?>")
	}
	for p.outside() {
		for len(p.open) > 0 && p.at < len(p.text) {
			p.content()
		}
		p.open = nil // what is open when the text ends is closed
	}
	return p
}

// outside reads one piece before or after the root element; it says whether to
// go on.
func (p *repair) outside() bool {
	p.blanks()
	switch {
	case p.begins("<!--"):
		p.add(&node{markup: p.through("-->")})
	case p.begins("<?xml "):
		p.through("?>")
	case p.begins("<?"):
		p.add(&node{markup: p.through("?>")})
	case p.root == nil && p.begins("<!DOCTYPE"):
		p.add(&node{markup: p.doctype()})
	case p.root == nil && p.begins("<") && isNameStart(p.rune(1)):
		p.element()
	default:
		return false
	}
	return true
}

func (p *repair) doctype() string {
	rest := p.text[p.at:]
	if subset, end := strings.Index(rest, "["), strings.Index(rest, "]"); 0 <= subset && subset < strings.Index(rest, ">") && subset < end {
		start := p.at
		p.at += end
		p.through(">")
		return p.text[start:p.at]
	}
	return p.through(">")
}

// content reads one piece inside the root element.
func (p *repair) content() {
	switch {
	case p.begins("</"):
		p.endTag()
	case p.begins("<!--"):
		p.add(&node{markup: p.through("-->")})
	case p.begins("<![CDATA["):
		p.add(&node{markup: p.through("]]>"), isText: true})
	case p.begins("<?"):
		p.add(&node{markup: p.through("?>")})
	case p.begins("<") && isNameStart(p.rune(1)):
		p.element()
	case p.begins("<"):
		p.at++ // a lone one is dropped
		p.broken = true
	case p.begins("&"):
		p.addText(p.referenceInText())
	default:
		p.characters()
	}
}

// endTag closes the innermost element, whatever its name. What is odd in it is
// text.
func (p *repair) endTag() {
	p.at += len("</")
	last := len(p.open) - 1
	name := p.name()
	p.blanks()
	p.broken = p.broken || name != p.open[last].name || !p.begins(">")
	if p.begins(">") {
		p.at++
	}
	p.open = p.open[:last]
}

func (p *repair) characters() {
	end := strings.IndexAny(p.text[p.at:], "<&")
	if end < 0 {
		end = len(p.text) - p.at
	}
	chunk := p.text[p.at : p.at+end]
	p.at += end
	if i := strings.LastIndex(chunk, "]]>"); i >= 0 {
		chunk, p.broken = chunk[i+1:], true // what stands before it is lost
	}
	p.broken = p.broken || strings.IndexFunc(chunk, isIllegal) >= 0
	if strings.Trim(chunk, blanks) != "" || !p.ignorable() {
		p.addText(strings.Map(legal, chunk))
	}
}

// ignorable says whether blanks here are no text: between elements they are not.
func (p *repair) ignorable() bool {
	around := p.open[len(p.open)-1].children
	switch {
	case !p.begins("<"):
		return false
	case len(around) == 0:
		return !p.begins("</")
	}
	return !around[len(around)-1].isText && !around[0].isText
}

// referenceInText is a reference, if all was well until then, or a character by
// its number.
func (p *repair) referenceInText() string {
	wasBroken, named := p.broken, !p.begins("&#")
	text := p.reference()
	if wasBroken && named {
		return ""
	}
	return text
}

// reference reads "&name;" or "&#1;". One that is not known is nothing, one
// without a semicolon too, and a lone "&" as well.
func (p *repair) reference() string {
	p.at++
	if p.begins("#") {
		return p.character()
	}
	name := p.name()
	if name == "" || !p.begins(";") {
		p.broken = true
		return ""
	}
	p.at++
	text, known := map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}[name]
	p.broken = p.broken || !known
	return text
}

func (p *repair) character() string {
	p.at++
	base := 10
	if p.begins("x") {
		p.at, base = p.at+1, 16
	}
	start := p.at
	for p.at < len(p.text) && (names.IsHex(p.text[p.at]) && base == 16 || '0' <= p.text[p.at] && p.text[p.at] <= '9') {
		p.at++
	}
	n, err := strconv.ParseInt(p.text[start:p.at], base, 32)
	if p.begins(";") {
		p.at++
	}
	if err != nil || legal(rune(n)) < 0 {
		p.broken = true
		return ""
	}
	return string(rune(n))
}

// element reads a start tag. One that is broken makes an element without
// content, and what is left of it is text. The parser halts where elements are
// nested too deep.
func (p *repair) element() {
	if len(p.open) == wire.MaxElements {
		p.at, p.broken = len(p.text), true
		return
	}
	p.at++
	e := &node{name: p.name()}
	p.add(e)
	for {
		spaced := p.blanks()
		switch {
		case p.begins("/>"):
			p.at += 2
			return
		case p.begins(">"):
			p.at++
			p.open = append(p.open, e)
			return
		case !spaced || !p.attribute(e):
			p.broken = true
			if len(p.open) == 0 {
				p.open = append(p.open, e) // the root goes on
			}
			return
		}
	}
}

func (p *repair) attribute(e *node) bool {
	name := p.name()
	p.blanks()
	if name == "" || !p.begins("=") {
		return false
	}
	p.at++
	p.blanks()
	if !p.begins(`"`) && !p.begins("'") {
		return false
	}
	quote := p.text[p.at]
	p.at++
	var value strings.Builder
	for p.at < len(p.text) && p.text[p.at] != quote {
		switch c := p.text[p.at]; {
		case c == '<':
			return false
		case c == '&':
			value.WriteString(p.reference())
		case c == '\n' || c == '\t':
			value.WriteByte(' ')
			p.at++
		default:
			value.WriteByte(c)
			p.at++
		}
	}
	if p.at == len(p.text) {
		return false
	}
	p.at++
	e.attrs = append(e.attrs, attribute{name, strings.Map(legal, value.String())})
	return true
}

func (p *repair) add(n *node) {
	switch {
	case len(p.open) > 0:
		parent := p.open[len(p.open)-1]
		parent.children = append(parent.children, n)
		return
	case n.name != "":
		p.root = n
	}
	p.top = append(p.top, n)
}

func (p *repair) addText(text string) {
	if text != "" {
		p.add(&node{markup: escapeText(text), isText: true})
	}
}

func (p *repair) begins(text string) bool { return strings.HasPrefix(p.text[p.at:], text) }

// rune is the character so many bytes ahead.
func (p *repair) rune(ahead int) rune {
	r, _ := utf8.DecodeRuneInString(p.text[min(p.at+ahead, len(p.text)):])
	return r
}

// blanks skips blanks, and says whether there were any.
func (p *repair) blanks() bool {
	start := p.at
	for p.at < len(p.text) && strings.IndexByte(" \t\n", p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at > start
}

// through reads to the end of a piece of markup, or of the text.
func (p *repair) through(end string) string {
	start := p.at
	if i := strings.Index(p.text[p.at:], end); i >= 0 {
		p.at += i + len(end)
		return p.text[start:p.at]
	}
	p.at = len(p.text)
	return ""
}

func (p *repair) name() string {
	start := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !isNameStart(r) && (p.at == start || !strings.ContainsRune("-.0123456789", r)) {
			break
		}
		p.at += size
	}
	return p.text[start:p.at]
}

func isNameStart(r rune) bool {
	return r == '_' || r == ':' || r != utf8.RuneError && unicode.IsLetter(r)
}

// legal drops the characters that XML does not have.
func legal(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || 0xd800 <= r && r <= 0xdfff || r == 0xfffe || r == 0xffff || r > unicode.MaxRune {
		return -1
	}
	return r
}

func isIllegal(r rune) bool { return legal(r) < 0 }

var (
	textEscapes  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	valueEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;", "\t", "&#9;")
)

func escapeText(text string) string { return textEscapes.Replace(text) }

// bytes writes the document anew.
func (p *repair) bytes() []byte {
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
	for _, n := range p.top {
		out.WriteByte('\n')
		n.write(&out, "", true)
	}
	return bytes.TrimSpace(out.Bytes())
}

// write writes a piece. Pieces of an element without text get lines of their own.
func (n *node) write(out *bytes.Buffer, indent string, lines bool) {
	if n.name == "" {
		out.WriteString(n.markup)
		return
	}
	out.WriteString("<" + n.name)
	for _, isNamespace := range []bool{true, false} {
		for _, a := range n.attrs {
			if (a.name == "xmlns" || strings.HasPrefix(a.name, "xmlns:")) == isNamespace {
				out.WriteString(" " + a.name + `="` + valueEscapes.Replace(a.value) + `"`)
			}
		}
	}
	if len(n.children) == 0 {
		out.WriteString("/>")
		return
	}
	out.WriteByte('>')
	for _, c := range n.children {
		lines = lines && !c.isText
	}
	for _, c := range n.children {
		if lines {
			out.WriteString("\n" + indent + "  ")
		}
		c.write(out, indent+"  ", lines)
	}
	if lines {
		out.WriteString("\n" + indent)
	}
	out.WriteString("</" + n.name + ">")
}

// walk visits n and the elements below, in order, until visit says no.
func (n *node) walk(visit func(*node) bool) bool {
	if n.name == "" {
		return true
	}
	if !visit(n) {
		return false
	}
	for _, c := range n.children {
		if !c.walk(visit) {
			return false
		}
	}
	return true
}

func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// namespace is the first one of DataCite's that any element declares.
func (p *repair) namespace() (found string) {
	if p.root == nil {
		return ""
	}
	p.root.walk(func(n *node) bool {
		for _, a := range n.attrs {
			if (a.name == "xmlns" || strings.HasPrefix(a.name, "xmlns:")) && strings.HasPrefix(a.value, kernelSpaces) {
				found = a.value
				return false
			}
		}
		return true
	})
	return found
}

const kernelSpaces = "http://datacite.org/schema/kernel"

// identifier is the first element of that name in the namespace that the root
// declares for names without a prefix; nil if there is none.
func (p *repair) identifier() (found *node) {
	if p.root == nil {
		return nil
	}
	space := p.root.attr("xmlns")
	p.root.walk(func(n *node) bool {
		prefix, local, prefixed := strings.Cut(n.name, ":")
		if n.name == "identifier" || prefixed && local == "identifier" && space != "" && p.root.attr("xmlns:"+prefix) == space {
			found = n
		}
		return found == nil
	})
	return found
}

// content is the text below n.
func (n *node) content() string {
	if n == nil {
		return ""
	}
	var out strings.Builder
	for _, c := range n.children {
		if c.isText {
			out.WriteString(c.markup)
		}
		out.WriteString(c.content())
	}
	return out.String()
}

// IdentifierIn is the DOI that a document gives for itself, in whatever namespace.
func IdentifierIn(body []byte) (text string) {
	p := repaired(string(body))
	if p.root == nil {
		return ""
	}
	p.root.walk(func(n *node) bool {
		if n.name == "identifier" || strings.HasSuffix(n.name, ":identifier") {
			text = n.content()
			return false
		}
		return true
	})
	return text
}
