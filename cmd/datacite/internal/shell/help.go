package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A section is a part of the page of a command.
type section struct{ title, text string }

// help prints the page of a command.
func (s *Shell) help(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	for i, part := range sections(cmd) {
		if i > 0 {
			b.WriteString("\n" + s.Styled(s.Stdout, Bold, part.title+":") + "\n")
		}
		b.WriteString(part.text)
	}
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output = cmp.Or(s.output, err)
}

// sections are those of the page of a command, of datacite help and of the manual. The first one is its description.
func sections(cmd *cobra.Command) []section {
	cmd.InitDefaultHelpFlag()
	all := []section{{"Description", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)) + "\n"}}
	add := func(title, text string) {
		if text != "" {
			all = append(all, section{title, text})
		}
	}
	runs := cmd.Runnable() || cmd.HasSubCommands()
	if runs {
		usage := ""
		if cmd.Runnable() && cmd.HasParent() {
			usage = "  " + cmd.UseLine() + "\n"
		}
		if cmd.HasAvailableSubCommands() {
			usage += "  " + cmd.CommandPath() + " COMMAND\n"
		}
		add(usageTitle, usage)
	}
	if cmd.Example != "" {
		add(examplesTitle, strings.Trim(cmd.Example, "\n")+"\n")
	}
	for _, group := range append(slices.Clone(cmd.Groups()), &cobra.Group{Title: "Commands"}) {
		add(group.Title, list(cmd.Commands(), func(c *cobra.Command) bool { return c.GroupID == group.ID && c.IsAvailableCommand() }))
	}
	add("Topics of datacite help", list(cmd.Commands(), (*cobra.Command).IsAdditionalHelpTopicCommand))
	if runs {
		add("Flags", cmd.NonInheritedFlags().FlagUsages())
		add("Flags of all commands", cmd.InheritedFlags().FlagUsages())
	}
	return all
}

const (
	usageTitle    = "Usage"
	examplesTitle = "Examples"
)

// list has the names of commands with what they do.
func list(all []*cobra.Command, chosen func(*cobra.Command) bool) string {
	var b strings.Builder
	for _, c := range all {
		if chosen(c) {
			fmt.Fprintf(&b, "  %-13s%s\n", c.Name(), c.Short)
		}
	}
	return b.String()
}
