// Package sandbox is the command datacite sandbox. It serves the embedded service on a port, so
// that a client in any language can be tried against it. The metadata store, the DOI query, usage
// reports and a resolver have one set of records, in memory, until it is stopped.
package sandbox

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
)

type command struct {
	*shell.Shell
	listen, addressFile string
	authority           string // file of the certificate that clients trust
	port                int
	load, state         string
	rules, unsupported  bool
	options             datacitetest.Options
	others              []string // further accounts
	chosen, down        []string // faults
	faults              []faultRule
	random              float64
	seed                uint64
}

// Command is datacite sandbox.
func Command(s *shell.Shell) *cobra.Command {
	c := &command{Shell: s}
	o := &c.options
	cmd := &cobra.Command{
		Use: "sandbox [-- COMMAND]", GroupID: shell.Testing, ValidArgsFunction: cobra.NoFileCompletions,
		Short: "Serve the service in memory, to try and to test against",
		Long: `Serve the registration service in memory, for tests, until Ctrl-C: the metadata store, the DOI
query and usage reports. The page at / shows what it holds and what it was asked last; its DOIs
resolve below ` + resolverPath + `. With a COMMAND after "--", it serves until that has ended, and
passes its exit code on; the command finds the address and the login in DATACITE_SERVICE,
DATACITE_USERNAME, DATACITE_PASSWORD and DATACITE_TOKEN, and NO_PROXY leads past a proxy.

Tests of any language control it below /sandbox/: reset it, add faults, read the requests. The
document ` + controlPath + `openapi.yaml describes that. A reset returns to the records of --load and to the
faults of the flags; the file of --state follows.

It accepts unsigned tokens and a public password, so let it listen on loopback addresses only. It
answers under loopback names only, and no web page of another host, unless --host or --allow-origin
names it. Below /sandbox/ it answers no page of another origin but those of --allow-origin.

With --tls it serves https, with a certificate for loopback names and each --host, which clients
trust by the file of --tls-ca. A COMMAND finds that file in SSL_CERT_FILE, CURL_CA_BUNDLE,
REQUESTS_CA_BUNDLE and NODE_EXTRA_CA_CERTS; most clients then trust no other host.

Faults of chosen requests, with --fault; the first that fits counts:
  --fault "PUT /metadata=503"        a gateway responds with 503, and nothing is done
  --fault "POST /reports=504-after"  the work is done, and a gateway responds with 504
  --fault "PUT /doi=drop-after"      the work is done, and the connection is lost; also
                                     drop-before, drop-during, cut-response
  --fault "/dois=5s"                 the response of any method takes five seconds
  --fault "PUT /metadata=2*503"      the first two such requests fail
  --fault "/dois=20%*429"            one such request in five fails, chosen by --seed
  --fault "/dois=429 retry-after 5s" the response has a header
  --fault "/metadata=behind"         the store has lost the service behind it; not if documented
A path fits all below it: /metadata fits /metadata/10.5072/a.`,
		Example: `  datacite sandbox
  datacite sandbox --fault "PUT /metadata=503"
  datacite sandbox -- pytest
  datacite sandbox -- datacite register items.csv --prefix 10.5072`,
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.IntVar(&c.port, "port", 8080, "`port` to listen on; 0 takes a free one, as for a COMMAND")
	flags.StringVar(&c.listen, "listen", "localhost", "`address` to listen on; 0.0.0.0 means all")
	flags.StringVar(&c.addressFile, "address-file", "",
		"write the URL of the service to this `file` as soon as it serves; removed at the end")
	flags.BoolVar(&o.TLS, "tls", false, "serve https, with a certificate made at the start")
	flags.StringVar(&c.authority, "tls-ca", "",
		"with --tls, write the certificate that clients trust to this `file`, in PEM")
	flags.StringArrayVar(&o.Hosts, "host", nil,
		"a further `name` under which clients and web pages may use it; may be repeated")
	flags.StringArrayVar(&o.Origins, "allow-origin", nil,
		"a further `origin`, such as http://localhost:3000, whose pages may use and control it; may be repeated")
	flags.StringArrayVar(&c.others, "account", nil,
		"a further account, `NAME:PASSWORD:PREFIX,PREFIX`, or NAME:PASSWORD for a member, which has the repositories "+
			"NAME.…; may be repeated")
	shell.Choice(cmd, (*string)(&o.Behaviour), "behaviour",
		"`deployed`: as the service in operation, flaws included; documented: as "+
			"specified", string(datacitetest.Deployed), string(datacitetest.Documented))
	flags.StringArrayVar(&c.chosen, "fault", nil,
		"what happens to chosen requests, `\"METHOD /PATH=FAULT\"`, see above; may be repeated")
	flags.StringArrayVar(&c.down, "down", nil,
		"an `interface` that is down, with a page of a gateway and 503: mds, dois or reports; may be repeated")
	flags.Float64Var(&c.random, "random-faults", 0,
		"`share` of the other requests that fail at random, from 0 to 1: lost connections, pages of a gateway, delays")
	flags.Uint64Var(&c.seed, "seed", 1, "`number` that decides which requests fail at random, and how; of --fault, too")
	flags.DurationVar(&o.ResolveDelay, "resolve-delay", 5*time.Second, "how long a new DOI takes to resolve")
	flags.DurationVar(&o.IndexLag, "lag", 0,
		"how long lists take to show changes, such as 30s; not with --behaviour documented")
	flags.DurationVar(&o.UsageLag, "usage-lag", 0,
		"how long DOIs take to show the views and downloads of a usage report, and related DOIs; not with --behaviour "+
			"documented")
	flags.StringVar(&c.load, "load", "",
		"`file` of records to begin with: JSON lines as of datacite search --json, or pages of the service, whose records "+
			"keep their accounts; .gz is unpacked")
	flags.StringVar(&c.state, "state", "", "`file` that keeps everything over a restart; created if it is missing")
	flags.BoolVar(&c.rules, "rules", false,
		"print how the service in operation behaves, rule by rule with evidence, and exit")
	flags.BoolVar(&c.unsupported, "unsupported", false, "print what it refuses with 501, with evidence, and exit")
	s.Flags(cmd, shell.JSON)
	return cmd
}

// check reads the settings. words are those of the command line.
func (c *command) check(cmd *cobra.Command, words []string) error {
	o := &c.options
	deployed := o.Behaviour == datacitetest.Deployed
	var err error
	c.faults, err = c.readFaults()
	switch {
	case err != nil:
		return err
	case len(words) > 0 && cmd.ArgsLenAtDash() != 0:
		return fmt.Errorf("%q is not a flag; a command goes after --", words[0])
	case c.authority != "" && !o.TLS:
		return errors.New("--tls-ca is for --tls")
	case o.TLS && c.authority == "" && len(words) == 0:
		return errors.New("--tls needs --tls-ca, a file for the certificate that clients trust")
	case c.port < 0 || c.port > 65535:
		return fmt.Errorf("--port is %d, not between 0 and 65535", c.port)
	case !(c.random >= 0 && c.random <= 1):
		return fmt.Errorf("--random-faults is %v, not between 0 and 1", c.random)
	case o.ResolveDelay < 0:
		return errors.New("--resolve-delay must not be negative")
	case o.IndexLag < 0 || o.IndexLag > 0 && !deployed:
		return errors.New("--lag must not be negative, and --behaviour documented has none")
	case o.UsageLag < 0 || o.UsageLag > 0 && !deployed:
		return errors.New("--usage-lag must not be negative, and --behaviour documented has none")
	}
	for _, origin := range o.Origins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Scheme+"://"+strings.ToLower(u.Host) != origin ||
			u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("--allow-origin: %q is not an origin as browsers send it, such as http://localhost:3000", origin)
		}
	}
	for _, name := range o.Hosts {
		if strings.ContainsAny(name, "/ ") {
			return fmt.Errorf("--host: %q is not a host name, such as sandbox.test", name)
		}
	}
	if o.Accounts, err = accounts(c.others); err != nil {
		return err
	}
	if len(words) > 0 && !shell.Changed(cmd, "port") {
		c.port = 0
	}
	o.NoPort = true
	o.Hosts = append(o.Hosts, c.listen)
	o.ResolveDelay = max(o.ResolveDelay, 1) // 0 is the default of the service
	return nil
}

// accounts are the usual one and those that were given.
func accounts(texts []string) ([]datacitetest.Account, error) {
	all := []datacitetest.Account{{}}
	for _, text := range texts {
		parts := strings.Split(text, ":")
		isMember := len(parts) == 2 && !strings.Contains(parts[0], ".")
		if len(parts) != 3 && !isMember || slices.Contains(parts, "") {
			return nil, fmt.Errorf("--account: %q is neither NAME:PASSWORD:PREFIX,PREFIX nor, of a member, NAME:PASSWORD", text)
		}
		if slices.ContainsFunc(all, func(a datacitetest.Account) bool {
			return strings.EqualFold(parts[0], cmp.Or(a.Username, datacitetest.Username))
		}) {
			return nil, fmt.Errorf("--account: %s is there twice", parts[0])
		}
		account := datacitetest.Account{Username: parts[0], Password: parts[1], Role: "provider_admin"}
		if !isMember {
			account.Role, account.Prefixes = "", strings.Split(parts[2], ",")
		}
		all = append(all, account)
	}
	return all, nil
}

func (c *command) run(cmd *cobra.Command, words []string) error {
	if err := c.check(cmd, words); err != nil {
		return shell.Wrong(err)
	}
	switch {
	case c.rules:
		return printRules(c.Data(), "*.md")
	case c.unsupported:
		return printRules(c.Data(), "unsupported.md")
	}
	service := datacitetest.NewServer(&c.options)
	defer service.Close()
	if err := c.removeAddress(); err != nil {
		return shell.Wrong(err)
	}
	if c.load != "" {
		n, err := loadFile(service, c.load)
		if err != nil {
			return err
		}
		c.Say("%s loaded", shell.Count(n, "record"))
		service.Checkpoint()
	}
	if c.state != "" {
		err := restore(service, c.state)
		if err == nil { // a file that cannot be written is known before it is needed
			err = save(service, c.state)
		}
		if err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(c.listen, strconv.Itoa(c.port)))
	if err != nil {
		return shell.Wrong(fmt.Errorf("%w; --port 0 takes a free port", err))
	}
	at := listener.Addr().String()
	if a, ok := listener.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		if ok && a.IP.IsUnspecified() { // which is no address of a URL
			at = net.JoinHostPort("localhost", strconv.Itoa(a.Port))
		}
		c.Warn("WARNING: %s can be reached from other machines. This service is for tests: it accepts unsigned tokens and "+
			"a public password. Under other names than localhost it is served if --host names them.", listener.Addr())
	}
	address := "http://" + at
	if c.options.TLS {
		address, listener = "https://"+at, tls.NewListener(listener, service.TLSConfig())
		remove, err := c.writeAuthority(service.CA())
		defer remove()
		if err != nil {
			return errors.Join(shell.Wrong(err), listener.Close())
		}
	}
	if err := c.writeAddress(address); err != nil {
		return errors.Join(shell.Wrong(err), listener.Close())
	}
	defer func() { _ = c.removeAddress() }()
	ctx, stop := context.WithCancel(cmd.Context())
	site := &site{service: service, ctx: ctx, origins: c.options.Origins, first: c.faults}
	for _, account := range c.options.Accounts {
		site.usernames = append(site.usernames, cmp.Or(account.Username, datacitetest.Username))
	}
	site.useFaults()
	w := site.welcome(address)
	var ended error // of the command
	var work sync.WaitGroup
	if len(words) > 0 {
		work.Go(func() {
			defer stop()
			ended = c.start(ctx, words, address, w.Token)
		})
	} else {
		c.greet(w)
	}
	if c.state != "" {
		work.Go(func() { c.keep(ctx, site) })
	}
	err = serve(ctx, listener, service.Guard(site))
	stop()
	work.Wait()
	if c.state != "" {
		err = errors.Join(err, save(service, c.state))
	}
	return cmp.Or(err, ended)
}

// removeAddress removes the file of an earlier run, which a script could read, or of this one.
func (c *command) removeAddress() error {
	if c.addressFile == "" {
		return nil
	}
	if info, err := os.Stat(c.addressFile); err == nil && !info.Mode().IsRegular() {
		return nil // a pipe
	}
	if err := os.Remove(c.addressFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *command) writeAddress(address string) error {
	if c.addressFile == "" {
		return nil
	}
	return shell.WriteText(c.addressFile, readable, address+"\n")
}

// readable is the mode of files that other programs read.
const readable = 0o644

// writeAuthority writes the file that clients trust. Without --tls-ca it is one for the COMMAND, which
// remove removes.
func (c *command) writeAuthority(pem []byte) (remove func(), err error) {
	remove = func() {}
	if c.authority == "" {
		folder, err := os.MkdirTemp("", "datacite-sandbox-")
		if err != nil {
			return remove, err
		}
		c.authority, remove = filepath.Join(folder, "ca.pem"), func() { _ = os.RemoveAll(folder) }
	}
	if c.authority, err = filepath.Abs(c.authority); err == nil { // the COMMAND may change the folder
		err = shell.WriteText(c.authority, readable, string(pem))
	}
	return remove, err
}

// direct are the variables by which clients reach the service without a proxy of the system's.
func (c *command) direct() (variables []string) {
	names := append([]string{"localhost", "127.0.0.1", "::1"}, c.options.Hosts...)
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		others := slices.DeleteFunc([]string{os.Getenv(name)}, func(list string) bool { return list == "" })
		variables = append(variables, name+"="+strings.Join(append(others, names...), ","))
	}
	return variables
}

// trust are the variables by which clients of many languages find what they trust.
func (c *command) trust() (variables []string) {
	if c.options.TLS {
		for _, name := range []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} {
			variables = append(variables, name+"="+c.authority)
		}
	}
	return variables
}

// keep saves the state a second after a write.
func (c *command) keep(ctx context.Context, site *site) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		if site.changed.Swap(false) {
			if err := save(site.service, c.state); err != nil {
				site.changed.Store(true) // it is tried again
				c.Warn("%s", shell.Message(err))
			}
		}
	}
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

// welcome is what --json prints of the service, and /sandbox/health.
type welcome struct {
	Service  string `json:"service"` // its URL
	Username string `json:"username"`
	Password string `json:"password"`
	Prefix   string `json:"prefix"`
	Token    string `json:"token"`
	Resolver string `json:"resolver"`
	OpenAPI  string `json:"openapi"`
}

// greet prints the address in the first line, for scripts, with --quiet, too.
func (c *command) greet(w welcome) {
	if c.Quiet && !c.JSON {
		fmt.Fprintln(c.Results(), w.Service)
	}
	kept := "nothing is kept"
	if c.state != "" {
		kept = c.state + " keeps what there is"
	}
	trust := ""
	if variables := c.trust(); len(variables) > 0 {
		trust = "\n  export " + strings.Join(variables, " ")
	}
	c.Result(w, `%[1]s

The service runs there; open it in a browser to see what it holds.

  account   %[2]s:%[3]s, prefix %[4]s
  token     %[5]s
  resolver  %[1]s%[7]s
  control   %[8]s

Try, in another terminal:

  export DATACITE_SERVICE=%[1]s DATACITE_USERNAME=%[2]s DATACITE_PASSWORD=%[3]s%[9]s
  datacite search
  curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: application/xml;charset=UTF-8' --data-binary @record.xml %[1]s/metadata/%[4]s/example
  printf 'doi=%[4]s/example\nurl=https://example.org/' | curl -u %[2]s:%[3]s -X PUT -H 'Content-Type: text/plain;charset=UTF-8' --data-binary @- %[1]s/doi/%[4]s/example
  curl '%[1]s/dois?query=titles.title:glacier&sort=-created'
  curl -I %[1]s%[7]s/%[4]s/example
  curl %[1]s/reports

Press Ctrl-C to stop; %[6]s.`, w.Service, w.Username, w.Password, w.Prefix, w.Token, kept, resolverPath, w.OpenAPI, trust)
}
