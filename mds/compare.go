package mds

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Ensure compares documents as XML and not as records with metadata.Diff, because it
// must write every change. Diff forgives what the DOI API changes by itself, ignores the
// order in most lists, and does not see elements that a Record does not have.

// A leaf is a text or an attribute of an XML document, or an element without either. It is
// valid until the next one is read.
type leaf struct {
	of        []element // the elements around it, from the root
	attribute string    // inNamespace for the namespace of the root element
	text      string
}

const inNamespace = " namespace"

// An element is one of those around a leaf.
type element struct {
	name     string
	number   int            // among the elements of this name in its parent
	id       uint64         // a hash of its path
	children map[string]int // how many have which name
	at       int            // leaves before it
}

var seed = maphash.MakeSeed()

// A place stands for a path. A hash of it is as good: a long path below which there is much
// would take the product of both.
type place struct {
	parent uint64
	name   string
	number int
}

func (l leaf) place() uint64 {
	return maphash.Comparable(seed, place{l.of[len(l.of)-1].id, l.attribute, -1})
}

// content stands for the leaf with its text.
func (l leaf) content(seen func(string) string) uint64 {
	return maphash.Comparable(seed, place{l.place(), seen(l.text), -2})
}

func (l leaf) path() string {
	var out strings.Builder
	for i, e := range l.of {
		if fmt.Fprintf(&out, "/%.100s", e.name); i > 0 {
			fmt.Fprintf(&out, "[%d]", e.number)
		}
	}
	switch l.attribute {
	case "", inNamespace:
		return out.String() + l.attribute
	}
	return fmt.Sprintf("%s/@%.100s", &out, l.attribute)
}

// leaves lists the content of an XML document in its order, without comments, blanks
// around texts, namespace declarations, schema locations and the DOI's own identifier. It
// takes no memory in proportion to the document.
type leaves struct {
	scan  *xmlscan.Scanner
	open  []element
	text  string // since the last tag
	more  []byte // that, and what came behind it
	found []leaf // by the last tag
	next  int    // of those
	count int
	err   error
}

func leavesOf(document string) *leaves { return &leaves{scan: xmlscan.Stored(document)} }

// read reads the next leaf; there is none at the end, and after an error.
func (r *leaves) read() (leaf, bool) {
	for r.next == len(r.found) {
		r.found, r.next = r.found[:0], 0
		if !r.token() {
			return leaf{}, false
		}
	}
	r.next++
	return r.found[r.next-1], true
}

// token reads a tag or a text.
func (r *leaves) token() bool {
	switch s := r.scan; s.Next() {
	case xmlscan.StartTag:
		if s.Depth() == 2 && s.Name == "identifier" {
			for s.Depth() > 1 && s.Next() != xmlscan.End {
				continue
			}
			return true
		}
		r.start()
	case xmlscan.EndTag:
		r.end()
	case xmlscan.Text:
		r.append(s.Text)
	case xmlscan.End:
		if err := s.Err(); err != nil && r.err == nil {
			r.err = err
		}
		return false
	}
	return r.err == nil
}

func (r *leaves) start() {
	r.flush()
	s, above := r.scan, r.open
	if len(r.open) == cap(r.open) {
		r.open = append(r.open, element{})
	} else {
		r.open = r.open[:len(above)+1] // with the map of a sibling
	}
	e := &r.open[len(above)]
	e.begin(s.Name)
	if len(above) == 0 {
		e.id = maphash.Comparable(seed, place{name: s.Name})
		r.add(inNamespace, normalAttribute.Replace(s.Space))
	} else if r.err = r.open[len(above)-1].adopt(e); r.err != nil {
		return
	}
	e.at = r.count
	slices.SortFunc(s.Attrs, func(a, b xmlscan.Attribute) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Space, b.Space))
	})
	for _, a := range s.Attrs {
		if a.Space != xmlscan.DeclarationSpace && !strings.HasSuffix(a.Name, "chemaLocation") {
			r.add(a.Name, normalAttribute.Replace(a.Value))
		}
	}
}

// begin makes another element of e, with its map, unless that is large: clearing it would
// take its time for each element.
func (e *element) begin(name string) {
	const large = 50
	children := e.children
	if len(children) > large {
		children = nil
	}
	clear(children)
	*e = element{name: name, children: children}
}

// adopt counts a child. Records have some twenty names.
func (e *element) adopt(child *element) error {
	const most = 1000
	if e.children == nil {
		e.children = map[string]int{}
	}
	e.children[child.name]++
	if child.number = e.children[child.name]; len(e.children) > most {
		return fmt.Errorf("an element has others of more than %d names", most)
	}
	child.id = maphash.Comparable(seed, place{e.id, child.name, child.number})
	return nil
}

func (r *leaves) end() {
	r.flush()
	last := len(r.open) - 1
	if r.count == r.open[last].at {
		r.add("", "")
	}
	r.open = r.open[:last]
}

// flush keeps the text before a tag.
func (r *leaves) flush() {
	if len(r.more) > 0 {
		r.text, r.more = string(r.more), nil
	}
	if text := strings.Trim(r.text, " \t\r\n"); text != "" && len(r.open) > 0 {
		r.add("", text)
	}
	r.text = ""
}

// append adds a piece of a text. Nearly all texts have one.
func (r *leaves) append(text string) {
	switch {
	case len(r.more) > 0:
		r.more = append(r.more, text...)
	case r.text == "":
		r.text = text
	default:
		r.more = append([]byte(r.text), text...)
	}
}

// add adds a leaf of the element that is open.
func (r *leaves) add(attribute, text string) {
	r.found = append(r.found, leaf{r.open, attribute, text})
	r.count++
}

// all ranges over the leaves up to an error.
func (r *leaves) all(yield func(leaf) bool) {
	for l, more := r.read(); more && yield(l); l, more = r.read() {
		continue
	}
}

// normalAttribute replaces also those line breaks and tabs by blanks that are written as
// references.
var normalAttribute = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// maxAlterations bounds the list of what was altered.
const maxAlterations = 20

// errNotXML: what was given cannot be compared.
var errNotXML = errors.New("not XML")

// alterations describes where stored metadata differ from those that were given, after
// seen was applied to the texts given. There are none if both have the same content. An
// error is errNotXML, or why what is stored cannot be read.
func alterations(given, stored string, seen func(string) string) ([]string, error) {
	if same, err := sameLeaves(leavesOf(given), leavesOf(stored), seen); same || err != nil {
		return nil, err
	}
	out, err := differences(given, stored, seen)
	if err == nil && len(out) == 0 {
		out = []string{"the order of the elements"}
	}
	return out, err
}

// sameLeaves compares two documents up to the first difference.
func sameLeaves(given, stored *leaves, seen func(string) string) (bool, error) {
	for {
		x, more := given.read()
		y, still := stored.read()
		switch {
		case given.err != nil:
			return false, errNotXML
		case stored.err != nil:
			return false, stored.err
		case !more || !still:
			return more == still, nil
		case x.place() != y.place() || seen(x.text) != y.text:
			return false, nil
		}
	}
}

// differences lists the leaves of one document that the other does not have, each as often
// as it is missing there. Only what was given is counted by its content: what is stored may
// be of any size.
func differences(given, stored string, seen func(string) string) ([]string, error) {
	wanted, rest := leavesOf(given), map[uint64]int{}
	for l := range wanted.all {
		rest[l.content(seen)]++
	}
	if wanted.err != nil {
		return nil, errNotXML
	}
	found, missing := leavesOf(stored), maps.Clone(rest)
	var more bounded
	for l := range found.all {
		if key := l.content(seen); missing[key] > 0 {
			missing[key]--
		} else {
			more.add(l, "is stored and was not given")
		}
	}
	if found.err != nil {
		return nil, found.err
	}
	var out bounded
	for l := range leavesOf(given).all { // the last ones of equal leaves are those that are missing
		key := l.content(seen)
		if rest[key]--; rest[key] < missing[key] {
			out.add(l, "was given and is not stored")
		}
	}
	out.texts, out.count = append(out.texts, more.texts...), out.count+more.count
	if out.count > maxAlterations {
		return append(out.texts[:maxAlterations-1], fmt.Sprintf("and %d more", out.count-maxAlterations+1)), nil
	}
	return out.texts, nil
}

// bounded is the beginning of a list of differences.
type bounded struct {
	texts []string
	count int
}

func (b *bounded) add(l leaf, what string) {
	if b.count++; b.count <= maxAlterations {
		b.texts = append(b.texts, fmt.Sprintf("%s: %.200q %s", l.path(), l.text, what))
	}
}

// rewritten makes the replacements that the deployed service makes anywhere in a
// document: tags become text, and U+FEFF is left out.
var rewritten = func() *strings.Replacer {
	pairs := []string{"\ufeff", ""}
	for _, tag := range []string{"strong", "em", "b", "i", "code", "pre", "sub", "sup", "br"} {
		pairs = append(pairs, "<"+tag+">", "&lt;"+tag+"&gt;", "</"+tag+">", "&lt;/"+tag+"&gt;")
	}
	return strings.NewReplacer(pairs...)
}()

// newDecoder reads XML as UTF-8, whatever it declares, as the service does.
func newDecoder(data []byte) *xml.Decoder {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return decoder
}

// sameURL reports whether two URLs are the same but for what a service may normalise:
// the case of the host and of percent-encoding, whether a character beyond ASCII is
// encoded, and the empty path.
func sameURL(a, b string) bool { return a == b || a != "" && plainURL(a) == plainURL(b) }

func plainURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	var out strings.Builder
	text := u.String()
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '%' && i+2 < len(text):
			out.WriteString(strings.ToUpper(text[i : i+3]))
			i += 2
		case c >= 0x80:
			fmt.Fprintf(&out, "%%%02X", c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}
