package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

// Each command and each flag has a text, in the form of the others.
func TestTexts(t *testing.T) {
	readme := shelltest.Read(t, "README.md")
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
	for _, maker := range topics() {
		cmd := maker(nil)
		assert.NotEmpty(t, cmd.Short, cmd.Name())
		assert.NotContains(t, cmd.Long, "%columns%")
		assert.Contains(t, string(readme), cmd.Name())
	}
}

// The manual has each word of the help.
func TestManualHasTheHelp(t *testing.T) {
	makers := append(commands, topics()...)
	folder := filepath.Join(t.TempDir(), "man")
	var out, notes strings.Builder
	s := &shell.Shell{Args: []string{"manual", folder}, Getenv: func(string) string {
		return ""
	}, Stdout: &out, Stderr: &notes}
	s.Config.UserAgent = "datacite/v1.2.3"
	require.Zero(t, s.Run(t.Context(), makers...), notes.String())
	require.Empty(t, out.String())
	plain := strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\&.`, ".", `"`,
		"", `\(bu`, "-")
	for path, words := range map[string]string{
		"man1/datacite.1": "", "man1/datacite-register.1": "register", "man1/datacite-usage-send.1": "usage send",
		"man1/datacite-sandbox.1": "sandbox",
		"man1/datacite-audit.1":   "audit", "man7/datacite-exit-codes.7": "exit-codes", "man7/datacite-tables.7": "tables", "man7/datacite-json.7": "json",
	} {
		data := shelltest.Read(t, filepath.Join(folder, filepath.FromSlash(path)))
		page := map[string]int{}
		for word := range strings.FieldsSeq(strings.ToLower(plain.Replace(string(data)))) {
			page[word]++
		}
		assert.Contains(t, string(data), `"datacite v1.2.3"`, path)
		out.Reset()
		s := &shell.Shell{Args: append([]string{"help"}, strings.Fields(words)...), Getenv: func(string) string {
			return ""
		}, Stdout: &out, Stderr: &notes}
		require.Zero(t, s.Run(t.Context(), makers...), notes.String())
		help := map[string]int{}
		for word := range strings.FieldsSeq(strings.ToLower(strings.ReplaceAll(out.String(), `"`, ""))) {
			help[word]++
		}
		for word, n := range help {
			if word != "usage:" { // SYNOPSIS in a manual
				assert.GreaterOrEqual(t, page[strings.TrimSuffix(word, ":")]+page[strings.TrimSuffix(word, ":")+":"], n, "%s: %s",
					path, word)
			}
		}
	}
}

// Whatever topic a text refers to is there.
func TestTopicsThatTextsName(t *testing.T) {
	known := map[string]bool{}
	var all []*cobra.Command
	for _, maker := range append(commands, topics()...) {
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
