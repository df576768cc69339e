package doi

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Way is how the name in a request's path comes to the records of the deployed
// service. On it a name can turn into another one, and the request then acts on
// another DOI. The steps, with their evidence, are in testdata/deployed-store.md.
type Way int

const (
	// API is the path of the DOI API, /dois/{doi}: a web framework that tidies
	// paths, its routes, and a database that compares without accents.
	API Way = iota
	// Store is a path of the metadata store: the same framework, and then a URL of
	// the DOI API into which the name is pasted as it is.
	Store
)

// routes are the resources that the DOI API has below a DOI.
var routes = []string{"get-url", "media", "metadata", "activities", "events"}

// maxName is the length of a name that the database keeps, in characters.
const maxName = 255

// Check refuses a name that would not arrive as itself. Parse has read it before.
func (w Way) Check(name string) error {
	segments := strings.Split(name, "/")
	for i, segment := range segments {
		switch {
		case segment == "" && i == len(segments)-1:
			return &NameError{name, `ends with "/", which the service drops: the request would reach another DOI`}
		case segment == "":
			return &NameError{name, `has "//", of which the service drops one: the request would reach another DOI`}
		case segment == "." || segment == "..":
			return &NameError{name, fmt.Sprintf("has the part %q, which the service takes for a step in the path: the request would reach another DOI", segment)}
		case i > 0 && i >= len(segments)-2 && isRoute(segment):
			return &NameError{name, fmt.Sprintf("has the part %q near its end, which the service takes for something that belongs to another DOI", segment)}
		}
	}
	if strings.HasSuffix(name, " ") {
		return &NameError{name, "ends with a blank, which the service ignores: the request would reach another DOI"}
	}
	for _, r := range name {
		if r >= utf8.RuneSelf {
			return &NameError{name, fmt.Sprintf("has the character %s, which the service may take for another: the request would reach another DOI", describe(r))}
		}
		if w == Store && strings.ContainsRune("#?%", r) {
			return &NameError{name, fmt.Sprintf("has the character %s, after which the service reads the name wrongly: the request would reach another DOI", describe(r))}
		}
	}
	if len(name) > maxName {
		return &NameError{name, fmt.Sprintf("has %d characters; the service keeps %d", len(name), maxName)}
	}
	return nil
}

func isRoute(segment string) bool {
	for _, route := range routes {
		if strings.EqualFold(segment, route) {
			return true
		}
	}
	return false
}

// CheckWritable refuses a name under which nothing may be written: one that does
// not arrive as itself, or whose prefix is not one that the service registers.
func (w Way) CheckWritable(name string) error {
	if err := CheckPrefix(Prefix(name)); err != nil {
		return &NameError{name, `has a prefix that is not "10." and four or five digits; the service would make a name of its own under another prefix`}
	}
	return w.Check(name)
}
