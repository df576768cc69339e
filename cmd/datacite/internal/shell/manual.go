package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
)

// manualCommand is datacite manual, which writes what datacite help shows as pages of the
// manual.
func (s *Shell) manualCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "manual FOLDER", GroupID: Settings, Args: cobra.ExactArgs(1),
		Short: "Write the pages of the manual, for man",
		Long: `Write the pages of the manual into a folder: those of commands into man1 below it, and those of
topics into man7. The packages of datacite include them.`,
		Example: `  datacite manual ~/.local/share/man
  man datacite-search`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, folders []string) error {
			n, err := s.writeManual(root, folders[0])
			if err == nil {
				s.Say("%s written below %s", Count(n, "page"), folders[0])
			}
			return err
		},
	}
}

// writeManual writes the page of a command, and those of the commands below it.
func (s *Shell) writeManual(cmd *cobra.Command, folder string) (n int, err error) {
	const public, readable = 0o755, 0o644
	path := filepath.Join(folder, "man"+manualSection(cmd), manualName(cmd)+"."+manualSection(cmd))
	if err := os.MkdirAll(filepath.Dir(path), public); err != nil {
		return 0, Wrong(err)
	}
	if err := WriteText(path, readable, manualPage(cmd, strings.ReplaceAll(s.Config.UserAgent, "/", " "))); err != nil {
		return 0, err
	}
	n = 1
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() {
			written, err := s.writeManual(below, folder)
			if n += written; err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func manualName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualSection is that of the manual: 1 is about programs, and 7 about what they have in common.
func manualSection(cmd *cobra.Command) string {
	if cmd.IsAdditionalHelpTopicCommand() {
		return "7"
	}
	return "1"
}

// manualPage is the help of a command as a page of the manual, for man(7).
func manualPage(cmd *cobra.Command, program string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH \"%s\" %s \"\" \"%s\"\n.nh\n.SH NAME\n%s \\- %s\n",
		strings.ToUpper(manualName(cmd)), manualSection(cmd), program, manualName(cmd), roff(cmd.Short))
	all := sections(cmd)
	if len(all) > 1 && all[1].title == usageTitle { // which a manual has before the description
		all[0], all[1] = all[1], all[0]
	}
	for _, part := range all {
		switch part.title {
		case usageTitle:
			b.WriteString(".SH SYNOPSIS\n.nf\n")
			for line := range strings.Lines(part.text) {
				b.WriteString(roff(strings.TrimSpace(line)) + "\n")
			}
			b.WriteString(".fi\n")
		case examplesTitle:
			fmt.Fprintf(&b, ".SH EXAMPLES\n.EX\n%s\n.EE\n", roff(strings.TrimRight(part.text, "\n")))
		default:
			fmt.Fprintf(&b, ".SH %s\n%s", strings.ToUpper(part.title), roffText(part.text))
		}
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, manualReference(cmd.Parent()))
	}
	for _, c := range append(cmd.Commands(), cmd.Root().Commands()...) {
		if c != cmd && (c.IsAdditionalHelpTopicCommand() || c.Parent() == cmd && c.IsAvailableCommand()) {
			others = append(others, manualReference(c))
		}
	}
	if len(others) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(others, ",\n") + "\n")
	}
	return b.String()
}

func manualReference(cmd *cobra.Command) string {
	return fmt.Sprintf(".BR %s (%s)", manualName(cmd), manualSection(cmd))
}

var (
	roffSpecial = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)
	roffDot     = lazy.Regexp(`(?m)^\.`)
	helpItem    = lazy.Regexp(`^( {2,})(-|\S.*? ) +(\S.*)$`) // a line of a list: "  - text" or "  term   text"
)

// roff is a text whose lines a formatter shows as they are.
func roff(text string) string { return roffDot().ReplaceAllString(roffSpecial.Replace(text), `\&.`) }

// roffText is a text of help whose paragraphs and lists a formatter may fill. Other indented lines stay as they are.
func roffText(text string) string {
	var b strings.Builder
	const paragraph, item, verbatim = 0, 1, 2
	kind, column := paragraph, 0 // column is where the text of an item begins
	become := func(next int) {
		if kind == verbatim && next != verbatim {
			b.WriteString(".EE\n")
		}
		if kind != next && next == paragraph {
			b.WriteString(".PP\n")
		}
		if kind != verbatim && next == verbatim {
			b.WriteString(".PP\n.EX\n")
		}
		kind = next
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		bare := strings.TrimLeft(line, " \t")
		indent := len(line) - len(bare)
		m := helpItem().FindStringSubmatchIndex(line)
		switch {
		case bare == "" && kind == verbatim:
			b.WriteString("\n")
		case bare == "":
			become(item) // so that what follows begins anew
			column = -1
		case indent == 0:
			become(paragraph)
			b.WriteString(roff(bare) + "\n")
		case kind == item && len([]rune(line[:indent])) == column:
			b.WriteString(roff(bare) + "\n")
		case m != nil:
			become(item)
			column = len([]rune(line[:m[6]]))
			term := strings.TrimSpace(line[m[4]:m[5]])
			if term == "-" {
				b.WriteString(".IP \\(bu 2\n" + roff(line[m[6]:]) + "\n")
			} else {
				b.WriteString(".TP\n.B \"" + strings.ReplaceAll(roff(term), `"`, `""`) + "\"\n" + roff(line[m[6]:]) + "\n")
			}
		default:
			become(verbatim)
			b.WriteString(roff(line) + "\n")
		}
	}
	become(item)
	return b.String()
}
