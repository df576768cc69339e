package dois

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// unsupported are the routes of the public servers that this service does not support, by
// method and path (lupo and sashimi config/routes.rb). They are 501, since 404 would look like a
// response of those servers.
var unsupported = []struct {
	form lazy.Pattern
	what string
}{
	{routes(`\w+ /(clients|repositories|providers|organizations|contacts)\b.*`), "members and their repositories"},
	{routes(`\w+ /(prefixes|client-prefixes|provider-prefixes|repository-prefixes)\b.*`), "prefixes"},
	{routes(`\w+ /(events|activities|enrichments)\b.*`), "events, activities and enrichments"},
	{routes(`\w+ /(client-api/)?graphql\b.*`), "GraphQL"},
	{routes(`\w+ /(resource-types|reference-repositories)\b.*`), "lists of types and of reference repositories"},
	{routes(`\w+ /(export|credentials|token|oidc-token|reset)\b.*`), "exports, logins and keys"},
	{routes(`\w+ /(publishers|report-types)\b.*`), "publishers and types of usage reports"},
	{routes(`\w+ /(report-subsets|repositories-usage-reports|reports\.)\b.*|\w+ //.*`), "other views of usage reports"},
	{routes(`POST /dois/(undo|set-url|delete-test-dois|status|validate)`), "maintenance and trial runs"},
	{routes(`GET /dois/random`), "random names"},
	{routes(`\w+ /media/.+`), "the files of a DOI"},
	{routes(`\w+ /(10\.|application/|text/).*|GET /dois/(application|text)/.+`),
		"records by the DOI alone, and media types in paths"},
	{routes(`\w+ /dois/.+/(media|metadata|activities|events)(/.+)?|GET /dois/.+/get-url`), "parts of a DOI"},
}

func routes(form string) lazy.Pattern { return lazy.Regexp(`\A(?:` + form + `)\z`) }

// Unsupported is the response to a request that the service does not support, nil for others.
func Unsupported(method, path string) error {
	for _, r := range unsupported {
		if r.form().MatchString(method + " " + path) {
			return wire.Route.Refusal(r.what)
		}
	}
	return nil
}

// Owns says whether a path of the deployed service is for this interface.
func Owns(path string) bool {
	return path == "/dois" || strings.HasPrefix(path, "/dois/")
}

// Serve is interface B (specification §4.2), by the path still escaped. What the
// specification leaves open, such as writing, is as in the deployed service.
func (s *Service) Serve(q *wire.Request, path string) wire.Reply {
	if q.Verb == http.MethodOptions {
		return shared(q, wire.Reply{Status: http.StatusNoContent, Plain: true,
			Header: map[string]string{"Access-Control-Max-Age": "1728000"}})
	}
	return shared(q, wire.InJSON(s.route(q, path)))
}

// shared lets scripts of other origins read a response (lupo vendor/docker/webapp.conf.template).
func shared(q *wire.Request, reply wire.Reply) wire.Reply {
	header := map[string]string{
		"Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Methods":     "GET, POST, PUT, PATCH, DELETE, OPTIONS",
		"Access-Control-Allow-Headers": "Accept,Access-Control-Allow-Origin,Access-Control-Expose-Headers," +
			"Access-Control-Allow-Methods," +
			"Access-Control-Allow-Headers,Authorization,Cache-Control,Content-Type,DNT,If-Modified-Since,Keep-Alive,Origin," +
			"User-Agent,X-Mx-ReqToken,X-Requested-With",
	}
	if q.Verb != http.MethodOptions {
		header["Access-Control-Expose-Headers"] = "Authorization"
	}
	if origin := q.Header.Get("Origin"); origin != "" {
		header["Access-Control-Allow-Origin"] = origin
	}
	maps.Copy(header, reply.Header)
	reply.Header = header
	return reply
}

func (s *Service) route(q *wire.Request, path string) (wire.Reply, error) {
	if err := Unsupported(q.Verb, path); err != nil {
		return wire.Reply{}, err
	}
	f, rest := negotiated(q), strings.TrimPrefix(path, "/dois")
	all := strings.TrimSuffix(rest, "/") == ""
	if all && q.Verb != http.MethodGet && q.Verb != http.MethodPost {
		return wire.Reply{}, store.ErrNoRecord
	}
	if q.Verb != http.MethodGet && !s.Deployed {
		if account, err := s.caller(q); err != nil || account == nil {
			return wire.Reply{}, errBadCredentials
		}
	}
	switch q.Verb + " " + strings.TrimSuffix(rest, "/") {
	case "GET ":
		return s.listDOIs(q, f)
	case "POST ":
		return s.writeDOI(q, "")
	case "GET /get-dois":
		return s.namesOfAccount(q)
	}
	name, err := s.nameIn(rest)
	if err != nil {
		return wire.Reply{}, err
	}
	return s.serveOne(q, name, f)
}

// nameIn is the DOI in an escaped path.
func (s *Service) nameIn(path string) (string, error) {
	if s.Deployed {
		return names.InAPI(strings.TrimPrefix(path, "/"))
	}
	name, err := url.PathUnescape(strings.TrimPrefix(path, "/"))
	name, ok := names.Read(name)
	if err != nil || !ok {
		return "", store.ErrNoRecord
	}
	return name, nil
}

// namesOfAccount are the registered names under the account's first prefix. API keys and
// members may not list them.
func (s *Service) namesOfAccount(q *wire.Request) (wire.Reply, error) {
	account, err := s.caller(q)
	switch {
	case err != nil:
		return wire.Reply{}, err
	case account == nil:
		return wire.Reply{}, errBadCredentials
	case account.ByKey, account.IsMember():
		return wire.Reply{}, errForbidden
	}
	dois := s.RegisteredNames(account)
	if len(dois) == 0 {
		return wire.Reply{Status: http.StatusNoContent}, nil
	}
	return wire.JSON(http.StatusOK, object{"dois": dois}), nil
}
