// Command platform is a small data repository that embeds the clients as a real one would.
// README.md leads through its packages: begin with dataset, outbox and store.
//
// Without flags it uses the embedded service, in memory, and makes a login:
//
//	cd examples/platform && go run .
//
// With --data it keeps everything in a folder, and --service names the service:
//
//	go run . account add ada --data /var/lib/platform
//	go run . --data /var/lib/platform --service test --prefix 10.1234 --public https://data.example.org --proxy 192.0.2.7
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
