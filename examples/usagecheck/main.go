// Command usagecheck compares the usage reports that an account has stored with the views
// and downloads that its DOI records show, and explains the differences.
//
//	go run ./examples/usagecheck example.repo
//	go run ./examples/usagecheck -html report.html -format csv example.repo > differences.csv
//
// It writes nothing to the service. -h lists all flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

func main() { program.Main("usagecheck", run) }

const usage = `Compare the usage reports of an account with the numbers that DOI records show.

  usagecheck [flags] ACCOUNT

ACCOUNT is the repository account, such as example.repo. All reports that it has
sent are read, and all its records listed; a DOI whose numbers differ is read
again by itself, since lists are a day behind. usagelog -repair sends what mends
the differences of a month.

Environment:
  DATACITE_USERNAME, DATACITE_PASSWORD   the account; without it only findable DOIs are
                                         seen; a login that the service refuses
                                         is an error

Output: differences on standard output, as -format says: a table, csv with a first
line of names, or jsonl, one JSON object a line. -html writes a page with totals,
charts, causes and the largest differences, which can be sent to others as it is.
Standard error gets progress and a summary.

The exit code is 0 if nothing differs, 1 if something does, and 2 if there is nothing
to compare, since the service has no report and no DOI of the account. An interrupted call
begins again the next time.

Causes, for -only and -except:
`

// settings are those of the command line.
type settings struct {
	account  string
	api      string
	format   string
	html     string
	rate     float64
	leaveOut bool
	options  shown.Options
	username string
	password string
}

// causes ends the usage text.
func causes() string {
	var b strings.Builder
	for _, cause := range shown.AllCauses() {
		fmt.Fprintf(&b, "  %-19s %s\n", cause, folded(cause.Sentence(), 64, "\n"+strings.Repeat(" ", 22)))
	}
	return b.String()
}

// folded wraps a text into lines.
func folded(text string, width int, between string) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), between)
}

func readSettings(p *program.Program) (*settings, error) {
	s := &settings{username: p.Getenv("DATACITE_USERNAME"), password: p.Getenv("DATACITE_PASSWORD")}
	flags := p.Flags()
	flags.StringVar(&s.api, "api", datacite.Production.API, "base `URL` of the service")
	flags.StringVar(&s.format, "format", "table", "table, csv or jsonl")
	flags.StringVar(&s.html, "html", "", "write a page for people to this `file`")
	flags.StringVar(&s.options.CreatedBy, "creator", "", "compare the reports of this `creator`, instead of those that the account sent; what others reported is then unreported")
	flags.DurationVar(&s.options.Lag, "lag", 48*time.Hour, "how long the service may take to process a report, from the end of the day on which it was created")
	flags.Float64Var(&s.rate, "rate", 5, "at most so many requests per second")
	only := flags.String("only", "", "look for these causes, a comma `list`")
	except := flags.String("except", "", "look for all causes but these, a comma `list`")
	bad := flags.String("bad-reports", "stop", "at a report that cannot be read: stop, or leave-out with its month")
	words, given, err := p.Parse(usage + causes())
	switch {
	case err != nil:
		return nil, err
	case len(words) != 1:
		return nil, fmt.Errorf("give one account, not %d; -h shows how", len(words))
	case formats[s.format] == nil:
		return nil, fmt.Errorf("-format %q is not one of table, csv and jsonl", s.format)
	case !(s.rate > 0):
		return nil, fmt.Errorf("-rate is %v; it must be more than 0", s.rate)
	case s.options.Lag <= 0:
		return nil, fmt.Errorf("-lag is %v; it must be more than 0", s.options.Lag)
	case given["only"] && given["except"]:
		return nil, errors.New("-only and -except are both given; leave one of them out")
	case *bad != "stop" && *bad != "leave-out":
		return nil, fmt.Errorf("-bad-reports %q is not one of stop and leave-out", *bad)
	}
	s.account, s.leaveOut = strings.ToLower(words[0]), *bad == "leave-out"
	return s, s.choose(*only, *except)
}

// choose reads the lists of causes.
func (s *settings) choose(only, except string) error {
	if only+except == "" {
		return nil
	}
	var listed []shown.Cause
	for name := range strings.SplitSeq(only+except, ",") {
		cause := shown.Cause(strings.TrimSpace(name))
		if !slices.Contains(shown.AllCauses(), cause) {
			return fmt.Errorf("%q is not a cause; -h lists them", name)
		}
		listed = append(listed, cause)
	}
	s.options.Causes = listed
	if except != "" {
		s.options.Causes = slices.DeleteFunc(shown.AllCauses(), func(c shown.Cause) bool { return slices.Contains(listed, c) })
	}
	return nil
}

func run(ctx context.Context, p *program.Program) error {
	s, err := readSettings(p)
	if err != nil {
		return err
	}
	cfg := datacite.Config{
		Service: datacite.Service{API: s.api}, Username: s.username, Password: s.password, Limiter: rate.NewLimiter(rate.Limit(s.rate), 1),
	}
	ofDOIs, err := dois.NewClient(cfg)
	if err != nil {
		return err
	}
	cfg.Username, cfg.Password = "", "" // reports are public
	ofReports, err := reports.NewClient(cfg)
	if err != nil {
		return err
	}
	if s.password != "" {
		if err := program.CheckLogin(ctx, ofDOIs); err != nil {
			return err
		}
	}
	page := newPage(s)
	var file *program.Page
	if s.html != "" {
		if file, err = program.NewPage(s.html); err != nil {
			return err
		}
		defer file.Discard()
	}
	if err := check(ctx, p, s, ofReports, ofDOIs, page); err != nil {
		return err
	}
	if s.html != "" {
		if err := file.Save(pageTemplate, page); err != nil {
			return program.NotAllDone(err)
		}
		p.Say("%s is written", s.html)
	}
	return verdict(p, page)
}

// check writes the differences.
func check(ctx context.Context, p *program.Program, s *settings, ofReports *reports.Client, ofDOIs *dois.Client, page *page) error {
	out := formats[s.format](p.Data())
	defer p.SayDefused(out)
	opts := s.options
	opts.Progress = func(now shown.Progress) {
		page.Progress = now
		p.Progress("%s", far(now))
	}
	opts.Months = func(months []shown.Month) { page.Months = months }
	if s.leaveOut {
		opts.LeaveOut = func(err error) bool {
			page.LeftOut = append(page.LeftOut, program.Message(err))
			p.Warn("left out: %s", program.Message(err))
			return true
		}
	}
	for d, err := range shown.Compare(ctx, ofReports, ofDOIs, s.account, &opts) {
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("interrupted and incomplete; the next run starts from the beginning: %w", err)
		}
		if err != nil {
			return errors.Join(err, program.Unwritten(out.end()))
		}
		page.add(d)
		if err := out.print(d); err != nil {
			return program.Unwritten(err)
		}
	}
	if err := out.end(); err != nil {
		return program.Unwritten(err)
	}
	return s.nothing(page.Progress)
}

// nothing is an error if there was nothing to compare.
func (s *settings) nothing(read shown.Progress) error {
	switch {
	case s.options.CreatedBy != "" && read.AllReports == 0:
		return program.Wrong(fmt.Errorf("the service has no report that %q created; is the name right?", s.options.CreatedBy))
	case read.AllReports+read.Records > 0:
		return nil
	case s.password == "":
		return program.Wrong(fmt.Errorf("the service has no report and no findable DOI of %s; is the name right?", s.account))
	}
	return program.Wrong(fmt.Errorf("the service has no report and no DOI of %s; is the name right?", s.account))
}

// far is the progress of a comparison in words.
func far(now shown.Progress) string {
	switch {
	case now.AllReports < 0:
		return "listing reports"
	case now.Reports < now.AllReports:
		return fmt.Sprintf("%s of %s, %s", program.Number(now.Reports), program.Count(now.AllReports, "report"), program.Count(now.Datasets, "dataset"))
	case now.Compared == 0 && now.AllRecords < 0:
		return fmt.Sprintf("%s read", program.Count(now.Reports, "report"))
	case now.Compared == 0:
		return fmt.Sprintf("%s of %s", program.Number(now.Records), program.Count(now.AllRecords, "record"))
	}
	return fmt.Sprintf("%s compared, %s", program.Count(now.Compared, "DOI"), program.Count(now.Differences, "difference"))
}

// verdict sums up, and is an error if something differs.
func verdict(p *program.Program, page *page) error {
	for _, c := range page.Causes() {
		p.Say("%7s %s: %s", program.Number(c.Differences), c.Cause, c.Cause.Sentence())
	}
	read := program.Count(page.Progress.Reports-len(page.LeftOut), "report") + ", " + program.Count(page.Progress.Compared, "DOI")
	switch {
	case page.Differences > 0:
		return program.NotAllDone(fmt.Errorf("%s: %s", read, differing(page.Differences)))
	case len(page.LeftOut) > 0:
		return program.NotAllDone(fmt.Errorf("%s: no number differs, but %s could not be read", read, program.Count(len(page.LeftOut), "report")))
	}
	p.Say("%s: no number differs", read)
	return nil
}

func differing(numbers int64) string {
	if numbers == 1 {
		return "1 number differs"
	}
	return program.Number(numbers) + " numbers differ"
}
