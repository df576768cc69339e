package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		words, given, err := parse(flags, "", tt.args, &bytes.Buffer{})
		require.NoError(t, err, tt.args)
		assert.Equal(t, tt.words, words, tt.args)
		assert.Equal(t, tt.n, *n, tt.args)
		assert.Equal(t, tt.n != 20, given["n"], tt.args)
	}
}

// TestEmptyValues stands for -api "$UNSET" in all its forms.
func TestEmptyValues(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-api", "", "glacier"}, "-api is given and empty; is a variable not set?"},
		{[]string{"glacier", "-api="}, "-api is given and empty; is a variable not set?"},
		{[]string{"-api", " "}, "-api is given and empty; is a variable not set?"},
		{[]string{"-n", ""}, `invalid value "" for flag -n: parse error; is a variable not set?`},
		{[]string{"-all="}, `invalid boolean value "" for -all: parse error; is a variable not set?`},
		{[]string{"-all", ""}, "an argument is empty; is a variable not set?"},
		{[]string{"--", ""}, "an argument is empty; is a variable not set?"},
		{[]string{"-n", "--"}, "flag needs an argument: -n"},
		{[]string{"-n", "two"}, `invalid value "two" for flag -n: parse error; -h shows the flags`},
		{[]string{"glacier", "-svalbard"}, "flag provided but not defined: -svalbard; -h shows the flags; an argument that starts with - goes after --"},
	} {
		_, err := readSettings(tt.args, &bytes.Buffer{}, &bytes.Buffer{})
		assert.ErrorContains(t, err, tt.want, tt.args)
	}
}

// TestEachProgramHasTheSameFile: the programs are to be copied one by one, so
// each has its own arguments.go.
func TestEachProgramHasTheSameFile(t *testing.T) {
	want, err := os.ReadFile("arguments.go")
	require.NoError(t, err)
	for _, program := range []string{"harvest", "quickstart", "register", "usagereport"} {
		got, err := os.ReadFile(filepath.Join("..", program, "arguments.go"))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), program)
	}
}
