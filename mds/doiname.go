package mds

import "github.com/datacite-go/datacite-go/internal/doi"

// CheckNewDOI returns nil if a name can be registered as a new DOI: a prefix of "10."
// and four or five digits, and a suffix of a-z, A-Z, 0-9 and - . _ ; ( ) /
// (specification §2.3). It also refuses names that the deployed service would turn
// into another one: with "//" or a "/" at the end, and with the parts ".", "..",
// "media", "metadata", "events" and "activities".
func CheckNewDOI(name string) error {
	_, err := writable(name, false)
	return err
}

// WithOldNames returns a client whose writes accept DOI names with characters that new
// names cannot have (specification §2.3), such as "<" or "+". Older DOIs have them.
// Names that the deployed service would turn into another one, such as those with "#",
// are still refused.
func (c *Client) WithOldNames() *Client {
	old := *c
	old.oldNames = true
	return &old
}

// readable parses the name of a DOI to read, and refuses one for which the service
// would return what belongs to another DOI.
func readable(text string) (string, error) {
	name, err := doi.Parse(text)
	if err == nil {
		err = doi.Store.Check(name)
	}
	return name, doi.At("doi", err)
}

// writable parses the name of a DOI to write, and refuses one that would make or
// change another DOI.
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
