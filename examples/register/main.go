// Command register registers one DOI: it checks a metadata record, stores it, then
// the URL that the DOI leads to, and shows the result.
//
//	go run ./examples/register -doi 10.5072/glacier-7 -url https://repo.example.org/glacier/7 examples/register/record.json
//
// Without -live, the service runs in memory, with no network and no account. -h
// lists all flags.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/internal/program"
	"github.com/datacite-go/datacite-go/mds"
)

func main() { program.Main("register", run) }

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
with the record: an error stops the registration, a warning does not. A table of
records is the job of registertable.
`

// settings say what to register and where.
type settings struct {
	doi, prefix, url, file string
	mds, api, resolver     string // base URLs, with live
	live, dryRun, wait     bool
	username, password     string
}

func readSettings(p *program.Program) (settings, error) {
	s := settings{username: p.Getenv("DATACITE_USERNAME"), password: p.Getenv("DATACITE_PASSWORD")}
	flags := p.Flags()
	flags.StringVar(&s.doi, "doi", "", "`DOI` to register; without it, one is made up under -prefix")
	flags.StringVar(&s.prefix, "prefix", datacitetest.Prefix, "`prefix` for a DOI that is made up")
	flags.StringVar(&s.url, "url", "", "`URL` that the DOI leads to")
	flags.BoolVar(&s.wait, "wait", false, "wait until the DOI resolves")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be sent, send nothing, whatever else is given")
	flags.BoolVar(&s.live, "live", false, "use the hosts of -mds and -resolver instead of a service in memory")
	flags.StringVar(&s.mds, "mds", datacite.Test.MDS, "with -live: base `URL` of the metadata store")
	flags.StringVar(&s.api, "api", "", "with -live: base `URL` of the DOI API, which shows whether a DOI is hidden; that of DataCite's hosts is known")
	flags.StringVar(&s.resolver, "resolver", "", "with -live and -wait: base `URL` of the resolver; that of DataCite's hosts is known")
	files, given, err := p.Parse(usage)
	switch {
	case err != nil:
		return s, err
	case len(files) == 1 && isTable(files[0]):
		return s, fmt.Errorf("%s is a table, and this registers one record; registertable registers tables", files[0])
	case len(files) != 1 || s.url == "":
		return s, fmt.Errorf("give -url and one file with a record, not %d; -h shows how", len(files))
	case (given["mds"] || given["api"]) && !s.live && !s.dryRun:
		return s, errors.New("-mds and -api have no effect without -live; add -live to register there, or leave them out")
	case given["resolver"] && !(s.live && s.wait):
		return s, errors.New("-resolver has no effect without -live and -wait; add them, or leave it out")
	case s.wait && s.live && !s.dryRun && s.resolverURL() == "":
		return s, fmt.Errorf("-wait needs -resolver: where the DOIs of %s resolve is not known", s.mds)
	case p.Quiet() && s.doi == "" && !s.dryRun:
		return s, errors.New("-quiet needs -doi: the name that is made up would be shown nowhere")
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

func isTable(file string) bool {
	end := strings.ToLower(filepath.Ext(file))
	return end == ".csv" || end == ".xlsx"
}

// resolverURL is where the DOIs of the service resolve, "" if that is not known.
func (s settings) resolverURL() string {
	switch {
	case s.resolver != "":
		return s.resolver
	case strings.TrimRight(s.mds, "/") == datacite.Test.MDS:
		return mds.TestResolver
	case strings.TrimRight(s.mds, "/") == datacite.Production.MDS:
		return "https://doi.org"
	}
	return ""
}

func run(ctx context.Context, p *program.Program) error {
	s, err := readSettings(p)
	if err != nil {
		return program.Wrong(err)
	}
	data, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	doc, err := readRecord(bytes.TrimPrefix(data, []byte("\ufeff")), p)
	if err != nil {
		return program.Wrong(fmt.Errorf("%s: %w", s.file, err))
	}
	if named := nameIn(doc); named != "" && !doi.Same(named, s.doi) {
		return fmt.Errorf("%s names %s, and %s would be registered; give -doi %[2]s, or take the name out of the record", s.file, named, s.doi)
	}
	if s.dryRun {
		p.Say("dry run: nothing is sent")
		return s.rehearse(ctx, doc, p.Results())
	}
	client, resolver, err := s.connect()
	if err != nil {
		return err
	}
	if s.wait { // what cannot be waited for is known before anything is sent
		if _, err := resolver.Resolve(ctx, s.doi); err != nil && ctx.Err() == nil {
			return program.Failed(fmt.Errorf("-wait: the resolver cannot be asked, and nothing was sent: %w", err))
		}
	}
	return s.register(ctx, p, client, resolver, doc)
}

func (s settings) register(ctx context.Context, p *program.Program, client *mds.Client, resolver mds.Resolver, doc mds.Document) error {
	where := ""
	if !s.live {
		where = "in memory: "
	}
	if s.live {
		p.Say("registering %s", s.doi) // a name that was made up is known from here on
	}
	done, err := client.Register(ctx, s.doi, s.url, doc)
	switch {
	case errors.Is(err, mds.ErrHalfRegistered):
		return program.NotAllDone(fmt.Errorf("%w\n%s%s has its metadata, but not its URL; run this again with -doi %[3]s", err, where, s.doi))
	case err != nil && ctx.Err() != nil:
		return program.NotAllDone(fmt.Errorf("interrupted; run this again with -doi %s, which may be registered in part", s.doi))
	case errors.Is(err, datacite.ErrUnclear), errors.Is(err, mds.ErrUnconfirmed):
		return program.NotAllDone(fmt.Errorf("%w\n%s%s may be registered; run this again with -doi %[3]s", err, where, s.doi))
	case errors.Is(err, mds.ErrHidden):
		return program.Wrong(fmt.Errorf("%s%s is hidden, or may be, and registering it would show it; audit -fix changes it and keeps it hidden; "+
			"-api names the service that knows whether it is hidden", where, s.doi))
	case err != nil:
		return err
	}
	unwritten := p.Result("%s%s %s, now %s, leads to %s\n", where, done.DOI, done.Change, done.State, done.URL)
	if !s.wait || unwritten != nil {
		return unwritten
	}
	if err := mds.WaitResolved(ctx, resolver, done.DOI, done.URL, nil); ctx.Err() != nil {
		return program.NotAllDone(fmt.Errorf("interrupted; %s is registered, and was not seen to resolve", done.DOI))
	} else if err != nil {
		return program.NotAllDone(fmt.Errorf("%w; %s is registered", err, done.DOI))
	}
	if !s.live {
		return p.Result("%s%s resolves\n", where, done.DOI)
	}
	return p.Result("%s resolves at %s\n", done.DOI, s.resolverURL())
}

// connect makes a client of the service, which without live is one in memory.
func (s settings) connect() (*mds.Client, mds.Resolver, error) {
	if !s.live {
		srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true, ResolveDelay: 5 * time.Second})
		return srv.MDS(), srv, nil
	}
	client, err := mds.NewClient(datacite.Config{Service: program.Service(s.mds, s.api), Username: s.username, Password: s.password})
	return client, &mds.HTTPResolver{BaseURL: s.resolverURL()}, err
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
