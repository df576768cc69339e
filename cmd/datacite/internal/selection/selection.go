// Package selection has the flags and the query with which commands choose records.
package selection

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// Flags are those that choose records.
type Flags struct {
	shell *shell.Shell
	opts  *dois.ListOptions
	and   bool
}

// NewFlags adds the flags to a command. They set the options.
func NewFlags(s *shell.Shell, cmd *cobra.Command, opts *dois.ListOptions) *Flags {
	f := &Flags{shell: s, opts: opts}
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.ClientID, "client", nil, "records of one of these repository `accounts`, separated by commas")
	flags.StringSliceVar(&opts.ProviderID, "provider", nil, "records of one of these `members`, separated by commas")
	flags.StringSliceVar(&opts.Prefix, "prefix", nil, "records with one of these `prefixes`, separated by commas")
	flags.StringSliceVar(&opts.ResourceTypeID, "type", nil, "records of one of these general `types`, such as dataset or journal-article")
	flags.StringVar(&opts.Created, "created", "", "records created in a `year`, or in the years from 2020 to 2022: 2020,2022")
	flags.StringVar(&opts.Published, "published", "", "records published in a `year`, or in years as for --created")
	flags.BoolVar(&f.and, "and", false, "words without an operator must all match")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(types(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return f
}

// Read checks the flags and reads the words of a query, if there are any: values that the
// service does not know would find nothing. It prints advice about the query.
func (f *Flags) Read(words []string) error {
	if f.and && len(words) == 0 {
		return errors.New("--and has no effect without a query; give one, or leave it out")
	}
	known := types()
	for _, name := range f.opts.ResourceTypeID {
		if !slices.Contains(known, strings.ToLower(name)) && !slices.Contains(known, hyphenated(name)) {
			return fmt.Errorf("--type: %w", shell.NotOne(name, known))
		}
	}
	text := strings.Join(words, " ")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	expr, err := query.Parse(text)
	if fault, ok := errors.AsType[*query.SyntaxError](err); ok {
		return fmt.Errorf("%w\n  %s\n  %s^", err, text, strings.Repeat(" ", len([]rune(text[:min(fault.Offset, len(text))]))))
	}
	if err != nil {
		return err
	}
	operator := query.OperatorOr
	if f.and {
		operator = query.OperatorAnd
	}
	f.opts.Query = query.Explicit(expr, operator) // the same on every server
	for _, advice := range query.Advise(f.opts.Query) {
		f.shell.Say("note: %s", advice)
	}
	return nil
}

// types are the general types as the service's filter has them.
func types() (ids []string) {
	for _, t := range metadata.Values[metadata.ResourceTypeGeneral]() {
		ids = append(ids, hyphenated(string(t)))
	}
	slices.Sort(ids)
	return ids
}

// hyphenated turns JournalArticle into journal-article.
func hyphenated(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
