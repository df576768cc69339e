package metadata

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// ValidateXML validates a document as [Record.Validate] validates a record. The error is a
// [*datacite.ValidationError] with all faults, at most 10,000, each with its line and column. It also
// finds faults that a [Record] cannot have: XML that is not well formed, and elements and attributes
// that are unknown, doubled, empty or out of order. It needs no schema file and no network.
//
// An empty identifier is a fault with the code "identifier"; see [datacite.ValidationError.Except]. Any
// other error is that of the reader.
func ValidateXML(r io.Reader) error {
	s, err := openXML(r)
	if err != nil {
		return err
	}
	x := &xmlChecker{Scanner: s}
	x.document()
	return datacite.Invalid(x.located(x.Source())...)
}

// FindingsXML returns the errors and warnings of a document, as [Record.Findings] does of a
// record, in the order of the document. The error is that of the reader.
func FindingsXML(r io.Reader) ([]datacite.Finding, error) {
	s, err := openXML(r)
	if err != nil {
		return nil, err
	}
	x := &xmlChecker{Scanner: s, places: map[string]int{}}
	x.document()
	if x.Err() == nil {
		x.warnings()
	}
	return x.located(x.Source()), nil
}

// maxFindings bounds the memory for a document full of faults.
const maxFindings = 10_000

// An elementRule is what the schema requires of an element.
type elementRule struct {
	name       string
	kind       contentKind
	attributes []*valueRule
	text       valueRule
	particles  []*particle
}

// find returns the index of a child element, or the number of children if there is none of
// that name. It looks first where the one before was.
func (e *elementRule) find(name string, before int) int {
	n := len(e.particles)
	for i := range n {
		at := before + i
		if at >= n {
			at -= n
		}
		if e.particles[at].name == name {
			return at
		}
	}
	return n
}

// A contentKind is what an element may contain.
type contentKind int

const (
	textOnly contentKind = iota
	anyOrder             // elements, each as often as its particle says
	inOrder              // elements in the order of the particles
	mixed                // text and elements
	nothing
	untyped // anything: the schema gives the element no type
)

// A valueRule is what the schema requires of an attribute, or of the text of an element,
// which has no name.
type valueRule struct {
	name         string // with the prefix xml, where there is one
	space, local string
	member       string // in JSON; of a text, "" is the element's own path
	mandatory    bool
	fault        rule // nil accepts any value
}

// A particle is an element as the child of another one.
type particle struct {
	*elementRule
	occurs
	step    step   // from the path of the outer element
	missing string // the message when a mandatory one is missing
}

type occurs struct{ least, most int }

var (
	never    = occurs{} // in kernel 4
	once     = occurs{1, 1}
	optional = occurs{0, 1}
	repeated = occurs{0, math.MaxInt}
)

// A step is a part of a JSON path: a member, an item of a list, or both.
type step struct {
	member string
	item   bool
	tail   string // member of the item
}

func (s step) from(p *path, index int) *path {
	p = p.dot(s.member)
	if s.item {
		p = p.item(index)
	}
	return p.dot(s.tail)
}

// xmlChecker compares a document with the schema, element by element.
type xmlChecker struct {
	*xmlscan.Scanner
	kernel   string // namespace of the record's elements
	findings []datacite.Finding
	offsets  []int          // of the findings
	places   map[string]int // offsets by path; nil if nobody needs them
}

func (x *xmlChecker) document() {
	if x.Next() == xmlscan.StartTag && x.root() {
		x.kernel = x.Space
		x.element(&resourceElement().elementRule, nil)
	}
	for x.Next() != xmlscan.End {
		continue
	}
	if err := x.Err(); err != nil {
		x.findings = append(x.findings, datacite.Finding{Code: datacite.CodeSyntax, Reason: err.Reason, Line: err.Line,
			Column: err.Column})
		x.offsets = append(x.offsets, len(x.Source()))
	}
}

// root checks the root element and reports whether to go on.
func (x *xmlChecker) root() bool {
	isRecord := x.Name == "resource" && isKernel(x.Space)
	switch {
	case isRecord && x.Space == Namespace:
		return true
	case isRecord && (strings.Contains(x.Space, "/kernel-2") || strings.Contains(x.Space, "/kernel-3")):
		x.add(x.Start, nil, newFault(datacite.CodeNamespace,
			"version 3 of the schema and older ones are no longer supported; metadata.Upgrade makes a record of kernel 4, "+
				"namespace %s", Namespace), x.Space)
	default:
		x.add(x.Start, nil, newFault(datacite.CodeNamespace, "the root element must be <resource xmlns=%q>", Namespace),
			x.Space)
	}
	return isRecord
}

// element checks the element whose start tag was read last, up to its end.
func (x *xmlChecker) element(e *elementRule, p *path) {
	depth, start := x.Depth(), x.Start
	x.remember(p, "", start)
	x.attributesOf(e, p)
	body := elementBody{seen: make([]int, len(e.particles)), items: map[string]int{}, findings: len(x.findings)}
	for len(x.findings) < maxFindings {
		switch x.Next() {
		case xmlscan.Text:
			x.characters(e, p, &body)
		case xmlscan.StartTag:
			x.elementInside(e, p, &body)
		case xmlscan.EndTag:
			if x.Depth() < depth {
				x.finish(e, p, start, &body)
				return
			}
		case xmlscan.End:
			return
		}
	}
}

// elementBody is what has been seen inside an element.
type elementBody struct {
	seen  []int          // how often, by child
	items map[string]int // by list in JSON
	last  int            // child that came last
	text  strings.Builder
	stray bool // text was found where none is allowed

	findings int // how many there were before
}

func (x *xmlChecker) characters(e *elementRule, p *path, body *elementBody) {
	switch e.kind {
	case anyOrder, inOrder, nothing:
		if xmlscan.Trim(x.Text) != "" && !body.stray {
			body.stray = true
			x.add(x.Start, p, newFault(datacite.CodeElement, "<%s> cannot contain text", e.name), xmlscan.Trim(x.Text))
		}
	default:
		if e.text.fault != nil {
			body.text.WriteString(x.Text)
		}
	}
}

func (x *xmlChecker) elementInside(e *elementRule, p *path, body *elementBody) {
	i := e.find(x.Name, body.last)
	if i == len(e.particles) || x.Space != x.kernel || e.particles[i].most == 0 {
		x.unknown(e, p)
		return
	}
	c := e.particles[i]
	switch {
	case body.seen[i] > 0 && c.most == 1:
		x.add(x.Start, c.where(p, 0), newFault(datacite.CodeElement, "<%s> occurs more than once in <%s>", c.name, e.name),
			"")
	case e.kind == inOrder && i < body.last:
		x.add(x.Start, p, newFault(datacite.CodeElement, "<%s> must come before <%s>", c.name, e.particles[body.last].name),
			"")
	case geoRepeats(c, body.seen[i]):
		x.add(x.Start, p, &fault{true, datacite.CodeLossy,
			fmt.Sprintf("the service keeps one <%s> of a geoLocation; write a geoLocation for each", c.name)}, "")
	}
	body.last = max(body.last, i)
	body.seen[i]++
	index := body.items[c.step.member]
	body.items[c.step.member]++
	to := c.step.from(p, index)
	if c.name == "geoLocationPolygon" && index > 0 {
		x.nest(to, index, body)
		to = to.item(index)
	}
	x.element(c.elementRule, to)
}

// nest corrects the paths into the first of several polygons. In JSON, one
// polygon is a list of points, several are a list of lists.
func (x *xmlChecker) nest(polygons *path, index int, body *elementBody) {
	if index > 1 {
		return
	}
	prefix := polygons.String()
	for i := body.findings; i < len(x.findings); i++ {
		if rest, ok := strings.CutPrefix(x.findings[i].Path, prefix); ok {
			x.findings[i].Path = prefix + "[0]" + rest
		}
	}
}

// geoRepeats reports whether this is another part of a geoLocation of which the service
// keeps the first.
func geoRepeats(c *particle, seen int) bool {
	return seen > 0 && (c.name == "geoLocationPlace" || c.name == "geoLocationPoint" || c.name == "geoLocationBox")
}

// unknown reports an element that the schema does not have here, and skips it.
func (x *xmlChecker) unknown(e *elementRule, p *path) {
	name := x.Name
	switch e.kind {
	case untyped:
		x.add(x.Start, p, &fault{true, datacite.CodeElement,
			fmt.Sprintf("of <%s> in <%s>, the service reads only the text", name, e.name)}, "")
	case textOnly:
		x.add(x.Start, p, newFault(datacite.CodeElement, "<%s> contains text only; write markup as &lt;%s&gt;", e.name, name),
			"")
	default:
		var names []string
		for _, c := range e.particles {
			if c.most > 0 {
				names = append(names, c.name)
			}
		}
		x.add(x.Start, p, newFault(datacite.CodeElement, "<%s> does not belong in <%s>%s", name, e.name,
			vocabulary(names).hint(name)), "")
	}
	for depth := x.Depth(); x.Depth() >= depth; {
		if x.Next() == xmlscan.End {
			return
		}
	}
}

// attributesOf checks the attributes of the start tag read last.
func (x *xmlChecker) attributesOf(e *elementRule, p *path) {
	for _, a := range x.Attrs {
		x.attributeOf(e, p, a)
	}
	for _, rule := range e.attributes {
		if rule.mandatory && !slices.ContainsFunc(x.Attrs, func(a xmlscan.Attribute) bool { return rule.names(a) }) {
			f := newFault(datacite.CodeMissing, "the attribute %s is mandatory", rule.name)
			if known := rule.fault(""); known.code == datacite.CodeMissing {
				f = known
			}
			x.add(x.Start, p.dot(rule.member), f, "")
		}
	}
}

func (r *valueRule) names(a xmlscan.Attribute) bool { return a.Name == r.local && a.Space == r.space }

func (x *xmlChecker) attributeOf(e *elementRule, p *path, a xmlscan.Attribute) {
	if a.Space == xmlscan.DeclarationSpace || a.Space == xmlscan.SchemaInstanceSpace && a.Name != "nil" {
		return
	}
	i := slices.IndexFunc(e.attributes, func(r *valueRule) bool { return r.names(a) })
	if i < 0 {
		x.add(a.Start, p.dot(e.text.member), unknownAttribute(e, a), a.Value)
		return
	}
	r := e.attributes[i]
	x.remember(p, r.member, a.Start)
	if r.fault == nil {
		return
	}
	f := r.fault(a.Value)
	switch {
	case f == nil:
		return
	case f.code == datacite.CodeMissing && !r.mandatory:
		f = newFault(datacite.CodeVocabulary, "the attribute %s is empty; leave it out", r.name)
	}
	x.add(a.Start, p.dot(r.member), f, a.Value)
}

func unknownAttribute(e *elementRule, a xmlscan.Attribute) *fault {
	var names []string
	for _, r := range e.attributes {
		names = append(names, r.name)
	}
	f := newFault(datacite.CodeAttribute, "<%s> has no attribute %s%s", e.name, a.Name, vocabulary(names).hint(a.Name))
	if e.kind == untyped {
		f.warning = true
	}
	return f
}

// finish checks what is known only at the end of an element.
func (x *xmlChecker) finish(e *elementRule, p *path, start int, body *elementBody) {
	for i, c := range e.particles {
		if body.seen[i] < c.least {
			x.add(start, c.where(p, body.seen[i]), x.missing(e, c), "")
		}
	}
	if e.text.fault == nil {
		return
	}
	x.remember(p, e.text.member, start)
	value := body.text.String()
	if f := e.text.fault(value); f != nil {
		x.add(start, p.dot(e.text.member), f, value)
	}
}

// where is the path of a missing child.
func (c *particle) where(p *path, index int) *path {
	if c.step.item {
		return p // of the list
	}
	p = c.step.from(p, index)
	if a := c.essential(); a != nil {
		return p.dot(a.member)
	}
	return p.dot(c.text.member)
}

// essential is the attribute that must be there, of an element whose text may be anything; nil if there is none.
func (c *particle) essential() *valueRule {
	if c.text.fault != nil || len(c.attributes) == 0 || !c.attributes[0].mandatory {
		return nil
	}
	return c.attributes[0]
}

func (x *xmlChecker) missing(parent *elementRule, c *particle) *fault {
	switch {
	case c.missing != "":
		return newFault(datacite.CodeMissing, "%s", c.missing)
	case c.name == "polygonPoint":
		return newFault(datacite.CodePolygon, "a polygon has at least %d points, the last of which repeats the first",
			minPolygonPoints)
	case c.essential() != nil:
		return c.essential().fault("")
	case c.name == "identifier", c.text.fault == nil:
		return newFault(datacite.CodeMissing, "<%s> is missing in <%s>", c.name, parent.name)
	}
	return c.text.fault("")
}

func (x *xmlChecker) add(offset int, p *path, f *fault, value string) {
	if len(x.findings) == maxFindings {
		return
	}
	x.findings = append(x.findings, f.at(p, value))
	x.offsets = append(x.offsets, offset)
}

// remember keeps the place of a member for the warnings.
func (x *xmlChecker) remember(p *path, member string, offset int) {
	if x.places == nil {
		return
	}
	if key := p.dot(member).String(); x.places[key] == 0 {
		x.places[key] = offset
	}
}

// warnings adds the warnings of the record.
func (x *xmlChecker) warnings() {
	rec, err := parseXML(strings.NewReader(x.Source()), true)
	if err != nil {
		return // root has reported it
	}
	for _, f := range rec.Findings() {
		if !f.Warning || slices.Contains(ofJSON, f.Code) {
			continue // found in the document already, or not of XML
		}
		x.findings = append(x.findings, f)
		x.offsets = append(x.offsets, x.placeOf(f.Path))
	}
}

// placeOf returns the offset of a path in the document, or of what is nearest around it.
func (x *xmlChecker) placeOf(path string) int {
	for path != "" {
		if where, ok := x.places[path]; ok {
			return where
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return x.places[""]
}

// located sorts the findings by place and adds lines and columns of the source.
func (x *xmlChecker) located(source string) []datacite.Finding {
	order := make([]int, len(x.findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return x.offsets[a] - x.offsets[b] })
	out := make([]datacite.Finding, 0, len(order))
	line, column, done := 1, 1, 0
	for _, i := range order {
		f, offset := x.findings[i], x.offsets[i]
		for ; done < offset; done++ {
			switch c := source[done]; {
			case c == '\n':
				line, column = line+1, 1
			case c&0xC0 != 0x80: // the first byte of a character
				column++
			}
		}
		if f.Line == 0 {
			f.Line, f.Column = line, column
		}
		out = append(out, f)
	}
	return out
}
