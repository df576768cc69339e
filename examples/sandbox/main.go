// Command sandbox serves the embedded service on a port, so that a client in any
// language can be tried against it: the metadata store, the DOI query interface,
// usage reports and a resolver over one set of records, in memory, until it is stopped.
// It is for tests: it accepts unsigned tokens and a public password.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/internal/program"
)

func main() { program.Main("sandbox", run) }

const usage = `Serve the embedded registration service for tests, until Ctrl-C: the metadata store,
DOI query and usage reports, in memory. A page for people at / shows what it holds
and what it was asked last. At ` + resolverPath + ` is the resolver of its DOIs.

  sandbox [flags]

It speaks the formats of the service: DataCite XML and others for metadata, lines of
doi= and url=, JSON for records and lists, JSON or gzip of it for usage reports. It
accepts unsigned tokens and a public password: let it listen on loopback addresses
only. It serves requests under loopback names only, and to no web page of another host,
unless -host names one. Nothing is read from the environment.

Faults of chosen requests, with -fault; the first that fits counts:
  -fault "PUT /metadata=503"        a gateway responds with 503, and nothing is done
  -fault "POST /reports=504-after"  the work is done, a gateway responds with 504
  -fault "PUT /doi=drop-after"      the work is done, and the connection is lost; also
                                    drop-before, drop-during, cut-response
  -fault "/dois=5s"                 the response of any method takes five seconds
  -fault "PUT /metadata=2*503"      the first two such requests fail
  -fault "/metadata=behind"         the store has lost the service behind it; not if documented
A path fits all below it: /metadata fits /metadata/10.5072/a.

Output: address, account and token on standard output, not with -quiet.
`

type settings struct {
	address     string
	load, state string
	rules       bool
	options     datacitetest.Options
}

// hosts are a flag that may be repeated.
type hosts []string

func (h *hosts) String() string { return strings.Join(*h, ", ") }

func (h *hosts) Set(name string) error {
	if name == "" || strings.ContainsAny(name, "/ ") {
		return errors.New("write it as a host name, such as sandbox.test")
	}
	*h = append(*h, name)
	return nil
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

func readSettings(p *program.Program) (s settings, err error) {
	o := &s.options
	o.NoPort = true
	o.Accounts = []datacitetest.Account{{}}
	var chosen routes
	flags := p.Flags()
	flags.StringVar(&s.address, "addr", "localhost:8080", "where to listen, `host:port`; port 0 takes a free one, no host means all interfaces")
	flags.StringVar((*string)(&o.Behaviour), "behaviour", string(datacitetest.Deployed), "deployed: as the service in operation, flaws included; documented: as specified")
	flags.Var((*hosts)(&o.Hosts), "host", "one more `name` under which clients and web pages may use it, beside that of -addr and loopback names such as localhost; may be repeated")
	flags.Var((*accounts)(&o.Accounts), "account", "one more account, as `NAME:PASSWORD:PREFIX,PREFIX`; may be repeated")
	flags.Var(&chosen, "fault", "what happens to chosen requests, `\"METHOD /PATH=FAULT\"`, see above; may be repeated")
	flags.Var((*down)(&chosen), "down", "`interface` that is down, with a page of a gateway and 503: mds, dois or reports; may be repeated")
	rate := flags.Float64("faults", 0, "the `share` of other requests that fail at random, from 0 to 1: lost connections, pages of a gateway, delays")
	seed := flags.Uint64("seed", 1, "`number` that decides which requests fail at random, and how")
	flags.DurationVar(&o.ResolveDelay, "resolve-delay", 5*time.Second, "how long a new DOI takes to resolve")
	flags.DurationVar(&o.IndexLag, "lag", 0, "how long lists take to show changes, such as 30s; not with -behaviour documented")
	flags.DurationVar(&o.UsageLag, "usage-lag", 0, "how long DOIs take to show the views and downloads of a usage report, and related DOIs; not with -behaviour documented")
	flags.StringVar(&s.load, "load", "", "`file` of records to begin with: JSON lines as of examples/harvest, or pages of the service; .gz is unpacked")
	flags.StringVar(&s.state, "state", "", "`file` that keeps everything over a restart; created if it is missing")
	flags.BoolVar(&s.rules, "rules", false, "print how the service in operation behaves, rule by rule with evidence, and exit")
	words, _, err := p.Parse(usage)
	deployed := o.Behaviour == datacitetest.Deployed
	switch {
	case err != nil:
		return s, err
	case len(words) > 0:
		return s, fmt.Errorf("%q is not a flag, and there are no other arguments; -h shows the flags", words[0])
	case o.Behaviour != datacitetest.Documented && !deployed:
		return s, fmt.Errorf("there is no behaviour %q; it is deployed or documented", o.Behaviour)
	case !(*rate >= 0 && *rate <= 1):
		return s, fmt.Errorf("-faults is %v; it goes from 0 to 1", *rate)
	case o.ResolveDelay < 0:
		return s, errors.New("-resolve-delay is a time from 0 up")
	case o.IndexLag < 0 || o.IndexLag > 0 && !deployed:
		return s, errors.New("-lag is a time from 0 up, and -behaviour documented has none")
	case o.UsageLag < 0 || o.UsageLag > 0 && !deployed:
		return s, errors.New("-usage-lag is a time from 0 up, and -behaviour documented has none")
	case !deployed && slices.ContainsFunc(chosen, func(r route) bool { return r.fault.Behind }):
		return s, errors.New("-fault: behind does not go with -behaviour documented")
	}
	for i, a := range o.Accounts {
		for _, before := range o.Accounts[:i] {
			if strings.EqualFold(a.Username, cmp.Or(before.Username, datacitetest.Username)) {
				return s, fmt.Errorf("the account %s is there twice", a.Username)
			}
		}
	}
	if host, _, err := net.SplitHostPort(s.address); err == nil && host != "" {
		o.Hosts = append(o.Hosts, host)
	}
	o.ResolveDelay = max(o.ResolveDelay, 1) // 0 is the default of the service
	o.Faults = chosen.faults()
	if *rate > 0 {
		o.Faults = o.Faults.Or(datacitetest.Schedule(*seed, *rate))
	}
	return s, nil
}

func run(ctx context.Context, p *program.Program) error {
	s, err := readSettings(p)
	if err != nil {
		return program.Wrong(err)
	}
	if s.rules {
		return program.Unwritten(printRules(p.Stdout))
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
		p.Say("%d records loaded", n)
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	if a, ok := listener.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		p.Warn("WARNING: %s can be reached from other machines. This service is for tests: it accepts unsigned tokens and a public password. Under other names than localhost it is served if -host names them.", listener.Addr())
	}
	token := service.Token(service.Now().Add(365 * 24 * time.Hour))
	if err := welcome(p, "http://"+listener.Addr().String(), token, s); err != nil {
		return errors.Join(err, listener.Close())
	}
	page := &site{service: service, token: token}
	guarded := service.Guard(page)
	if s.state == "" {
		return serve(ctx, listener, guarded)
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
					p.Warn("sandbox: %v", err)
				}
			}
		}
	})
	err = serve(ctx, listener, guarded)
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

func welcome(p *program.Program, url, token string, s settings) error {
	kept := "nothing is kept"
	if s.state != "" {
		kept = s.state + " keeps what there is"
	}
	return p.Result(`The service runs at %[1]s (open it in a browser to see what it holds)

  account   %[2]s:%[3]s, prefix %[4]s
  token     %[5]s
  resolver  %[1]s%[7]s

Try, in another terminal:

  curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: application/xml;charset=UTF-8' --data-binary @record.xml %[1]s/metadata/%[4]s/example
  printf 'doi=%[4]s/example\nurl=https://example.org/' | curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: text/plain;charset=UTF-8' --data-binary @- %[1]s/doi/%[4]s/example
  curl '%[1]s/dois?query=titles.title:glacier&sort=-created'
  curl %[1]s/dois/%[4]s/example
  curl -I %[1]s%[7]s/%[4]s/example
  curl %[1]s/reports

Press Ctrl-C to stop; %[6]s.
`, url, datacitetest.Username, datacitetest.Password, datacitetest.Prefix, token, kept, resolverPath)
}
