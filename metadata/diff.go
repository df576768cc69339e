package metadata

import (
	"fmt"
	"slices"
	"strings"
)

// A Change is one place in which two records differ.
type Change struct {
	// Path leads there, in the JSON form: creators[2].nameIdentifiers[0].nameIdentifier.
	// Items are counted as in the wanted record, and one that only the found record
	// has as there.
	Path   string
	Wanted string // "" if nothing is wanted
	Found  string // "" if nothing was found
}

// String says in one line what is wanted and what was found. Long values are cut.
func (c Change) String() string {
	switch {
	case c.Found == "":
		return fmt.Sprintf("%s: %.200q is missing", c.Path, c.Wanted)
	case c.Wanted == "":
		return fmt.Sprintf("%s: %.200q is not wanted", c.Path, c.Found)
	}
	return fmt.Sprintf("%s: %.200q is wanted, and %.200q was found", c.Path, c.Wanted, c.Found)
}

// Diff returns where a record that was found at the service differs from the one
// that is wanted, in the order of the record's properties; nothing if they say the
// same. Empty and missing are one. A nil record is an empty one.
//
// What the deployed service adds by itself, and what it changes or drops of a
// record that it is sent, is no difference: an Issued date from the year, the parts
// of a personal name, all of a known licence, the address of an ORCID, a language
// as two letters, HTML that it takes out of titles. [Record.Findings] tells beforehand
// what it changes or drops. In what this package has of older answers and of XML alone
// nothing is compared: Identifiers are AlternateIdentifiers, and Extra, Breaks,
// SchemaVersion and the types that the service derives are left out. Diff compares
// what the service can show, so found should have been read with identifiers of
// affiliations and publisher.
//
// The order counts of creators, contributors, titles, affiliations and the points
// of a polygon, and of no other list.
func Diff(wanted, found *Record) []Change {
	w, f := wanted.value(), found.value()
	d := differ{found: &f}
	d.object(nil, "", &w, &f)
	return d.changes
}

func (r *Record) value() value {
	if r == nil {
		r = &Record{}
	}
	return value{kind: objectValue, inside: resourceElement.values(r.withAlternates(), nil)}
}

// A value is what a record says in one place, in a form that is the same for all
// elements.
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

// values adds what v says to out, member by member, empty ones too.
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

func listValue[E any](name string, e *element[E], items []E) value {
	list := value{member: name, kind: listOf, inside: make([]value, len(items))}
	for i := range items {
		list.inside[i] = value{kind: objectValue, inside: e.values(&items[i], nil)}
	}
	return list
}

// of returns a member of an object, an empty one if it has none.
func (v *value) of(member string) *value {
	for i := range v.inside {
		if v.inside[i].member == member {
			return &v.inside[i]
		}
	}
	return &value{}
}

func (v *value) get(member string) string { return v.of(member).text }

// String returns all texts of a value, as people read them.
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
	found   *value // the whole record
	changes []Change
	first   bool            // it is enough to know whether there is one
	said    map[string]bool // by the subjects that were found; made when needed
}

// object compares two objects of one table, which are in a member, or in the list
// in it, of the name in.
func (d *differ) object(at *path, in string, wanted, found *value) {
	for i := range wanted.inside {
		if d.first && len(d.changes) > 0 {
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
			d.changes = append(d.changes, Change{to.String(), w.text, f.text})
		}
	}
}

// same tells whether there is no difference between two items of a list.
func (d *differ) same(at *path, in string, wanted, found *value) bool {
	probe := differ{found: d.found, first: true}
	probe.object(at, in, wanted, found)
	return len(probe.changes) == 0 && (wanted.shape() == found.shape() || found.inside == nil)
}

// shape tells the points of a polygon from the one inside.
func (v *value) shape() string {
	if len(v.inside) != 1 {
		return ""
	}
	return v.inside[0].member
}

// ordered are the lists whose order says something; that without a name is one of
// several polygons.
var ordered = []string{"creators", "contributors", "titles", "affiliation", "geoLocationPolygon", ""}

// list compares two lists: first it finds the items that are in both, then it takes
// what is left for changed items, one by one.
func (d *differ) list(at *path, wanted, found *value) {
	in := wanted.member
	place, taken := d.match(at, wanted, found)
	var left []int // places of found items that no wanted one is like
	for j := range found.inside {
		if f := &found.inside[j]; !taken[j] && f.String() != "" && !d.allowed(at, "", in, nil, f) {
			left = append(left, j)
		}
	}
	for i := range wanted.inside {
		w, to := &wanted.inside[i], at.item(i)
		switch {
		case place[i] >= 0, d.same(at, in, w, &value{}), d.allowed(at, "", in, w, nil):
		case len(left) > 0 && w.shape() == found.inside[left[0]].shape():
			d.object(to, in, w, &found.inside[left[0]])
			left = left[1:]
		default:
			d.changes = append(d.changes, Change{to.String(), w.String(), ""})
		}
	}
	for _, j := range left {
		d.changes = append(d.changes, Change{at.item(j).String(), "", found.inside[j].String()})
	}
	place = slices.DeleteFunc(place, func(j int) bool { return j < 0 })
	if slices.Contains(ordered, in) && !slices.IsSorted(place) {
		d.changes = append(d.changes, Change{at.String(), "in this order: " + wanted.String(), "in this order: " + found.String()})
	}
}

// reach is how many items are looked at for one that is alike, but not in the same
// words: in lists of many thousands all would be too many.
const reach = 100

// match returns for each wanted item the place of a found one that says the same, or
// -1, and which of those are taken.
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
		if len(rest) > 0 && !taken[j] {
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
			return tries <= reach && try(i, j)
		})
	}
	rest = slices.DeleteFunc(rest, func(i int) bool { return tryAny(i, byWords[wanted.inside[i].String()]) })
	var free []int
	for j := range taken {
		if !taken[j] {
			free = append(free, j)
		}
	}
	for n, i := range rest {
		from := max(min(n, len(free))-reach/2, 0)
		tryAny(i, free[from:min(from+reach, len(free))])
	}
	return place, taken
}

// allowed tells whether a difference is one that the service makes: of a member of
// two objects, or of a list that has an item which the other has not, and which is
// nil there.
func (d *differ) allowed(at *path, in, member string, wanted, found *value) bool {
	keys := [][2]string{{in, member}, {in, "*"}, {"", "*"}}
	switch {
	case wanted == nil || found == nil:
		keys = keys[:1]
	case wanted.get(member) == "" && bare(found.get(member)) != "" && !slices.Contains(filled, member):
		return false
	}
	for _, key := range keys {
		for _, a := range allowanceOf[key] {
			if a.covers(at) && a.same(pair{member, wanted, found, d}) {
				return true
			}
		}
	}
	return false
}
