package sandbox_test

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

// An API key opens what the servers let it open, in each of its three places, and
// is nothing once it is revoked.
func TestAnAPIKeyOpensWhatItMayUntilItIsRevoked(t *testing.T) {
	draft := func(name string) call {
		body := `{"data":{"type":"dois","attributes":{"doi":"10.5072/` + name +
			`"},"relationships":{"client":{"data":{"id":"example.repo"}}}}}`
		return call{method: "POST", path: "/dois", body: body,
			header: map[string]string{"Content-Type": "application/vnd.api+json"}}
	}
	record := testkit.Expand(t, storeTables, `[[RECORD: "DOI"> => "DOI">10.5072/x]]`)
	requests := map[string]call{
		"see-draft":  {method: "GET", path: "/dois/10.5072/draft"},
		"make-draft": draft("new"),
		"store":      putMetadata("10.5072/stored", record),
		"overwrite":  putMetadata("10.5072/draft", record),
		"list-names": {method: "GET", path: "/doi"},
		"report": {method: "PUT", path: "/reports/8a3c3d5e-0000-4000-8000-000000000000",
			header: map[string]string{"Content-Type": "application/json"}, body: `{"report-header":{"reporting-period":{"begin-date":"2020-01-01","end-date":"2020-01-31"}}}`},
	}
	basic := func(name, password string) func(string) string {
		return func(key string) string {
			fill := func(s string) string {
				if s == "KEY" {
					return key
				}
				return s
			}
			return "Basic " + base64.StdEncoding.EncodeToString([]byte(fill(name)+":"+fill(password)))
		}
	}
	order := strings.Fields("see-draft make-draft store overwrite list-names report")
	for who, tt := range map[string]struct {
		authorization     func(key string) string
		want, of, revoked string // the statuses in that order, of both; with Deployed; after the key is revoked
	}{
		"token": {func(key string) string {
			return "Bearer " + key
		}, "200 201 401 401 401 401", "", "401 401 401 401 401 401"},
		"password": {basic("example.repo", "KEY"), "200 201 201 201 403 401", "",
			"404 401 401 401 401 401"},
		"name alone": {basic("KEY", ""), "200 201 401 401 401 401", "", "404 401 401 401 401 401"},
		"name with an ignored password": {basic("KEY", "x"), "200 201 401 401 401 401", "200 201 404 201 403 401",
			"404 401 - 401 401 401"},
		"password of another account": {basic("other.repo", "KEY"), "404 401 401 - 401 401", "", ""},
		"password of a member":        {basic("example", "KEY"), "404 401 - - - -", "", ""},
		"name that is like a key": {basic("DC.nosuchkeynosuchkeynosuchkey", "sandbox-password"), "404 401 - - - -", "",
			""},
	} {
		for behaviour, start := range map[sandbox.Behaviour]func() *sandbox.Service{sandbox.Documented: newService,
			sandbox.Deployed: deployed} {
			t.Run(who+"/"+string(behaviour), func(t *testing.T) {
				service := start()
				assert.Equal(t, 201, call{method: "POST", path: "/dois", body: draft("draft").body, header: draft("").header,
					as: "repo"}.do(t, service).status)
				key := service.IssueKey()
				assert.Regexp(t, `^DC\.[0-9A-Za-z]{32}$`, key)
				ask := func(want string, named bool) {
					for i, status := range strings.Fields(want) {
						if status == "-" {
							continue
						}
						c := requests[order[i]]
						c.as, c.header = "", with(c.header, "Authorization", tt.authorization(key))
						a := c.do(t, service)
						assert.Equal(t, status, strconv.Itoa(a.status), order[i])
						if a.status == 201 {
							assert.Equal(t, named && order[i] == "overwrite", a.header.Get("X-Credential-Username") == key, order[i])
						}
					}
				}
				if behaviour == sandbox.Deployed && tt.of != "" {
					ask(tt.of, true)
				} else {
					ask(tt.want, false)
				}
				service.RevokeKey(key)
				ask(tt.revoked, false)
			})
		}
	}
}
