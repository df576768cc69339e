package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/shown"
)

// mending is what the command line says of -repair.
type mending struct {
	account  string // "" without -repair
	replaces names
	yes      bool
}

// names is a flag that can be given several times.
type names []string

func (n *names) String() string { return strings.Join(*n, ", ") }

func (n *names) Set(name string) error {
	*n = append(*n, name)
	return nil
}

func (m *mending) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&m.account, "repair", "", "make DOI records show what the logs say, in the month's reports of this `account`, such as example.repo; a rehearsal without -yes")
	flags.Var(&m.replaces, "replaces", "with -repair: `name` (or id) of another report of the month that counts the same accesses, such as an earlier -name; its numbers become 0; can be given several times")
	flags.BoolVar(&m.yes, "yes", false, "with -repair: send what it found")
}

func (m *mending) check(s *settings, given map[string]bool) error {
	switch {
	case given["repair"] && m.account == "":
		return errors.New("-repair needs the account, such as -repair example.repo")
	case m.account != "" && s.send:
		return errors.New("-repair and -send are both given; -repair -yes sends the report, too")
	case m.account == "" && (m.yes || len(m.replaces) > 0):
		return errors.New("-yes and -replaces belong to -repair")
	case s.compareOthers && !s.send:
		return errors.New("-compare-others has no effect without -send; -repair always compares")
	}
	return nil
}

// repair makes records show the datasets.
func (in *input) repair(ctx context.Context, p *program, client *reports.Client, header reports.Header, datasets iter.Seq2[reports.Dataset, error], warned *warnings) (*shown.Repaired, error) {
	ofDOIs, err := dois.NewClient(datacite.Config{
		Service: datacite.Service{API: in.api}, UserAgent: "usagelog",
		Username: p.getenv("DATACITE_USERNAME"), Password: p.getenv("DATACITE_PASSWORD"),
	})
	if err != nil {
		return nil, err
	}
	var broken error // what ended the datasets
	done, err := shown.Repair(ctx, client, ofDOIs, in.mending.account, header, func(yield func(reports.Dataset, error) bool) {
		for d, err := range datasets {
			if broken = err; !yield(d, err) {
				return
			}
		}
	}, &shown.RepairOptions{
		DryRun: !in.mending.yes, Replaces: in.mending.replaces,
		Warn:    func(doi string, f datacite.Finding) { warned.doi = doi; warned.add(f) },
		Submit:  reports.SubmitOptions{Progress: in.meter.sending},
		Compare: shown.Options{Now: p.now(), Progress: in.meter.comparing},
	})
	switch {
	case broken != nil:
		return nil, broken
	case err != nil && !errors.Is(err, datacite.ErrInvalid) && !errors.Is(err, datacite.ErrNotFound):
		err = &serviceError{err}
	}
	return done, err
}

func (m *meter) comparing(p shown.Progress) {
	if m.on && time.Since(m.shown) >= 100*time.Millisecond {
		m.shown = time.Now()
		m.say("comparing: %d of %d reports, %d of %d records, %s", p.Reports, p.AllReports, p.Records, p.AllRecords, several(int64(p.Differences), "difference"))
	}
}

// mostChanges are shown of each report.
const mostChanges = 20

// printRepair prints what changes, or would change. The last line says what to do.
func printRepair(out io.Writer, done *shown.Repaired, yes bool) {
	changed := false
	for _, one := range done.Reports {
		changed = changed || one.Datasets > 0
		fmt.Fprintf(out, "\n%s, report %s: %s\n", one.Header.CreatedBy, one.ID, outcome(one, yes))
		for i, c := range one.Changes {
			if i == mostChanges {
				fmt.Fprintf(out, "  and %s more\n", several(int64(len(one.Changes)-i), "number"))
				break
			}
			fmt.Fprintf(out, "  %s: %s, %s", c.DOI, c.Metric, number(c.Was, c.Now))
			if c.Cause != "" {
				fmt.Fprintf(out, " (%s)", c.Cause)
			}
			fmt.Fprintln(out)
		}
	}
	for _, other := range done.Others {
		fmt.Fprintf(out, "\n%s, report %s: left as it is; if it counts the same accesses, -replaces %q takes its numbers back\n", other.Header.CreatedBy, other.ID, other.Header.CreatedBy)
	}
	switch {
	case !yes && changed:
		fmt.Fprintln(out, "\nA rehearsal: nothing was sent; -yes sends it")
	case !changed && len(done.Remain) > 0:
		fmt.Fprintln(out, "\nNothing is to be sent, but differences remain: the warnings name them")
	case !changed:
		fmt.Fprintln(out, "\nThe reports are stored as they should be; nothing is to be sent")
	case yes:
		fmt.Fprintln(out, "\nRecords show the numbers when the service has read the reports, in a day or two")
	}
}

func number(was, now int64) string { return thousands(was) + " becomes " + thousands(now) }

func outcome(one *shown.RepairedReport, yes bool) string {
	switch {
	case one.Datasets == 0:
		return "nothing to send"
	case yes && one.Receipt == nil:
		return fmt.Sprintf("not sent: %s", datasets(one))
	case yes:
		return fmt.Sprintf("sent: %s, %s changed", datasets(one), several(int64(len(one.Changes)), "number"))
	}
	return fmt.Sprintf("%s to send, %s would change", datasets(one), several(int64(len(one.Changes)), "number"))
}

// remaining prints what no repair mends. It is an error, but for numbers that only need time.
func remaining(out io.Writer, done *shown.Repaired) error {
	lasting := 0
	for i, d := range done.Remain {
		if d.Cause != shown.NotProcessed {
			lasting++
		}
		if i < mostChanges {
			fmt.Fprintln(out, "warning: remains:", d)
		}
	}
	if more := len(done.Remain) - mostChanges; more > 0 {
		fmt.Fprintf(out, "warning: remain: %s in all, of which %d are shown; datacite usage check lists them\n", several(int64(len(done.Remain)), "difference"), mostChanges)
	}
	if lasting > 0 {
		return &remainError{lasting}
	}
	return nil
}

// A remainError: this many differences are not mended.
type remainError struct{ n int }

func (e *remainError) Error() string {
	return several(int64(e.n), "difference") + " of the month may remain, which this repair does not mend"
}

func datasets(one *shown.RepairedReport) string { return several(int64(one.Datasets), "dataset") }
