package mds

import "github.com/datacite-go/datacite-go/internal/doi"

// CheckNewDOI returns nil if a name can be registered as a new DOI: a prefix of "10." and
// four or five digits, and a suffix of a-z, A-Z, 0-9 and - . _ ; ( ) / (specification
// §2.3). It also refuses names that the deployed service would change into another name:
// with "//" or a "/" at the end, and with the parts ".", "..", "media", "metadata",
// "events" and "activities".
func CheckNewDOI(name string) error {
	_, err := creatable(name)
	return err
}

// creatable parses the name of a DOI that a write may create.
func creatable(text string) (string, error) {
	name, err := doi.Store.Writable(text)
	if err == nil {
		err = doi.At("doi", doi.CheckNew(name))
	}
	return name, err
}
