// Package search is the command datacite search.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/account"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/selection"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

type command struct {
	*shell.Shell
	flags     *account.Flags
	selection *selection.Flags
	order     string
	all       bool
	opts      dois.ListOptions
	html      string
	page      *page // nil without --html
}

// orders are what --sort knows; each with a "-" in front, too, but for relevance.
var orders = []string{"name", "created", "updated", "published", "view-count", "download-count", "citation-count",
	"title", "relevance"}

// Command is datacite search.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	o := &c.opts
	cmd := &cobra.Command{
		Use: "search [WORD...]", GroupID: shell.Reading, ValidArgsFunction: cobra.NoFileCompletions,
		Short: "Find DOI records",
		Long: `Find DOI records by words, by fields of the record, and by filters.

All words must match; words in quotes stand side by side. A DOI, also as an address, finds its
record. Nothing else in the words has a meaning. Words that begin with "-" go after "--".

--query takes a query in the syntax of the service, with fields, operators and wildcards, such as
'titles.title:glacier* AND publicationYear:2020', in quotes for the shell. Of words without an
operator all have to match. Without words and query, the filters alone choose the records. Finding
nothing is no error.

The table is for people, and long texts are cut. A file of --output is CSV or .xlsx in the columns
of "datacite help tables", or JSON lines, as its name says. --format doi prints all DOIs that are
found, one per line, for commands that read "-", unless --limit or --sort is given. --html writes a
page for people, too: how many records by year, type and licence, and the first 500 of them.`,
		Example: `  datacite search glacier svalbard
  datacite search --type dataset --created 2020,2022 --query 'titles.title:glacier* AND NOT publisher:"Ice Archive"'
  datacite search --client ice.archive --all --output records.xlsx
  datacite search --client ice.archive --all --json > records.jsonl
  datacite search --client ice.archive --state draft --created 2026-01 --format doi | datacite delete - --dry-run`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Page.Size, "limit", 20, "print so many `records`, at most 1,000")
	flags.BoolVar(&c.all, "all", false, "print all records, in the order of creation")
	c.selection = selection.NewFlags(s, cmd, o)
	flags.StringVar(&c.order, "sort", "",
		"`order`, such as -citation-count for the most cited first (default: the best match first)")
	flags.StringVar(&c.html, "html", "", "write a page for people, too, to this `file`")
	s.FormatFlags(cmd, shell.FormatDOI)
	c.flags = account.NewFlags(s, cmd, account.Reads)
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(orders, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// check reads the settings; everything that the service would not know is an error here: it
// would find nothing, or use another order.
func (c *command) check(cmd *cobra.Command, words []string) error {
	switch {
	case c.all && shell.Changed(cmd, "limit"):
		return errors.New("--all prints all records and --limit some; leave one of them out")
	case c.all && shell.Changed(cmd, "sort"):
		return errors.New("--all has an order of its own, that of creation; leave --sort out")
	case !c.all && (c.opts.Page.Size < 1 || c.opts.Page.Size > 1000):
		return fmt.Errorf("--limit is %d, not between 1 and 1000; --all prints all records", c.opts.Page.Size)
	}
	if err := c.ChooseFormat(cmd); err != nil {
		return err
	}
	if c.Format == shell.FormatDOI && !shell.Changed(cmd, "limit") && !shell.Changed(cmd, "sort") {
		c.all = true // a command that reads them shall not see a part
	}
	if c.all {
		c.opts.Page.Size = 0 // as many at a time as the service likes
	}
	if bare := strings.TrimPrefix(c.order, "-"); c.order != "" && !slices.Contains(orders, bare) ||
		c.order == "-relevance" {
		return fmt.Errorf("--sort: %w; prefix - for descending order, but for relevance", shell.NotOne(c.order, orders))
	}
	c.opts.Sort = query.Sort(c.order)
	if err := c.selection.Read(words); err != nil {
		return err
	}
	if c.opts.Query != nil && c.opts.Sort == "" && !c.all {
		c.opts.Sort = query.ByRelevance
	}
	return nil
}

func (c *command) run(cmd *cobra.Command, words []string) error {
	if err := c.check(cmd, words); err != nil {
		return shell.Wrong(err)
	}
	service, err := c.flags.Open()
	if err != nil {
		return err
	}
	if err := c.selection.CheckLogin(service.Config); err != nil {
		return err
	}
	client, err := dois.NewClient(service.Config)
	if err != nil {
		return err
	}
	if err := service.Check(cmd.Context(), c.Shell); err != nil { // a wrong login sees what everybody sees
		return err
	}
	file, html, err := c.Files(c.html)
	if err != nil {
		return err
	}
	defer file.Discard()
	defer html.Discard()
	to := c.Data()
	if file != nil {
		to = file
	}
	if html != nil {
		c.page = newPage(cmd, words, service)
	}
	n, total, err := c.print(cmd.Context(), client, to)
	if err == nil && file != nil {
		err = file.Save()
	}
	if err == nil && html != nil {
		c.page.Found = total
		err = errors.Join(pageTemplate().Execute(html, c.page), c.Keep(html))
	}
	switch {
	case shell.IsInterrupted(err) && c.Output != "":
		return shell.Interrupted("%s was not written", c.Output)
	case shell.IsInterrupted(err):
		return shell.Interrupted("%s of %s printed", shell.Number(n), shell.Count(total, "record"))
	case err != nil:
		return err
	}
	c.Say("%s of %s at %s", shell.Number(n), shell.Count(total, "record"), service)
	return nil
}

// print prints what is found to its end.
func (c *command) print(ctx context.Context, client *dois.Client, to io.Writer) (n, total int, err error) {
	out := c.printer(to)
	defer out.Discard()
	n, total, err = c.find(ctx, client, out)
	if err != nil && n == 0 {
		return n, total, err // no head without rows
	}
	ended := out.End()
	return n, total, cmp.Or(err, ended)
}

// find prints what is found. It returns how many records it printed, and how many there are.
func (c *command) find(ctx context.Context, client *dois.Client, out printer) (n, total int, err error) {
	pages := client.Pages(ctx, &c.opts)
	// for other commands, whose texts are those of the XML
	whole := c.Format != shell.FormatTable && c.Format != shell.FormatDOI
	if c.opts.Affiliation, c.opts.Publisher, c.opts.Detail = whole, whole, whole; !c.all {
		pages = func(yield func(*dois.Results, error) bool) { yield(client.List(ctx, &c.opts)) }
	}
	for page, err := range pages {
		if err != nil {
			return n, max(n, total), err
		}
		total = page.Total
		for i := range page.Records {
			if err := out.Print(&page.Records[i]); err != nil {
				return n, total, err
			}
			if n++; c.page != nil {
				c.page.add(&page.Records[i])
			}
		}
		c.Progress(n, total, "records", "")
	}
	return n, max(n, total), nil
}
