// Command quickstart does the main job of the library before your eyes: it
// registers DOIs, finds their records and reports their usage.
//
// Without arguments it works against a service in memory, with no network and
// no account. Point it at the test hosts with real credentials like this:
//
//	export DATACITE_USERNAME=… DATACITE_PASSWORD=… DATACITE_TOKEN=…
//	go run ./examples/quickstart -live -prefix 10.12345 -url https://your-domain.example/item
//
// Passwords and tokens come from the environment only, so that they show neither
// in the list of processes nor in the shell's history.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/reports"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// settings say which service to use and as whom.
type settings struct {
	api, mds           string // base URLs
	username, password string
	token              string
	prefix             string
	url                string       // what the DOIs of the demonstration point to
	creator            string       // created-by of the usage report
	datasets           int          // of the usage report
	line               *http.Client // of the service in memory: pauses before retries are short; nil with -live
}

func readSettings(args []string, getenv func(string) string, out io.Writer) (s settings, live bool, err error) {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.BoolVar(&live, "live", false,
		"use the hosts of -api and -mds, with DATACITE_USERNAME, DATACITE_PASSWORD and DATACITE_TOKEN of the environment, "+
			"instead of a service in memory")
	flags.StringVar(&s.api, "api", datacite.Test.API,
		"with -live: base `URL` of the DOI query and usage report interfaces")
	flags.StringVar(&s.mds, "mds", datacite.Test.MDS, "with -live: base `URL` of the metadata store")
	flags.StringVar(&s.prefix, "prefix", datacitetest.Prefix, "`prefix` of the account")
	flags.StringVar(&s.url, "url", "https://repository.example.org/item",
		"`address` that the DOIs point to; its domain must be the account's")
	flags.StringVar(&s.creator, "creator", "datacite-go quickstart", "`creator` of the usage report")
	flags.IntVar(&s.datasets, "datasets", 120_000, "datasets in the usage report")
	err = flags.Parse(args)
	s.username, s.password, s.token = getenv("DATACITE_USERNAME"), getenv("DATACITE_PASSWORD"), getenv("DATACITE_TOKEN")
	switch {
	case err != nil:
		return s, live, err
	case flags.NArg() > 0:
		return s, live, fmt.Errorf("%q is not a flag, and there are no other arguments; -h shows the flags", flags.Arg(0))
	case !live && (s.api != datacite.Test.API || s.mds != datacite.Test.MDS):
		return s, live, errors.New("-api and -mds have no effect without -live; add -live to use those hosts, or leave " +
			"them out")
	case s.datasets < 1:
		return s, live, fmt.Errorf("-datasets is %d; a report has one at least", s.datasets)
	case live && (s.username == "" || s.password == "" || s.token == ""):
		return s, live, errors.New("-live needs DATACITE_USERNAME, DATACITE_PASSWORD and DATACITE_TOKEN in the environment")
	}
	return s, live, nil
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	s, live, err := readSettings(args, getenv, out)
	if err != nil {
		return err
	}
	where := ""
	if !live {
		server := datacitetest.NewServer(nil)
		defer server.Close()
		s.api, s.mds, s.line = server.URL, server.URL, server.HTTPClient()
		s.username, s.password = datacitetest.Username, datacitetest.Password
		s.token = server.Token(server.Now().Add(365 * 24 * time.Hour))
		fmt.Fprintln(out, "The service runs in memory, at", server.URL)
		where = " in memory: nothing real was registered or reported, and -live uses real hosts"
	}
	d, err := newDemo(s, out)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Register a DOI in two steps: metadata, then its URL", d.register},
		{"Mint a new name under the prefix", d.mint},
		{"Hide a DOI: it still resolves, and searching does not find it", d.hide},
		{"Delete a draft", d.deleteDraft},
		{"Find records: a built query, sorted, page by page", d.search},
		{fmt.Sprintf("Report the usage of %d datasets", s.datasets), d.report},
	} {
		fmt.Fprintf(out, "\n%s\n", step.title)
		switch err := step.do(ctx); {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted in this step: %s; what is above is done, and another run begins anew with other "+
				"names", step.title)
		case err != nil:
			return err
		}
	}
	_, err = fmt.Fprintf(out, "\nAll steps done%s.\n", where)
	return err
}

// newDemo makes the three clients. They share one logger, which prints each
// request and what came back.
func newDemo(s settings, out io.Writer) (*demo, error) {
	requests := &requestLog{out: out}
	log := slog.New(requests)
	cfg := datacite.Config{
		Service:  datacite.Service{API: s.api, MDS: s.mds},
		Username: s.username, Password: s.password, Token: s.token, Logger: log, HTTPClient: s.line,
	}
	store, err := mds.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	// Without a login it finds what everybody finds: hidden DOIs are not among them.
	records, err := dois.NewClient(datacite.Config{Service: cfg.Service, Logger: log, HTTPClient: s.line})
	if err != nil {
		return nil, err
	}
	usage, err := reports.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	return &demo{settings: s, out: out, log: requests, mds: store, dois: records, reports: usage,
		run: time.Now().UTC().Format("20060102150405")}, nil
}
