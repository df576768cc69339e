// Command audit compares a repository's own records with those at the service, and
// repairs what differs if it is told to.
//
//	go run ./examples/audit -client example.repo items.csv
//	go run ./examples/audit -client example.repo -html report.html -format csv items.csv > differences.csv
//
// -h shows the flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/metadata/table"
)

func main() { program.Main("audit", run) }

const usage = `Compare a repository's own records with those at the service.

  audit -client ACCOUNT [flags] SOURCE         say what differs
  audit -client ACCOUNT [flags] -fix SOURCE    show it, say how many DOIs would be written,
                                               ask, and write

-client ACCOUNT, -prefix PREFIX or both are required: they say which DOIs there should be.

SOURCE is one of
  FILE.csv    a table, the one that datacite register takes, also its result: doi, and any of
               url, state, title, creators and the other columns of metadata; in UTF-8,
               separated by commas, semicolons or tabs
  FILE.xlsx   the same, the first sheet that is not hidden
  FILE        records as JSON lines or pages, as the service sends them and harvest
              writes them, also in gzip or TAR
  FOLDER      files with metadata XML (*.xml), or files as above

What a source does not say is not compared: columns that are missing, empty cells, and
what a table has no column for or cannot say, such as the language of a title, which stays
when the title is corrected. -pass-over names columns of your own. If the service lists no DOI of the account or the prefix, its
name may be wrong: that is an error, and with -fix a warning.

-fix makes DOIs that are missing, in the state that the source says or else as drafts, and
writes what differs. What is not in the source is never changed or deleted.

The list of the service lags behind: what became extra or different in the last ten
minutes may be missing in the result, and an extra DOI may have been deleted meanwhile.

Environment:
  DATACITE_USERNAME, DATACITE_PASSWORD   the account; without it only findable DOIs are
                                         seen, and nothing can be written. A login
                                         that the service refuses is an error

Output: differences on standard output, as -format says: a table, csv with a first line of
names, or jsonl, one JSON object a line. In csv, a text that a spreadsheet would take for a
formula begins with an apostrophe. With -fix, each has its result: repaired, failed,
left (for a person to decide), or "as wanted" (somebody else has repaired it). -html writes
a page that can be sent to others as it is. Standard error gets progress and a summary.

The exit code is 0 if nothing differs or all was repaired, 1 if something differs, and 2 if
the service lists no DOI to compare with.
`

// lag is how long a change may take until the lists of the service show it.
const lag = 10 * time.Minute

type settings struct {
	api      string
	source   string
	format   string
	html     string
	only     []string
	passOver []string
	fix      bool
	yes      bool
	rate     float64
	audit    dois.AuditOptions
	username string
	password string
}

// choices are what -only takes. What is not a kind is a part of Changed.
var choices = []string{"missing", "extra", "url", "state", "metadata", "invalid", "old-schema"}

func readSettings(p *program.Program) (*settings, error) {
	s := &settings{username: p.Getenv("DATACITE_USERNAME"), password: p.Getenv("DATACITE_PASSWORD")}
	flags := p.Flags()
	flags.StringVar(&s.api, "api", datacite.Production.API, "base `URL` of the service")
	flags.StringVar(&s.audit.Prefix, "prefix", "", "DOIs with this `prefix`")
	flags.StringVar(&s.audit.ClientID, "client", "", "DOIs of this repository `account`, such as example.repo")
	flags.StringVar(&s.format, "format", "table", "table, csv or jsonl")
	flags.StringVar(&s.html, "html", "", "write a page for people to this `file`")
	only := flags.String("only", strings.Join(choices, ","), "which differences, a comma `list`")
	flags.Var((*arguments.CommaList)(&s.passOver), "pass-over", "columns of a table that are not compared, a comma `list`, such as those of your own")
	flags.BoolVar(&s.fix, "fix", false, "write what differs, after asking; extra DOIs are never deleted")
	flags.BoolVar(&s.yes, "yes", false, "with -fix: do not ask")
	flags.BoolVar(&s.audit.ReadExtra, "read-extra", false, "read each extra DOI once more, with a request each, so that none is told that was just deleted")
	flags.Float64Var(&s.rate, "rate", 5, "requests a second at most")
	words, given, err := p.Parse(usage)
	if err != nil {
		return nil, err
	}
	for choice := range strings.SplitSeq(*only, ",") {
		s.only = append(s.only, strings.TrimSpace(choice))
	}
	switch {
	case len(words) != 1:
		return nil, fmt.Errorf("one SOURCE is needed, and there are %d; -h shows the usage", len(words))
	case s.audit.Prefix == "" && s.audit.ClientID == "":
		return nil, errors.New("-prefix or -client is needed: which DOIs should there be?")
	case formats[s.format] == nil:
		return nil, fmt.Errorf("-format %q is not one of table, csv and jsonl", s.format)
	case !(s.rate > 0):
		return nil, fmt.Errorf("-rate is %v; it must be more than 0", s.rate)
	case given["yes"] && !s.fix:
		return nil, errors.New("-yes has no effect without -fix")
	case s.fix && !s.yes && p.Quiet():
		return nil, errors.New("-fix asks before it writes; with -quiet, give -yes, too")
	case s.fix && s.password == "":
		return nil, errors.New("-fix needs DATACITE_USERNAME and DATACITE_PASSWORD")
	}
	for _, choice := range s.only {
		if !slices.Contains(choices, choice) {
			return nil, fmt.Errorf("-only has %q; it takes %s", choice, strings.Join(choices, ", "))
		}
	}
	s.source = words[0]
	s.audit.Kinds, s.audit.Complete = kinds(s.only), s.complete
	return s, nil
}

// kinds are those that the choices are of.
func kinds(only []string) (all []dois.DifferenceKind) {
	for _, choice := range only {
		kind := dois.DifferenceKind(choice)
		if slices.Contains([]string{"url", "state", "metadata"}, choice) {
			kind = dois.Changed
		}
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// complete leaves out of what is wanted what -only leaves out, so that it is neither compared
// nor written, and adds what a table cannot say.
func (s *settings) complete(w *dois.Wanted, found *dois.Record) {
	if !slices.Contains(s.only, "url") {
		w.URL = ""
	}
	if !slices.Contains(s.only, "state") {
		w.State = ""
	}
	switch {
	case w.Metadata == nil:
	case !slices.Contains(s.only, "metadata") && !slices.Contains(s.only, "invalid"):
		w.Metadata = nil
	case isTable(s.source):
		w.Metadata = table.Complete(w.Metadata, &found.Record)
	}
}

// differences are those that -only chooses. With -fix, the service may list no DOI: the first
// ones are made.
func (a *auditor) differences(ctx context.Context, opts dois.AuditOptions) iter.Seq2[*dois.Difference, error] {
	return func(yield func(*dois.Difference, error) bool) {
		opts.AllowEmpty = a.warned
		for d, err := range a.client.Audit(ctx, a.wanted(), &opts) {
			if errors.Is(err, dois.ErrNothingListed) {
				err = program.Wrong(a.nothingListed(err))
				if a.fix {
					a.warned = true
					a.p.Warn("%v", err)
					a.differences(ctx, opts)(yield)
					return
				}
			}
			if err == nil && !a.choose(d) {
				continue
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// choose takes metadata out of a change that was compared only to repair invalid ones. It
// reports whether something is left.
func (s *settings) choose(d *dois.Difference) bool {
	if d.Kind == dois.Invalid || d.Kind == dois.Missing || d.Wanted == nil || slices.Contains(s.only, "metadata") {
		return true
	}
	wanted := *d.Wanted
	wanted.Metadata = nil
	d.Wanted = &wanted
	d.Changes = slices.DeleteFunc(d.Changes, func(c metadata.Change) bool { return c.Path != "url" && c.Path != "state" })
	return d.Kind != dois.Changed || len(d.Changes) > 0
}

// An auditor compares, and repairs.
type auditor struct {
	*settings
	p      *program.Program
	client *dois.Client
	began  time.Time
	page   *page
	warned bool // that the service lists no DOI
}

func run(ctx context.Context, p *program.Program) (err error) {
	s, err := readSettings(p)
	if err != nil {
		return err
	}
	a := &auditor{settings: s, p: p, began: time.Now()}
	a.page = newPage(s, a.began)
	if a.client, err = dois.NewClient(datacite.Config{
		Service:  datacite.Service{API: s.api},
		Username: s.username, Password: s.password, Limiter: rate.NewLimiter(rate.Limit(s.rate), 1),
	}); err != nil {
		return err
	}
	var file *program.Page
	if s.html != "" {
		if file, err = program.NewPage(s.html); err != nil {
			return err
		}
		defer file.Discard()
	}
	err = a.run(ctx)
	if file != nil && (err == nil || a.page.Done()) { // what was repaired is told, also of a run that was interrupted
		a.page.Broken = err != nil
		if unwritten := file.Save(pageTemplate, a.page); unwritten != nil {
			return errors.Join(err, program.NotAllDone(unwritten))
		}
		p.Say("%s is written", s.html)
	}
	if err != nil {
		return err
	}
	return a.verdict()
}

func (a *auditor) run(ctx context.Context) error {
	if a.password != "" {
		if err := program.CheckLogin(ctx, a.client); err != nil {
			return err
		}
	}
	if a.fix && a.yes {
		return a.repair(ctx, 0)
	}
	writes, err := a.show(ctx)
	if err != nil || !a.fix || writes == 0 {
		return err
	}
	if !a.agreed(ctx, writes) {
		a.p.Warn("nothing was written")
		return nil
	}
	a.page = newPage(a.settings, a.began)
	return a.repair(ctx, writes)
}

// show writes down the differences, and counts the DOIs that can be repaired. With -fix they
// are for the person who is asked; what became of them is the result.
func (a *auditor) show(ctx context.Context) (writes int, err error) {
	to, format := a.p.Data(), a.format
	if a.fix {
		to, format = a.p.Words(), "table"
	}
	out := formats[format](to, false)
	defer a.p.SayDefused(out)
	opts := a.audit
	opts.Progress = a.progress
	last := ""
	for d, err := range a.differences(ctx, opts) {
		if err != nil && ctx.Err() != nil {
			err = program.NotAllDone(errors.New("interrupted, and incomplete; the same call begins again"))
		}
		if err != nil {
			return 0, errors.Join(err, program.Unwritten(out.end()))
		}
		a.page.add(d, outcome{})
		if err := out.print(rows(d, outcome{})); err != nil {
			return 0, program.Unwritten(err)
		}
		if repairable(d) && d.DOI != last {
			writes, last = writes+1, d.DOI
		}
	}
	if err := out.end(); err != nil {
		return 0, program.Unwritten(err)
	}
	return writes, nil
}

// nothingListed adds what may be the cause, too.
func (s *settings) nothingListed(err error) error {
	if s.password != "" {
		return err
	}
	return fmt.Errorf("%w Without a login only findable DOIs are listed", err)
}

func (a *auditor) progress(now dois.AuditProgress) {
	a.page.Progress = now
	text := fmt.Sprintf("%s wanted, %s found", program.Number(now.Wanted), program.Number(now.Found))
	if now.Total > 0 && now.Found > 0 && now.Found < now.Total {
		left := time.Duration(float64(time.Since(a.began)) * float64(now.Total-now.Found) / float64(now.Found))
		text += fmt.Sprintf(" of %s, %v left", program.Number(now.Total), left.Round(time.Second))
	}
	a.p.Progress("%s, %s compared, %s differ", text, program.Number(now.Compared), program.Number(now.Differences))
}

// verdict sums up, and is an error if something differs.
func (a *auditor) verdict() error {
	for _, s := range a.page.Sections() {
		a.p.Say("%7s %s", program.Number(s.Count), s.Kind)
	}
	a.p.Say("what was made or changed after %s may be missing: the list of the service lags behind by up to ten minutes", a.began.Add(-lag).Format(time.TimeOnly))
	total := a.page.Progress
	read := fmt.Sprintf("%s wanted and %s at the service", program.Count(total.Wanted, "DOI"), program.Count(total.Found, "DOI"))
	switch p := a.page; {
	case p.Fixed && p.Failed+p.Left > 0:
		return program.NotAllDone(fmt.Errorf("%s: %s repaired, %s for you to decide", read, program.Count(p.Repaired, "DOI"), p.rest()))
	case p.Fixed && p.Repaired > 0:
		a.p.Say("%s: %s repaired, %s", read, program.Count(p.Repaired, "DOI"), p.rest())
	case p.Count() > 0 && !p.Fixed:
		return program.NotAllDone(fmt.Errorf("%s: %s", read, program.Count(p.Count(), "difference")))
	default:
		a.p.Say("%s: nothing differs", read)
	}
	return nil
}
