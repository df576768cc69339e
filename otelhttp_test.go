package datacite_test

import (
	"fmt"
	"net/http"
)

// otelhttp stands for OpenTelemetry's package of that name, on which the module does not depend:
// it has the two functions that the example calls, with the same types.
var otelhttp standIn

type standIn struct{}

type option func(*tracing)

type tracing struct {
	http.RoundTripper
	name func(operation string, r *http.Request) string
}

func (standIn) NewTransport(base http.RoundTripper, opts ...option) *tracing {
	t := &tracing{RoundTripper: base}
	for _, set := range opts {
		set(t)
	}
	return t
}

func (standIn) WithSpanNameFormatter(f func(operation string, r *http.Request) string) option {
	return func(t *tracing) { t.name = f }
}

func (t *tracing) RoundTrip(r *http.Request) (*http.Response, error) {
	fmt.Println("span", t.name("", r))
	return t.RoundTripper.RoundTrip(r)
}
