package metadata

import (
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Attribute is an XML attribute the schema has no name for. On affiliations and
// name identifiers the schema lets any attribute pass and the service stores it,
// so a record read from XML keeps it; JSON has no place for it.
type Attribute struct{ Name, Value string }

// extra returns the attributes of the tag just read that are not known. Those of
// other namespaces than XML's own are left out: their prefix would be lost.
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

// canAdd reports whether a tag with the known attributes, and those in list, can
// have one more of this name.
func canAdd(list []Attribute, known []string, name string) bool {
	local := strings.TrimPrefix(name, "xml:")
	isName := local != "" && xmlscan.NameLen(local) == len(local) && !strings.Contains(local, ":") && name != "xmlns"
	return isName && !slices.Contains(known, name) &&
		!slices.ContainsFunc(list, func(a Attribute) bool { return a.Name == name })
}

// extra checks attributes that are written as they are.
func (c *checker) extra(p *path, list []Attribute, known []string) {
	for i, a := range list {
		if !canAdd(list[:i], known, a.Name) {
			c.fault(CodeAttribute, p.item(i), a.Name, "an attribute of this name cannot be added")
		}
	}
}
