package mds

import (
	"errors"
	"fmt"

	"github.com/datacite-go/datacite-go/internal/doi"
)

// ParseDOI reads a DOI name in any of the forms that people paste: bare, after
// "doi:", or as an address of a resolver, old or new, whose percent-encoding it
// undoes. All methods of this package take these forms. The case of the name is
// kept; [SameDOI] compares without it.
//
// The error is a [*FieldError] that matches [ErrInvalidDOI]. It names characters
// that cannot be seen, and dashes that only look like the hyphen; a name that
// really has such a dash can be given as an address, percent-encoded.
func ParseDOI(text string) (string, error) {
	name, err := doi.Parse(text)
	return name, nameError("doi", err)
}

// CheckNewDOI says whether a name may be registered anew: a prefix of "10." and
// four or five digits, and a suffix of a-z, A-Z, 0-9 and - . _ ; ( ) /
// (specification §2.3). Refused, too, are names that the deployed service takes for
// another one: with "//" or a "/" at the end, and with the parts ".", "..",
// "media", "metadata", "events" and "activities".
func CheckNewDOI(name string) error {
	_, err := writable(name, false)
	return err
}

// SameDOI tells whether two names, as [ParseDOI] returns them, are one DOI. The
// case of ASCII letters does not count.
func SameDOI(a, b string) bool { return doi.Equal(a, b) }

// DOIAddress writes a name as people should see it, an address of the global
// resolver such as "https://doi.org/10.5072/abc". [ParseDOI] reads it back.
func DOIAddress(name string) string { return doi.Address(name) }

// NewSuffix makes a random suffix of six base-32 digits and two check digits,
// such as "003r-j076", as the service does for [Client.MintRemotely]. There are
// a billion of them.
func NewSuffix() string { return doi.NewSuffix() }

// CheckSuffix says whether a suffix is one that [NewSuffix] or the service could
// have made. The check digits catch every mistyped character. Case and hyphens
// do not count. The error matches [ErrInvalidDOI].
func CheckSuffix(suffix string) error { return nameError("suffix", doi.CheckSuffix(suffix)) }

// readable parses a name that is asked for, and refuses one that would be
// answered with what belongs to another DOI.
func readable(text string) (string, error) {
	name, err := doi.Parse(text)
	if err == nil {
		err = doi.Store.Check(name)
	}
	return name, nameError("doi", err)
}

// writable parses a name that is written, and refuses one that would make or
// change another DOI. New names have the characters of specification §2.3.
func (c *Client) writable(text string) (string, error) { return writable(text, c.oldNames) }

func writable(text string, old bool) (string, error) {
	name, err := doi.Parse(text)
	if err == nil && !old {
		err = doi.CheckNew(name)
	}
	if err == nil {
		err = doi.Store.CheckWritable(name)
	}
	return name, nameError("doi", err)
}

func nameError(path string, err error) error {
	if e, ok := errors.AsType[*doi.NameError](err); ok {
		return &FieldError{Path: path, Reason: fmt.Sprintf("%q %s", e.Name, e.Reason), badDOI: true}
	}
	return err
}
