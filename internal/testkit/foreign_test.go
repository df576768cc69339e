package testkit_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// A page is what a host that is not the service's responds to everything.
type page struct {
	status int
	kind   string
	body   string
}

var foreign = map[string]page{
	"another API":                        {200, "application/json", `{"status":"ok","version":"1.2"}`},
	"another API, a resource":            {200, "application/json", `{"id":"5","name":"Ada","url":"https://elsewhere.example/5"}`},
	"another API, 201":                   {201, "application/json", `{"id":"5","name":"Ada"}`},
	"another API, a list":                {200, "application/json", `[{"id":"5"}]`},
	"another API, nothing":               {200, "application/json", `{}`},
	"another JSON:API":                   {200, "application/vnd.api+json", `{"data":{"type":"articles","id":"1","attributes":{"title":"Alps"}}}`},
	"another JSON:API, a list":           {200, "application/vnd.api+json", `{"data":[{"type":"articles","id":"1","attributes":{"title":"Alps"}}],"meta":{"total":1}}`},
	"a login page":                       {200, "text/html", "<!DOCTYPE html><html><head><title>Log in</title></head></html>"},
	"a login page in XML":                {200, "application/xhtml+xml", `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Log in</title></head></html>`},
	"another service's XML":              {200, "application/xml", `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"></feed>`},
	"a page of plain text":               {200, "text/plain", "It works!"},
	"a sentence like a URL":              {200, "text/plain", "Error: log in first"},
	"200 with nothing":                   {200, "", ""},
	"another page not found":             {404, "text/html", "<html><head><title>404 Not Found</title></head></html>"},
	"a cluster without the service":      {404, "text/plain; charset=utf-8", "404 page not found\n"},
	"another router":                     {404, "text/plain; charset=utf-8", "Not Found"},
	"another API without it":             {404, "application/json", `{"message":"Not Found"}`},
	"another API without it, in detail":  {404, "application/json", `{"detail":"Not Found"}`},
	"another JSON:API without it":        {404, "application/vnd.api+json", `{"errors":[{"status":"404","title":"Record not found"}]}`},
	"the words of the store as JSON":     {404, "application/json", `{"message":"DOI not found"}`},
	"another path of the metadata store": {404, "text/plain; charset=utf-8", "Resource not found"},
	"404 with nothing":                   {404, "", ""},
	"412 of a gateway":                   {412, "text/html", "<html><head><title>412 Precondition Failed</title></head></html>"},
	"412 of another API":                 {412, "application/json", `{"message":"Precondition Failed"}`},
	"a redirect":                         {302, "text/html", "<html><head><title>302 Found</title></head></html>"},
}

// what are words of which one must be in an error, so that one sees what came.
func (p page) what() []string {
	if p.status >= 300 {
		return []string{fmt.Sprintf("%d %s: ", p.status, http.StatusText(p.status))}
	}
	return []string{"cannot be read: ", p.body}
}

// A host that is not the service's never has a success or a "does not exist" for an answer: the
// error names the host, and what came.
func TestForeignHosts(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	var calls map[string]int
	synctest.Test(t, func(t *testing.T) { calls = sending(t) })
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer srv.Close()
	for host, came := range foreign {
		t.Run(host, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := srv.Config()
				cfg.Service = datacite.Service{API: "https://wrong.example", MDS: "https://wrong.example"}
				cfg.MaxAttempts = 2
				cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					header := http.Header{"Content-Type": {came.kind}, "Location": {"https://elsewhere.example/"}}
					return &http.Response{StatusCode: came.status, Header: header, Body: io.NopCloser(strings.NewReader(came.body)), Request: r}, nil
				})}
				for name, i := range calls {
					if strings.HasSuffix(name, ".Do") {
						continue // what it is to ask is up to the caller
					}
					f := functions(sceneOf(t, cfg))[name]
					for _, err := range everyOutcome(f, combinations(t.Context(), f)[i]) {
						what := fmt.Sprintf("%s: %v", name, err)
						if assert.Error(t, err, what) {
							assert.ErrorContains(t, err, "https://wrong.example/", what)
							isOfAnotherHost(t, err, came, what)
						}
					}
				}
			})
		})
	}
}

func isOfAnotherHost(t *testing.T, err error, came page, what string) {
	t.Helper()
	failed, ok := errors.AsType[*datacite.Error](err)
	require.True(t, ok, what)
	assert.Equal(t, came.status, failed.StatusCode, what)
	if !strings.Contains(err.Error(), came.what()[0]) {
		assert.ErrorContains(t, err, came.what()[len(came.what())-1], what)
	}
	for name, condition := range conditions {
		switch condition {
		case datacite.ErrUnreadable, datacite.ErrUnclear, datacite.ErrRedirect, datacite.ErrInvalid, datacite.ErrIncomplete:
		default:
			assert.NotErrorIs(t, err, condition, "%s: %s", name, what)
		}
	}
}
