// Command platform is a small data repository that embeds the clients as a real one
// would: a web page to publish datasets, a database of its own, an outbox that
// registers DOIs after the commit and survives being killed, landing pages, counted
// use and the monthly report, and a nightly look at its own records.
//
// Without flags it uses the embedded service, in memory:
//
//	cd examples/platform && go run .
//
// Its pages have no login: put the one of your repository in front of them.
package main

import (
	"cmp"
	"context"
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
	"path/filepath"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
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
	flags.StringVar(&c.Name, "name", "Example Repository", "`name` of the repository")
	flags.StringVar(&c.Public, "public", "", "`URL` under which the world sees the pages; empty means that of -addr")
	flags.StringVar(&c.Database, "db", "", "`file` of the database; empty means a new one, removed at the end")
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
	}
	if c.Database == "" {
		folder, err := os.MkdirTemp("", "platform")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		c.Database = filepath.Join(folder, "platform.db")
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	c.Public = cmp.Or(c.Public, "http://"+listener.Addr().String())
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
	fmt.Fprintf(out, "The repository is at http://%s (Ctrl-C stops it)\n", listener.Addr())
	return p.serve(ctx, listener)
}

// serve handles requests and works in the background until the context is done.
func (p *Platform) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: p.Handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err := p.Run(ctx)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(grace))
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
