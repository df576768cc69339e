// Command search finds DOI records and prints them as a table, JSON lines or CSV.
//
//	go run ./examples/search glacier svalbard
//	go run ./examples/search -type dataset -created 2020,2022 'titles.title:glacier* AND NOT publisher:"Ice Archive"'
//	go run ./examples/search -client ice.archive -all -format csv > records.csv
//
// It reads public records and needs no account. -h lists all flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
)

func main() { program.Main("search", run) }

const usage = `Find DOI records and print them.

  search [flags] [query]

The query is in the service's syntax (specification §4.2.1), for example
'titles.title:glacier* AND publicationYear:2020', quoted for the shell. Words that
start with "-" go after "--". Of terms without an operator one has to match; with
-and, all have to. Without a query, all records that the flags let through match.

Environment: no variable is needed; the records are public.

Output: the records on standard output, as -format says: a table for people, with
long texts cut; jsonl, one JSON object a line with all attributes as the service
sends them; or csv with a first line of names, in which a text that a spreadsheet would
take for a formula begins with an apostrophe. Standard error tells how many there are,
and what is doubtful about the query. It is no fault if there are none.
`

// settings are what the command line says.
type settings struct {
	api    string
	format string
	all    bool
	opts   dois.ListOptions
}

func readSettings(p *program.Program) (*settings, error) {
	s := &settings{}
	flags := p.Flags()
	o := &s.opts
	flags.StringVar(&s.api, "api", datacite.Production.API, "base `URL` of the service")
	flags.StringVar(&s.format, "format", "table", "table, jsonl or csv")
	flags.BoolVar(&s.all, "all", false, "print all records, in the order of creation, rather than the first -n")
	flags.IntVar(&o.Page.Size, "n", 20, "how many records to print, at most 1,000")
	flags.Var((*arguments.CommaList)(&o.ClientID), "client", "records of one repository, or of several, separated by commas")
	flags.Var((*arguments.CommaList)(&o.ProviderID), "provider", "records of one member, or of several, separated by commas")
	flags.Var((*arguments.CommaList)(&o.Prefix), "prefix", "records of one prefix, or of several, separated by commas")
	flags.Var((*arguments.CommaList)(&o.ResourceTypeID), "type", "records of one general `type`, such as dataset or journal-article, or of several, separated by commas")
	flags.StringVar(&o.Created, "created", "", "`year` or years of creation, as 2020 or 2020,2022")
	flags.StringVar(&o.Published, "published", "", "`year` or years of publication")
	order := flags.String("sort", "", "such as -citation-count; the best match first if there is a query")
	and := flags.Bool("and", false, "terms without an operator must all match")
	words, given, err := p.Parse(usage)
	switch {
	case err != nil:
		return nil, err
	case s.all && given["n"]:
		return nil, errors.New("-all prints all records and -n some; leave one of them out")
	case s.all && given["sort"]:
		return nil, errors.New("-all has an order of its own, that of creation; leave -sort out")
	case *and && len(words) == 0:
		return nil, errors.New("-and has no effect without a query; give one, or leave it out")
	case !s.all && (o.Page.Size < 1 || o.Page.Size > 1000):
		return nil, fmt.Errorf("-n is %d, not between 1 and 1000; -all prints all records", o.Page.Size)
	case s.all:
		o.Page.Size = 0 // as many at a time as the service likes
	}
	if err := s.readTerms(*order); err != nil {
		return nil, err
	}
	return s, s.readQuery(strings.Join(words, " "), *and, p)
}

// readQuery reads what was typed, and says what is doubtful about it.
func (s *settings) readQuery(text string, and bool, p *program.Program) error {
	if _, ok := printers[s.format]; !ok {
		return fmt.Errorf("-format %q is not one of table, jsonl and csv", s.format)
	}
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
	if and {
		operator = query.OperatorAnd
	}
	s.opts.Query = query.Explicit(expr, operator) // the same on every server
	for _, advice := range query.Advise(s.opts.Query) {
		p.Say("note: %s", advice)
	}
	if s.opts.Sort == "" && !s.all {
		s.opts.Sort = query.ByRelevance
	}
	return nil
}

// orders are what -sort knows, beside the same with a "-" for descending.
var orders = []string{"name", "created", "updated", "published", "view-count", "download-count", "citation-count", "title", "relevance"}

// readTerms checks what the service would not know: it would find nothing, or use another
// order.
func (s *settings) readTerms(order string) error {
	if bare := strings.TrimPrefix(order, "-"); order != "" && !slices.Contains(orders, bare) || order == "-relevance" {
		return fmt.Errorf("-sort %q is not one of %s, each with a - in front for descending except relevance", order, strings.Join(orders, ", "))
	}
	s.opts.Sort = query.Sort(order)
	known := types()
	for _, name := range s.opts.ResourceTypeID {
		if !slices.Contains(known, strings.ToLower(name)) && !slices.Contains(known, hyphenated(name)) {
			return fmt.Errorf("-type %q is not one of %s", name, strings.Join(known, ", "))
		}
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

func run(ctx context.Context, p *program.Program) error {
	s, err := readSettings(p)
	if err != nil {
		return err
	}
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: s.api}, UserAgent: "datacite-go-search"})
	if err != nil {
		return err
	}
	out := printers[s.format](p.Stdout)
	defer p.SayDefused(out)
	n, total, err := printRecords(ctx, client, s, out)
	switch {
	case ctx.Err() != nil:
		return program.NotAllDone(fmt.Errorf("interrupted after %d records; they were printed, and are not all", n))
	case err != nil:
		return err
	}
	p.Say("%d of %d records", n, total)
	return nil
}

// printRecords prints what is found. It returns how many records it printed, and how
// many there are.
func printRecords(ctx context.Context, client *dois.Client, s *settings, out printer) (n, total int, err error) {
	defer func() {
		if unwritten := program.Unwritten(out.end()); err == nil {
			err = unwritten
		}
	}()
	if s.all {
		for record, err := range client.All(ctx, &s.opts) {
			if err != nil {
				return n, n, err
			}
			if err := out.print(record); err != nil {
				return n, n, program.Unwritten(err)
			}
			n++
		}
		return n, n, nil
	}
	found, err := client.List(ctx, &s.opts)
	if err != nil {
		return 0, 0, err
	}
	for i := range found.Records {
		if err := out.print(&found.Records[i]); err != nil {
			return n, found.Total, program.Unwritten(err)
		}
		n++
	}
	return n, found.Total, nil
}
