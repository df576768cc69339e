package mds

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

// Ensure compares documents as XML and not as records with metadata.Diff, because it
// must write every change. Diff forgives what the DOI API changes by itself, ignores the
// order in most lists, and does not see elements that a Record does not have.

// A leaf is a text or an attribute of an XML document, or an element without
// either: its path and its value.
type leaf struct{ path, text string }

// leaves lists the content of an XML document in its order, without comments, blanks
// around texts, namespace declarations, schema locations and the DOI's own identifier.
func leaves(data []byte) ([]leaf, error) {
	var w leafWriter
	decoder := newDecoder(data)
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return w.leaves, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(w.open) == 1 && token.Name.Local == "identifier" {
				if err := decoder.Skip(); err != nil {
					return nil, err
				}
				continue
			}
			w.start(token)
		case xml.EndElement:
			w.end()
		case xml.CharData:
			w.text.Write(token)
		}
	}
}

// normalAttribute replaces line breaks by blanks, as XML prescribes for attributes and
// encoding/xml does not do.
var normalAttribute = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

type leafWriter struct {
	leaves []leaf
	open   []openLeaf
	text   strings.Builder // since the last tag
}

type openLeaf struct {
	path  string
	count map[string]int // of the children, by name
	at    int            // leaves before it
}

func (w *leafWriter) start(e xml.StartElement) {
	w.flush()
	path := "/" + e.Name.Local
	if len(w.open) == 0 {
		w.leaves = append(w.leaves, leaf{path + " namespace", normalAttribute.Replace(e.Name.Space)})
	} else {
		parent := &w.open[len(w.open)-1]
		parent.count[e.Name.Local]++
		path = fmt.Sprintf("%s%s[%d]", parent.path, path, parent.count[e.Name.Local])
	}
	w.open = append(w.open, openLeaf{path: path, count: map[string]int{}, at: len(w.leaves)})
	attributes := slices.Clone(e.Attr)
	slices.SortFunc(attributes, func(a, b xml.Attr) int {
		return cmp.Or(cmp.Compare(a.Name.Local, b.Name.Local), cmp.Compare(a.Name.Space, b.Name.Space))
	})
	for _, a := range attributes {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" && !strings.HasSuffix(a.Name.Local, "chemaLocation") {
			w.leaves = append(w.leaves, leaf{path + "/@" + a.Name.Local, normalAttribute.Replace(a.Value)})
		}
	}
}

func (w *leafWriter) end() {
	w.flush()
	last := w.open[len(w.open)-1]
	if len(w.leaves) == last.at {
		w.leaves = append(w.leaves, leaf{last.path, ""})
	}
	w.open = w.open[:len(w.open)-1]
}

// flush keeps the text before a tag. A byte order mark before the root element is left
// out.
func (w *leafWriter) flush() {
	if text := strings.Trim(w.text.String(), " \t\r\n"); text != "" && len(w.open) > 0 {
		w.leaves = append(w.leaves, leaf{w.open[len(w.open)-1].path, text})
	}
	w.text.Reset()
}

// maxAlterations bounds the list of what was altered.
const maxAlterations = 20

// alterations describes where stored metadata differ from those that were given, after
// seen was applied to the texts given. There are none if both have the same content.
func alterations(given, stored []byte, seen func(string) string) []string {
	a, err := leaves(given)
	if err != nil {
		return []string{"the metadata were not XML; the service turned them into XML"}
	}
	b, err := leaves(stored)
	switch {
	case err != nil:
		return []string{"what is stored cannot be read: " + err.Error()}
	case slices.EqualFunc(a, b, func(a, b leaf) bool { return a.path == b.path && seen(a.text) == b.text }):
		return nil
	}
	shown := func(l leaf) leaf { return leaf{l.path, seen(l.text)} }
	var out []string
	for _, l := range without(a, b, shown) {
		out = append(out, fmt.Sprintf("%s: %.200q was given and is not stored", l.path, l.text))
	}
	for _, l := range without(b, a, shown) {
		out = append(out, fmt.Sprintf("%s: %.200q is stored and was not given", l.path, l.text))
	}
	if len(out) == 0 {
		out = []string{"the order of the elements"}
	}
	if len(out) > maxAlterations {
		out = append(out[:maxAlterations-1], fmt.Sprintf("and %d more", len(out)-maxAlterations+1))
	}
	return out
}

// without returns the leaves of a that are not in b, after shown was applied, each as
// often as it is missing there.
func without(a, b []leaf, shown func(leaf) leaf) []leaf {
	count := map[leaf]int{}
	for _, l := range b {
		count[shown(l)]++
	}
	var out []leaf
	for _, l := range a {
		if count[shown(l)]--; count[shown(l)] < 0 {
			out = append(out, l)
		}
	}
	return out
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
