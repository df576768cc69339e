package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
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
		if part.title == usageTitle || part.title == examplesTitle || !IsTerminal(s.Stdout) {
			b.WriteString(part.text)
		} else {
			b.WriteString(fill(part.text, width(s.Stdout)))
		}
	}
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output = cmp.Or(s.output, err)
}

// sections are those of the page of a command, of datacite help and of the manual. The first one is its description.
func sections(cmd *cobra.Command) []section {
	cmd.InitDefaultHelpFlag()
	all := []section{{"Description", strings.Trim(cmp.Or(cmd.Long, cmd.Short), "\n") + "\n"}}
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
		add(group.Title, list(cmd.Commands(), func(c *cobra.Command) bool {
			return c.GroupID == group.ID && c.IsAvailableCommand()
		}))
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

// fill breaks the lines of a text that are wider than a terminal. Paragraphs and items of lists are filled anew.
func fill(text string, columns int) string {
	var b strings.Builder
	at, begin := 0, 0 // the width of the line so far, and where the lines begin that continue it
	goesOn := false   // the next line may continue it
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		indent := strings.Index(line, bare)
		item := helpItem().FindStringSubmatchIndex(strings.TrimRight(line, "\n"))
		if !goesOn || bare == "" || indent != begin || indent > 0 && item != nil {
			if at > 0 {
				b.WriteString("\n")
			}
			head := line[:indent]
			if goesOn = bare != "" && (indent == 0 || item != nil); item != nil {
				head = line[:item[6]]
			}
			b.WriteString(head)
			at = runewidth.StringWidth(head)
			begin, bare = at, strings.TrimSpace(line[len(head):])
			if bare == "" {
				b.WriteString("\n")
			}
		}
		for word := range strings.FieldsSeq(bare) {
			gap := " "
			switch wide := runewidth.StringWidth(word); {
			case at == begin:
				gap = ""
			case at+1+wide > columns:
				gap, at = "\n"+strings.Repeat(" ", begin), begin
			default:
				at++
			}
			b.WriteString(gap + word)
			at += runewidth.StringWidth(word)
		}
	}
	if at > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
