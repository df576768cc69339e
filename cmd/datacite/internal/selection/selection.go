// Package selection has the flags and the query with which commands choose records.
package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

// Flags are those that choose records.
type Flags struct {
	shell *shell.Shell
	opts  *dois.ListOptions
	query string

	states  []string
	created string
}

// NewFlags adds the flags to a command. They set the options.
func NewFlags(s *shell.Shell, cmd *cobra.Command, opts *dois.ListOptions) *Flags {
	f := &Flags{shell: s, opts: opts}
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.ClientID, "client", nil,
		"records of one of these repository `accounts`, separated by commas")
	flags.StringSliceVar(&opts.ProviderID, "provider", nil, "records of one of these `members`, separated by commas")
	flags.StringSliceVar(&opts.Prefix, "prefix", nil, "records with one of these `prefixes`, separated by commas")
	flags.StringSliceVar(&opts.ResourceTypeID, "type", nil,
		"records of one of these general `types`, such as dataset or journal-article")
	flags.StringSliceVar(&f.states, "state", nil,
		"records in one of these `states`, separated by commas: draft, registered, findable; all but findable need a login")
	flags.StringVar(&f.created, "created", "",
		"records created in a `year`, month or day, such as 2026-01, or in the years from 2020 to 2022: 2020,2022")
	flags.StringVar(&opts.Published, "published", "", "records published in a `year`, or in years: 2020,2022")
	flags.StringVar(&f.query, "query", "",
		"records that match a `query` with operators and fields, such as 'titles.title:glacier* OR ice'")
	// the flag is there
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(types(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	return f
}

var states = []string{string(datacite.StateDraft), string(datacite.StateRegistered), string(datacite.StateFindable)}

// CheckLogin is an error if the flags choose records that nobody sees without a login, for whom the service finds
// others.
func (f *Flags) CheckLogin(cfg datacite.Config) error {
	hidden := slices.ContainsFunc(f.opts.States, func(s datacite.State) bool { return s != datacite.StateFindable })
	if hidden && cfg.Password == "" && cfg.Token == "" {
		return shell.Wrong(errors.New("--state: drafts and registered DOIs are seen by their account only; datacite login " +
			"stores its login"))
	}
	return nil
}

// Read checks the flags, and reads words as somebody types them: values that the service does
// not know would find nothing. It prints advice about the query.
func (f *Flags) Read(words []string) error {
	known := types()
	for _, name := range f.opts.ResourceTypeID {
		if !slices.Contains(known, strings.ToLower(name)) && !slices.Contains(known, hyphenated(name)) {
			return fmt.Errorf("--type: %w", shell.NotOne(name, known))
		}
	}
	for _, name := range f.states {
		if !slices.Contains(states, name) {
			return fmt.Errorf("--state: %w", shell.NotOne(name, states))
		}
		f.opts.States = append(f.opts.States, datacite.State(name))
	}
	var parts []query.Expr
	if from, to, isShort := shorterThanAYear(f.created); isShort {
		parts = append(parts, query.FieldCreated.BetweenTimes(from, to))
	} else {
		f.opts.Created = f.created
	}
	if text := strings.Join(words, " "); strings.TrimSpace(text) != "" {
		typed := query.Typed(text)
		if err := query.Check(typed); err != nil {
			return err
		}
		if word := operator(text); word != "" {
			f.shell.Say("note: %s is looked for as it is; --query reads operators and fields", word)
		}
		parts = append(parts, typed)
	}
	if f.query != "" {
		expr, err := f.parse()
		if err != nil {
			return err
		}
		parts = append(parts, expr)
	}
	if len(parts) > 0 {
		f.opts.Query = query.And(parts...)
	}
	return nil
}

// shorterThanAYear reads a month or a day, and returns its first and last second.
func shorterThanAYear(text string) (from, to time.Time, ok bool) {
	for layout, days := range map[string]int{"2006-01": 0, time.DateOnly: 1} {
		if from, err := time.Parse(layout, text); err == nil {
			return from, from.AddDate(0, 1-days, days).Add(-time.Second), true
		}
	}
	return from, to, false
}

// parse reads the query. Without operators between them, words must all match, as on the
// deployed service.
func (f *Flags) parse() (query.Expr, error) {
	expr, err := query.Parse(f.query)
	if raw := query.Raw(f.query); err != nil && query.Check(raw) == nil { // the service adds backslashes to slashes
		expr, err = raw, nil
	}
	if fault, ok := errors.AsType[*query.SyntaxError](err); ok {
		return nil, fmt.Errorf("--query: %w\n  %s\n  %s^", err, f.query,
			strings.Repeat(" ", len([]rune(f.query[:min(fault.Offset, len(f.query))]))))
	}
	if err != nil {
		return nil, err
	}
	expr = query.Explicit(expr, query.OperatorAnd) // the same on every server
	for _, advice := range query.Advise(expr) {
		f.shell.Say("note: %s", advice)
	}
	return expr, nil
}

// operator returns the first word that has a meaning in a query, but not as typed.
func operator(text string) string {
	_, rest := doi.Find(text)
	for word := range strings.FieldsSeq(rest) {
		field, value, colon := strings.Cut(word, ":")
		switch {
		case word == "OR", word == "NOT", strings.Contains(word, "*"):
			return word
		case len(word) > 1 && strings.IndexByte("+-", word[0]) >= 0:
			return word
		case colon && field != "" && value != "" && !strings.HasPrefix(value, "//"):
			return word
		}
	}
	return ""
}

// Names lists the DOIs that the options choose and that keep accepts; nil accepts all.
func Names(ctx context.Context, s *shell.Shell, client *dois.Client, opts *dois.ListOptions,
	keep func(*dois.Record) bool) (names []string, err error) {
	walk := client.Walk(opts)
	for page, err := range walk.Pages(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range page.Records {
			if keep == nil || keep(&page.Records[i]) {
				names = append(names, page.Records[i].DOI)
			}
		}
		s.Progress(walk.Position().Seen, max(walk.Total(), 0), "DOIs listed", "")
	}
	return names, nil
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
