// Command search finds DOI records and prints them as a table, JSON lines or CSV.
//
//	go run ./examples/search glacier svalbard
//	go run ./examples/search -type dataset -created 2020,2022 'titles.title:glacier* AND NOT publisher:"Ice Archive"'
//	go run ./examples/search -client ice.archive -all -format csv > records.csv
//
// It reads public records and needs no account. -h tells the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/query"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "search: interrupted")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

const usage = `Find DOI records and print them.

  search [flags] [query]

The query is in the service's syntax (specification §4.2.1), for example
'titles.title:glacier* AND publicationYear:2020', quoted for the shell. Words that
start with "-" go after "--". Of terms without an operator one has to match; with
-and, all have to. Without a query, all records that the flags let through match.

Environment: no variable is needed; the records are public.

Output: the records on standard output, as -format says: a table for people, with
long texts cut; jsonl, one JSON object a line with all attributes as the service
sends them; or csv with a first line of names. Standard error tells how many there
are, and what is doubtful about the query.

Exit codes:
  0    the records were printed; there may be none
  1    the flags or the query are at fault, or the service failed
  130  interrupted by Ctrl-C
`

// settings are what the command line says.
type settings struct {
	api    string
	format string
	all    bool
	opts   dois.ListOptions
}

func readSettings(args []string, out, notes io.Writer) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	o := &s.opts
	flags.StringVar(&s.api, "api", datacite.Production.API, "base `URL` of the service")
	flags.StringVar(&s.format, "format", "table", "table, jsonl or csv")
	flags.BoolVar(&s.all, "all", false, "print all records, in the order of creation, rather than the first -n")
	flags.IntVar(&o.Page.Size, "n", 20, "how many records to print, at most 1,000")
	flags.StringVar(&o.ClientID, "client", "", "records of one repository")
	flags.StringVar(&o.ProviderID, "provider", "", "records of one member")
	flags.StringVar(&o.Prefix, "prefix", "", "records with one prefix")
	flags.StringVar(&o.ResourceTypeID, "type", "", "records of one general type, such as dataset")
	flags.StringVar(&o.Created, "created", "", "`year` or years of creation, as 2020 or 2020,2022")
	flags.StringVar(&o.Published, "published", "", "`year` or years of publication")
	order := flags.String("sort", "", "such as -citation-count; the best match first if there is a query")
	and := flags.Bool("and", false, "terms without an operator must all match")
	words, given, err := arguments.Parse(flags, usage, args, out)
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
	o.Sort = query.Sort(*order)
	return s, s.readQuery(strings.Join(words, " "), *and, notes)
}

// readQuery reads what was typed, and says what is doubtful about it.
func (s *settings) readQuery(text string, and bool, notes io.Writer) error {
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
		fmt.Fprintln(notes, "note:", advice)
	}
	if s.opts.Sort == "" && !s.all {
		s.opts.Sort = query.ByRelevance
	}
	return nil
}

func run(ctx context.Context, args []string, out, notes io.Writer) error {
	s, err := readSettings(args, out, notes)
	if err != nil {
		return err
	}
	client, err := dois.NewClient(datacite.Config{Service: datacite.Service{API: s.api}, UserAgent: "datacite-go-search"})
	if err != nil {
		return err
	}
	p := printers[s.format](out)
	if s.all {
		return printAll(ctx, client, s, p, notes)
	}
	found, err := client.List(ctx, &s.opts)
	if err != nil {
		return err
	}
	for i := range found.Records {
		if err := p.print(&found.Records[i]); err != nil {
			return err
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	fmt.Fprintf(notes, "%d of %d records\n", len(found.Records), found.Total)
	return nil
}

func printAll(ctx context.Context, client *dois.Client, s *settings, p printer, notes io.Writer) error {
	n := 0
	for record, err := range client.All(ctx, &s.opts) {
		if err != nil {
			return errors.Join(p.end(), err)
		}
		if err := p.print(record); err != nil {
			return err
		}
		n++
	}
	if err := p.end(); err != nil {
		return err
	}
	fmt.Fprintf(notes, "%d of %d records\n", n, n)
	return nil
}
