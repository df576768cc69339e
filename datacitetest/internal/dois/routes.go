package dois

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// unplayedRoutes are the routes of the public servers that this service does not support, by
// method and path (lupo and sashimi config/routes.rb). They are 501, since 404 would look like a response of those servers.
var unplayedRoutes = []struct {
	form *regexp.Regexp
	what string
}{
	{routes(`\w+ /(clients|repositories|providers|organizations|contacts)\b.*`), "members and their repositories"},
	{routes(`\w+ /(prefixes|client-prefixes|provider-prefixes|repository-prefixes)\b.*`), "prefixes"},
	{routes(`\w+ /(events|activities|enrichments)\b.*`), "events, activities and enrichments"},
	{routes(`\w+ /(client-api/)?graphql\b.*`), "GraphQL"},
	{routes(`\w+ /(resource-types|reference-repositories)\b.*`), "lists of types and of reference repositories"},
	{routes(`\w+ /(export|credentials|token|oidc-token|reset)\b.*`), "exports, logins and keys"},
	{routes(`\w+ /(publishers|report-types)\b.*`), "publishers and types of usage reports"},
	{routes(`POST /dois/(undo|set-url|delete-test-dois)`), "undoing and maintenance"},
	{routes(`\w+ /dois/.+/(metadata|activities|events)(/.+)?`), "older metadata, activities and events of a DOI"},
	{routes(`(POST|PUT|PATCH|DELETE) /dois/.+/media(/.+)?`), "changes of media but by the metadata store"},
}

func routes(form string) *regexp.Regexp { return regexp.MustCompile(`\A(?:` + form + `)\z`) }

func notPlayed(what string) error {
	return wire.Fail(http.StatusNotImplemented, "This test service does not support %s.", what)
}

// Unplayed is the response to a request that the service does not support, nil for others.
func Unplayed(method, path string) error {
	for _, r := range unplayedRoutes {
		if r.form.MatchString(method + " " + path) {
			return notPlayed(r.what)
		}
	}
	return nil
}

// scoped are lists of a repository or of a provider. The id in the
// path is a parameter of the request.
var scoped = regexp.MustCompile(`\A/(client|repositor|provider)(?:s|ies)/(.+?)/dois(/.+)?\z`)

// atRoot are paths of a record without /dois, which may begin with a media type.
var atRoot = regexp.MustCompile(`\A/(10\.|application/|text/)`)

// AtRoot says whether a path may be that of a record by its DOI alone.
func AtRoot(path string) bool { return atRoot.MatchString(path) }

// Owns says whether a path of the deployed service is for this interface.
func Owns(path string) bool {
	return AtRoot(path) || path == "/dois" || strings.HasPrefix(path, "/dois/") || scoped.MatchString(path)
}

// ServeDeployed serves a request to the deployed service; the path is in the form of
// the routes.
func (s *Service) ServeDeployed(q *wire.Request, path string) wire.Reply {
	q.ResponseHeader.Set("Vary", "Accept,Accept-Encoding")
	if q.Verb == http.MethodOptions {
		return shared(q, wire.Reply{Status: http.StatusNoContent, Plain: true, Header: map[string]string{"Access-Control-Max-Age": "1728000"}})
	}
	reply, err := s.route(q, path)
	thrown := err != nil && wire.AsFailure(err).Body == nil
	reply = wire.InJSON(reply, err)
	if params, err := wire.URLParams(q.URL.RawQuery); err == nil && params["callback"] != "" && q.Method == http.MethodGet && !thrown {
		reply.Body = slices.Concat([]byte(params["callback"]+"("), reply.Body, []byte(")"))
		reply.ContentType = "application/javascript"
	}
	return shared(q, reply)
}

// shared lets scripts of other origins read a response (lupo vendor/docker/webapp.conf.template).
func shared(q *wire.Request, reply wire.Reply) wire.Reply {
	header := map[string]string{
		"Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Methods":     "GET, POST, PUT, PATCH, DELETE, OPTIONS",
		"Access-Control-Allow-Headers": "Accept,Access-Control-Allow-Origin,Access-Control-Expose-Headers,Access-Control-Allow-Methods," +
			"Access-Control-Allow-Headers,Authorization,Cache-Control,Content-Type,DNT,If-Modified-Since,Keep-Alive,Origin,User-Agent,X-Mx-ReqToken,X-Requested-With",
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
	scope := wire.Params{}
	if m := scoped.FindStringSubmatch(path); m != nil && q.Verb == http.MethodGet {
		scope[m[1]+"_id"] = names.Decode(m[2])
		path = "/dois" + m[3]
	}
	if AtRoot(path) {
		return s.ShowAtRoot(q, path)
	}
	if err := Unplayed(q.Verb, path); err != nil {
		return wire.Reply{}, err
	}
	f, rest := linked(q, strings.TrimPrefix(path, "/dois"))
	path = "/dois" + rest
	switch q.Verb + " " + path {
	case "GET /dois":
		return s.listDOIs(q, f, scope)
	case "POST /dois":
		return s.writeDeployed(q, "")
	case "GET /dois/random":
		return s.randomDOIs(q)
	case "GET /dois/get-dois":
		return s.namesOfAccount(q)
	case "POST /dois/validate":
		return s.validateDOI(q)
	case "POST /dois/status":
		return wire.JSON(http.StatusNotImplemented, object{"message": "Not Implemented."}), nil
	}
	target := names.Route(q.Verb, path)
	switch target.Part {
	case "get-url":
		return s.urlOf(q, target.Doi)
	case "media":
		return s.mediaOf(q, target)
	}
	return s.serveOne(q, target, f)
}

// randomDOIs are random names, which may be taken. They need no login.
func (s *Service) randomDOIs(q *wire.Request) (wire.Reply, error) {
	_, p, err := s.callerAndParams(q)
	if err != nil {
		return wire.Reply{}, err
	}
	if wire.IsBlank(p["prefix"]) {
		return wire.Reply{}, wire.Fail(http.StatusUnprocessableEntity, "Parameter prefix is required")
	}
	number, _ := strconv.ParseUint(notDigits.ReplaceAllString(p["number"], ""), 10, 30)
	dois := []string{}
	for range min(p.Number("size", 1), wire.MaxPage) {
		name, ok := names.MintUnder(p["prefix"], uint64(uint32(number)))
		if !ok {
			return wire.Reply{}, errNoPrefix
		}
		if !slices.Contains(dois, name) {
			dois = append(dois, name)
		}
	}
	return wire.JSON(http.StatusOK, object{"dois": dois}), nil
}

var notDigits = regexp.MustCompile(`[^0-9]`)

// namesOfAccount are the registered names under the account's first prefix. An API key
// may not list them.
func (s *Service) namesOfAccount(q *wire.Request) (wire.Reply, error) {
	account, err := s.caller(q)
	switch {
	case err != nil:
		return wire.Reply{}, err
	case account == nil:
		return wire.Reply{}, errBadCredentials
	case account.ByKey:
		return wire.Reply{}, errForbidden
	}
	dois := s.RegisteredNames(account)
	if len(dois) == 0 {
		return wire.Reply{Status: http.StatusNoContent}, nil
	}
	return wire.JSON(http.StatusOK, object{"dois": dois}), nil
}

// validateDOI lists the faults that a record would be refused for. The status is always 200.
func (s *Service) validateDOI(q *wire.Request) (wire.Reply, error) {
	account, data, err := s.callerAndData(q)
	if err != nil {
		return wire.Reply{}, err
	}
	if attributes, ok := data["attributes"].(object); ok {
		attributes["should_validate"] = true
	}
	sent, err := take(data)
	if err != nil {
		return wire.Reply{}, err
	}
	p, err := wire.URLParams(q.URL.RawQuery)
	if err != nil {
		return wire.Reply{}, err
	}
	name, client, err := s.toMake(data, sent, account)
	if err == nil {
		err = allowed(account, account != nil && client.ClientID == account.ClientID)
	}
	if err == nil && name == "" {
		err = wire.Fail(http.StatusBadRequest, "undefined method 'downcase' for nil")
	}
	if err != nil {
		return wire.Reply{}, err
	}
	rec := &record.Record{DOI: name, State: record.Draft, Client: client.ClientID, Attributes: object{}}
	rec.Assign(sent, false)
	if all := rec.Faults(sent, false, false, client); len(all) > 0 {
		return wire.JSON(http.StatusOK, record.Invalid(name, all...).Body), nil
	}
	v := singleView(p)
	v.Detail = false
	return wire.JSON(http.StatusOK, object{"data": s.resource(rec, v, p, account)}), nil
}

// urlOf is the URL of a DOI: of any DOI without a login, of its own DOIs for an account.
func (s *Service) urlOf(q *wire.Request, name string) (wire.Reply, error) {
	account, err := s.caller(q)
	if err != nil {
		return wire.Reply{}, err
	}
	rec := s.Find(name)
	switch {
	case rec == nil:
		return wire.Reply{}, store.ErrNoRecord
	case account != nil && !rec.Owner(account):
		return wire.Reply{}, errForbidden
	case rec.URL == "":
		return wire.Reply{Status: http.StatusNoContent}, nil
	}
	return wire.JSON(http.StatusOK, object{"url": rec.URL}), nil
}

// mediaOf are the files of a DOI, newest first, or one of them: of any DOI, without a
// login. The total counts the media of all DOIs.
func (s *Service) mediaOf(q *wire.Request, target names.Target) (wire.Reply, error) {
	if s.Find(target.Doi) == nil {
		return wire.Reply{}, store.ErrNoRecord
	}
	var data []any
	total := 0
	for _, rec := range s.All() {
		for _, m := range slices.Backward(rec.Media) {
			total++
			switch {
			case target.Id != "" && strings.EqualFold(strings.ReplaceAll(target.Id, "-", ""), strings.ReplaceAll(m.Number(), "-", "")):
				return wire.JSON(http.StatusOK, object{"data": medium(rec, m)}), nil
			case names.Collate(rec.DOI) == names.Collate(target.Doi):
				data = append(data, medium(rec, m))
			}
		}
	}
	if target.Id != "" {
		return wire.Reply{}, store.ErrNoRecord
	}
	_, p, err := s.callerAndParams(q)
	if err != nil {
		return wire.Reply{}, err
	}
	size, err := pageSize(p)
	if err != nil {
		return wire.Reply{}, err
	}
	number, pages := max(p.Number("page[number]", 1), 1), wire.Pages(total, size)
	shown := wire.Window(data, number, size)
	links := object{"self": wire.Address(q) + q.URL.RequestURI()}
	if len(shown) > 0 && number != pages {
		links["next"] = wire.Address(q) + "/media?page%5Bnumber%5D=" + strconv.Itoa(number+1) + "&page%5Bsize%5D=" + strconv.Itoa(size) // a broken link
	}
	return wire.JSON(http.StatusOK, object{
		"data": append([]any{}, shown...), "meta": object{"total": total, "totalPages": pages, "page": number}, "links": links,
	}), nil
}

func medium(rec *record.Record, m record.Medium) object {
	at := m.Created.Format(time.RFC3339)
	return object{
		"id": m.Number(), "type": "media",
		"attributes": object{
			"version": m.Version, "url": m.URL, "mediaType": cmp.Or(m.Kind, "text/plain"), "created": at, "updated": at,
		},
		"relationships": object{"dataciteDoi": object{"data": object{"id": strings.ToUpper(rec.DOI), "type": "dataciteDois"}}},
	}
}
