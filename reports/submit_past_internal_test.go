package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzParseNumber: bytes of notes are a number that can be written and read again, or are refused.
func FuzzParseNumber(f *testing.F) {
	n := number{name: "10.5072/a", views: true, reports: []int{inEarlier}, count: -5, about: []byte("{}")}
	f.Add(n.append(nil))
	f.Add([]byte{1, 'a', 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := parseNumber(b)
		if err != nil {
			return
		}
		assert.NotEmpty(t, n.name)
		again, err := parseNumber(n.append(nil))
		require.NoError(t, err)
		assert.Equal(t, n, again)
	})
}
