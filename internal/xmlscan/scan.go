// Package xmlscan reads XML documents token by token, and refuses those that are not well
// formed. encoding/xml accepts repeated attributes, undeclared prefixes and text after the
// root element; DataCite drops parts of such documents.
package xmlscan

import (
	"strings"
)

// Namespaces that have a meaning in every document.
const (
	XMLSpace            = "http://www.w3.org/XML/1998/namespace"
	DeclarationSpace    = "http://www.w3.org/2000/xmlns/" // of the attributes that declare namespaces
	SchemaInstanceSpace = "http://www.w3.org/2001/XMLSchema-instance"
)

const (
	maxDepth      = 64  // the deepest element of a record is the sixth
	maxAttributes = 128 // of one element
	maxNamespaces = 64  // at one place of the document
)

// A Kind is the kind of a token.
type Kind int

// The kinds of tokens.
const (
	End Kind = iota // of the document, also after an error
	StartTag
	EndTag
	Text
)

// A Scanner splits an XML document into tags and text. It resolves namespaces and checks
// all that makes a document well formed.
//
// The names and texts of its tokens are parts of the document, not copies.
type Scanner struct {
	src    string
	stored bool // see Stored
	pos    int
	err    *Error

	// The token read last.
	Start int         // the offset at which it begins
	Space string      // namespace of a tag
	Name  string      // name of a tag, without prefix
	Attrs []Attribute // of a start tag, declarations of namespaces too
	Text  string

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

// An Attribute is an attribute of a start tag.
type Attribute struct {
	Space, Name, Value string
	Start              int // the offset at which it begins
}

// Next reads a token and returns its kind. Comments and processing instructions are
// skipped, CDATA sections are text. It returns End at the end and after an error.
func (s *Scanner) Next() Kind {
	if s.err != nil {
		return End
	}
	if kind := s.scan(); s.err == nil {
		return kind
	}
	return End
}

// Depth returns how many elements are open: after a start tag, its own is one of them.
func (s *Scanner) Depth() int { return len(s.open) }

// Stop returns the offset at which the token read last ends.
func (s *Scanner) Stop() int { return s.pos }

// Err returns the first error, nil if there has been none.
func (s *Scanner) Err() *Error { return s.err }

// Source returns the document.
func (s *Scanner) Source() string { return s.src }

func (s *Scanner) scan() Kind {
	if s.empty {
		s.empty = false
		return s.closeElement()
	}
	for s.err == nil && s.pos < len(s.src) {
		s.Start = s.pos
		rest := s.src[s.pos:]
		switch {
		case rest[0] != '<':
			if s.charData() {
				return Text
			}
		case strings.HasPrefix(rest, "</"):
			return s.readEndTag()
		case strings.HasPrefix(rest, "<?"):
			s.instruction()
		case strings.HasPrefix(rest, "<!--"):
			s.comment()
		case strings.HasPrefix(rest, "<![CDATA["):
			return s.cdata()
		case strings.HasPrefix(rest, "<!DOCTYPE") && s.stored && !s.rootSeen:
			s.documentType()
		case strings.HasPrefix(rest, "<!DOCTYPE"):
			s.Fail(s.pos, "a document type declaration is not allowed")
		case strings.HasPrefix(rest, "<!"):
			s.Fail(s.pos, "markup declarations are not allowed here")
		default:
			return s.readStartTag()
		}
	}
	if s.err == nil {
		s.checkEnd()
	}
	return End
}

func (s *Scanner) checkEnd() {
	switch {
	case len(s.open) > 0:
		s.Fail(s.pos, "the document ends inside <%s>", s.open[len(s.open)-1].qname)
	case !s.rootSeen:
		s.Fail(s.pos, "the document has no element")
	}
}

// charData reads text up to the next markup and reports whether it belongs to
// an element.
func (s *Scanner) charData() bool {
	end := strings.IndexByte(s.src[s.pos:], '<')
	if end < 0 {
		end = len(s.src) - s.pos
	}
	raw := s.src[s.pos : s.pos+end]
	if len(s.open) == 0 {
		if at := len(raw) - len(strings.TrimLeft(raw, blanks)); at < len(raw) {
			s.Fail(s.pos+at, "text outside the root element")
		}
		s.pos += end
		return false
	}
	if at := strings.Index(raw, "]]>"); at >= 0 {
		s.Fail(s.pos+at, `"]]>" is not allowed in text`)
		return false
	}
	s.Text = s.unescape(raw, false)
	s.pos += end
	return true
}

func (s *Scanner) cdata() Kind {
	const open, end = "<![CDATA[", "]]>"
	length := strings.Index(s.src[s.pos+len(open):], end)
	switch {
	case length < 0:
		s.Fail(s.pos, "the CDATA section does not end")
		return End
	case len(s.open) == 0:
		s.Fail(s.pos, "text outside the root element")
		return End
	}
	from := s.pos + len(open)
	s.Text = Newlines(s.src[from : from+length])
	s.pos = from + length + len(end)
	return Text
}

func (s *Scanner) comment() {
	body := s.src[s.pos+len("<!--"):]
	end := strings.Index(body, "--")
	switch {
	case end < 0:
		s.Fail(s.pos, "the comment does not end")
	case !strings.HasPrefix(body[end:], "-->"):
		s.Fail(s.pos+len("<!--")+end, `"--" is not allowed in a comment`)
	default:
		s.pos += len("<!--") + end + len("-->")
	}
}

func (s *Scanner) instruction() {
	from := s.pos + len("<?")
	end := strings.Index(s.src[from:], "?>")
	if end < 0 {
		s.Fail(s.pos, "the processing instruction does not end")
		return
	}
	body := s.src[from : from+end]
	n := NameLen(body)
	target := body[:n]
	switch {
	case n == 0 || n < len(body) && !IsBlank(body[n]):
		s.Fail(from, "a processing instruction needs a name")
	case strings.Contains(target, ":"):
		s.Fail(from, "the name of a processing instruction has no colon")
	case strings.EqualFold(target, "xml"):
		s.Fail(s.pos, "an XML declaration is allowed at the very start only")
	}
	s.pos = from + end + len("?>")
}

// documentType skips a document type, and the declarations in it.
func (s *Scanner) documentType() {
	depth, quote := 0, byte(0)
	for i := s.pos; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth == 0 {
				s.pos = i + 1
				return
			}
		}
	}
	s.Fail(s.pos, "the document type does not end")
}

func (s *Scanner) readStartTag() Kind {
	from := s.pos
	n := NameLen(s.src[from+1:])
	if n == 0 {
		s.Fail(s.pos, `"<" must start a tag; write &lt; in text`)
		return End
	}
	qname := s.src[from+1 : from+1+n]
	switch {
	case s.rootSeen && len(s.open) == 0:
		s.Fail(from, "a second root element <%s>", qname)
	case len(s.open) == maxDepth:
		s.Fail(from, "elements nest deeper than %d", maxDepth)
	}
	s.rootSeen = true
	s.pos += 1 + n
	before := len(s.bindings)
	s.attributes(qname)
	if s.err != nil {
		return End
	}
	s.Space, s.Name = s.resolve(from+1, qname, true)
	for i := range s.Attrs {
		a := &s.Attrs[i]
		a.Space, a.Name = s.resolve(a.Start, a.Name, false)
	}
	s.checkDoubles()
	s.open = append(s.open, openElement{qname: qname, space: s.Space, name: s.Name, bindings: before})
	return StartTag
}

// attributes reads the attributes and the end of a start tag. Those that declare
// a namespace become bindings, the others s.Attrs, with the prefix still part of
// the name.
func (s *Scanner) attributes(element string) {
	s.Attrs = s.Attrs[:0]
	for {
		blank := s.skipBlanks()
		rest := s.src[s.pos:]
		switch {
		case rest == "":
			s.Fail(s.Start, "the tag <%s> does not end", element)
			return
		case rest[0] == '>':
			s.pos++
			return
		case strings.HasPrefix(rest, "/>"):
			s.pos += 2
			s.empty = true
			return
		}
		n := NameLen(rest)
		if n == 0 || !blank {
			s.Fail(s.pos, "the tag <%s> is not written correctly", element)
			return
		}
		if len(s.Attrs) == maxAttributes {
			s.Fail(s.pos, "the element <%s> has more than %d attributes", element, maxAttributes)
			return
		}
		s.attribute(n)
		if s.err != nil {
			return
		}
	}
}

// attribute reads one attribute whose name is n bytes long.
func (s *Scanner) attribute(n int) {
	a := Attribute{Name: s.src[s.pos : s.pos+n], Start: s.pos}
	s.pos += n
	s.skipBlanks()
	if !strings.HasPrefix(s.src[s.pos:], "=") {
		s.Fail(a.Start, "the attribute %s has no value", a.Name)
		return
	}
	s.pos++
	s.skipBlanks()
	if s.pos == len(s.src) || s.src[s.pos] != '"' && s.src[s.pos] != '\'' {
		s.Fail(a.Start, "the value of the attribute %s is not in quotes", a.Name)
		return
	}
	quote := s.src[s.pos]
	s.pos++
	end := strings.IndexByte(s.src[s.pos:], quote)
	if end < 0 {
		s.Fail(a.Start, "the value of the attribute %s does not end", a.Name)
		return
	}
	raw := s.src[s.pos : s.pos+end]
	if at := strings.IndexByte(raw, '<'); at >= 0 {
		s.Fail(s.pos+at, `"<" is not allowed in an attribute; write &lt;`)
		return
	}
	a.Value = s.unescape(raw, true)
	s.pos += end + 1
	s.keep(a)
}

// keep adds an attribute to the tag, or a namespace to the bindings.
func (s *Scanner) keep(a Attribute) {
	for i := range s.Attrs {
		if s.Attrs[i].Name == a.Name {
			s.Fail(a.Start, "the attribute %s occurs twice", a.Name)
			return
		}
	}
	s.Attrs = append(s.Attrs, a)
	prefix, declares := strings.CutPrefix(a.Name, "xmlns:")
	switch {
	case !declares && a.Name != "xmlns":
		return
	case len(s.bindings) == maxNamespaces:
		s.Fail(a.Start, "more than %d namespaces are declared", maxNamespaces)
	case a.Name == "xmlns" && a.Value != XMLSpace && a.Value != DeclarationSpace:
		s.bindings = append(s.bindings, binding{"", a.Value})
	case a.Value == "", prefix == "xmlns", (prefix == "xml") != (a.Value == XMLSpace), a.Value == DeclarationSpace:
		s.Fail(a.Start, "the prefix %s cannot stand for %q", prefix, a.Value)
	default:
		s.bindings = append(s.bindings, binding{prefix, a.Value})
	}
}

// resolve splits a qualified name that begins at offset at. Attributes without a
// prefix are in no namespace.
func (s *Scanner) resolve(at int, qname string, element bool) (space, name string) {
	prefix, name, prefixed := strings.Cut(qname, ":")
	if !prefixed {
		switch {
		case element:
			return s.lookup(""), qname
		case qname == "xmlns":
			return DeclarationSpace, qname
		}
		return "", qname
	}
	if prefix == "" || strings.Contains(name, ":") || NameLen(name) == 0 {
		s.Fail(at, "%s is not a name", qname)
		return "", ""
	}
	space = s.lookup(prefix)
	if space == "" {
		s.Fail(at, "the prefix %s is not declared", prefix)
	}
	return space, name
}

func (s *Scanner) lookup(prefix string) string {
	switch prefix {
	case "xml":
		return XMLSpace
	case "xmlns":
		return DeclarationSpace
	}
	for i := len(s.bindings) - 1; i >= 0; i-- {
		if s.bindings[i].prefix == prefix {
			return s.bindings[i].space
		}
	}
	return ""
}

// checkDoubles finds attributes that differ in prefix only.
func (s *Scanner) checkDoubles() {
	for i, a := range s.Attrs {
		if a.Space == "" {
			continue
		}
		for _, b := range s.Attrs[:i] {
			if a.Space == b.Space && a.Name == b.Name {
				s.Fail(a.Start, "the attribute %s occurs twice", a.Name)
			}
		}
	}
}

func (s *Scanner) readEndTag() Kind {
	rest := s.src[s.pos+2:]
	n := NameLen(rest)
	end := n + len(rest[n:]) - len(strings.TrimLeft(rest[n:], blanks))
	switch {
	case n == 0 || end == len(rest) || rest[end] != '>':
		s.Fail(s.pos, "the end tag is not written correctly")
		return End
	case len(s.open) == 0:
		s.Fail(s.pos, "</%s> closes nothing", rest[:n])
		return End
	case s.open[len(s.open)-1].qname != rest[:n]:
		s.Fail(s.pos, "</%s> instead of </%s>", rest[:n], s.open[len(s.open)-1].qname)
		return End
	}
	s.pos += 2 + end + 1
	return s.closeElement()
}

func (s *Scanner) closeElement() Kind {
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	s.bindings = s.bindings[:last.bindings]
	s.Space, s.Name = last.space, last.name
	return EndTag
}

func (s *Scanner) skipBlanks() bool {
	from := s.pos
	for s.pos < len(s.src) && IsBlank(s.src[s.pos]) {
		s.pos++
	}
	return s.pos > from
}
