// Command sandbox serves the embedded service on a port, so that a client in any
// language can be tried against it: the metadata store, the DOI query interface
// and usage reports over one set of records, in memory, until it is stopped.
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
	"time"

	"github.com/datacite-go/datacite-go/reports/reportstest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	flags.SetOutput(out)
	address := flags.String("addr", "localhost:8080", "address to listen on; port 0 takes a free one")
	behaviour := flags.String("behaviour", string(reportstest.Documented), "documented: as specified; deployed: as the service in operation, flaws included")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if b := reportstest.Behaviour(*behaviour); b != reportstest.Documented && b != reportstest.Deployed {
		return fmt.Errorf("there is no behaviour %q", b)
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	service := reportstest.NewServer(&reportstest.Options{NoPort: true, Behaviour: reportstest.Behaviour(*behaviour)})
	defer service.Close()
	welcome(out, "http://"+listener.Addr().String(), service.Token(time.Now().AddDate(1, 0, 0)))

	server := &http.Server{Handler: service, ReadHeaderTimeout: 10 * time.Second}
	end := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(grace) // the process ends either way
	})
	defer end()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
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
`, url, reportstest.Username, reportstest.Password, reportstest.Prefix, token)
}
