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

// Register compares documents as XML and not as records with metadata.Diff, because it
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

// A reader goes through the leaves of a document.
type reader struct {
	scan   *xmlscan.Scanner
	do     func(leaf)
	open   []element
	pieces []string // of the text since the last tag
	count  int
	err    error
}

// leaves calls do for the content of an XML document in its order, without comments, blanks
// around texts, namespace declarations, schema locations and the DOI's own identifier. It
// takes no memory in proportion to the document.
func leaves(document string, do func(leaf)) error {
	r := reader{scan: xmlscan.Stored(document), do: do}
	for s := r.scan; r.err == nil; {
		switch s.Next() {
		case xmlscan.StartTag:
			if s.Depth() == 2 && s.Name == "identifier" {
				for s.Depth() > 1 && s.Next() != xmlscan.End {
					continue
				}
				continue
			}
			r.start()
		case xmlscan.EndTag:
			r.end()
		case xmlscan.Text:
			r.pieces = append(r.pieces, s.Text)
		case xmlscan.End:
			if err := s.Err(); err != nil {
				return err
			}
			return nil
		}
	}
	return r.err
}

func (r *reader) start() {
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

func (r *reader) end() {
	r.flush()
	last := len(r.open) - 1
	if r.count == r.open[last].at {
		r.add("", "")
	}
	r.open = r.open[:last]
}

// flush adds the text before a tag.
func (r *reader) flush() {
	if text := strings.Trim(strings.Join(r.pieces, ""), " \t\r\n"); text != "" {
		r.add("", text)
	}
	r.pieces = r.pieces[:0]
}

// add adds a leaf of the element that is open.
func (r *reader) add(attribute, text string) {
	r.count++
	r.do(leaf{r.open, attribute, text})
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
	if same, err := sameLeaves(given, stored, seen); same || err != nil {
		return nil, err
	}
	if out := differences(given, stored, seen); len(out) > 0 {
		return out, nil
	}
	return []string{"the order of the elements"}, nil
}

// sameLeaves reports whether two documents have the same leaves in the same order.
func sameLeaves(given, stored string, seen func(string) string) (bool, error) {
	digest := func(document string, seen func(string) string) (sum uint64, err error) {
		err = leaves(document, func(l leaf) { sum = maphash.Comparable(seed, [2]uint64{sum, l.content(seen)}) })
		return sum, err
	}
	a, err := digest(given, seen)
	if err != nil {
		return false, errNotXML
	}
	b, err := digest(stored, asIs)
	return a == b, err
}

// differences lists the leaves of one document that the other does not have, each as often
// as it is missing there. Only what was given is counted by its content: what is stored may
// be of any size. Both can be read.
func differences(given, stored string, seen func(string) string) []string {
	rest := map[uint64]int{}
	_ = leaves(given, func(l leaf) { rest[l.content(seen)]++ })
	missing := maps.Clone(rest)
	var out, more bounded
	_ = leaves(stored, func(l leaf) {
		if key := l.content(asIs); missing[key] > 0 {
			missing[key]--
		} else {
			more.add(l, "is stored and was not given")
		}
	})
	_ = leaves(given, func(l leaf) { // the last ones of equal leaves are those that are missing
		key := l.content(seen)
		if rest[key]--; rest[key] < missing[key] {
			out.add(l, "was given and is not stored")
		}
	})
	out.texts, out.count = append(out.texts, more.texts...), out.count+more.count
	if out.count > maxAlterations {
		return append(out.texts[:maxAlterations-1], fmt.Sprintf("and %d more", out.count-maxAlterations+1))
	}
	return out.texts
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

// hasReplaced reports whether a response may have lost characters: each of them has two
// bytes or more.
func hasReplaced[T string | []byte](text T) bool {
	lost := false
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
		lost = lost || text[i] == '?' && i > 0 && text[i-1] == '?'
	}
	return lost
}

func replacedError(op, name string) error {
	return fmt.Errorf("%s: %s: %w", op, name, ErrReplacedCharacters)
}

// replaceCharacters replaces characters as the service does.
func replaceCharacters(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c >= 0x80 {
			out[i] = '?'
		}
	}
	return string(out)
}

func asIs(text string) string { return text }

// A comparison is the result of comparing given with stored metadata.
type comparison struct {
	same    bool     // stored is what was given, or what the service makes of it each time
	altered []string // where stored differs from given, as far as can be seen
}

// compareMetadata compares what was given with what is stored. Metadata with replaced characters are
// never the same, as that cannot be seen; where they differ only by the replaced characters they
// are not altered.
func compareMetadata(givenData, storedData []byte) comparison {
	given, stored := string(givenData), string(storedData)
	seen, lost := asIs, hasReplaced(stored)
	if lost {
		seen = replaceCharacters
	}
	altered, err := alterations(given, stored, seen)
	expected := rewritten.Replace(given)
	if lost && err != nil && err != errNotXML {
		// The name of an element or attribute has replaced characters. What the service changes each time
		// is known even so.
		altered, err = alterations(given, expected, asIs)
	}
	switch {
	case err == errNotXML:
		return comparison{altered: []string{"the metadata were not XML; the service turned them into XML"}}
	case err != nil:
		return comparison{altered: []string{"what is stored cannot be read: " + err.Error()}}
	case lost || altered == nil:
		return comparison{same: !lost, altered: altered}
	}
	same, _ := sameLeaves(expected, stored, seen) // an error is a difference
	return comparison{same, altered}
}

// seemsSame is sameURL for a stored URL that may have replaced characters.
func seemsSame(stored, given string) bool {
	return sameURL(stored, given) || hasReplaced(stored) && sameURL(stored, replaceCharacters(given))
}

// isCopy reports whether metadata of the DOI API are those that the store sent, which may
// have replaced characters. They do not if the API lags behind.
func isCopy(whole, sent []byte) bool {
	whole, sent = bytes.TrimSpace(whole), bytes.TrimSpace(sent)
	if len(whole) != len(sent) || !hasReplaced(sent) {
		return false
	}
	for i, c := range whole {
		if c != sent[i] && (c < 0x80 || sent[i] != '?') {
			return false
		}
	}
	return true
}
