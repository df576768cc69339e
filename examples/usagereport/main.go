// Command usagereport submits one usage report to the registration service: from
// a report file, or from a table of counts. It can be put in cron as it is.
//
//	go run ./examples/usagereport report.json.gz
//	go run ./examples/usagereport -csv counts.csv -creator "My Repository" -month 2026-10 -platform "My Portal" -publisher "My University"
//
// The report file is JSON as the service defines it, plain or compressed with
// gzip; "-" reads standard input. Without -api the service runs in memory, with
// no network and no account, and forgets everything at the end: the way to see
// it work, and the receipt says so. With -api the report goes to a real service, as the account whose
// token is in the environment variable DATACITE_TOKEN:
//
//	DATACITE_TOKEN=… usagereport -api https://api.test.datacite.org report.json.gz
//
// For a first try over HTTP, datacite sandbox serves the same service in memory
// on a port and prints a token. Option -dry-run checks everything and prints what
// would be sent, without contacting the service.
//
// # The table
//
// The first row names the columns, in any order: doi, metric, access and count
// must be there; title, year, uri, publisher, platform and country may be. Each
// further row counts one metric of one DOI, for one kind of access and one
// country; an empty country stands for use whose country is not known. The count
// of a metric is the sum over its countries. Rows of one DOI make one dataset.
// They may come in any order and number, and make the same report in any order:
// they are sorted, beyond 64 MiB in a temporary file. The table may be compressed
// with gzip.
//
// A row that counts what another row counted already is a fault, and so is a cell
// that does not hold what its column says. Under -bad-rows leave-out the whole
// dataset of such a row is left out, because its counts would be wrong without
// the row. Under -repeats merge, rows that count the same are added up.
//
// # What DOI records will show
//
// The service makes view and download numbers of a stored report, some time later and by
// rules of its own. What they will not show as it was counted is a warning. So is a number
// of an earlier version that this one lacks: records continue to show it, unless
// -dropped zero sends a count of 0 in its place, now or in a later run. With -compare-others, datasets
// that another report of the account has for the same month are a warning, too, as
// after the name of the creator changed: records show the sum.
//
// # What comes out
//
// Standard output gets the receipt, after the stored report was read back and
// compared; -json makes it JSON. Standard error gets the progress and all that is
// wrong. With -quiet both get nothing, unless something goes wrong. The exit code says
// how it ended:
//
//	0  the service holds exactly the report (with -dry-run: it could be sent)
//	1  the submission did not finish, or its receipt could not be printed; what is
//	   stored is said
//	2  the input, the flags, the token or the folder for temporary files are at
//	   fault; nothing was changed on the service
//	3  the service failed; nothing was changed
//
// After 1, which is also how an interruption ends, and after 3, run the same command
// again: it looks at what the service holds and goes on from there. Running it again
// after 0 changes nothing; after 2 something else has to be fixed first.
//
// When a response is lost, the program waits before it looks or sends again, and
// says what for and until when: the service may still be working on the request.
// A run after one that was cut off waits for the rest of that time. While a run
// for a report goes on, others for the same report on this machine end at once
// with 1. They know of each other by files in /tmp, or in the folder that
// DATACITE_LOCK_DIR names; it has to be the same for all runs.
package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/reports"
)

func main() { program.Main("usagereport", run) }

func run(ctx context.Context, p *program.Program) error { return submit(ctx, p, nil) }

// submit is run with a client to send with, nil for a new one.
func submit(ctx context.Context, p *program.Program, sender *http.Client) error {
	s, err := readSettings(p)
	if err != nil {
		return err
	}
	show := &meter{p: p}
	in, err := open(ctx, s, p.Stdin, show)
	if err != nil {
		return explained(ctx, &s, err)
	}
	defer in.close()
	done, err := send(ctx, s, sender, in, show)
	if err != nil {
		in.printWarnings(p.Warn)
		return explained(ctx, &s, err)
	}
	in.printWarnings(p.Say)
	if kept := done.kept(); p.Quiet() && kept != "" {
		p.Warn("warning: kept: %s", kept)
	}
	text, err := done.write(s.json)
	if err != nil {
		return err
	}
	return p.Result("%s", text)
}

// connect makes a client of the service that the settings name.
func connect(s settings, sender *http.Client, show *meter) (client *reports.Client, at string, closeService func(), err error) {
	closeService = func() {}
	cfg := datacite.Config{UserAgent: "usagereport", Token: s.token, HTTPClient: sender}
	switch {
	case s.dryRun:
		at, cfg.Token, cfg.HTTPClient = dryRunURL(), dryRunToken(), dryRunClient()
	case s.inMemory():
		server := datacitetest.NewServer(nil)
		closeService = server.Close
		at, cfg.Token = server.URL, server.Token(server.Now().Add(365*24*time.Hour))
		show.p.Say("The service runs in memory and forgets everything at the end; -api sends to a real one.")
	default:
		at = s.api
		warnOfExpiry(show, s.token)
	}
	cfg.Service.API = at
	client, err = reports.NewClient(cfg)
	return client, at, closeService, err
}

// warnOfExpiry says when the token will not last for another month.
func warnOfExpiry(show *meter, token string) {
	at, err := reports.TokenExpiry(token)
	if err == nil && time.Until(at) < 30*24*time.Hour {
		show.p.Say("warning: DATACITE_TOKEN expires on %s; ask the operator of the service for a new one.", at.Format(time.DateOnly))
	}
}

func send(ctx context.Context, s settings, sender *http.Client, in *input, show *meter) (*receipt, error) {
	client, at, closeService, err := connect(s, sender, show)
	if err != nil {
		return nil, err
	}
	defer closeService()
	watch := &watcher{show: show, in: in, dryRun: s.dryRun}
	stored, err := client.Submit(ctx, in.header, watch.datasets(), &reports.SubmitOptions{
		HelpURL: s.helpURL, MergeRepeats: s.mergeRepeats, LeaveOut: in.leavingOut(s),
		ZeroDropped: s.zeroDropped, CompareOthers: s.compareOthers,
		Warn: in.warn, Progress: watch.progress,
		MaxDatasets: s.maxDatasets, MaxProcessing: s.maxProcessing,
	})
	if err != nil {
		return nil, err
	}
	if !s.dryRun {
		show.p.Say("Reading the report back.")
		if err := client.Verify(ctx, stored); err != nil {
			return nil, &unverifiedError{stored, err}
		}
	}
	return newReceipt(s, at, in, stored), nil
}

// An unverifiedError is a report that was stored, and is not known to be as it
// should.
type unverifiedError struct {
	stored *reports.Receipt
	err    error
}

func (e *unverifiedError) Error() string {
	return fmt.Sprintf("report %s was stored, all %d subsets of it, but reading it back failed: %v", e.stored.ReportID, len(e.stored.Subsets), e.err)
}

func (e *unverifiedError) Unwrap() error { return e.err }
