package sandbox_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/datacitetest/internal/faults"
	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
)

// What the deployed store makes of trouble with the service behind it.
func TestFaultsBehindTheStore(t *testing.T) {
	const page502 = `["html", {"head"=>{"title"=>"502 Bad Gateway"}, "body"=>{"center"=>{"h1"=>"502 Bad Gateway"}}}]`
	for name, want := range map[string]struct {
		fault  sandbox.Fault
		status int
		body   string
		done   bool
		took   time.Duration
	}{
		"dropped before":     {sandbox.Fault{Kind: faults.DropBefore}, 403, "Access is denied", false, 0},
		"dropped after":      {sandbox.Fault{Kind: faults.DropAfter}, 403, "Access is denied", true, 0},
		"response cut":       {sandbox.Fault{Kind: faults.CutResponse}, 403, "Access is denied", true, 0},
		"page of 502":        {sandbox.Fault{Kind: faults.Status, Status: 502}, 502, page502, false, 0},
		"page of 502, after": {sandbox.Fault{Kind: faults.StatusAfter, Status: 502}, 502, page502, true, 0},
		"page of 403":        {sandbox.Fault{Kind: faults.Status, Status: 403}, 403, "Access is denied", false, 0},
		"page of 401":        {sandbox.Fault{Kind: faults.Status, Status: 401}, 401, "Bad credentials", false, 0},
		"late": {sandbox.Fault{Kind: faults.Delay, Delay: 59 * time.Second}, 201, "OK (10.5072/X)", true,
			59 * time.Second},
		"too late": {sandbox.Fault{Kind: faults.Delay, Delay: 2 * time.Minute}, 408, "Request timeout", true, time.Minute},
		"never":    {sandbox.Fault{Kind: faults.DropBefore, Delay: time.Hour}, 408, "Request timeout", false, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fault := want.fault
				fault.Behind = true
				service := sandbox.New(failing(fault, sandbox.Deployed))
				start := time.Now()
				a := putMetadata("10.5072/x", metadataXML).do(t, service)
				assert.Equal(t, want.status, a.status)
				assert.Equal(t, want.body, a.body)
				assert.Equal(t, want.took, time.Since(start))
				assert.Equal(t, want.done, service.State("10.5072/x") == "draft")
				assert.Equal(t, "EXAMPLE.REPO", a.header.Get("X-Credential-Username"))
				require.Len(t, service.Requests(), 1)
			})
		})
	}
}

// A fault behind the store is one like others for who has no store: the DOI
// API, and a Documented service.
func TestFaultsBehindNothing(t *testing.T) {
	fault := sandbox.Fault{Kind: faults.Status, Status: 502, Behind: true}
	a := create(`"doi":"10.5072/x"`).do(t, sandbox.New(failing(fault, sandbox.Deployed)))
	assert.Contains(t, a.body, "<center>")
	a = putMetadata("10.5072/x", metadataXML).do(t, sandbox.New(failing(fault, sandbox.Documented)))
	assert.Contains(t, a.body, "<center>")
}

// No document makes either service panic, and what a Deployed one keeps can be
// read and sent again.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{
		metadataXML, fullXML(f), "@", "@ misc{...}", "@misc{a, title = {x}}", "TY  - ", "TY  - DATA\nDO", "{",
		`{"@context":"https://schema.org"}`,
		`{"@context":"http://schema.org","author":[1,{"family":2}],` +
			`"publisher":[]}`, `{"types":[],"publication_year":{}}`, `{"types":{"a":1},"publication_year":1}`,
		`{"issued":{"date-parts":[[]]},"DOI":1}`, `{"schema-version":"http://datacite.org/schema/kernel-4","titles":{},` +
			`"creators":"x"}`, "<", "<a", "<a b=", "<a b='&#x", "<?xml", "<!DOCTYPE a [", "<!--", "<a><![CDATA[",
		`<a xmlns="http://datacite.org/schema/kernel-4"`, `<a xmlns:x="http://datacite.org/schema/kernel-5"><x:identifier/>` +
			`&`, "\xff", "https://\xff", "https://example.org/", `<resource xmlns="http://datacite.org/schema/kernel-4">` +
			`<identifier>`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		for _, service := range []*sandbox.Service{newService(), deployed()} {
			c := call{method: "PUT", path: "/metadata/10.5072/x", header: map[string]string{"Content-Type": "text/plain"},
				body: document, as: "repo"}
			if a := c.do(t, service); a.status != 201 {
				continue
			}
			kept := call{method: "GET", path: "/metadata/10.5072/x", as: "repo"}.do(t, service)
			assert.Less(t, kept.status, 300)
		}
	})
}
