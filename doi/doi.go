// Package doi reads and compares DOI names, for programs that keep them beside the
// records of packages dois and mds.
//
// The methods of those packages take names in all the forms that [Parse] reads, so
// this package is for a program's own tables: [Parse] for what people type, [Key] for
// the column or map that must hold each DOI once, [Address] for what people see.
package doi

import (
	"github.com/datacite-go/datacite-go/internal/doi"
)

// Parse reads a DOI name in any of the forms that people paste: bare, after
// "doi:", or as an address of a resolver, old or new, whose percent-encoding it
// undoes. The case of the name is kept.
//
// The error is a [*datacite.FieldError] that matches [datacite.ErrInvalidDOI]. It names characters that cannot be seen, and dashes that
// only look like the hyphen; a name that really has such a dash can be given as an
// address, percent-encoded.
func Parse(text string) (string, error) {
	name, err := doi.Parse(text)
	return name, doi.At("DOI name", err)
}

// Key is the form that all spellings of one DOI share, for maps and database columns:
// ASCII letters in lower case. It takes a name as [Parse] returns it.
func Key(name string) string { return doi.Normal(name) }

// Same tells whether two names, as [Parse] returns them, are one DOI. The case of
// ASCII letters does not count.
func Same(a, b string) bool { return doi.Equal(a, b) }

// Address writes a name as people should see it, as an address of the global resolver
// such as "https://doi.org/10.5072/abc". [Parse] reads it back.
func Address(name string) string { return doi.Address(name) }

// NewSuffix makes a random suffix of six base-32 digits and two check digits,
// such as "003r-j076", as the service does when it chooses a name. There are a billion
// of them.
func NewSuffix() string { return doi.NewSuffix() }

// CheckSuffix says whether a suffix is one that [NewSuffix] or the service could
// have made. The check digits catch every mistyped character. Case and hyphens
// do not count. The error is as that of [Parse].
func CheckSuffix(suffix string) error { return doi.At("suffix", doi.CheckSuffix(suffix)) }
