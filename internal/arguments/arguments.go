// Package arguments reads the command lines of the example programs. A program that is
// copied takes this file along.
package arguments

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Parse reads flags wherever they stand among the arguments; after "--" nothing
// is a flag. It returns the other arguments, and which flags were given. An empty
// value is an error: a shell puts it where a variable is not set. -h prints the
// usage and the flags.
func Parse(flags *flag.FlagSet, usage string, args []string, out io.Writer) (words []string, given map[string]bool, err error) {
	flags.SetOutput(io.Discard) // the caller prints the error
	var last []string
	if end := slices.Index(args, "--"); end >= 0 {
		args, last = args[:end], args[end+1:]
	}
	for len(args) > 0 {
		err := flags.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(out, usage, "\nFlags:\n")
			flags.SetOutput(out)
			flags.PrintDefaults()
			return nil, nil, err
		}
		if err != nil {
			hint := "-h shows the flags"
			switch text := err.Error(); {
			case strings.Contains(text, `value "" for`):
				hint = "is a variable not set?"
			case strings.Contains(text, "not defined"):
				hint += "; an argument that starts with - goes after --"
			}
			return nil, nil, fmt.Errorf("%w; %s", err, hint)
		}
		if args = flags.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	words, given = append(words, last...), map[string]bool{}
	flags.Visit(func(f *flag.Flag) {
		given[f.Name] = true
		if err == nil && strings.TrimSpace(f.Value.String()) == "" {
			err = fmt.Errorf("-%s is given and empty; is a variable not set?", f.Name)
		}
	})
	if err == nil && slices.Contains(words, "") {
		err = errors.New("an argument is empty; is a variable not set?")
	}
	return words, given, err
}

// A CommaList is the value of a flag with several values, separated by commas.
type CommaList []string

// String is the list as it is typed.
func (l *CommaList) String() string { return strings.Join(*l, ",") }

// Set reads the list, without blanks around its values.
func (l *CommaList) Set(text string) error {
	*l = nil
	for value := range strings.SplitSeq(text, ",") {
		if value = strings.TrimSpace(value); value == "" {
			return errors.New("has an empty value beside a comma")
		}
		*l = append(*l, value)
	}
	return nil
}
