package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/program"
)

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
		_, err := readSettings(&program.Program{Args: tt.args, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
		assert.ErrorContains(t, err, tt.want, tt.args)
	}
}
