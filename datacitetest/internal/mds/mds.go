// Package mds is interface C, the metadata store.
package mds

import (
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// A Service is the metadata store. With Deployed it reads names, parameters and bodies
// leniently, sends a request to the DOI service behind it, and turns the response into
// text; with Documented it first checks login, names and bodies by the specification.
type Service struct{ *store.Store }

// New makes the metadata store over a store of records.
func New(s *store.Store) *Service { return &Service{s} }

var (
	errNoLogin = &wire.Failure{
		Status: http.StatusUnauthorized, Title: "An Authentication object was not found in the SecurityContext",
		Header: map[string]string{"WWW-Authenticate": `Basic realm="mds"`},
	}
	errBadLogin = wire.Fail(http.StatusUnauthorized, "Bad credentials")

	errNoDOI  = wire.Fail(http.StatusNotFound, "DOI not found")
	errDenied = wire.Fail(http.StatusForbidden, "Access is denied")

	errUnknown = wire.Fail(http.StatusNotFound, "DOI is unknown to MDS")
	errNoRoute = wire.Fail(http.StatusNotFound, "Resource not found")
	errBehind  = wire.Fail(http.StatusNotFound, "Not found") // the store has no text of its own
)

// noContent is the response without data to show.
var noContent = wire.Reply{Status: http.StatusNoContent}

// route is one route of the store. The path has one group for the name.
type route struct {
	method string
	path   lazy.Pattern
	named  bool // a DOI is required
	operation
}

// operation is the work of a route: reading the request, and asking the service behind.
type operation struct {
	unknown    *wire.Failure // the error if the service does not know the DOI
	read       func(s *Service, c *call) error
	work       func(s *Service, c *call) (wire.Reply, error)
	documented func(s *Service, c *call) error // how to read with Documented; nil means read
}

var (
	listDOIs  = operation{errNoDOI, nothing, (*Service).listDOIs, nil}
	readURL   = operation{errNoDOI, nothing, (*Service).readURL, nil}
	changeURL = operation{errNoDOI, (*Service).readURLRecord, (*Service).changeURL, (*Service).readTwoLines}
	removeDOI = operation{errNoDOI, nothing, (*Service).removeDOI, nil}

	readMetadata   = operation{errUnknown, nothing, (*Service).readMetadata, nil}
	createMetadata = operation{errBehind, (*Service).readSentMetadata, (*Service).createMetadata,
		(*Service).readDocumentedMetadata}
	hideDOI = operation{errBehind, nothing, (*Service).hideDOI, nil}
)

func nothing(*Service, *call) error { return nil }

// routes are tried in this order.
var routes = []route{
	{"POST", lazy.Regexp(`\A/doi\z`), false, changeURL},
	{"POST", lazy.Regexp(`(?s)\A/metadata(?:/(.+))?\z`), false, createMetadata},
	{"PUT", lazy.Regexp(`(?s)\A/metadata/(.+)\z`), false, createMetadata},
	{"GET", lazy.Regexp(`(?s)\A/metadata(?:/(.+))?\z`), true, readMetadata},
	{"DELETE", lazy.Regexp(`(?s)\A/metadata/(.+)\z`), true, hideDOI},
	{"GET", lazy.Regexp(`\A/doi\z`), false, listDOIs},
	{"GET", lazy.Regexp(`(?s)\A/doi/(.+)\z`), true, readURL},
	{"PUT", lazy.Regexp(`(?s)\A/doi/(.+)\z`), false, changeURL},
	{"DELETE", lazy.Regexp(`(?s)\A/doi/(.+)\z`), true, removeDOI},
}

// unsupported are routes of the deployed store, by method and path, that this one does not support.
var unsupported = lazy.Regexp(`(?s)\A(PATCH /doi/.+|\w+ /doi/.+/media(/.+)?|GET ` +
	`/(heartbeat|login|doi|metadata)\..*|GET /login|\w+ /)\z`)

// Serve serves a request to the path area/rest with Documented (specification §4.3).
func (s *Service) Serve(q *wire.Request, area, rest string) wire.Reply {
	path := "/" + area
	if rest != "" {
		path += "/" + rest
	}
	res, err := s.respond(q, path)
	res = wire.InText(res, err)
	res.Plain = true
	return res
}

// ServeDeployed serves a request with Deployed by its path, still escaped.
func (s *Service) ServeDeployed(q *wire.Request, path string) wire.Reply {
	if err := checkPlayable(q, path); err != nil {
		return wire.InText(wire.Reply{}, err)
	}
	res, err := s.respond(q, path)
	res = wire.InText(res, err)
	if err == errNoLogin {
		res.ContentType = "text/html; charset=utf-8"
	}
	res.Plain = err != nil && wire.AsFailure(err).Whole != nil
	return res.Coded(q, s.Now())
}

// checkPlayable refuses what the deployed store might read in another way than this one.
func checkPlayable(q *wire.Request, path string) error {
	if unsupported().MatchString(q.Verb + " " + path) {
		return wire.StoreRoute.Refusal(q.Verb + " " + path)
	}
	params, err := wire.URLParams(q.URL.RawQuery)
	if err != nil {
		return wire.StoreParameter.Refusal(q.URL.RawQuery)
	}
	for name := range params {
		return wire.StoreParameter.Refusal(name)
	}
	return q.MediaTypes()
}

func (s *Service) respond(q *wire.Request, path string) (wire.Reply, error) {
	for _, route := range routes {
		m := route.path().FindStringSubmatch(path)
		if m == nil || route.method != q.Verb {
			continue
		}
		c := &call{Request: q, of: s}
		if len(m) > 1 {
			c.name = m[1]
		}
		return s.enter(c, route)
	}
	return s.respondBesides(q, path), nil
}

// errBroken is the response when the store's code or framework fails.
var errBroken = &wire.Failure{Status: http.StatusInternalServerError, Whole: &wire.Reply{
	Status: http.StatusInternalServerError, ContentType: "text/html; charset=UTF-8", Plain: true,
}}

// enter reads what all routes need: login, parameters, body.
func (s *Service) enter(c *call, route route) (wire.Reply, error) {
	if err := s.identify(c); err != nil {
		return wire.Reply{}, err
	}
	if err := c.read(); err != nil {
		return wire.Reply{}, err
	}
	var ok bool
	if c.doi, ok = s.readName(c.name); !ok && route.named {
		return wire.Reply{}, errNoDOI
	}
	read := route.read
	if !s.Deployed && route.documented != nil {
		read = route.documented
	}
	res, err := wire.Reply{}, read(s, c)
	if err == nil {
		res, err = s.ask(c, route.unknown, func() (wire.Reply, error) { return route.work(s, c) })
	}
	if f, ok := errors.AsType[*worded](err); ok {
		res, err = wire.InText(wire.Reply{}, f.Failure), nil
	}
	if err == nil {
		header := map[string]string{"X-Credential-Username": c.username}
		maps.Copy(header, res.Header)
		res.Header = header
	}
	return res, err
}

// readName is the DOI that a text means.
func (s *Service) readName(text string) (name string, ok bool) {
	if s.Deployed {
		return names.Validate(text)
	}
	return names.Read(text)
}

// identify reads the credentials. With Deployed wrong ones are not refused: the service
// behind treats the caller as anonymous. By the specification (§5) every request
// needs a valid username and password.
func (s *Service) identify(c *call) error {
	username, password, _ := c.BasicAuth()
	if wire.IsBlank(username) || wire.IsBlank(password) {
		return errNoLogin
	}
	c.username = username
	c.account, _ = s.Basic(c.Request.Request)
	if s.Deployed {
		return nil
	}
	if c.account == nil || store.IsKey(username) {
		return errBadLogin
	}
	c.username = c.account.Username
	return nil
}

// respondBesides is the response on other paths of the host, which need no login.
func (s *Service) respondBesides(q *wire.Request, path string) wire.Reply {
	res := wire.InText(wire.Reply{}, errNoRoute)
	if s.Deployed && q.Verb+path == "GET/heartbeat" {
		res = wire.Text(http.StatusOK, "OK")
	}
	res.Header = map[string]string{"X-Anonymous-Consumer": "true"}
	return res
}

// listDOIs is GET /doi: the registered names under the account's first prefix, one a
// line.
func (s *Service) listDOIs(c *call) (wire.Reply, error) {
	if err := mayChange(c.account, c.account != nil && !c.account.ByKey); err != nil {
		return wire.Reply{}, err
	}
	lines := s.RegisteredNames(c.account)
	if len(lines) == 0 {
		return noContent, nil
	}
	return wire.Text(http.StatusOK, strings.Join(lines, "\n")), nil
}
