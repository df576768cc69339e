package mds

import (
	"github.com/datacite-go/datacite-go/internal/doi"
)

// CheckNewDOI says whether a name may be registered anew: a prefix of "10." and
// four or five digits, and a suffix of a-z, A-Z, 0-9 and - . _ ; ( ) /
// (specification §2.3). Refused, too, are names that the deployed service takes for
// another one: with "//" or a "/" at the end, and with the parts ".", "..",
// "media", "metadata", "events" and "activities".
func CheckNewDOI(name string) error {
	_, err := writable(name, false)
	return err
}

// readable parses a name that is asked for, and refuses one that would be
// answered with what belongs to another DOI.
func readable(text string) (string, error) {
	name, err := doi.Parse(text)
	if err == nil {
		err = doi.Store.Check(name)
	}
	return name, doi.At("doi", err)
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
	return name, doi.At("doi", err)
}
