package metadata

import (
	"strings"
)

const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
	xsiSpace   = "http://www.w3.org/2001/XMLSchema-instance"

	maxDepth      = 64  // the deepest element of a record is the sixth
	maxAttributes = 128 // of one element
	maxNamespaces = 64  // at one place of the document
)

type tokenKind int

const (
	endOfDocument tokenKind = iota // also after an error
	startTag
	endTag
	characters
)

// scanner splits an XML document into tags and text. It takes namespaces into
// account, and checks all that makes a document well formed. encoding/xml does
// not: it lets doubled attributes, undeclared prefixes and text behind the root
// pass, and the service repairs such documents by dropping parts of them.
//
// The names and texts it returns are parts of the document, not copies.
type scanner struct {
	src string
	pos int
	err *SyntaxError

	// The token read last.
	kind  tokenKind
	start int    // where it begins
	space string // namespace of a tag
	name  string // name of a tag, without prefix
	attrs []tagAttribute
	text  string

	open     []openElement
	bindings []binding
	empty    bool // the start tag read last was an empty element
	rootSeen bool
}

type openElement struct {
	qname, space, name string
	bindings           int // how many bindings hold outside
}

type binding struct{ prefix, space string }

type tagAttribute struct {
	space, name, value string
	start              int
}

// next reads one token and returns its kind. Comments and processing
// instructions are skipped, CDATA sections are text.
func (s *scanner) next() tokenKind {
	s.kind = s.scan()
	if s.err != nil {
		s.kind = endOfDocument
	}
	return s.kind
}

func (s *scanner) scan() tokenKind {
	if s.empty {
		s.empty = false
		return s.closeElement()
	}
	for s.err == nil && s.pos < len(s.src) {
		s.start = s.pos
		rest := s.src[s.pos:]
		switch {
		case rest[0] != '<':
			if s.charData() {
				return characters
			}
		case strings.HasPrefix(rest, "</"):
			return s.endTag()
		case strings.HasPrefix(rest, "<?"):
			s.instruction()
		case strings.HasPrefix(rest, "<!--"):
			s.comment()
		case strings.HasPrefix(rest, "<![CDATA["):
			return s.cdata()
		case strings.HasPrefix(rest, "<!DOCTYPE"):
			s.fail(s.pos, "a document type declaration is not allowed")
		case strings.HasPrefix(rest, "<!"):
			s.fail(s.pos, "markup declarations are not allowed here")
		default:
			return s.startTag()
		}
	}
	if s.err == nil {
		s.checkEnd()
	}
	return endOfDocument
}

func (s *scanner) checkEnd() {
	switch {
	case len(s.open) > 0:
		s.fail(s.pos, "the document ends inside <%s>", s.open[len(s.open)-1].qname)
	case !s.rootSeen:
		s.fail(s.pos, "the document has no element")
	}
}

// charData reads text up to the next markup and reports whether it belongs to
// an element.
func (s *scanner) charData() bool {
	end := strings.IndexByte(s.src[s.pos:], '<')
	if end < 0 {
		end = len(s.src) - s.pos
	}
	raw := s.src[s.pos : s.pos+end]
	if len(s.open) == 0 {
		if at := len(raw) - len(strings.TrimLeft(raw, blanks)); at < len(raw) {
			s.fail(s.pos+at, "text outside the root element")
		}
		s.pos += end
		return false
	}
	if at := strings.Index(raw, "]]>"); at >= 0 {
		s.fail(s.pos+at, `"]]>" is not allowed in text`)
		return false
	}
	s.text = s.unescape(raw, false)
	s.pos += end
	return true
}

func (s *scanner) cdata() tokenKind {
	const open, end = "<![CDATA[", "]]>"
	length := strings.Index(s.src[s.pos+len(open):], end)
	switch {
	case length < 0:
		s.fail(s.pos, "the CDATA section does not end")
		return endOfDocument
	case len(s.open) == 0:
		s.fail(s.pos, "text outside the root element")
		return endOfDocument
	}
	from := s.pos + len(open)
	s.text = newlines(s.src[from : from+length])
	s.pos = from + length + len(end)
	return characters
}

func (s *scanner) comment() {
	body := s.src[s.pos+len("<!--"):]
	end := strings.Index(body, "--")
	switch {
	case end < 0:
		s.fail(s.pos, "the comment does not end")
	case !strings.HasPrefix(body[end:], "-->"):
		s.fail(s.pos+len("<!--")+end, `"--" is not allowed in a comment`)
	default:
		s.pos += len("<!--") + end + len("-->")
	}
}

func (s *scanner) instruction() {
	from := s.pos + len("<?")
	end := strings.Index(s.src[from:], "?>")
	if end < 0 {
		s.fail(s.pos, "the processing instruction does not end")
		return
	}
	body := s.src[from : from+end]
	n := nameLen(body)
	target := body[:n]
	switch {
	case n == 0 || n < len(body) && !isBlank(body[n]):
		s.fail(from, "a processing instruction needs a name")
	case strings.Contains(target, ":"):
		s.fail(from, "the name of a processing instruction has no colon")
	case strings.EqualFold(target, "xml"):
		s.fail(s.pos, "an XML declaration is allowed at the very start only")
	}
	s.pos = from + end + len("?>")
}

func (s *scanner) startTag() tokenKind {
	from := s.pos
	n := nameLen(s.src[from+1:])
	if n == 0 {
		s.fail(s.pos, `"<" must start a tag; write &lt; in text`)
		return endOfDocument
	}
	qname := s.src[from+1 : from+1+n]
	switch {
	case s.rootSeen && len(s.open) == 0:
		s.fail(from, "a second root element <%s>", qname)
	case len(s.open) == maxDepth:
		s.fail(from, "elements nest deeper than %d", maxDepth)
	}
	s.rootSeen = true
	s.pos += 1 + n
	before := len(s.bindings)
	s.attributes(qname)
	if s.err != nil {
		return endOfDocument
	}
	s.space, s.name = s.resolve(from+1, qname, true)
	for i := range s.attrs {
		a := &s.attrs[i]
		a.space, a.name = s.resolve(a.start, a.name, false)
	}
	s.checkDoubles()
	s.open = append(s.open, openElement{qname: qname, space: s.space, name: s.name, bindings: before})
	return startTag
}

// attributes reads the attributes and the end of a start tag. Those that declare
// a namespace become bindings, the others s.attrs, with the prefix still part of
// the name.
func (s *scanner) attributes(element string) {
	s.attrs = s.attrs[:0]
	for {
		blank := s.skipBlanks()
		rest := s.src[s.pos:]
		switch {
		case rest == "":
			s.fail(s.start, "the tag <%s> does not end", element)
			return
		case rest[0] == '>':
			s.pos++
			return
		case strings.HasPrefix(rest, "/>"):
			s.pos += 2
			s.empty = true
			return
		}
		n := nameLen(rest)
		if n == 0 || !blank {
			s.fail(s.pos, "the tag <%s> is not written correctly", element)
			return
		}
		if len(s.attrs) == maxAttributes {
			s.fail(s.pos, "the element <%s> has more than %d attributes", element, maxAttributes)
			return
		}
		s.attribute(n)
		if s.err != nil {
			return
		}
	}
}

// attribute reads one attribute whose name is n bytes long.
func (s *scanner) attribute(n int) {
	a := tagAttribute{name: s.src[s.pos : s.pos+n], start: s.pos}
	s.pos += n
	s.skipBlanks()
	if !strings.HasPrefix(s.src[s.pos:], "=") {
		s.fail(a.start, "the attribute %s has no value", a.name)
		return
	}
	s.pos++
	s.skipBlanks()
	if s.pos == len(s.src) || s.src[s.pos] != '"' && s.src[s.pos] != '\'' {
		s.fail(a.start, "the value of the attribute %s is not in quotes", a.name)
		return
	}
	quote := s.src[s.pos]
	s.pos++
	end := strings.IndexByte(s.src[s.pos:], quote)
	if end < 0 {
		s.fail(a.start, "the value of the attribute %s does not end", a.name)
		return
	}
	raw := s.src[s.pos : s.pos+end]
	if at := strings.IndexByte(raw, '<'); at >= 0 {
		s.fail(s.pos+at, `"<" is not allowed in an attribute; write &lt;`)
		return
	}
	a.value = s.unescape(raw, true)
	s.pos += end + 1
	s.keep(a)
}

// keep adds an attribute to the tag, or a namespace to the bindings.
func (s *scanner) keep(a tagAttribute) {
	for i := range s.attrs {
		if s.attrs[i].name == a.name {
			s.fail(a.start, "the attribute %s is there twice", a.name)
			return
		}
	}
	s.attrs = append(s.attrs, a)
	prefix, declares := strings.CutPrefix(a.name, "xmlns:")
	switch {
	case !declares && a.name != "xmlns":
		return
	case len(s.bindings) == maxNamespaces:
		s.fail(a.start, "more than %d namespaces are declared", maxNamespaces)
	case a.name == "xmlns" && a.value != xmlSpace && a.value != xmlnsSpace:
		s.bindings = append(s.bindings, binding{"", a.value})
	case a.value == "", prefix == "xmlns", (prefix == "xml") != (a.value == xmlSpace), a.value == xmlnsSpace:
		s.fail(a.start, "the prefix %s cannot stand for %q", prefix, a.value)
	default:
		s.bindings = append(s.bindings, binding{prefix, a.value})
	}
}

// resolve splits a qualified name that begins at offset at. Attributes without a
// prefix are in no namespace.
func (s *scanner) resolve(at int, qname string, element bool) (space, name string) {
	prefix, name, prefixed := strings.Cut(qname, ":")
	if !prefixed {
		switch {
		case element:
			return s.lookup(""), qname
		case qname == "xmlns":
			return xmlnsSpace, qname
		}
		return "", qname
	}
	if prefix == "" || strings.Contains(name, ":") || nameLen(name) == 0 {
		s.fail(at, "%s is not a name", qname)
		return "", ""
	}
	space = s.lookup(prefix)
	if space == "" {
		s.fail(at, "the prefix %s is not declared", prefix)
	}
	return space, name
}

func (s *scanner) lookup(prefix string) string {
	switch prefix {
	case "xml":
		return xmlSpace
	case "xmlns":
		return xmlnsSpace
	}
	for i := len(s.bindings) - 1; i >= 0; i-- {
		if s.bindings[i].prefix == prefix {
			return s.bindings[i].space
		}
	}
	return ""
}

// checkDoubles finds attributes that differ in prefix only.
func (s *scanner) checkDoubles() {
	for i, a := range s.attrs {
		if a.space == "" {
			continue
		}
		for _, b := range s.attrs[:i] {
			if a.space == b.space && a.name == b.name {
				s.fail(a.start, "the attribute %s is there twice", a.name)
			}
		}
	}
}

func (s *scanner) endTag() tokenKind {
	rest := s.src[s.pos+2:]
	n := nameLen(rest)
	end := n + len(rest[n:]) - len(strings.TrimLeft(rest[n:], blanks))
	switch {
	case n == 0 || end == len(rest) || rest[end] != '>':
		s.fail(s.pos, "the end tag is not written correctly")
		return endOfDocument
	case len(s.open) == 0:
		s.fail(s.pos, "</%s> closes nothing", rest[:n])
		return endOfDocument
	case s.open[len(s.open)-1].qname != rest[:n]:
		s.fail(s.pos, "</%s> comes where </%s> is due", rest[:n], s.open[len(s.open)-1].qname)
		return endOfDocument
	}
	s.pos += 2 + end + 1
	return s.closeElement()
}

func (s *scanner) closeElement() tokenKind {
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	s.bindings = s.bindings[:last.bindings]
	s.space, s.name = last.space, last.name
	return endTag
}

func (s *scanner) skipBlanks() bool {
	from := s.pos
	for s.pos < len(s.src) && isBlank(s.src[s.pos]) {
		s.pos++
	}
	return s.pos > from
}
