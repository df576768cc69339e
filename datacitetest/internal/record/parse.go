package record

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// parser reads XML like the deployed service's parser, which recovers from errors, as
// far as it matters to clients.
type parser struct {
	*Document
	source  string
	at      int
	open    []*element
	bound   map[string]string // namespaces by prefix
	hidden  [][]binding       // of each open element: what its own bindings hide
	lines   int               // lines before counted
	counted int

	broken bool // from here on named references are dropped
}

type binding struct {
	prefix, space string
	bound         bool
}

var xmlVersion = regexp.MustCompile(`\sversion\s*=\s*["']([^"']*)`)

// recovered is the document that the recovering parser sees.
func recovered(source string) *Document {
	p := &parser{Document: &Document{}, source: source, bound: map[string]string{"xml": xmlSpace, "xmlns": "xmlns"}}
	if !utf8.ValidString(source) {
		p.flawed("invalid UTF-8")
	}
	p.skip("\ufeff")
	p.blanks()
	if p.begins("<?xml") {
		if m := xmlVersion.FindStringSubmatch(p.through("?>")); m == nil || m[1] != "1.0" {
			p.flawed("it is not XML 1.0")
		}
	}
	for p.outside() {
		for len(p.open) > 0 && p.at < len(p.source) {
			p.content()
		}
		for len(p.open) > 0 { // the end of the text closes open elements
			p.flawed("the text ends inside %s", p.open[len(p.open)-1].tag)
			p.close(p.at)
		}
	}
	switch {
	case p.Root == nil:
		p.flawed("no root element")
	case p.at < len(p.source):
		p.flawed("content after the root element")
	}
	return p.Document
}

// flawed notes an error that the recovering parser ignores.
func (p *parser) flawed(format string, args ...any) {
	if p.flaw == nil {
		p.sound = p.at
		p.flaw = fmt.Errorf("line %d: "+format, append([]any{p.line()}, args...)...)
	}
}

// breaks notes an error that the recovering parser notices, too.
func (p *parser) breaks(format string, args ...any) {
	p.flawed(format, args...)
	p.broken = true
}

func (p *parser) line() int {
	p.lines += strings.Count(p.source[p.counted:p.at], "\n")
	p.counted = p.at
	return p.lines + 1
}

// outside reads one piece before or after the root element; it reports whether to
// continue.
func (p *parser) outside() bool {
	p.blanks()
	switch {
	case p.begins("<?xml "):
		p.flawed("a second declaration")
		p.through("?>")
	case p.comment(), p.instruction():
	case p.Root == nil && p.begins("<!DOCTYPE"):
		p.add(&element{markup: p.doctype()})
	case p.Root == nil && p.begins("<") && isNameStart(p.rune(1)):
		p.element()
	default:
		return false
	}
	return true
}

func (p *parser) comment() bool {
	if !p.begins("<!--") {
		return false
	}
	text := p.through("-->")
	if strings.Contains(strings.TrimSuffix(strings.TrimPrefix(text, "<!--"), "-->"), "--") {
		p.flawed("two hyphens in a comment")
	}
	p.add(&element{markup: text})
	return true
}

func (p *parser) instruction() bool {
	if !p.begins("<?") {
		return false
	}
	if !isNameStart(p.rune(len("<?"))) {
		p.flawed("an instruction without a name")
	}
	p.add(&element{markup: p.through("?>")})
	return true
}

func (p *parser) doctype() string {
	rest := p.source[p.at:]
	if subset, end := strings.Index(rest, "["), strings.Index(rest, "]"); 0 <= subset && subset < strings.Index(rest, ">") && subset < end {
		start := p.at
		p.at += end
		p.through(">")
		return newlines.Replace(p.source[start:p.at])
	}
	return p.through(">")
}

// content reads one piece inside the root element.
func (p *parser) content() {
	switch {
	case p.begins("</"):
		p.endTag()
	case p.comment(), p.instruction():
	case p.begins("<![CDATA["):
		markup := p.through("]]>")
		p.add(&element{markup: markup, text: strings.TrimSuffix(strings.TrimPrefix(markup, "<![CDATA["), "]]>"), isText: true})
	case p.begins("<") && isNameStart(p.rune(1)):
		p.element()
	case p.skip("<"): // dropped if alone
		p.breaks("a lone <")
	case p.begins("&"):
		p.addText(p.referenceInText())
	default:
		p.characters()
	}
}

// endTag closes the innermost element, whatever its name. The rest of a
// malformed end tag is text.
func (p *parser) endTag() {
	start, last := p.at, p.open[len(p.open)-1]
	p.at += len("</")
	name := p.name()
	p.blanks()
	if closed := p.skip(">"); !closed || name != last.tag {
		p.breaks("%s is closed by %s", last.tag, name)
	}
	p.close(start)
}

// close ends the innermost element, whose end tag is at a place.
func (p *parser) close(end int) {
	last := len(p.open) - 1
	p.open[last].end = end
	p.unbind(p.hidden[last])
	p.open, p.hidden = p.open[:last], p.hidden[:last]
}

func (p *parser) characters() {
	end := strings.IndexAny(p.source[p.at:], "<&")
	if end < 0 {
		end = len(p.source) - p.at
	}
	chunk := newlines.Replace(p.source[p.at : p.at+end])
	p.at += end
	if i := strings.LastIndex(chunk, "]]>"); i >= 0 {
		p.breaks("]]> in a text")
		chunk = chunk[i+1:] // the text before it is lost
	}
	sound := legal(chunk)
	if sound != chunk {
		p.breaks("a character that XML does not allow")
	}
	if strings.Trim(chunk, blanks) != "" || !p.ignorable() {
		p.addText(sound)
	}
}

// newlines are what the ends of lines become.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// ignorable says whether white space is not text here, as between elements.
func (p *parser) ignorable() bool {
	around := p.open[len(p.open)-1].children
	switch {
	case !p.begins("<"):
		return false
	case len(around) == 0:
		return !p.begins("</")
	}
	return !around[len(around)-1].isText && !around[0].isText
}

// referenceInText is a character reference, or a named one if there was no error
// before.
func (p *parser) referenceInText() string {
	wasBroken, named := p.broken, !p.begins("&#")
	text := p.reference()
	if wasBroken && named {
		return ""
	}
	return text
}

// reference reads "&name;" or "&#1;". Unknown references, those
// without a semicolon and a lone "&" are dropped.
func (p *parser) reference() string {
	p.at++
	if p.skip("#") {
		return p.character()
	}
	name := p.name()
	if name == "" || !p.skip(";") {
		p.breaks("a lone &")
		return ""
	}
	text, known := map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}[name]
	if !known {
		p.breaks("&%s; is not defined", name)
	}
	return text
}

func (p *parser) character() string {
	base := 10
	if p.skip("x") {
		base = 16
	}
	start := p.at
	for p.at < len(p.source) && (names.IsHex(p.source[p.at]) && base == 16 || '0' <= p.source[p.at] && p.source[p.at] <= '9') {
		p.at++
	}
	digits := p.source[start:p.at]
	n, err := strconv.ParseInt(digits, base, 32)
	if !p.skip(";") {
		p.flawed("&#%s has no semicolon", digits)
	}
	if err != nil || !isLegal(rune(n)) {
		p.breaks("no character has the number %s", digits)
		return ""
	}
	return string(rune(n))
}

// element reads a start tag. A malformed one becomes an element without content,
// and its rest becomes text. The parser stops where elements are nested too
// deeply.
func (p *parser) element() {
	if len(p.open) == wire.MaxElements {
		p.breaks("elements nested more than %d deep", wire.MaxElements)
		p.at = len(p.source)
		return
	}
	e := &element{start: p.at}
	p.at++
	e.tag = p.name()
	p.add(e)
	goesOn := p.startTag(e)
	hidden := p.bind(e)
	e.line, e.inside, e.end = p.line(), p.at, p.at
	if goesOn {
		p.open, p.hidden = append(p.open, e), append(p.hidden, hidden)
	} else {
		p.unbind(hidden)
	}
}

// startTag reads the rest of a start tag. goesOn says whether content follows.
func (p *parser) startTag(e *element) (goesOn bool) {
	for {
		spaced := p.blanks()
		switch {
		case p.skip("/>"):
			return false
		case p.skip(">"):
			return true
		case !spaced || !p.attribute(e):
			p.breaks("the start tag of %s is broken", e.tag)
			return len(p.open) == 0 // the root element continues
		}
	}
}

func (p *parser) attribute(e *element) bool {
	tag := p.name()
	p.blanks()
	if tag == "" || !p.skip("=") {
		return false
	}
	p.blanks()
	if !p.begins(`"`) && !p.begins("'") {
		return false
	}
	quote := p.source[p.at]
	p.at++
	var value strings.Builder
	for p.at < len(p.source) && p.source[p.at] != quote {
		switch c := p.source[p.at]; {
		case c == '<':
			return false
		case c == '&':
			value.WriteString(p.reference())
		case p.skip("\r\n"), p.skip("\r"), p.skip("\n"), p.skip("\t"):
			value.WriteByte(' ')
		default:
			value.WriteByte(c)
			p.at++
		}
	}
	if p.at == len(p.source) {
		return false
	}
	p.at++
	sound := legal(value.String())
	if len(sound) != value.Len() {
		p.flawed("a character that XML does not allow, in %s", tag)
	}
	e.attrs = append(e.attrs, attribute{tag: tag, value: sound})
	return true
}

// bind enters the namespaces that an element declares, and resolves its names.
func (p *parser) bind(e *element) (hidden []binding) {
	for _, a := range e.attrs {
		if prefix, ok := a.binds(); ok {
			space, bound := p.bound[prefix]
			hidden = append(hidden, binding{prefix, space, bound})
			p.bound[prefix] = a.value
		}
	}
	e.name = p.resolve(e.tag, p.bound[""])
	seen := make(map[name]bool, len(e.attrs))
	for i, a := range e.attrs {
		e.attrs[i].name = p.resolve(a.tag, "")
		if seen[e.attrs[i].name] {
			p.flawed("attribute %s of %s given twice", a.tag, e.tag)
		}
		seen[e.attrs[i].name] = true
	}
	return hidden
}

// resolve finds the namespace of a name; without a prefix it is the one given.
func (p *parser) resolve(tag, space string) name {
	prefix, local, prefixed := strings.Cut(tag, ":")
	switch {
	case strings.Contains(local, ":"):
		p.flawed("%s has two colons", tag)
		return name{space, tag}
	case !prefixed || prefix == "" || local == "":
		return name{space, tag}
	}
	if bound, ok := p.bound[prefix]; ok {
		return name{bound, local}
	}
	return name{prefix, local}
}

func (p *parser) unbind(hidden []binding) {
	for i := len(hidden) - 1; i >= 0; i-- {
		if b := hidden[i]; b.bound {
			p.bound[b.prefix] = b.space
		} else {
			delete(p.bound, b.prefix)
		}
	}
}

func (p *parser) add(e *element) {
	switch {
	case len(p.open) > 0:
		parent := p.open[len(p.open)-1]
		parent.children = append(parent.children, e)
		return
	case e.tag != "":
		p.Root = e
	}
	p.top = append(p.top, e)
}

func (p *parser) addText(text string) {
	if text != "" {
		p.add(&element{text: text, isText: true})
	}
}

func (p *parser) begins(text string) bool { return strings.HasPrefix(p.source[p.at:], text) }

func (p *parser) skip(text string) bool {
	found := p.begins(text)
	if found {
		p.at += len(text)
	}
	return found
}

// rune is the character so many bytes ahead.
func (p *parser) rune(ahead int) rune {
	r, _ := utf8.DecodeRuneInString(p.source[min(p.at+ahead, len(p.source)):])
	return r
}

// blanks skips white space, and says whether there was any.
func (p *parser) blanks() bool {
	start := p.at
	for p.at < len(p.source) && strings.IndexByte(blanks, p.source[p.at]) >= 0 {
		p.at++
	}
	return p.at > start
}

// through reads to the end of a piece of markup, or of the text.
func (p *parser) through(end string) string {
	start := p.at
	if i := strings.Index(p.source[p.at:], end); i >= 0 {
		p.at += i + len(end)
		return newlines.Replace(p.source[start:p.at])
	}
	p.at = len(p.source)
	p.flawed("%s is missing", end)
	return ""
}

func (p *parser) name() string {
	start := p.at
	for p.at < len(p.source) {
		r, size := utf8.DecodeRuneInString(p.source[p.at:])
		if !isNameStart(r) && (p.at == start || !strings.ContainsRune("-.0123456789", r)) {
			break
		}
		p.at += size
	}
	return p.source[start:p.at]
}

func isNameStart(r rune) bool {
	return r == '_' || r == ':' || r != utf8.RuneError && unicode.IsLetter(r)
}
