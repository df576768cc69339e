package datacite_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// A spans transport stands for one that makes a span for each request.
type spans struct{ next http.RoundTripper }

func (s spans) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(req)
	if err == nil {
		fmt.Println(datacite.Operation(req.Context()), res.StatusCode)
	}
	return res, err
}

// A transport of the caller's own learns the name of the operation from the context of the request.
func ExampleOperation() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	cfg := srv.Config()
	cfg.HTTPClient = &http.Client{Transport: spans{srv.HTTPClient().Transport}}
	client, err := mds.NewClient(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.State(context.Background(), "10.5072/example")
	fmt.Println(err)
	// Output:
	// mds.State 404
	// <nil>
}

// With OpenTelemetry, whose package otelhttp is at go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp,
// each attempt becomes a span with the name of its operation.
func ExampleOperation_openTelemetry() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	name := func(_ string, req *http.Request) string { return datacite.Operation(req.Context()) }
	cfg := srv.Config() // in operation: a datacite.Config, and http.DefaultTransport
	cfg.HTTPClient = &http.Client{
		Transport: otelhttp.NewTransport(cfg.HTTPClient.Transport, otelhttp.WithSpanNameFormatter(name)),
	}
	client, err := dois.NewClient(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Exists(context.Background(), "10.5072/example")
	fmt.Println(err)
	// Output:
	// span dois.Exists
	// <nil>
}

// A form for people looks a DOI up once and gives up soon; the job that runs at night, with the
// same client, is patient.
func ExampleWithCallOptions() {
	down := func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus}
	}
	srv := datacitetest.NewServer(&datacitetest.Options{Faults: down})
	defer srv.Close()
	client := srv.DOIs()
	ctx := datacite.WithCallOptions(context.Background(), &datacite.CallOptions{MaxAttempts: 1, Timeout: 5 * time.Second})
	_, err := client.Get(ctx, "10.5072/example", nil)
	fmt.Println(errors.Is(err, datacite.ErrServer), len(srv.Requests()))
	_, err = client.Get(context.Background(), "10.5072/example", nil)
	fmt.Println(errors.Is(err, datacite.ErrServer), len(srv.Requests()))
	// Output:
	// true 1
	// true 6
}

// A TokenSource is asked before each write, so that a program that runs for months needs no restart for a new token.
func ExampleConfig_tokenSource() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	cfg := srv.Config() // in operation: a datacite.Config with Service and TokenSource
	cfg.TokenSource, cfg.Token, cfg.Username, cfg.Password = func(context.Context) (string, error) {
		fmt.Println("the token is read") // from a file, or a store of secrets
		return srv.Token(srv.Now().Add(time.Hour)), nil
	}, "", "", ""
	client, err := dois.NewClient(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := client.Create(context.Background(), &dois.Draft{DOI: "10.5072/example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.DOI, record.State)
	// Output:
	// the token is read
	// 10.5072/example draft
}

// A job in a queue is tried again later only where that may help; people are told of all faults of what they typed.
func ExampleTemporary() {
	srv := datacitetest.NewServer(nil)
	defer srv.Close()
	ctx, client := context.Background(), srv.DOIs()

	srv.SetFaults(func(int, *http.Request) *datacitetest.Fault {
		return &datacitetest.Fault{Kind: datacitetest.FaultStatus, Status: 503}
	})
	_, err := client.Create(ctx, &dois.Draft{DOI: "10.5072/example"})
	fmt.Println(datacite.Temporary(err), datacite.Findings(err))

	srv.SetFaults(nil)
	typed := metadata.Record{PublicationYear: "26"}
	_, err = client.Create(ctx, &dois.Draft{DOI: "10.5072/example", Event: dois.EventPublish, Record: typed})
	fmt.Println(datacite.Temporary(err))
	for _, f := range datacite.Findings(err) {
		fmt.Println(f.Path, f.Code)
	}
	// Output:
	// true []
	// false
	// Draft.creators missing
	// Draft.titles missing
	// Draft.publisher missing
	// Draft.publicationYear year
	// Draft.types.resourceTypeGeneral missing
}
