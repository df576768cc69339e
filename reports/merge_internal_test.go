package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func named(doi string) *Dataset { return &Dataset{DatasetID: []TypedValue{{TypeDOI, doi}}} }

func TestEntriesWithoutADOIAreNoRepeats(t *testing.T) {
	assert.Empty(t, appendDOI(nil, &Dataset{DatasetID: []TypedValue{{"proprietary", "same"}}}))
	assert.Empty(t, appendDOI(nil, named(" ")))
	assert.Equal(t, "10.5072/a", string(appendDOI(nil, named("doi:10.5072/A"))))
}
