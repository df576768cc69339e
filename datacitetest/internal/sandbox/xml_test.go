package sandbox_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// fullXML is a record with most properties.
func fullXML(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/records/full.xml")
	require.NoError(t, err)
	return string(text)
}
