// Command register registers one DOI: it stores a metadata record, then the URL
// that the DOI leads to, and shows what came of it.
//
//	go run ./examples/register -doi 10.5072/glacier-7 -url https://repo.example.org/glacier/7 examples/register/record.json
//
// The record is DataCite XML, DataCite JSON, or any other format that the service
// takes. Without -doi, a name is made up under -prefix. Without -live, the service
// runs in memory, with no network and no account; -live wants DATACITE_USERNAME
// and DATACITE_PASSWORD in the environment.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/mds/mdstest"
	"github.com/datacite-go/datacite-go/mds/metadata"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "register:", err)
		os.Exit(1)
	}
}

// settings say what to register and where.
type settings struct {
	doi, prefix, url, file string
	mds, resolver          string // base URLs, with live
	live, dryRun, wait     bool
	creds                  mds.Credentials
}

func readSettings(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	s := settings{creds: mds.Credentials{Username: getenv("DATACITE_USERNAME"), Password: getenv("DATACITE_PASSWORD")}}
	flags := flag.NewFlagSet("register", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.doi, "doi", "", "DOI to register; empty makes one up under -prefix")
	flags.StringVar(&s.prefix, "prefix", mdstest.Prefix, "prefix for a DOI that is made up")
	flags.StringVar(&s.url, "url", "", "address that the DOI leads to")
	flags.BoolVar(&s.wait, "wait", false, "wait until the DOI resolves")
	flags.BoolVar(&s.dryRun, "dry-run", false, "print what would be sent, send nothing")
	flags.BoolVar(&s.live, "live", false, "use the hosts of -mds and -resolver instead of a service in memory")
	flags.StringVar(&s.mds, "mds", mds.Test, "base URL of the metadata store")
	flags.StringVar(&s.resolver, "resolver", mds.TestResolver, "base URL of the resolver")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() != 1 || s.url == "" {
		return s, errors.New("give -url and one file with a record")
	}
	s.file = flags.Arg(0)
	if s.doi == "" {
		s.doi = s.prefix + "/" + mds.NewSuffix()
	}
	return s, nil
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	s, err := readSettings(args, getenv, out)
	if err != nil {
		return err
	}
	doc, err := readRecord(s.file)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if s.dryRun {
		return s.rehearse(ctx, doc, out)
	}
	client, resolver, err := s.connect()
	if err != nil {
		return err
	}
	done, err := client.Register(ctx, s.doi, s.url, doc)
	if half, ok := errors.AsType[*mds.HalfRegisteredError](err); ok {
		fmt.Fprintf(out, "%s has its metadata, but not its URL; run this again\n", half.DOI)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %s, now %s, leads to %s\n", done.DOI, done.Change, done.State, done.URL)
	if !s.wait {
		return nil
	}
	if err := mds.WaitResolved(ctx, resolver, done.DOI, done.URL, nil); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s resolves\n", mds.DOIAddress(done.DOI))
	return nil
}

// connect makes a client of the service, which without live is one in memory.
func (s settings) connect() (*mds.Client, mds.Resolver, error) {
	if !s.live {
		srv := mdstest.NewServer(&mdstest.Options{NoPort: true, ResolveDelay: 5 * time.Second})
		return srv.Client(), srv.Resolver(), nil
	}
	client, err := mds.NewClient(s.mds, s.creds, nil)
	return client, &mds.HTTPResolver{BaseURL: s.resolver}, err
}

// readRecord reads a record in any format. DataCite's own JSON is the one that
// the service does not take, so it is turned into XML.
func readRecord(file string) (mds.Document, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return mds.Document{}, err
	}
	doc, err := mds.Detect(data)
	if err == nil || !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return doc, err
	}
	var record metadata.Record
	if err := json.Unmarshal(data, &record); err != nil {
		return doc, err
	}
	return mds.Record(&record)
}

// rehearse registers against a service that prints what it is sent.
func (s settings) rehearse(ctx context.Context, doc mds.Document, out io.Writer) error {
	client, err := mds.NewClient(s.mds, mds.Credentials{Username: "dry", Password: "run"}, &mds.ClientOptions{
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

// RoundTrip prints what would be written, and answers as the service would.
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
