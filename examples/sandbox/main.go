// Command sandbox serves the embedded service on a port, so that a client in any
// language can be tried against it: the metadata store, the DOI query interface
// and usage reports over one set of records, in memory, until it is stopped. It is
// for tests: it accepts unsigned tokens and a public password.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest"
)

const usage = `Usage: sandbox [-addr host:port] [-behaviour documented|deployed]

Serves the embedded registration service for tests, in memory, until Ctrl-C.

  -addr host:port    where to listen; port 0 takes a free one, no host means all
                     interfaces (default localhost:8080)
  -behaviour name    documented: as specified; deployed: as the service in
                     operation, flaws included (default documented)
  -h                 shows this

There are no arguments, and nothing is read from the environment.

It speaks the formats of the service: DataCite XML and others for metadata, lines of
doi= and url=, JSON for records and lists, JSON or gzip of it for usage reports. It
accepts unsigned tokens and a public password, and keeps nothing: let
it listen on loopback addresses only.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

type settings struct {
	address   string
	behaviour datacitetest.Behaviour
}

func readSettings(args []string) (s settings, err error) {
	flags := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.address, "addr", "localhost:8080", "")
	flags.StringVar((*string)(&s.behaviour), "behaviour", string(datacitetest.Documented), "")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" {
			err = fmt.Errorf("-%s is empty", f.Name)
		}
	})
	switch {
	case err != nil:
		return s, err
	case flags.NArg() > 0:
		return s, fmt.Errorf("there are no arguments, but %q is given", strings.Join(flags.Args(), " "))
	case s.behaviour != datacitetest.Documented && s.behaviour != datacitetest.Deployed:
		return s, fmt.Errorf("there is no behaviour %q", s.behaviour)
	}
	return s, nil
}

func run(ctx context.Context, args []string, out, notes io.Writer) error {
	s, err := readSettings(args)
	if errors.Is(err, flag.ErrHelp) {
		_, err := io.WriteString(out, usage)
		return err
	}
	if err != nil {
		return fmt.Errorf("%w (-h shows the usage)", err)
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	if a, ok := listener.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		fmt.Fprintf(notes, "sandbox: WARNING: %s can be reached from other machines. This service is for tests: it accepts unsigned tokens and a public password, and keeps nothing.\n", listener.Addr())
	}
	service := datacitetest.NewServer(&datacitetest.Options{NoPort: true, Behaviour: s.behaviour})
	defer service.Close()
	welcome(out, "http://"+listener.Addr().String(), service.Token(365*24*time.Hour))
	return serve(ctx, listener, service)
}

// serve answers requests until the context is done, and those that are under way
// then, for five seconds at most.
func serve(ctx context.Context, listener net.Listener, service http.Handler) error {
	server := &http.Server{Handler: service, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close()
	}
	<-served
	return nil
}

func welcome(out io.Writer, url, token string) {
	fmt.Fprintf(out, `The service runs at %[1]s

  account  %[2]s:%[3]s, prefix %[4]s
  token    %[5]s

Try, in another terminal:

  curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: application/xml;charset=UTF-8' --data-binary @record.xml %[1]s/metadata/%[4]s/example
  printf 'doi=%[4]s/example\nurl=https://example.org/' | curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: text/plain;charset=UTF-8' --data-binary @- %[1]s/doi/%[4]s/example
  curl '%[1]s/dois?query=titles.title:glacier&sort=-created'
  curl %[1]s/dois/%[4]s/example
  curl %[1]s/reports

Press Ctrl-C to stop; nothing is kept.
`, url, datacitetest.Username, datacitetest.Password, datacitetest.Prefix, token)
}
