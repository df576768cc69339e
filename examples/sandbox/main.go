// Command sandbox serves the embedded service on a port, so that a client in any
// language can be tried against it: the metadata store, the DOI query interface
// and usage reports over one set of records, in memory, until it is stopped. It is
// for tests: it accepts unsigned tokens and a public password.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/arguments"
)

const usage = `Serve the embedded registration service for tests, until Ctrl-C: the metadata store,
DOI query and usage reports, in memory. A page for people at / shows what it holds
and what it was asked last.

  sandbox [flags]

It speaks the formats of the service: DataCite XML and others for metadata, lines of
doi= and url=, JSON for records and lists, JSON or gzip of it for usage reports. It
accepts unsigned tokens and a public password: let it listen on loopback addresses
only. Nothing is read from the environment.

Exit codes:
  0    stopped by Ctrl-C
  1    the flags, the port or a file are at fault
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

type settings struct {
	address     string
	load, state string
	rules       bool
	options     datacitetest.Options
}

// accounts are a flag that may be repeated.
type accounts []datacitetest.Account

func (a *accounts) String() string {
	var names []string
	for _, account := range *a {
		names = append(names, account.Username)
	}
	return strings.Join(names, ", ")
}

func (a *accounts) Set(text string) error {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return errors.New("write it as NAME:PASSWORD:PREFIX,PREFIX")
	}
	*a = append(*a, datacitetest.Account{Username: parts[0], Password: parts[1], Prefixes: strings.Split(parts[2], ",")})
	return nil
}

func readSettings(args []string, out io.Writer) (s settings, err error) {
	o := &s.options
	o.NoPort = true
	o.Accounts = []datacitetest.Account{{}}
	flags := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	flags.StringVar(&s.address, "addr", "localhost:8080", "where to listen, `host:port`; port 0 takes a free one, no host means all interfaces")
	flags.StringVar((*string)(&o.Behaviour), "behaviour", string(datacitetest.Documented), "documented: as specified; deployed: as the service in operation, flaws included")
	flags.Var((*accounts)(&o.Accounts), "account", "one more account, as `NAME:PASSWORD:PREFIX,PREFIX`; may be repeated")
	rate := flags.Float64("faults", 0, "the `share` of requests that fail, from 0 to 1: lost connections, pages of a gateway, delays")
	seed := flags.Uint64("seed", 1, "`number` that decides which requests fail, and how")
	flags.DurationVar(&o.IndexLag, "lag", 0, "how long lists take to show changes, such as 30s; with -behaviour deployed")
	flags.DurationVar(&o.UsageLag, "usage-lag", 0, "how long DOIs take to show the views and downloads of a usage report; with -behaviour deployed")
	flags.StringVar(&s.load, "load", "", "`file` of records to begin with: JSON lines as of examples/harvest, or pages of the service; .gz is unpacked")
	flags.StringVar(&s.state, "state", "", "`file` that keeps everything over a restart; created if it is missing")
	flags.BoolVar(&s.rules, "rules", false, "print how the service in operation behaves, rule by rule with evidence, and exit")
	words, _, err := arguments.Parse(flags, usage, args, out)
	switch {
	case err != nil:
		return s, err
	case len(words) > 0:
		return s, fmt.Errorf("%q is not a flag, and there are no other arguments; -h shows the flags", words[0])
	case o.Behaviour != datacitetest.Documented && o.Behaviour != datacitetest.Deployed:
		return s, fmt.Errorf("there is no behaviour %q; -h shows the flags", o.Behaviour)
	case !(*rate >= 0 && *rate <= 1):
		return s, fmt.Errorf("-faults is %v; it goes from 0 to 1", *rate)
	case o.IndexLag < 0 || o.IndexLag > 0 && o.Behaviour != datacitetest.Deployed:
		return s, errors.New("-lag is a time from 0 up, and needs -behaviour deployed")
	case o.UsageLag < 0 || o.UsageLag > 0 && o.Behaviour != datacitetest.Deployed:
		return s, errors.New("-usage-lag is a time from 0 up, and needs -behaviour deployed")
	}
	for i, a := range o.Accounts {
		for _, before := range o.Accounts[:i] {
			if strings.EqualFold(a.Username, cmp.Or(before.Username, datacitetest.Username)) {
				return s, fmt.Errorf("the account %s is there twice", a.Username)
			}
		}
	}
	if *rate > 0 {
		o.Faults = datacitetest.Schedule(*seed, *rate)
	}
	return s, nil
}

func run(ctx context.Context, args []string, out, notes io.Writer) error {
	s, err := readSettings(args, out)
	if err != nil {
		return err
	}
	if s.rules {
		return printRules(out)
	}
	service := datacitetest.NewServer(&s.options)
	defer service.Close()
	if s.state != "" {
		if err := restore(service, s.state); err != nil {
			return err
		}
	}
	if s.load != "" {
		n, err := load(service, s.load)
		if err != nil {
			return err
		}
		fmt.Fprintf(notes, "sandbox: %d records loaded\n", n)
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	if a, ok := listener.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		fmt.Fprintf(notes, "sandbox: WARNING: %s can be reached from other machines. This service is for tests: it accepts unsigned tokens and a public password.\n", listener.Addr())
	}
	token := service.Token(service.Now().Add(365 * 24 * time.Hour))
	welcome(out, "http://"+listener.Addr().String(), token, s)
	page := &site{service: service, token: token}
	if s.state == "" {
		return serve(ctx, listener, page)
	}
	// It is saved a second after a write, and at the end.
	var saver sync.WaitGroup
	serving, stop := context.WithCancel(ctx)
	saver.Go(func() {
		for serving.Err() == nil {
			select {
			case <-serving.Done():
			case <-time.After(time.Second):
			}
			if page.changed.Swap(false) {
				if err := save(service, s.state); err != nil {
					page.changed.Store(true) // it is tried again
					fmt.Fprintln(notes, "sandbox:", err)
				}
			}
		}
	})
	err = serve(ctx, listener, page)
	stop()
	saver.Wait()
	return errors.Join(err, save(service, s.state))
}

// serve serves requests until the context is done, and those that are under way
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

func welcome(out io.Writer, url, token string, s settings) {
	kept := "nothing is kept"
	if s.state != "" {
		kept = s.state + " keeps what there is"
	}
	fmt.Fprintf(out, `The service runs at %[1]s (open it in a browser to see what it holds)

  account  %[2]s:%[3]s, prefix %[4]s
  token    %[5]s

Try, in another terminal:

  curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: application/xml;charset=UTF-8' --data-binary @record.xml %[1]s/metadata/%[4]s/example
  printf 'doi=%[4]s/example\nurl=https://example.org/' | curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: text/plain;charset=UTF-8' --data-binary @- %[1]s/doi/%[4]s/example
  curl '%[1]s/dois?query=titles.title:glacier&sort=-created'
  curl %[1]s/dois/%[4]s/example
  curl %[1]s/reports

Press Ctrl-C to stop; %[6]s.
`, url, datacitetest.Username, datacitetest.Password, datacitetest.Prefix, token, kept)
}
