// Package datacite has the configuration and the errors that the clients of the three
// interfaces share.
//
//	cfg := datacite.Config{
//		Service:  datacite.Test,
//		Username: "EXAMPLE.REPO", Password: password, // for dois and mds
//		Token:    token,                              // for reports
//		Contact:  "you@example.org",
//	}
//	store, err := mds.NewClient(cfg)       // register DOIs
//	records, err := dois.NewClient(cfg)    // find, read and write DOI records
//	usage, err := reports.NewClient(cfg)   // store and read usage reports
//
// In all packages a failed request returns an [*Error]. Input that is refused before anything
// is sent returns a [*ValidationError]. Test both with [errors.Is] and the Err values of this
// package. [Findings] returns their faults one by one, [Temporary] tells whether the same
// call may succeed later, and Error.RetryAt when the service wants to be asked again.
//
// # Single calls
//
// [WithCallOptions] changes the attempts and the timeout of single calls, by their context.
// The clients, and all calls of a client, share the connections of Config.HTTPClient.
//
// # Tracing
//
// Config.HTTPClient sees every attempt, and [Operation] tells its transport which operation it
// belongs to. With package otelhttp of OpenTelemetry:
//
//	name := func(_ string, req *http.Request) string { return datacite.Operation(req.Context()) }
//	cfg.HTTPClient = &http.Client{
//		Transport: otelhttp.NewTransport(http.DefaultTransport, otelhttp.WithSpanNameFormatter(name)),
//	}
//
// DataCite is the public deployment of the service. This is an independent client.
package datacite

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// A Service has the base URLs of a deployment: with HTTPS, or with plain HTTP on a loopback
// host. Only the URL that a client uses is required.
type Service struct {
	API string // DOI query and usage reports: packages dois and reports
	MDS string // metadata store: package mds
}

// The public deployment, DataCite. Test is for trials: its DOIs may be removed.
var (
	Production = Service{API: "https://api.datacite.org", MDS: "https://mds.datacite.org"}
	Test       = Service{API: "https://api.test.datacite.org", MDS: "https://mds.test.datacite.org"}
)

// A Config configures a client. Only Service is required; the NewClient of each package
// documents the login that its client needs (specification §5). Printing a Config shows no
// secret.
type Config struct {
	Service Service // required: [Production], [Test] or another deployment

	Username string // of a repository account
	Password string // of the account, or an API key that was issued to it

	// Token is a JSON web token; package dois also accepts an API key. TokenSource is
	// called for a token before each request that needs one; the call fails with its error, which
	// is [Temporary] if the network failed. Set at most one of the two.
	Token       string
	TokenSource func(context.Context) (string, error)

	HTTPClient  *http.Client  // copied, not changed; its CheckRedirect is not used; nil means a new one
	UserAgent   string        // put in front of the SDK's own, such as "my-repository/2.1"
	Contact     string        // mail address, added to the User-Agent; the service allows more requests if it is set
	Logger      *slog.Logger  // one record per attempt: debug for success, warn for failure; nil is silent
	MaxAttempts int           // how often a request is sent at most; 0 means 5; a request that is unsafe to repeat is retried only if no connection was made
	MaxWait     time.Duration // longest pause between two attempts, even if the service asks for more; 0 means 30 seconds
	Timeout     time.Duration // an attempt fails after this time without a byte, or with fewer than 1,024 bytes a second; 0 means 2 minutes, and 5 for usage reports
	MaxBody     int64         // most uncompressed bytes of one response, and of memory for the values read from it; 0 means 100 MiB
	MaxReport   int64         // most uncompressed bytes of a stored usage report that is read, regardless of memory; 0 means 16 GiB
	Limiter     Limiter       // called before each attempt; nil means no limit
}

// A Limiter delays requests. *rate.Limiter of golang.org/x/time/rate implements it.
type Limiter interface {
	// Wait returns when the next request may be sent, or an error, such as the
	// context's, if it may not.
	Wait(context.Context) error
}
