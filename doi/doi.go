// Package doi reads and compares DOI names, for programs that store them:
//
//   - [Parse] reads names as people type them.
//   - [Find] finds names in what somebody typed into a search box.
//   - [Key] is the key of a column or map that must contain each DOI once.
//   - [URL] is the form to display.
//   - [New] makes names.
//
// The methods of packages dois and mds accept names in all forms that [Parse] reads.
package doi

import (
	"strings"

	"github.com/datacite-go/datacite-go/internal/doi"
)

// Parse reads a DOI name in any of the forms that people paste: bare, after
// "doi:", or as an address of a resolver, old or new, whose percent-encoding it
// undoes. The case of the name is kept.
//
// The error is a [*datacite.ValidationError] that matches [datacite.ErrInvalidDOI]. Invisible
// characters and dashes that look like the hyphen are errors, which name them; a name
// that really has such a dash can be given as an address, percent-encoded.
func Parse(text string) (string, error) {
	name, err := doi.Parse(text)
	return name, doi.At("DOI name", err)
}

// Find returns the DOI names in a text that somebody typed or pasted, such as into a search box,
// in their order, and the text without them. It finds the forms that [Parse] reads, and names in
// addresses of other hosts, such as those of a repository's pages. Brackets, quotes and
// punctuation around a name, the parameters of an address and a "doi" before the name are left
// out; invisible characters in it are dropped, and dashes become hyphens. A name begins with
// "10." and at least four digits. [query.Typed] makes a query of such a text.
//
// [query.Typed]: https://pkg.go.dev/github.com/datacite-go/datacite-go/query#Typed
func Find(text string) (names []string, rest string) {
	names, between := doi.Find(text)
	return names, strings.Join(between, " ")
}

// Key returns the same text for all spellings of a DOI, for maps and database columns:
// ASCII letters in lower case. The name must be a result of [Parse].
func Key(name string) string { return doi.Normal(name) }

// Same reports whether two results of [Parse] are the same DOI. The case of ASCII letters
// does not count.
func Same(a, b string) bool { return doi.Equal(a, b) }

// URL returns the address of a name at the global resolver, such as
// "https://doi.org/10.5072/abc": the form to show to people. [Parse] reads it back.
func URL(name string) string { return doi.Address(name) }

// Split returns the prefix of a name that [Parse] returned, such as "10.5072", and its
// suffix, which may contain further slashes.
func Split(name string) (prefix, suffix string) {
	prefix, suffix, _ = strings.Cut(name, "/")
	return prefix, suffix
}

// CheckPrefix returns nil for the prefix of new names: "10." and four or five digits
// (specification §8). The error is like that of [Parse].
func CheckPrefix(prefix string) error { return doi.At("prefix", doi.CheckPrefix(prefix)) }

// CheckNew returns nil if a name in any of the forms that [Parse] reads can be registered as a
// new DOI: a prefix as in [CheckPrefix], and a suffix of a-z, A-Z, 0-9 and - . _ ; ( ) /
// (specification §2.3). It also refuses names that the metadata store would turn into another
// one: with "//" or a "/" at the end, and with the parts ".", "..", "media", "metadata", "events"
// and "activities". The error is like that of [Parse].
func CheckNew(name string) error {
	name, err := doi.Store.Writable(name)
	if err == nil {
		err = doi.At("DOI name", doi.CheckNew(name))
	}
	return err
}

// New returns a name under a prefix with a random suffix of six base-32 digits and two check
// digits, such as "10.5072/003r-j076", as the service does when it chooses a name. Each
// prefix has a billion of them. New checks nothing; see [CheckPrefix].
func New(prefix string) string { return doi.New(prefix) }
