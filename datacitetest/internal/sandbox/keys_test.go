package sandbox_test

import (
	"encoding/base64"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/datacitetest/internal/sandbox"
	"github.com/datacite-go/datacite-go/internal/testkit"
)

// An API key opens what the servers let it open, in each of its three places, and
// is nothing once it is revoked.
func TestAnAPIKeyOpensWhatItMayUntilItIsRevoked(t *testing.T) {
	draft := func(name string) call {
		body := `{"data":{"type":"dois","attributes":{"doi":"10.5072/` + name + `"},"relationships":{"client":{"data":{"id":"example.repo"}}}}}`
		return call{method: "POST", path: "/dois", body: body, header: map[string]string{"Content-Type": "application/vnd.api+json"}}
	}
	record := testkit.Expand(t, storeTables, `[[RECORD: "DOI"> => "DOI">10.5072/x]]`)
	requests := map[string]call{
		"see draft":  {method: "GET", path: "/dois/10.5072/draft"},
		"make draft": draft("new"),
		"store":      putMetadata("10.5072/stored", record),
		"overwrite":  putMetadata("10.5072/draft", record),
		"list names": {method: "GET", path: "/doi"},
		"report":     {method: "PUT", path: "/reports/8a3c3d5e-0000-4000-8000-000000000000", header: map[string]string{"Content-Type": "application/json"}, body: `{"report-header":{"reporting-period":{"begin-date":"2020-01-01","end-date":"2020-01-31"}}}`},
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
	type statuses = map[string]int
	for who, tt := range map[string]struct {
		authorization func(key string) string
		want, differs statuses // of both; of Deployed
		revoked       statuses
	}{
		"token": {
			func(key string) string { return "Bearer " + key },
			statuses{"see draft": 200, "make draft": 201, "store": 401, "overwrite": 401, "list names": 401, "report": 401}, nil,
			statuses{"see draft": 401, "make draft": 401, "report": 401},
		},
		"password": {
			basic("example.repo", "KEY"),
			statuses{"see draft": 200, "make draft": 201, "store": 201, "overwrite": 201, "list names": 403, "report": 401}, nil,
			statuses{"see draft": 404, "make draft": 401, "store": 401, "overwrite": 401, "list names": 401, "report": 401},
		},
		"name alone": {
			basic("KEY", ""),
			statuses{"see draft": 200, "make draft": 201, "store": 401, "overwrite": 401, "list names": 401, "report": 401}, nil,
			statuses{"see draft": 404, "make draft": 401},
		},
		"name with an ignored password": {
			basic("KEY", "x"),
			statuses{"see draft": 200, "make draft": 201, "store": 401, "overwrite": 401, "list names": 401, "report": 401},
			statuses{"store": 404, "overwrite": 201, "list names": 403},
			statuses{"see draft": 404, "make draft": 401, "overwrite": 401},
		},
		"password of another account": {basic("other.repo", "KEY"), statuses{"see draft": 404, "make draft": 401, "store": 401, "list names": 401}, nil, nil},
		"password of a member":        {basic("example", "KEY"), statuses{"see draft": 404, "make draft": 401}, nil, nil},
		"name that is like a key":     {basic("DC.nosuchkeynosuchkeynosuchkey", "sandbox-password"), statuses{"see draft": 404, "make draft": 401}, nil, nil},
	} {
		for behaviour, start := range map[sandbox.Behaviour]func() *sandbox.Service{sandbox.Documented: newService, sandbox.Deployed: deployed} {
			t.Run(who+"/"+string(behaviour), func(t *testing.T) {
				service := start()
				assert.Equal(t, 201, call{method: "POST", path: "/dois", body: draft("draft").body, header: draft("").header, as: "repo"}.do(t, service).status)
				key := service.IssueKey()
				assert.Regexp(t, `^DC\.[0-9A-Za-z]{32}$`, key)
				ask := func(want statuses) {
					for request, status := range want {
						c := requests[request]
						c.as = ""
						c.header = maps.Clone(c.header)
						if c.header == nil {
							c.header = map[string]string{}
						}
						c.header["Authorization"] = tt.authorization(key)
						a := c.do(t, service)
						assert.Equal(t, status, a.status, request)
						if status == 201 {
							shown := a.header.Get("X-Credential-Username")
							assert.Equal(t, request == "overwrite" && tt.differs != nil, shown == key, request)
						}
					}
				}
				want := maps.Clone(tt.want)
				if behaviour == sandbox.Deployed {
					maps.Copy(want, tt.differs)
				}
				ask(want)
				service.RevokeKey(key)
				ask(tt.revoked)
			})
		}
	}
}
