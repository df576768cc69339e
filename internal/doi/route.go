package doi

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Route is how the name in a request's path reaches the records of the deployed
// service. On it a name can turn into another one, and the request then acts on
// another DOI. The steps, with their evidence, are in datacitetest/evidence/deployed-store.md.
type Route int

const (
	// API is the path of the DOI API, /dois/{doi}: a web framework that normalises
	// paths, its routes, and a database that compares without accents. Slashes that
	// are percent-encoded are neither normalised nor routed.
	API Route = iota
	// Store is a path of the metadata store: the same framework, and then a URL of
	// the DOI API into which the name is pasted as it is.
	Store
)

// below are the collections that the DOI API has below a DOI. What follows one belongs
// to it, however many slashes it has.
var below = []string{"media", "metadata", "activities", "events"}

// maxName is the length of a name that the database keeps, in characters.
const maxName = 255

// Check refuses a name that would not arrive as itself. Parse has read it before.
func (w Route) Check(name string) error {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "." || segment == ".." {
			return another(name, "has the part %q, which the service resolves as a step in a path", segment)
		}
	}
	if reason := tidied(name); reason != "" && w == Store {
		return another(name, "%s", reason)
	}
	for _, r := range name {
		if r >= utf8.RuneSelf {
			return another(name, "has the character %s, which the service may confuse with another", describe(r))
		}
		if w == Store && strings.ContainsRune("#?%", r) {
			return another(name, "has the character %s, after which the service misreads the name", describe(r))
		}
	}
	switch {
	case strings.HasSuffix(name, " "):
		return another(name, "ends with a blank, which the service ignores")
	case len(name) > maxName:
		return &NameError{name, fmt.Sprintf("has %d characters; the service keeps %d", len(name), maxName)}
	}
	return nil
}

func another(name, format string, args ...any) error {
	return &NameError{name, fmt.Sprintf(format, args...) + ": the request would reach another DOI"}
}

// tidied says what a web framework does to the slashes of a name unless they are
// percent-encoded; "" if nothing.
func tidied(name string) string {
	segments := strings.Split(name, "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		switch {
		case segment == "" && last:
			return `ends with "/", which the service drops`
		case segment == "":
			return `has "//", of which the service drops one`
		case slices.Contains(below, strings.ToLower(segment)), last && strings.EqualFold(segment, "get-url"):
			return fmt.Sprintf("has the part %q, which in a path belongs to another DOI", segment)
		}
	}
	return ""
}

// Path writes a name that Check has passed as the end of a request path.
func (w Route) Path(name string) string {
	prefix, suffix, _ := strings.Cut(name, "/")
	if w == API && tidied(name) != "" {
		return prefix + "/" + strings.ReplaceAll(Path(suffix), "/", "%2F")
	}
	return Path(name)
}

// CheckWritable refuses a name under which nothing may be written: one that does
// not arrive as itself, or whose prefix is not one that the service registers.
func (w Route) CheckWritable(name string) error {
	if err := CheckPrefix(Prefix(name)); err != nil {
		return &NameError{name, `has a prefix that is not "10." and four or five digits; the service would register ` +
			`another name under another prefix`}
	}
	return w.Check(name)
}

// Readable parses the parameter doi of a read, and refuses a name for which the service
// would return what belongs to another DOI.
func (w Route) Readable(text string) (string, error) { return parse(text, w.Check) }

// Writable parses the parameter doi of a write, and refuses a name that would make or change
// another DOI. Older DOIs have names that CheckNew refuses.
func (w Route) Writable(text string) (string, error) { return parse(text, w.CheckWritable) }

func parse(text string, check func(string) error) (string, error) {
	name, err := Parse(text)
	if err == nil {
		err = check(name)
	}
	return name, At("doi", err)
}
