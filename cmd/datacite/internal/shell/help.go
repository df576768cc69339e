package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help prints the page of a command.
func (s *Shell) help(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	heading := func(text string) { b.WriteString("\n" + s.Styled(s.Stdout, Bold, text) + "\n") }
	b.WriteString(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)) + "\n")
	if cmd.Runnable() || cmd.HasSubCommands() {
		heading("Usage:")
		if cmd.Runnable() && cmd.HasParent() {
			b.WriteString("  " + cmd.UseLine() + "\n")
		}
		if cmd.HasAvailableSubCommands() {
			b.WriteString("  " + cmd.CommandPath() + " COMMAND\n")
		}
	}
	if cmd.Example != "" {
		heading("Examples:")
		b.WriteString(strings.Trim(cmd.Example, "\n") + "\n")
	}
	groups := append(slices.Clone(cmd.Groups()), &cobra.Group{Title: "Commands:"})
	for _, group := range groups {
		list(&b, heading, group.Title, cmd.Commands(), func(c *cobra.Command) bool {
			return c.GroupID == group.ID && c.IsAvailableCommand()
		})
	}
	list(&b, heading, "Topics of datacite help:", cmd.Commands(), (*cobra.Command).IsAdditionalHelpTopicCommand)
	for _, part := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"Flags:", cmd.NonInheritedFlags()}, {"Flags of all commands:", cmd.InheritedFlags()}} {
		if part.flags.HasAvailableFlags() && (cmd.Runnable() || cmd.HasSubCommands()) {
			heading(part.title)
			b.WriteString(part.flags.FlagUsages())
		}
	}
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output = cmp.Or(s.output, err)
}

// list prints the names of commands with what they do.
func list(b *strings.Builder, heading func(string), title string, all []*cobra.Command, chosen func(*cobra.Command) bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(c *cobra.Command) bool { return !chosen(c) })
	if len(all) == 0 {
		return
	}
	heading(title)
	for _, c := range all {
		fmt.Fprintf(b, "  %-13s%s\n", c.Name(), c.Short)
	}
}
