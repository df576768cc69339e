package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// A name that a dataset or a version has is not chosen a second time.
func TestANameThatIsInUse(t *testing.T) {
	s := open(t)
	d := s.publish(t, dataset.About{Title: "Glacier"})
	inUse := []string{d.DOI, d.Versions[0].DOI}
	names := append(inUse, "10.5072/a", "10.5072/a", d.Versions[0].DOI, "10.5072/b", "10.5072/b", d.DOI, "10.5072/c",
		"10.5072/c", "10.5072/d")
	s.choose = func(string) (name string) {
		name, names = names[0], names[1:]
		return name
	}
	id, err := s.Create(t.Context(), "ada", "", prefix, dataset.About{})
	require.NoError(t, err)
	other := s.get(t, id)
	assert.Equal(t, []string{"10.5072/a", "10.5072/b"}, []string{other.DOI, other.Versions[0].DOI})

	require.NoError(t, s.AddVersion(t.Context(), d, prefix))
	assert.Equal(t, "10.5072/c", s.get(t, d.ID).Last().DOI)

	name, err := s.Rename(t.Context(), other.DOI, prefix)
	require.NoError(t, err)
	assert.Equal(t, "10.5072/d", name)
	assert.Equal(t, "10.5072/d", s.get(t, id).DOI)
	assert.Equal(t, inUse, []string{s.get(t, d.ID).DOI, s.get(t, d.ID).Versions[0].DOI})
	assert.Empty(t, names)
}
