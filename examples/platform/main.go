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
// With --data it keeps everything in a folder, and --service names the service:
//
//	go run . account add ada --data /var/lib/platform
//	go run . --data /var/lib/platform --service test --prefix 10.1234 --public https://data.example.org --proxy 192.0.2.7
//
// Each of its packages has one job, and can be replaced by another one: accounts (who
// may log in), store (database and files), outbox (registration), usage (counting and
// reports), pages (what people see), dataset (what they all talk of). README.md leads
// through them: begin with dataset, outbox and store.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "platform:", err)
	}
	os.Exit(code(err))
}
