// Command platform is a small data repository that embeds the clients as a real one
// would: pages on which curators publish datasets, files, versions with a concept DOI,
// embargoes, a database of its own, an outbox that registers DOIs after the commit and
// survives being killed, landing pages, counted use and the monthly report, and a daily
// look at its own records.
//
// Without flags it uses the embedded service, in memory, and makes a login:
//
//	cd examples/platform && go run .
//
// With -data it keeps everything in a folder; -add makes a login:
//
//	go run . -data /var/lib/platform -add ada
//	go run . -data /var/lib/platform -public https://data.example.org -proxy 192.0.2.7
//
// Each of its packages has one job, and can be replaced by another one: accounts (who
// may log in), store (database and files), outbox (registration), usage (counting and
// reports), pages (what people see), dataset (what they all talk of). All of it is some
// 3,500 lines, to be read in an evening: begin with dataset, outbox and store.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "platform:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("platform", flag.ContinueOnError)
	flags.SetOutput(out)
	c := Config{Username: os.Getenv("DATACITE_USERNAME"), Password: os.Getenv("DATACITE_PASSWORD"), Token: os.Getenv("DATACITE_TOKEN")}
	live := flags.Bool("live", false, "use the test service instead of the embedded one, with DATACITE_USERNAME, DATACITE_PASSWORD and DATACITE_TOKEN")
	address := flags.String("addr", "localhost:8090", "where to listen, `host:port`; port 0 takes a free one")
	flags.StringVar(&c.API, "api", datacite.Test.API, "with -live: base `URL` of DOI query and usage reports")
	flags.StringVar(&c.Store, "mds", datacite.Test.MDS, "with -live: base `URL` of the metadata store")
	flags.StringVar(&c.Prefix, "prefix", datacitetest.Prefix, "`prefix` of the account")
	flags.StringVar(&c.By.Name, "name", "Example Repository", "`name` of the repository")
	flags.StringVar(&c.By.Public, "public", "", "`URL` under which the world sees the pages; empty means that of -addr. Requests for other hosts are refused, so a proxy has to pass the Host header on")
	flags.StringVar(&c.Folder, "data", "", "`folder` of databases and files; empty means a new one, removed at the end")
	flags.Int64Var(&c.Limits.Bytes, "max-file", 1_000_000_000, "largest file that can be uploaded, in `bytes`")
	add := flags.String("add", "", "make a login of this `name` in -data, or give it a new password, print the password, and end")
	remove := flags.String("remove", "", "remove the login of this `name` from -data, and end")
	heir := flags.String("heir", "", "with -remove: `name` of the login that gets the datasets; empty leaves them to a later login of the same name")
	flags.Func("proxy", "address or `network` of a proxy in front of the pages, such as 192.0.2.0/24; may be repeated", func(text string) error {
		network, err := netip.ParsePrefix(text)
		if address, err2 := netip.ParseAddr(text); err2 == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		c.Proxies = append(c.Proxies, network)
		return err
	})
	switch err := flags.Parse(args); {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("%q is not a flag, and there are no other arguments", flags.Arg(0))
	case (*add != "" || *remove != "") && c.Folder == "":
		return errors.New("-add and -remove need -data")
	case *add != "":
		return addLogin(ctx, c.Folder, *add, out)
	case *remove != "":
		return removeLogin(ctx, c.Folder, *remove, *heir)
	}
	demonstration := c.Folder == ""
	if demonstration {
		folder, err := os.MkdirTemp("", "platform")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		c.Folder = folder
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	defer listener.Close()
	here := "http://" + listener.Addr().String()
	c.By.Public = cmp.Or(c.By.Public, here)
	if !*live {
		service := datacitetest.NewServer(nil)
		defer service.Close()
		c.API, c.Store, c.Token = service.URL, service.URL, service.Token(service.Now().Add(365*24*time.Hour))
		c.Username, c.Password = datacitetest.Username, datacitetest.Password
		fmt.Fprintln(out, "The registration service runs in memory: no real DOI is registered.")
	}
	c.Log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo}))
	p, err := Open(c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The repository is at %s (Ctrl-C stops it)\n", here)
	if demonstration {
		err = addLogin(ctx, c.Folder, "ada", out)
	}
	if err != nil {
		return errors.Join(err, p.Close())
	}
	return p.serve(ctx, listener)
}

// addLogin makes a login with a password that nobody had before.
func addLogin(ctx context.Context, folder, name string, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	password := rand.Text()
	err := withAccounts(folder, func(a *accounts.Accounts) error { return a.Add(ctx, name, password) })
	if err == nil {
		_, err = fmt.Fprintf(out, "The login %s has the password %s (its page changes it)\n", name, password)
	}
	return err
}

// removeLogin ends a login, after its datasets have gone to the heir, if there is one.
func removeLogin(ctx context.Context, folder, name, heir string) error {
	if heir != "" {
		s, err := store.Open(folder)
		if err != nil {
			return err
		}
		if err := errors.Join(s.Give(ctx, name, heir), s.Close()); err != nil {
			return err
		}
	}
	return withAccounts(folder, func(a *accounts.Accounts) error { return a.Remove(ctx, name) })
}

func withAccounts(folder string, work func(*accounts.Accounts) error) error {
	a, err := accounts.Open(accountsFile(folder), 0)
	if err != nil {
		return err
	}
	return errors.Join(work(a), a.Close())
}

// grace is how long requests may go on that have begun before the end.
const grace = 30 * time.Second

// serve handles requests and works in the background until the context is done. Then it
// takes no new requests, ends those that it has, and closes the databases.
func (p *Platform) serve(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler: p.pages.Handler(), MaxHeaderBytes: 64 << 10,
		// For whole requests and responses; transfers of files have longer, part by part.
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelInfo),
	}
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		p.Run(ctx)
	}()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		stop() // without requests there is nothing to work for
	}()
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(end)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	<-worked
	return errors.Join(err, p.Close())
}
