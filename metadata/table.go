package metadata

import (
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// A datatype is what texts a value may have.
type datatype struct {
	fault   rule // what the schema or the service refuses; nil accepts any text
	warning rule // of records only, for a value without a fault
	word    bool // few different texts, which reading JSON shares
	spaces  spaces
}

// spaces is what reading does with white space around the text of an element.
type spaces int

const (
	trimmed  spaces = iota
	oneBlank        // trimmed, but a text of only white space is a blank, because the schema requires a character
	preserved
)

// An element is the table of an XML element for a T, or for some of its values. It drives
// reading and writing of XML, reading of JSON, checks and comparing; documents are checked
// by its elementRule.
type element[T any] struct {
	elementRule
	attributes []attributePart[T]
	text       *textPart[T]
	elements   []elementPart[T]
	checks     []func(*checker, *path, *T)
	members    []member[T]
	bare       func(*decoder, *T)        // reads what is not an object; nil if nothing else is read
	jsonObject func() *jsonlex.Object[T] // made when it is first used
	item       func(*decoder, *T) bool   // reads an item that is no object

	extra      func(*T) *[]Attribute
	kernel3    func(*T, []string)
	start, end string   // tags
	names      []string // of the attributes
}

// A part is a row of a table: an attribute, the text, a child element, members of JSON
// only, a check of several values, or a setting of the whole table.
type part[T any] struct {
	table     func(*element[T])
	attribute *attributePart[T]
	text      *textPart[T]
	element   *elementPart[T]
	check     func(*checker, *path, *T)
	members   []member[T]
	bare      func(*decoder, *T)
}

type attributePart[T any] struct {
	*valueRule
	get    func(*T) string
	set    func(*T, string)
	start  string
	always bool // written even when it is empty
}

type textPart[T any] struct {
	*valueRule
	get   func(*T) string
	read  func(*parser, *T)
	write func(w *writer, end string, v *T) (present bool)
}

type elementPart[T any] struct {
	particle
	present func(*T) bool
	read    func(*parser, *T)
	write   func(*writer, *T) (present bool) // if not, what it wrote is removed
	always  bool                             // written even when it is empty
	values  func(*T, []value) []value        // appends what is compared; nil if nothing is
	same    func(a, b *T) bool               // whether the values are the same
}

func newElement[T any](name string, kind contentKind, parts ...part[T]) *element[T] {
	e := &element[T]{elementRule: elementRule{name: name, kind: kind}, start: "<" + name, end: "</" + name + ">",
		bare: parts[0].bare}
	for _, p := range parts {
		switch {
		case p.table != nil:
			p.table(e)
		case p.attribute != nil:
			e.attributes = append(e.attributes, *p.attribute)
			e.elementRule.attributes = append(e.elementRule.attributes, p.attribute.valueRule)
			e.names = append(e.names, p.attribute.name)
		case p.text != nil:
			e.text = p.text
			e.elementRule.text = *p.text.valueRule
		case p.element != nil:
			e.elements = append(e.elements, *p.element)
			e.particles = append(e.particles, &p.element.particle)
		}
		if p.check != nil {
			e.checks = append(e.checks, p.check)
		}
		e.members = append(e.members, p.members...)
	}
	e.jsonObject = sync.OnceValue(func() *jsonlex.Object[T] { return jsonlex.NewObject(e.members...).Or(e.bare) })
	return e
}

// read reads the element whose start tag was read last.
func (e *element[T]) read(p *parser, v *T) {
	for i := range e.attributes {
		a := &e.attributes[i]
		a.set(v, p.attributeValue(a.space, a.local))
	}
	if e.extra != nil {
		*e.extra(v) = p.extra(e.names)
	}
	if e.text != nil {
		e.text.read(p, v)
		return
	}
	at := 0
	for name := range p.children() {
		if at = e.find(name, at); at < len(e.elements) {
			e.elements[at].read(p, v)
		}
	}
	if e.kernel3 != nil && !e.present(v) {
		e.kernel3(v, strings.Fields(p.loose))
	}
}

// present reports whether v has a value for the element.
func (e *element[T]) present(v *T) bool {
	if e.text != nil && e.text.get(v) != "" {
		return true
	}
	for i := range e.attributes {
		if e.attributes[i].get(v) != "" {
			return true
		}
	}
	for i := range e.elements {
		if e.elements[i].present(v) {
			return true
		}
	}
	return false
}

// write writes the element, empty or not, and reports whether it has a value.
func (e *element[T]) write(w *writer, v *T) (present bool) {
	buf := append(append(w.buf, indent[:1+2*w.depth]...), e.start...)
	for i := range e.attributes {
		a := &e.attributes[i]
		if value := a.get(v); value != "" || a.always {
			buf = append(w.escape(append(buf, a.start...), value, &attributeEscapes), '"')
			present = true
		}
	}
	if e.extra != nil {
		buf = w.extra(buf, *e.extra(v), e.names)
	}
	if e.text != nil {
		w.buf = buf
		return e.text.write(w, e.end, v) || present
	}
	w.buf = append(buf, '>')
	w.depth++
	for i := range e.elements {
		part, before := &e.elements[i], len(w.buf)
		if part.write(w, v) || part.always {
			present = true
		} else {
			w.buf = w.buf[:before]
		}
	}
	w.close(len(buf), e.end)
	return present
}

func (e *element[T]) check(c *checker, p *path, v *T) {
	for _, check := range e.checks {
		check(c, p, v)
	}
}

func (e *element[T]) jsonItem() func(*decoder, *T) bool {
	if e.item != nil {
		return e.item
	}
	return e.jsonObject().Item
}

// newValue makes what attributes and texts have in common.
func newValue[T any, S ~string](rule *valueRule, d datatype, field func(*T) *S) (get func(*T) string, p part[T]) {
	rule.fault = d.fault
	get = func(v *T) string { return string(*field(v)) }
	p.check = func(c *checker, at *path, v *T) {
		if value := get(v); value != "" || rule.mandatory {
			c.value(at, rule.member, value, d)
		}
	}
	return get, p
}

// jsonText is the member of a value.
func jsonText[T any, S ~string](name string, d datatype, field func(*T) *S) member[T] {
	if d.word {
		return jsonlex.Field(name, func(d *decoder, v *T) { *field(v) = S(d.Word()) })
	}
	return jsonlex.Field(name, func(d *decoder, v *T) { *field(v) = S(d.Text()) })
}

func newAttribute[T any, S ~string](rule *valueRule, d datatype, field func(*T) *S) part[T] {
	get, p := newValue(rule, d, field)
	if rule.member == "" {
		rule.member = strings.Replace(rule.name, "URI", "Uri", 1)
	}
	rule.local = rule.name
	if local, ok := strings.CutPrefix(rule.name, "xml:"); ok {
		rule.space, rule.local = xmlscan.XMLSpace, local
	}
	p.attribute = &attributePart[T]{
		valueRule: rule, get: get, set: func(v *T, s string) { *field(v) = S(s) }, start: " " + rule.name + `="`,
	}
	p.members = []member[T]{jsonText(rule.member, d, field)}
	return p
}

// attribute is an optional attribute. Its name in JSON is that in XML, with Uri for URI.
func attribute[T any, S ~string](name string, d datatype, field func(*T) *S) part[T] {
	return newAttribute(&valueRule{name: name}, d, field)
}

func mandatory[T any, S ~string](name string, d datatype, field func(*T) *S) part[T] {
	return newAttribute(&valueRule{name: name, mandatory: true}, d, field)
}

func lang[T any](field func(*T) *string) part[T] {
	return newAttribute(&valueRule{name: "xml:lang", member: "lang"}, datatype{fault: langRule, word: true}, field)
}

func schemeURI[T any](field func(*T) *string) part[T] {
	return attribute("schemeURI", schemeAddress, field)
}

// text is the text of an element, a member in JSON. If it is the first row, JSON may have it
// instead of the whole object.
func text[T any, S ~string](name string, d datatype, field func(*T) *S) part[T] {
	rule := &valueRule{member: name, mandatory: true}
	get, p := newValue(rule, d, field)
	p.text = &textPart[T]{
		valueRule: rule,
		get:       get,
		read:      func(x *parser, v *T) { *field(v) = S(x.textOf(d.spaces)) },
		write:     func(w *writer, end string, v *T) bool { return w.text(end, string(*field(v))) },
	}
	if name != "" {
		m := jsonText(name, d, field)
		p.members, p.bare = []member[T]{m}, m.Read
	}
	return p
}

// ofElement gives findings about a text the path of the element.
func (p part[T]) ofElement() part[T] {
	p.text.member = ""
	return p
}

// extra are attributes that the schema does not name, where it allows any.
func extra[T any](field func(*T) *[]Attribute) part[T] {
	return part[T]{table: func(e *element[T]) { e.extra = field }}
}

// kernel3 reads values that were in one text in kernel 3.
func kernel3[T any](read func(*T, []string)) part[T] {
	return part[T]{table: func(e *element[T]) { e.kernel3 = read }}
}

// always is p, written even if it is empty.
func (p part[T]) always() part[T] {
	if p.attribute != nil {
		p.attribute.always = true
	} else {
		p.element.always = true
	}
	return p
}

// also is a check of more than one value.
func also[T any](check func(*checker, *path, *T)) part[T] { return part[T]{check: check} }

// jsonOnly are members that XML does not have.
func jsonOnly[T any](members ...member[T]) part[T] { return part[T]{members: members} }

// namespaces are what the start tag of the root declares.
func namespaces[T any](attributes string) part[T] {
	return part[T]{table: func(e *element[T]) { e.start += attributes }}
}

// readOnly is an element of older schemas.
func readOnly[T any](name string, read func(*parser, *T)) part[T] {
	return part[T]{element: &elementPart[T]{
		particle: particle{&elementRule{name: name}, never, step{}, ""}, read: read,
		present: func(*T) bool { return false }, write: func(*writer, *T) bool { return false },
	}}
}

// inside is an element with some values of the T around it.
func inside[T any](n occurs, e *element[T]) part[T] {
	p := part[T]{members: e.members, bare: e.bare, element: &elementPart[T]{
		particle: particle{&e.elementRule, n, step{}, ""}, present: e.present, read: e.read, write: e.write,
		values: e.values, same: e.same,
	}}
	if e.text != nil && len(e.attributes) == 0 { // as most are
		p.element.read = e.text.read
		p.element.write = func(w *writer, v *T) bool { return w.element(e.start, e.end, e.text.get(v)) }
	}
	if len(e.checks) > 0 {
		p.check = func(c *checker, at *path, v *T) {
			if n.least > 0 || e.present(v) {
				e.check(c, at, v)
			}
		}
	}
	return p
}

// textElement is an element with a text and attributes. The member of the text has
// its name.
func textElement[T any, S ~string](name string, n occurs, d datatype, field func(*T) *S,
	attributes ...part[T]) part[T] {
	return inside(n, newElement(name, textOnly, append([]part[T]{text(name, d, field)}, attributes...)...))
}

// untypedElement is an element without a type in the schema.
func untypedElement[T any](name string, d datatype, field func(*T) *string) part[T] {
	return inside(optional, newElement(name, untyped, text(name, d, field)))
}

// object is an element for a U.
func object[T, U any](name string, n occurs, e *element[U], field func(*T) *U) part[T] {
	return part[T]{
		element: &elementPart[T]{
			particle: particle{&e.elementRule, n, step{member: name}, ""},
			present:  func(v *T) bool { return e.present(field(v)) },
			read: func(p *parser, v *T) {
				u := field(v)
				*u = *new(U)
				e.read(p, u)
			},
			write: func(w *writer, v *T) bool { return e.write(w, field(v)) },
			values: func(v *T, out []value) []value {
				return append(out, value{member: name, kind: objectValue, inside: e.values(field(v), nil)})
			},
			same: func(a, b *T) bool { return e.same(field(a), field(b)) },
		},
		check: func(c *checker, p *path, v *T) {
			if u := field(v); n.least > 0 || e.present(u) {
				e.check(c, p.dot(name), u)
			}
		},
		members: []member[T]{jsonlex.Of(name, field, e.jsonObject())},
	}
}

// elements are the items of a list, one after another.
func elements[T, E any](name string, e *element[E], field func(*T) *List[E]) part[T] {
	return part[T]{
		element: &elementPart[T]{
			particle: particle{&e.elementRule, repeated, step{member: name, item: true}, ""},
			present:  func(v *T) bool { return len(*field(v)) > 0 },
			read:     func(p *parser, v *T) { readItem(p, e, field(v)) },
			write: func(w *writer, v *T) bool {
				items := *field(v)
				for i := range items {
					e.write(w, &items[i])
				}
				return len(items) > 0
			},
			values: func(v *T, out []value) []value { return append(out, listValue(name, e, *field(v))) },
			same:   func(a, b *T) bool { return sameItems(e, *field(a), *field(b)) },
		},
		check: func(c *checker, p *path, v *T) {
			p = p.dot(name)
			for i, items := 0, *field(v); i < len(items); i++ {
				before := len(c.findings)
				if e.check(c, p.item(i), &items[i]); len(c.findings) == before && !e.present(&items[i]) {
					c.warn(datacite.CodeLossy, p.item(i), "", "nothing is set here; leave it out")
				}
			}
		},
		members: []member[T]{listMember(name, field, e.jsonItem())},
	}
}

func readItem[E any](p *parser, e *element[E], list *List[E]) {
	*list = append(*list, *new(E))
	e.read(p, &(*list)[len(*list)-1])
}

// list is an element with the items of a list inside.
func list[T, E any](name string, e *element[E], field func(*T) *List[E]) part[T] {
	items := elements(name, e, field)
	items.element.step.member = ""
	p := inside(optional, newElement(name, inOrder, items))
	p.element.step.member = name
	return p
}

// nonEmptyList is a list that must have an item.
func nonEmptyList[T, E any](name string, e *element[E], missing string, field func(*T) *List[E]) part[T] {
	p := list(name, e, field)
	p.element.least, p.element.missing = 1, missing
	item := p.element.particles[0]
	item.least, item.missing = 1, missing
	check := p.check
	p.check = func(c *checker, at *path, v *T) {
		if len(*field(v)) == 0 {
			c.fault(datacite.CodeMissing, at.dot(name), "", "%s", missing)
		}
		check(c, at, v)
	}
	return p
}

// textItem is the table of a list of texts.
func textItem(name string) *element[string] {
	return newElement(name, textOnly, text("", datatype{warning: markupWarning}, func(s *string) *string { return s }),
		part[string]{table: func(e *element[string]) { e.item = jsonlex.TextItem }})
}
