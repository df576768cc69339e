package arguments_test

import (
	"bytes"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/arguments"
)

func TestFlagsStandAnywhere(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		words []string
		n     int
	}{
		{nil, nil, 20},
		{[]string{"-n", "2", "glacier", "ice"}, []string{"glacier", "ice"}, 2},
		{[]string{"glacier", "-n", "2", "ice"}, []string{"glacier", "ice"}, 2},
		{[]string{"glacier", "ice", "-n=2"}, []string{"glacier", "ice"}, 2},
		{[]string{"glacier", "-", "--n", "2"}, []string{"glacier", "-"}, 2},
		{[]string{"glacier", "--", "-n", "--", "2"}, []string{"glacier", "-n", "--", "2"}, 20},
	} {
		flags := flag.NewFlagSet("search", flag.ContinueOnError)
		n := flags.Int("n", 20, "")
		words, given, err := arguments.Parse(flags, "", tt.args, &bytes.Buffer{})
		require.NoError(t, err, tt.args)
		assert.Equal(t, tt.words, words, tt.args)
		assert.Equal(t, tt.n, *n, tt.args)
		assert.Equal(t, tt.n != 20, given["n"], tt.args)
	}
}
