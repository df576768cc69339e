package xmlscan

import (
	"slices"
	"sort"
	"strings"
)

// maxNodes bounds the memory for a document full of empty elements.
const maxNodes = 1 << 20

// A Tree is a document whose elements can be changed. All else is written as it was read.
type Tree struct {
	Root          *Node
	before, after string
	places        []place // of the last String
}

// A place of the written document comes from one of the document that was read.
type place struct{ written, read int }

// A Node is an element, or what stands between elements.
type Node struct {
	Space, Name string // of an element
	Attrs       []Attribute
	Children    []*Node
	Text        string // of a text
	Start       int    // where it was read; of a new element, where its content was
	raw, end    string // start tag or text, and end tag
}

// NewTree reads the rest of a document. It returns nil after an error, which s has.
func NewTree(s *Scanner) *Tree {
	t, done, nodes := &Tree{}, 0, 0
	open := []*Node{{}}
	add := func(n *Node) {
		top := open[len(open)-1]
		top.Children = append(top.Children, n)
		if nodes++; nodes > maxNodes {
			s.Fail(s.Start, "the document has more than %d elements and texts", maxNodes)
		}
	}
	for kind := s.Next(); kind != End; kind = s.Next() {
		if kind == EndTag && s.pos == done { // of an empty element
			open = open[:len(open)-1]
			continue
		}
		raw, gap := s.src[s.Start:s.pos], s.src[done:s.Start]
		done = s.pos
		switch {
		case t.Root == nil:
			t.before = gap
		case gap != "": // comments and instructions
			add(&Node{raw: gap, Start: s.Start - len(gap)})
		}
		switch kind {
		case StartTag:
			n := &Node{Space: s.Space, Name: s.Name, Start: s.Start, raw: raw, Attrs: slices.Clone(s.Attrs)}
			for i := range n.Attrs {
				n.Attrs[i].Start -= s.Start // within the tag
			}
			add(n)
			open = append(open, n)
			if t.Root == nil {
				t.Root = n
			}
		case Text:
			add(&Node{raw: raw, Text: s.Text, Start: s.Start})
		case EndTag:
			open[len(open)-1].end = raw
			open = open[:len(open)-1]
		}
	}
	if s.err != nil {
		return nil
	}
	t.after = s.src[done:]
	return t
}

// String returns the document.
func (t *Tree) String() string {
	var b strings.Builder
	b.WriteString(t.before)
	t.places = t.places[:0]
	t.Root.write(&b, func(n *Node) { t.places = append(t.places, place{b.Len(), n.Start}) })
	b.WriteString(t.after)
	return b.String()
}

func (n *Node) write(b *strings.Builder, note func(*Node)) {
	note(n)
	b.WriteString(n.raw)
	for _, c := range n.Children {
		c.write(b, note)
	}
	b.WriteString(n.end)
}

// Origin returns where that was read which the last String wrote at an offset.
func (t *Tree) Origin(offset int) int {
	i := sort.Search(len(t.places), func(i int) bool { return t.places[i].written > offset })
	if i == 0 {
		return 0
	}
	return t.places[i-1].read
}

// Inner returns the content of an element as it is written.
func (n *Node) Inner() string {
	var b strings.Builder
	for _, c := range n.Children {
		c.write(&b, func(*Node) {})
	}
	return b.String()
}

// Content returns the text of an element and of those inside.
func (n *Node) Content() string {
	var b strings.Builder
	n.content(&b)
	return b.String()
}

func (n *Node) content(b *strings.Builder) {
	b.WriteString(n.Text)
	for _, c := range n.Children {
		c.content(b)
	}
}

// Elements returns the elements of a name right inside n.
func (n *Node) Elements(space, name string) (all []*Node) {
	for _, c := range n.Children {
		if c.Name == name && c.Space == space {
			all = append(all, c)
		}
	}
	return all
}

// Walk calls f for an element and all elements inside.
func (n *Node) Walk(f func(*Node)) {
	if n.Name == "" {
		return
	}
	f(n)
	for _, c := range n.Children {
		c.Walk(f)
	}
}

// Prefix returns the prefix of an element, with the colon.
func (n *Node) Prefix() string {
	name := n.raw[1 : 1+NameLen(n.raw[1:])]
	return strings.TrimSuffix(name, n.Name)
}

// NewElement returns an empty element, which is in a space because of its prefix. Its content
// comes from another node.
func NewElement(prefix, space, name string, from *Node) *Node {
	tag := prefix + name + ">"
	return &Node{Space: space, Name: name, Start: from.Start, raw: "<" + tag, end: "</" + tag}
}

// Append adds nodes to the end of n, in front of the blanks before its end tag.
func (n *Node) Append(nodes ...*Node) {
	at := len(n.Children)
	if at > 0 && n.Children[at-1].isBlank() {
		at--
	}
	n.Insert(at, nodes...)
}

// Insert adds nodes at an index of the children.
func (n *Node) Insert(at int, nodes ...*Node) {
	if bare, ok := strings.CutSuffix(n.raw, "/>"); ok {
		n.raw, n.end = bare+">", "</"+n.Prefix()+n.Name+">"
	}
	n.Children = slices.Insert(n.Children, at, nodes...)
}

// Remove takes children out, in the order in which they are there, with the blanks before each.
func (n *Node) Remove(children ...*Node) {
	left := make([]*Node, 0, len(n.Children))
	for _, c := range n.Children {
		if len(children) == 0 || c != children[0] {
			left = append(left, c)
			continue
		}
		if last := len(left) - 1; last >= 0 && left[last].isBlank() {
			left = left[:last]
		}
		children = children[1:]
	}
	n.Children = left
}

func (n *Node) isBlank() bool { return n.Name == "" && n.Text != "" && Trim(n.Text) == "" }

// SetText replaces the content of an element.
func (n *Node) SetText(text string) {
	n.Children = nil
	n.Insert(0, &Node{Text: text, raw: textEscapes.Replace(text), Start: n.Start})
}

// Attr returns an attribute without a namespace.
func (n *Node) Attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name == name && a.Space == "" {
			return a.Value
		}
	}
	return ""
}

// SetAttr sets an attribute without a namespace, or adds it.
func (n *Node) SetAttr(name, value string) {
	if i := slices.IndexFunc(n.Attrs, func(a Attribute) bool { return a.Name == name && a.Space == "" }); i >= 0 {
		n.Change(i, value)
		return
	}
	n.Add(name, value)
}

// Add adds an attribute, whose name may have a prefix.
func (n *Node) Add(name, value string) {
	at := len(strings.TrimRight(strings.TrimSuffix(n.raw, ">"), "/"+blanks))
	n.Attrs = append(n.Attrs, Attribute{Name: name, Value: value, Start: at + 1})
	n.raw = n.raw[:at] + " " + name + `="` + attributeEscapes.Replace(value) + `"` + n.raw[at:]
}

// Change gives the attribute of an index another value.
func (n *Node) Change(i int, value string) {
	_, from, to := n.span(i)
	n.Attrs[i].Value = value
	n.splice(from, to, `"`+attributeEscapes.Replace(value)+`"`)
}

// Drop takes an attribute out.
func (n *Node) Drop(i int) {
	start, _, to := n.span(i)
	n.Attrs = slices.Delete(n.Attrs, i, i+1)
	n.splice(len(strings.TrimRight(n.raw[:start], blanks)), to, "")
}

// span is where an attribute stands in its tag: name, opening quote, and behind the closing one.
func (n *Node) span(i int) (start, from, to int) {
	start = n.Attrs[i].Start
	from = start + strings.IndexAny(n.raw[start:], `"'`)
	return start, from, from + 2 + strings.IndexByte(n.raw[from+1:], n.raw[from])
}

func (n *Node) splice(from, to int, with string) {
	n.raw = n.raw[:from] + with + n.raw[to:]
	for i := range n.Attrs {
		if n.Attrs[i].Start >= to {
			n.Attrs[i].Start += from + len(with) - to
		}
	}
}

var (
	textEscapes      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	attributeEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\r", "&#13;", "\n",
		"&#10;", "\t", "&#9;")
)
