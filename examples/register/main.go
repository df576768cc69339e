// Command register registers one DOI: it checks a metadata record, stores it, then
// the URL that the DOI leads to, and shows the result.
//
//	go run ./examples/register -doi 10.5072/glacier-7 -url https://repo.example.org/glacier/7 examples/register/record.json
//
// Without -live, the service runs in memory, with no network and no account. -h
// tells the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/internal/arguments"
	"github.com/datacite-go/datacite-go/mds"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "register:", err)
	if ctx.Err() != nil {
		os.Exit(130)
	}
	os.Exit(1)
}

const usage = `Register one DOI: store its metadata, then its URL.

  register [flags] -url URL record            on a service in memory, to try it
  register -live [flags] -url URL record      on the service of -mds
  register -dry-run [flags] -url URL record   print what would be sent, send nothing

The record is a file of DataCite XML, DataCite JSON (with the names of the DOI
service: creators, titles, ...), or another format that the service takes, such as
BibTeX, RIS or Citeproc JSON. XML and JSON are checked before anything is sent.

Environment, with -live:
  DATACITE_USERNAME, DATACITE_PASSWORD   the account

Output: a line for each step on standard output. Standard error gets what is wrong
with the record: an error stops the registration, a warning does not.

Exit codes:
  0    the DOI is registered (with -dry-run: it could be sent)
  1    the record, the flags or the environment are at fault, or the service failed
  130  interrupted by Ctrl-C
`

// settings say what to register and where.
type settings struct {
	doi, prefix, url, file string
	mds, resolver          string // base URLs, with live
	live, dryRun, wait     bool
	username, password     string
}

func readSettings(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	s := settings{username: getenv("DATACITE_USERNAME"), password: getenv("DATACITE_PASSWORD")}
	flags := flag.NewFlagSet("register", flag.ContinueOnError)
	flags.StringVar(&s.doi, "doi", "", "`DOI` to register; without it, one is made up under -prefix")
	flags.StringVar(&s.prefix, "prefix", datacitetest.Prefix, "`prefix` for a DOI that is made up")
	flags.StringVar(&s.url, "url", "", "`URL` that the DOI leads to")
	flags.BoolVar(&s.wait, "wait", false, "wait until the DOI resolves")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be sent, send nothing, whatever else is given")
	flags.BoolVar(&s.live, "live", false, "use the hosts of -mds and -resolver instead of a service in memory")
	flags.StringVar(&s.mds, "mds", datacite.Test.MDS, "with -live: base `URL` of the metadata store")
	flags.StringVar(&s.resolver, "resolver", mds.TestResolver, "with -live and -wait: base `URL` of the resolver")
	files, given, err := arguments.Parse(flags, usage, args, out)
	switch {
	case err != nil:
		return s, err
	case len(files) != 1 || s.url == "":
		return s, fmt.Errorf("give -url and one file with a record, not %d; -h shows how", len(files))
	case given["mds"] && !s.live && !s.dryRun:
		return s, errors.New("-mds has no effect without -live; add -live to register there, or leave -mds out")
	case given["resolver"] && !(s.live && s.wait):
		return s, errors.New("-resolver has no effect without -live and -wait; add them, or leave it out")
	case given["prefix"] && given["doi"]:
		return s, errors.New("-prefix has no effect with -doi; leave one of them out")
	case s.live && !s.dryRun && (s.username == "" || s.password == ""):
		return s, errors.New("-live needs DATACITE_USERNAME and DATACITE_PASSWORD in the environment")
	}
	s.file = files[0]
	if s.doi == "" {
		s.doi = s.prefix + "/" + doi.NewSuffix()
	}
	return s, nil
}

func run(ctx context.Context, args []string, getenv func(string) string, out, notes io.Writer) error {
	s, err := readSettings(args, getenv, out)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	doc, err := readRecord(data, notes)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if named := nameIn(doc); named != "" && !doi.Same(named, s.doi) {
		return fmt.Errorf("%s names %s, and %s would be registered; give -doi %[2]s, or take the name out of the record", s.file, named, s.doi)
	}
	if s.dryRun {
		fmt.Fprintln(notes, "dry run: nothing is sent")
		return s.rehearse(ctx, doc, out)
	}
	client, resolver, err := s.connect()
	if err != nil {
		return err
	}
	where := ""
	if !s.live {
		where = "in memory: "
	}
	done, err := client.Register(ctx, s.doi, s.url, doc)
	switch {
	case errors.Is(err, mds.ErrHalfRegistered):
		return fmt.Errorf("%w\n%s%s has its metadata, but not its URL; run this again with -doi %[3]s", err, where, s.doi)
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("interrupted; run this again with -doi %s, which may be registered in part", s.doi)
	case err != nil:
		return err
	}
	fmt.Fprintf(out, "%s%s %s, now %s, leads to %s\n", where, done.DOI, done.Change, done.State, done.URL)
	if !s.wait {
		return nil
	}
	if err := mds.WaitResolved(ctx, resolver, done.DOI, done.URL, nil); ctx.Err() != nil {
		return fmt.Errorf("interrupted; %s is registered, and was not seen to resolve", done.DOI)
	} else if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s%s resolves\n", where, doi.Address(done.DOI))
	return nil
}

// connect makes a client of the service, which without live is one in memory.
func (s settings) connect() (*mds.Client, mds.Resolver, error) {
	if !s.live {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, ResolveDelay: 5 * time.Second})
		return srv.MDS(), srv, nil
	}
	client, err := mds.NewClient(datacite.Config{Service: datacite.Service{MDS: s.mds}, Username: s.username, Password: s.password})
	return client, &mds.HTTPResolver{BaseURL: s.resolver}, err
}

// rehearse registers against a service that prints what it is sent.
func (s settings) rehearse(ctx context.Context, doc mds.Document, out io.Writer) error {
	client, err := mds.NewClient(datacite.Config{
		Service: datacite.Service{MDS: s.mds}, Username: "dry", Password: "run",
		HTTPClient: &http.Client{Transport: printer{out}},
	})
	if err != nil {
		return err
	}
	_, err = client.Ensure(ctx, s.doi, s.url, doc, &mds.EnsureOptions{NoReadBack: true})
	return err
}

// printer stands in for a service that knows no DOI and takes everything.
type printer struct{ out io.Writer }

// RoundTrip prints what would be written, and responds as the service would.
func (p printer) RoundTrip(req *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: req}
	if req.Method == http.MethodGet {
		return res, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(p.out, "%s %s\nContent-Type: %s\n\n%s\n\n", req.Method, req.URL, req.Header.Get("Content-Type"), strings.TrimSpace(string(body)))
	res.StatusCode = http.StatusCreated
	return res, nil
}
