package record

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/internal/lazy"
)

// A shape is what an element may contain. Without children it is an element with text.
type shape struct {
	children map[string]*shape
	names    []string // of the children, in their order
	ordered  bool     // the order is required
	repeated map[string]bool
	need     map[string]int // how many children there must be
	attrs    []string       // attributes it may have; "!" marks one it must have
	text     func(string) (fault string)
	mixed    bool // text between the children
	empty    bool // neither text nor children
	open     bool // the schema leaves it untyped: anything may be inside
}

// kernelShape is the metadata schema, kernel 4, but for the syntax of URIs and
// one rule: the identifier may be empty (specification §2.3).
var kernelShape = sync.OnceValue(func() *shape {
	root := &shape{}
	for _, p := range Properties() {
		root.add(p, false)
	}
	return root
})

// add adds the elements and the attribute of a property. many says whether all elements
// may be repeated.
func (want *shape) add(p *Property, many bool) {
	at := want
	for i, step := range p.Path {
		last := i == len(p.Path)-1
		at.ordered = at.ordered || i > 0
		at = at.child(step, many || last && p.List)
	}
	if p.Attr != "" {
		name := strings.TrimPrefix(p.Attr, "xml:")
		at.attrs = append(at.attrs, name+map[bool]string{true: "!"}[p.Must])
		return
	}
	if at != want {
		at.open, at.ordered = p.Is("open") || p.Is("unchecked"), p.Is("ordered")
	}
	if kind := p.Note("text"); kind == "html" {
		at.mixed, at.ordered = true, true
		at.child(Step{Name: "br"}, true).empty = true
	} else if kind != "" {
		at.text = textChecks[kind]
	}
	if p.InXML() && !p.Is("unchecked") {
		for _, inside := range p.Inside {
			at.add(inside, p.Is("many"))
		}
	}
}

// child is the shape of a child, which is made when it is missing.
func (want *shape) child(step Step, repeated bool) *shape {
	if want.children == nil {
		want.children, want.repeated, want.need = map[string]*shape{}, map[string]bool{}, map[string]int{}
	}
	if want.children[step.Name] == nil {
		want.children[step.Name] = &shape{}
		want.names = append(want.names, step.Name)
		want.repeated[step.Name], want.need[step.Name] = repeated, step.Least
	}
	return want.children[step.Name]
}

var (
	yearForm     = lazy.Regexp(`^[0-9]{4}$`)
	languageForm = lazy.Regexp(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)
	floatForm    = lazy.Regexp(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

// textChecks check the texts of elements, by the name in the table.
var textChecks = map[string]func(text string) (fault string){
	"year": func(text string) string {
		if yearForm().MatchString(strings.TrimSpace(text)) {
			return ""
		}
		return fmt.Sprintf(`[facet 'pattern'] The value '%s' is not accepted by the pattern '[\d]{4}'.`, text)
	},
	"language": func(text string) string {
		if languageForm().MatchString(strings.TrimSpace(text)) {
			return ""
		}
		return fmt.Sprintf("'%s' is not a valid value of the atomic type 'xs:language'.", text)
	},
	"filled": func(text string) string {
		if text != "" {
			return ""
		}
		return "[facet 'minLength'] The value has a length of '0'; this underruns the allowed minimum length of '1'."
	},
	"latitude":  degrees("latitudeType", 90),
	"longitude": degrees("longitudeType", 180),
}

// degrees is a number of degrees; the schema has single precision.
func degrees(kind string, most float64) func(string) string {
	return func(text string) string {
		trimmed := strings.TrimSpace(text)
		n, err := strconv.ParseFloat(trimmed, 32)
		switch n := float64(float32(n)); {
		case err != nil && !errors.Is(err, strconv.ErrRange), !floatForm().MatchString(trimmed):
			return fmt.Sprintf("'%s' is not a valid value of the atomic type '{%s}%s'.", text, kernelNamespace, kind)
		case n > most:
			return fmt.Sprintf("[facet 'maxInclusive'] The value '%s' is greater than the maximum value allowed ('%v').", text,
				most)
		case n < -most:
			return fmt.Sprintf("[facet 'minInclusive'] The value '%s' is less than the minimum value allowed ('-%v').", text,
				most)
		}
		return ""
	}
}

// checkRecord checks a document against the schema; the error names the first
// fault.
func checkRecord(root *element) error {
	if root.name.local == "resource" && root.name.space != kernelNamespace {
		return fmt.Errorf("schema %s is no longer supported", root.name.space)
	}
	for _, v := range violations(root) {
		return fmt.Errorf("%s: %s", v.source, v.text)
	}
	return nil
}

// violation is a fault of an element against the schema, in the words of the
// deployed service's validator.
type violation struct {
	source string // the name of the element, or element', attribute 'name
	text   string
	line   int // of the element
}

const noDeclaration = "No matching global declaration available for the validation root."

// violations are all faults of a document, in document order.
func violations(root *element) (found []violation) {
	if root.name.local != "resource" || root.name.space != kernelNamespace {
		return []violation{{root.name.local, noDeclaration, root.line}}
	}
	kernelShape().check(root, &found)
	return found
}

func (want *shape) check(e *element, found *[]violation) {
	fault := func(source, text string) { *found = append(*found, violation{source, text, e.line}) }
	want.checkAttributes(e, fault)
	if want.open {
		return
	}
	want.checkText(e, fault)
	if want.children != nil {
		want.checkChildren(e, found)
	}
}

func (want *shape) checkText(e *element, fault func(source, text string)) {
	text := e.words()
	switch {
	case want.children != nil:
		if e.mixed() && !want.mixed {
			fault(e.name.local, "Character content other than whitespace is not allowed because the content type is "+
				"'element-only'.")
		}
		return
	case want.empty:
		if text != "" {
			fault(e.name.local, "Character content is not allowed, because the content type is empty.")
		}
		return
	}
	for range e.elements {
		fault(e.name.local, "Element content is not allowed, because the type definition is simple.")
		return
	}
	if want.text != nil {
		if why := want.text(text); why != "" {
			fault(e.name.local, why)
		}
	}
}

// checkChildren checks the children up to the first that is out of place.
func (want *shape) checkChildren(e *element, found *[]violation) {
	seen, last := map[string]int{}, 0
	for c := range e.elements {
		name := c.name.local
		inside, known := want.children[name]
		place := slices.Index(want.names, name)
		if !known || c.name.space != kernelNamespace || seen[name] > 0 && !want.repeated[name] ||
			want.ordered && want.tooFar(place, last, seen) {
			*found = append(*found, violation{name, "This element is not expected." + expected(want.expected(last, seen)),
				c.line})
			return
		}
		seen[name]++
		last = max(last, place)
		inside.check(c, found)
	}
	if !want.ordered && !want.complete(seen) || want.ordered && want.tooFar(len(want.names), last, seen) {
		*found = append(*found, violation{e.name.local, "Missing child element(s)." + expected(want.expected(last, seen)),
			e.line})
	}
}

// complete says whether no child is missing.
func (want *shape) complete(seen map[string]int) bool {
	return !slices.ContainsFunc(want.names, func(name string) bool { return seen[name] < want.need[name] })
}

// tooFar says whether a child in this place of the order comes too early or too late.
func (want *shape) tooFar(place, last int, seen map[string]int) bool {
	if place < last {
		return true
	}
	return slices.ContainsFunc(want.names[last:place], func(name string) bool { return seen[name] < want.need[name] })
}

// expected are the children that could come next. Where the order is free and
// none is missing, the validator names none.
func (want *shape) expected(last int, seen map[string]int) (names []string) {
	if !want.ordered && want.complete(seen) {
		return nil
	}
	if !want.ordered {
		last = 0
	}
	for _, name := range want.names[last:] {
		if seen[name] == 0 || want.ordered && want.repeated[name] {
			names = append(names, name)
		}
		if want.ordered && seen[name] < want.need[name] {
			break
		}
	}
	return names
}

// expected names ten elements at most.
func expected(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), 10)] {
		list = append(list, "{"+kernelNamespace+"}"+name)
	}
	switch len(list) {
	case 0:
		return ""
	case 1:
		return " Expected is ( " + list[0] + " )."
	}
	return " Expected is one of ( " + strings.Join(list, ", ") + " )."
}

const schemaSpace = "http://www.w3.org/2001/XMLSchema-instance"

func (want *shape) checkAttributes(e *element, fault func(source, text string)) {
	for _, a := range e.attrs {
		name := a.name.local
		source := e.name.local + "', attribute '" + name
		list, listed := Vocabulary()[name]
		switch space := a.name.space; {
		case space == "xmlns", name == "xmlns", space == schemaSpace, want.open && want.attrs == nil:
		case !slices.Contains(want.attrs, name) && !slices.Contains(want.attrs, name+"!"),
			name == "lang" && space != xmlSpace, name != "lang" && space != "":
			fault(source, fmt.Sprintf("The attribute '%s' is not allowed.", name))
		case name == "lang" && a.value != "" && !languageForm().MatchString(strings.TrimSpace(a.value)):
			// as the service interprets it
			fault(name, fmt.Sprintf("'%s' is not a valid value of the local union type.", a.value))
		case listed && !slices.Contains(list, a.value):
			fault(source, fmt.Sprintf("[facet 'enumeration'] The value '%s' is not an element of the set {'%s'}.",
				a.value, strings.Join(list, "', '")))
		}
	}
	for _, name := range want.attrs {
		name, must := strings.CutSuffix(name, "!")
		if _, there := e.lookUp(name); must && !there {
			fault(e.name.local, fmt.Sprintf("The attribute '%s' is required but missing.", name))
		}
	}
}
