package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/topics"
)

// Each command and each flag has a text, in the form of the others.
func TestTexts(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, maker := range commands {
		cmd := maker(&shell.Shell{Getenv: func(string) string { return "" }})
		t.Run(cmd.Name(), func(t *testing.T) {
			assert.NotEmpty(t, cmd.GroupID)
			assert.Contains(t, string(readme), "`"+cmd.Name())
			assert.NotRegexp(t, `\.$|^[a-z]`, cmd.Short)
			for line := range strings.Lines(cmd.Long) {
				assert.LessOrEqual(t, len([]rune(line)), 101, line)
			}
			code, out, _ := shelltest.Run{}.Do(t, maker, "help", cmd.Name())
			assert.Zero(t, code)
			assert.NotContains(t, out, "%!")
		})
	}
	for _, maker := range topics.Makers() {
		cmd := maker(nil)
		assert.NotEmpty(t, cmd.Short, cmd.Name())
		assert.NotContains(t, cmd.Long, "%columns%")
		assert.Contains(t, string(readme), cmd.Name())
	}
}

// Whatever topic a text refers to is there.
func TestTopicsThatTextsName(t *testing.T) {
	known := map[string]bool{}
	var all []*cobra.Command
	for _, maker := range append(commands, topics.Makers()...) {
		cmd := maker(&shell.Shell{Getenv: func(string) string { return "" }})
		known[cmd.Name()] = true
		all = append(all, cmd)
	}
	for _, cmd := range all {
		for i, rest := range strings.Split(cmd.Long+cmd.Flags().FlagUsages(), "datacite help ") {
			if i > 0 {
				name := strings.FieldsFunc(rest, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '-') })[0]
				assert.True(t, known[name], "%s: datacite help %s", cmd.Name(), name)
			}
		}
	}
}
