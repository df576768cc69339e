package metadata

import (
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Attribute is an XML attribute that the schema does not name. The schema allows any on
// affiliations and name identifiers, and the service stores them, so a record keeps those
// of XML. JSON cannot contain them.
type Attribute struct{ Name, Value string }

// extra returns the unknown attributes of the tag just read, without those in a namespace,
// whose prefix would be lost.
func (p *parser) extra(known []string) []Attribute {
	var out []Attribute
	for _, a := range p.Attrs {
		switch {
		case a.Space == xmlscan.XMLSpace:
			out = append(out, Attribute{"xml:" + a.Name, a.Value})
		case a.Space == "" && !slices.Contains(known, a.Name):
			out = append(out, Attribute{a.Name, a.Value})
		}
	}
	return out
}

// canAdd reports whether a tag with the known attributes and those in list can have another
// one of this name.
func canAdd(list []Attribute, known []string, name string) bool {
	local := strings.TrimPrefix(name, "xml:")
	isName := local != "" && xmlscan.NameLen(local) == len(local) && !strings.Contains(local, ":") && name != "xmlns"
	return isName && !slices.Contains(known, name) &&
		!slices.ContainsFunc(list, func(a Attribute) bool { return a.Name == name })
}

// extra checks the names of attributes.
func (c *checker) extra(p *path, list []Attribute, known []string) {
	for i, a := range list {
		if !canAdd(list[:i], known, a.Name) {
			c.fault(datacite.CodeAttribute, p.dot("Extra").item(i), a.Name, "an attribute of this name cannot be added")
		}
	}
}
