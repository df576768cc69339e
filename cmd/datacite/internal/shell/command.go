package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/spelling"
)

// The groups in which datacite help shows the commands.
const (
	Reading  = "read"
	Writing  = "write"
	Counting = "usage"
	Testing  = "test"
	Settings = "settings"
)

func (s *Shell) root(makers []Maker) *cobra.Command {
	root := &cobra.Command{
		Use:   "datacite",
		Short: "Register DOIs with DataCite, find them, and keep them right",
		Long: `Register DOIs with DataCite, find them, and keep them right.

Commands that read use the production service of DataCite unless --service names another one.
Commands that write require --service (see "datacite help services"). The SDK and this command are
independent of DataCite.`,
		Args:          unknownCommand,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cobra.EnableCommandSorting = false
	root.SetIn(s.Stdin)
	root.SetOut(s.Data())
	root.SetErr(s.Stderr)
	root.AddGroup(
		&cobra.Group{ID: Reading, Title: "Find and read"}, &cobra.Group{ID: Writing, Title: "Register and correct"},
		&cobra.Group{ID: Counting, Title: "Count usage"}, &cobra.Group{ID: Testing, Title: "Try and test"},
		&cobra.Group{ID: Settings, Title: "Set up"},
	)
	root.SetHelpCommandGroupID(Settings)
	root.SetCompletionCommandGroupID(Settings)
	root.Version = cmp.Or(strings.TrimPrefix(s.Config.UserAgent, "datacite/"), "devel")
	root.SetVersionTemplate("datacite {{.Version}}\n")
	root.PersistentFlags().BoolVarP(&s.Quiet, "quiet", "q", false, "print results, warnings and errors only")
	for _, maker := range makers {
		root.AddCommand(maker(s))
	}
	root.SetHelpFunc(s.help)
	root.SetFlagErrorFunc(wrongFlag)
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	root.AddCommand(s.manualCommand(root))
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Short = "Print the completion script of a shell"
		}
		finish(cmd)
	}
	return root
}

// elsewhere are commands that other programs have, and what to do instead.
var elsewhere = map[string]string{
	"logout":  "; datacite login --forget removes a stored login",
	"status":  "; datacite config shows the settings and whose logins there are, and datacite get the state of a DOI",
	"whoami":  "; datacite config shows whose logins there are",
	"update":  "; datacite register changes what differs",
	"publish": "; datacite show makes a hidden DOI findable, and datacite register a draft with its metadata",
}

// unknownCommand is the error of words that are not a command.
func unknownCommand(cmd *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	hint := elsewhere[words[0]]
	if hint == "" {
		hint = DidYouMean(words[0], names)
	}
	if hint == "" {
		hint = "; " + strings.Replace(cmd.CommandPath(), "datacite", "datacite help", 1) + " shows them"
	}
	return Wrong(fmt.Errorf("there is no command or topic %q%s", words[0], hint))
}

// helpCommand is datacite help, for commands and topics.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND or TOPIC]", GroupID: Settings, Short: "Explain a command or a topic",
		Long: "Explain a command or a topic.",
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, c := range root.Commands() {
				if c.Hidden { // cobra's own, for shells
					continue
				}
				names = append(names, c.Name()+"\t"+c.Short)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, words []string) error {
			cmd, rest, err := root.Find(words)
			switch {
			case err == nil && len(rest) == 0:
			case cmd.HasSubCommands():
				return unknownCommand(cmd, rest)
			default:
				return unknownCommand(root, words)
			}
			return cmd.Help()
		},
	}
}

// finish gives a command, and those below it, what all commands have.
func finish(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	cmd.InitDefaultHelpFlag()
	cmd.Flags().SortFlags = false
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args, cmd.RunE = unknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := empty(cmd, args); err != nil {
			return Wrong(err)
		}
		if check == nil {
			return nil
		}
		err := check(cmd, args)
		if err != nil && strings.Contains(err.Error(), "arg(s)") { // cobra's words
			err = fmt.Errorf("too many arguments: %s", cmd.UseLine())
			if len(args) < len(strings.Fields(cmd.Use))-1 {
				err = fmt.Errorf("arguments are missing: %s", cmd.UseLine())
			}
		}
		if err != nil {
			return Wrong(fmt.Errorf("%w; %q shows how", err, cmd.CommandPath()+" --help"))
		}
		return nil
	}
	if run := cmd.RunE; expands && (strings.Contains(cmd.Use, "FILE…") || strings.Contains(cmd.Use, "FOLDER…")) {
		cmd.RunE = func(cmd *cobra.Command, names []string) error {
			files, err := expand(names)
			if err != nil {
				return err
			}
			return run(cmd, files)
		}
	}
	for _, below := range cmd.Commands() {
		finish(below)
	}
}

// empty finds an argument, or the value of a flag, that is empty: a shell puts it where a
// variable is not set.
func empty(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = append(list.GetSlice(), "")[:max(1, len(list.GetSlice()))] // an empty list has an empty value
		}
		if err == nil && slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			err = emptyFlag(f.Name)
		}
	})
	if err == nil && slices.Contains(args, "") {
		err = errors.New("an argument is empty; is a variable not set?")
	}
	return err
}

func emptyFlag(name string) error {
	return fmt.Errorf("--%s is given and empty; is a variable not set?", name)
}

// A Common is a flag that several commands have, with the same name and meaning in all of
// them. A command has those that change what it does.
type Common int

// The common flags, beside --quiet, which all commands have, and those of package account.
const (
	JSON   Common = iota // [Shell.JSON]
	DryRun               // [Shell.DryRun]
	Yes                  // [Shell.Yes]
)

// Flags adds common flags to a command.
func (s *Shell) Flags(cmd *cobra.Command, flags ...Common) {
	for _, flag := range flags {
		switch flag {
		case JSON:
			cmd.Flags().BoolVar(&s.JSON, "json", false, "print one JSON object per line (\"datacite help json\")")
		case DryRun:
			cmd.Flags().BoolVarP(&s.DryRun, "dry-run", "n", false, "check everything and say what would be done; write nothing")
		case Yes:
			cmd.Flags().BoolVarP(&s.Yes, "yes", "y", false, "answer yes to questions, such as in scripts")
		}
	}
}

// OutputFlag adds --output, with what the file is for.
func (s *Shell) OutputFlag(cmd *cobra.Command, use string) {
	cmd.Flags().StringVarP(&s.Output, "output", "o", "", use)
}

// Choice adds a flag with a value out of a list. The first one is the default; it may be "".
func Choice(cmd *cobra.Command, to *string, name, use string, values ...string) {
	*to = values[0]
	cmd.Flags().Var(&choice{to, slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		return v == ""
	})}, name, use)
	// the flag is there
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

type choice struct {
	to     *string
	values []string
}

func (c *choice) String() string { return *c.to }
func (c *choice) Type() string   { return "string" }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.values, text) {
		return NotOne(text, c.values)
	}
	*c.to = text
	return nil
}

// NotOne is the error of a value that is not one of those in a list. It suggests the nearest
// one, or else names them all.
func NotOne(value string, values []string) error {
	if near := DidYouMean(value, values); near != "" {
		return fmt.Errorf("%q is unknown%s", value, near)
	}
	return fmt.Errorf("%q is not one of %s", value, strings.Join(values, ", "))
}

// DidYouMean suggests the word that is nearest to a mistyped one; it is empty if none is near.
func DidYouMean(typed string, words []string) string {
	if near := spelling.Nearest(typed, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// wrongFlag is the error of a flag, with what helps.
func wrongFlag(cmd *cobra.Command, err error) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		typed := unknown.GetSpecifiedName()
		if group := unknown.GetSpecifiedShortnames(); group != "" {
			typed = strings.TrimLeft(group, "-") // such as -service
		}
		err = fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), typed)
		if slices.Contains(names, typed) {
			err = fmt.Errorf("there is no flag -%s", typed)
		}
		hint = strings.Replace(DidYouMean(typed, names), "mean ", "mean --", 1)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if strings.TrimSpace(invalid.GetValue()) == "" {
			return Wrong(emptyFlag(invalid.GetFlag().Name))
		}
		err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
		if errors.Is(err, strconv.ErrSyntax) {
			err = fmt.Errorf("--%s: %q is not a number", invalid.GetFlag().Name, invalid.GetValue())
		}
	}
	if hint == "" {
		hint = fmt.Sprintf("; %q shows the flags", cmd.CommandPath()+" --help")
	}
	return Wrong(fmt.Errorf("%w%s", err, hint))
}
