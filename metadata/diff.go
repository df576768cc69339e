package metadata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Change is one difference between two records.
type Change struct {
	// Path is in the JSON form: creators[2].nameIdentifiers[0].nameIdentifier. An index is
	// that of the wanted record, or of the found record if only that has the item.
	Path    string
	Desired string // "" if the wanted record has nothing there
	Found   string // "" if the found record has nothing there
}

// String returns the change in one line, with long values cut.
func (c Change) String() string {
	switch {
	case c.Found == "":
		return fmt.Sprintf("%s: %.200q is missing", c.Path, c.Desired)
	case c.Desired == "":
		return fmt.Sprintf("%s: %.200q is not wanted", c.Path, c.Found)
	}
	return fmt.Sprintf("%s: %.200q is wanted, and %.200q was found", c.Path, c.Desired, c.Found)
}

// Diff returns the differences between the wanted record and the one found in the service,
// in the order of the record's properties. Empty and missing are the same; a nil record is
// empty. The found record must have the identifiers of affiliations and publisher.
//
// Values that the deployed service adds, changes or drops when it stores a record are not
// differences: an Issued date made from the year, the parts of a personal name, the details
// of a known licence, the address of an ORCID, a language of two letters, HTML taken out of
// titles, white space around a value: XML loses it, and the year is stored as a number.
// [Record.Findings] warns of values that the service changes or drops. Diff ignores
// the losses of both XML and JSON. It does not compare Extra, Breaks, SchemaVersion and the
// types that the service derives.
//
// The order matters for creators, contributors, titles, affiliations and the points of a
// polygon.
func Diff(wanted, found *Record) []Change {
	return diff(wanted, found, false)
}

// DiffXML returns the differences between two records that were read from XML. Values that the service drops or
// changes when it reads XML into its JSON, or writes XML from it, such as several polygons of one place
// or a <br/>, are differences here. Its other spellings, such as the address of an ORCID, are not, nor
// is an Issued date that it made from the year.
func DiffXML(wanted, found *Record) []Change {
	return diff(wanted, found, true)
}

func diff(wanted, found *Record, isXML bool) []Change {
	e, w, f := resourceElement(), cmp.Or(wanted, &Record{}), cmp.Or(found, &Record{})
	var differing []value // properties that are not the same text by text, as most are
	for i := range e.elements {
		if p := &e.elements[i]; p.values != nil && !p.same(w, f) {
			differing = p.values(w, differing)
		}
	}
	if differing == nil {
		return nil
	}
	all := value{kind: objectValue, inside: e.values(f, nil)}
	d := differ{comparing: &comparing{found: &all, isXML: isXML, forms: map[formOf]string{}}}
	d.object(nil, "", &value{kind: objectValue, inside: differing}, &all)
	return d.changes
}

// A value is a part of a record, in the same form for all elements.
type value struct {
	member string // "" of an item, and of the text that an element is about
	text   string
	kind   valueKind
	inside []value // the members of an object, in the order of its table, or the items of a list
}

type valueKind int

const (
	textValue valueKind = iota
	objectValue
	listOf
)

// values appends the members of v to out, empty ones too.
func (e *element[T]) values(v *T, out []value) []value {
	if e.text != nil {
		out = append(out, value{member: e.text.member, text: e.text.get(v)})
	}
	for i := range e.attributes {
		a := &e.attributes[i]
		out = append(out, value{member: a.member, text: a.get(v)})
	}
	for i := range e.elements {
		if values := e.elements[i].values; values != nil {
			out = values(v, out)
		}
	}
	return out
}

// same reports whether two have the same values.
func (e *element[T]) same(a, b *T) bool {
	if e.text != nil && e.text.get(a) != e.text.get(b) {
		return false
	}
	for i := range e.attributes {
		if get := e.attributes[i].get; get(a) != get(b) {
			return false
		}
	}
	for i := range e.elements {
		if p := &e.elements[i]; p.values != nil && !p.same(a, b) {
			return false
		}
	}
	return true
}

func sameItems[E any](e *element[E], a, b []E) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !e.same(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func listValue[E any](name string, e *element[E], items []E) value {
	list := value{member: name, kind: listOf, inside: make([]value, len(items))}
	for i := range items {
		list.inside[i] = value{kind: objectValue, inside: e.values(&items[i], nil)}
	}
	return list
}

// of returns a member of an object, empty if there is none.
func (v *value) of(member string) *value {
	for i := range v.inside {
		if v.inside[i].member == member {
			return &v.inside[i]
		}
	}
	return &value{}
}

func (v *value) get(member string) string { return v.of(member).text }

// String returns all texts of a value.
func (v *value) String() string {
	if v.kind == textValue {
		return v.text
	}
	var texts []string
	for i := range v.inside {
		if text := v.inside[i].String(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// A differ collects the changes from what is wanted to what was found.
type differ struct {
	*comparing
	changes []Change
	probes  bool // whether there is a change, and not which one
	differs bool
}

// comparing is two records, and what is known of their values: items of lists are compared with several others.
type comparing struct {
	found *value          // the whole record
	isXML bool            // both records are XML, which drops nothing
	said  map[string]bool // texts of the found subjects; made when needed
	forms map[formOf]string
}

// A formOf is a text in one of the forms in which texts are compared.
type formOf struct{ form, text string }

// form returns a text in a form, which is made once.
func (c *comparing) form(name, text string, of func(string) string) string {
	key := formOf{name, text}
	made, ok := c.forms[key]
	if !ok {
		made = of(text)
		c.forms[key] = made
	}
	return made
}

// object compares two objects of one table. They are the member named in, or items of it.
func (d *differ) object(at *path, in string, wanted, found *value) {
	for i := range wanted.inside {
		if d.probes && d.differs {
			return
		}
		w := &wanted.inside[i]
		f := found.of(w.member)
		if i < len(found.inside) && found.inside[i].member == w.member {
			f = &found.inside[i]
		}
		to := at.dot(w.member)
		switch {
		case w.kind == listOf:
			d.list(to, w, f)
		case w.kind == objectValue:
			d.object(to, w.member, w, f)
		case w.text != f.text && !d.allowed(to, in, w.member, wanted, found):
			d.change(to, w.text, f.text)
		}
	}
}

func (d *differ) change(at *path, wanted, found string) {
	if d.differs = true; !d.probes {
		d.changes = append(d.changes, Change{at.String(), wanted, found})
	}
}

// same reports whether two items of a list do not differ.
func (d *differ) same(at *path, in string, wanted, found *value) bool {
	probe := differ{comparing: d.comparing, probes: true}
	probe.object(at, in, wanted, found)
	return !probe.differs
}

// mayLack reports whether an item may be missing from the list that was found.
func (d *differ) mayLack(at *path, in string, wanted *value) bool {
	return d.same(at, in, wanted, &value{}) || d.allowed(at, "", in, wanted, nil)
}

// shape is the kind of a point of a polygon: a corner, or the point inside. One never takes the place of the other.
func (v *value) shape() string {
	if len(v.inside) != 1 {
		return ""
	}
	return v.inside[0].member
}

// ordered are the lists whose order matters; the one without a name is one of several
// polygons.
var ordered = []string{"creators", "contributors", "titles", "affiliation", "geoLocationPolygon", ""}

// list compares two lists: it pairs the items that are the same, and then the others in
// their order.
func (d *differ) list(at *path, wanted, found *value) {
	in := wanted.member
	place, taken := d.match(at, wanted, found)
	var left []int // indexes of found items without a match
	for j := range found.inside {
		if f := &found.inside[j]; !taken[j] && f.String() != "" && !d.allowed(at, "", in, nil, f) {
			left = append(left, j)
		}
	}
	for i := range wanted.inside {
		w, to := &wanted.inside[i], at.item(i)
		switch {
		case place[i] >= 0, d.mayLack(at, in, w):
		case len(left) > 0 && w.shape() == found.inside[left[0]].shape():
			d.object(to, in, w, &found.inside[left[0]])
			left = left[1:]
		default:
			d.change(to, w.String(), "")
		}
	}
	for _, j := range left {
		d.change(at.item(j), "", found.inside[j].String())
	}
	place = slices.DeleteFunc(place, func(j int) bool { return j < 0 })
	if slices.Contains(ordered, in) && !slices.IsSorted(place) {
		d.change(at, "in this order: "+wanted.String(), "in this order: "+found.String())
	}
}

// reach is how many items are compared in search of one that is the same in other words.
// It bounds the time for lists of many thousands. After one that has none, the lists differ: what
// remains is to say how, for which the nearby items do.
const reach, nearby = 100, 4

// match returns the index of the same found item for each wanted one, or -1, and which
// found items were matched.
func (d *differ) match(at *path, wanted, found *value) (place []int, taken []bool) {
	place, taken = make([]int, len(wanted.inside)), make([]bool, len(found.inside))
	try := func(i, j int) bool {
		if taken[j] || !d.same(at, wanted.member, &wanted.inside[i], &found.inside[j]) {
			return false
		}
		place[i], taken[j] = j, true
		return true
	}
	var rest []int
	for i := range place {
		if place[i] = -1; i >= len(taken) || !try(i, i) {
			rest = append(rest, i)
		}
	}
	byWords := map[string][]int{}
	for j := range taken {
		if !taken[j] {
			words := found.inside[j].String()
			byWords[words] = append(byWords[words], j)
		}
	}
	tryAny := func(i int, places []int) bool {
		tries := 0
		return slices.ContainsFunc(places, func(j int) bool {
			if !taken[j] {
				tries++
			}
			return j != i && tries <= reach && try(i, j) // its own place was tried first
		})
	}
	rest = slices.DeleteFunc(rest, func(i int) bool { return tryAny(i, byWords[wanted.inside[i].String()]) })
	var free []int
	for j := range taken {
		if !taken[j] {
			free = append(free, j)
		}
	}
	reach := reach
	for n, i := range rest {
		from := max(min(n, len(free))-reach/2, 0)
		if w := &wanted.inside[i]; !tryAny(i, free[from:min(from+reach, len(free))]) && !d.mayLack(at, wanted.member, w) {
			reach = nearby
		}
	}
	return place, taken
}

// rewritten are the members of which the service changes the text: it shows them as HTML, or composes them of parts.
var rewritten = []string{"title", "subject", "description", "name"}

// allowed reports whether the service itself makes a difference: in a member of two
// objects, or by an item of a list that the other list lacks, where it is nil.
func (d *comparing) allowed(at *path, in, member string, wanted, found *value) bool {
	keys := [][2]string{{in, member}, {in, "*"}, {"", "*"}}
	switch {
	case d.isXML && member == "schemeUri" && in != "rightsList": // that of ORCID and ROR goes without saying
	case d.isXML && wanted != nil && (found == nil || bare(wanted.get(member)) != "" && bare(found.get(member)) == ""):
		return false
	case d.isXML && (slices.Contains(rewritten, member) || member == "" && in != ""):
		return squish(bare(wanted.get(member))) == squish(bare(found.get(member)))
	case wanted == nil || found == nil:
		keys = keys[:1]
	case wanted.get(member) == "" && bare(found.get(member)) != "" && !slices.Contains(filled, member):
		return false
	}
	for _, key := range keys {
		for _, a := range allowanceOf()[key] {
			if a.covers(at) && a.same(pair{member, wanted, found, d}) {
				return true
			}
		}
	}
	return false
}
