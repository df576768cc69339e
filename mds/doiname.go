package mds

import "github.com/datacite-go/datacite-go/internal/doi"

// creatable parses the name of a DOI that a write may create.
func creatable(text string) (string, error) {
	name, err := doi.Store.Writable(text)
	if err == nil {
		err = doi.At("doi", doi.CheckNew(name))
	}
	return name, err
}
