package mds

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// The deployed metadata store: it reads names, parameters and bodies, asks the
// DOI service behind it (behind.go), and puts the answer into words.

// errBroken is what the store answers when its own code breaks: an empty page.
var errBroken = &wire.Failure{Status: http.StatusInternalServerError, Title: "broken", Whole: &wire.Reply{
	Status: http.StatusInternalServerError, ContentType: "text/html; charset=UTF-8", Plain: true,
}}

// storeCall is a request to one of the store's routes.
type storeCall struct {
	*wire.Request
	name     string // as in the path, decoded once, or the form parameter doi_id
	doi      string // the DOI that the name means, of a route that needs one
	username string // as sent, whoever that is
	account  *record.Account
	sent     map[string]string // the parameters of query string, form and JSON
	order    []string          // their names
	body     []byte
}

// storeRoute is one route of the store. The path has one group for the name,
// and may have one for the number of a medium, which no answer of the store tells.
type storeRoute struct {
	methods string
	path    *regexp.Regexp
	named   bool // there must be a DOI in the path
	serve   func(s *Room, c *storeCall) (wire.Reply, error)
}

// storeRoutes are tried in this order.
var storeRoutes = []storeRoute{
	{"POST", regexp.MustCompile(`\A/doi\z`), false, (*Room).changeURL},
	{"POST", regexp.MustCompile(`\A/media/(.+)\z`), true, (*Room).createMedium},
	{"GET", regexp.MustCompile(`\A/media/(.+)\z`), true, (*Room).listMedia},
	{"POST", regexp.MustCompile(`\A/metadata\z`), false, (*Room).createMetadata},
	{"POST PUT", regexp.MustCompile(`\A/metadata/(.+)\z`), false, (*Room).createMetadata},
	{"GET", regexp.MustCompile(`\A/metadata(?:/(.+))?\z`), true, (*Room).readMetadata},
	{"DELETE", regexp.MustCompile(`\A/metadata/(.+)\z`), true, (*Room).hideDOI},
	{"GET", regexp.MustCompile(`\A/doi/(.+)/media\z`), true, (*Room).listMedia},
	{"POST", regexp.MustCompile(`\A/doi/(.+)/media\z`), true, (*Room).createMedium},
	{"GET DELETE", regexp.MustCompile(`\A/doi/(.+)/media/(.+)\z`), true, (*Room).oneMedium},
	{"PUT PATCH", regexp.MustCompile(`\A/doi/(.+)/media/(.+)\z`), false, (*Room).changeMedium},
	{"GET", regexp.MustCompile(`\A/doi\z`), false, (*Room).listDOIsOfAccount},
	{"GET", regexp.MustCompile(`\A/doi/(.+)\z`), true, (*Room).readURL},
	{"PUT PATCH", regexp.MustCompile(`\A/doi/(.+)\z`), false, (*Room).changeURL},
	{"DELETE", regexp.MustCompile(`\A/doi/(.+)\z`), true, (*Room).removeDOI},
}

// ServeDeployed answers a request to the store; the path is the one its routes see.
func (s *Room) ServeDeployed(q *wire.Request, path string) wire.Reply {
	for _, route := range storeRoutes {
		m := route.path.FindStringSubmatch(path)
		if m == nil || !slices.Contains(strings.Fields(route.methods), q.Verb) {
			continue
		}
		c := &storeCall{Request: q}
		if len(m) > 1 {
			c.name = names.Decode(m[1])
		}
		return wire.InText(s.enter(c, route))
	}
	return wire.InText(serveRest(q.Verb, path))
}

// enter reads what every route reads: type, login, body.
func (s *Room) enter(c *storeCall, route storeRoute) (wire.Reply, error) {
	if !isMediaType(c.Header) {
		return wire.Reply{}, errBroken
	}
	if err := s.identify(c); err != nil {
		return wire.Reply{}, err
	}
	if err := c.read(); err != nil {
		return wire.Reply{}, err
	}
	var ok bool
	if c.doi, ok = names.Validate(c.name); !ok && route.named {
		return wire.Reply{}, errNoDOI
	}
	res, err := route.serve(s, c)
	if f, ok := errors.AsType[*answered](err); ok {
		res, err = wire.InText(wire.Reply{}, f.Failure), nil
	}
	if err == nil {
		res.Header = with(res.Header, "X-Credential-Username", c.username)
	}
	return res, err
}

// answered is an error that the store has put into words itself. Others come
// from outside of its routes, which do not name who asked.
type answered struct{ *wire.Failure }

func (a *answered) Unwrap() error { return a.Failure }

func answer(status int, title string) error { return &answered{wire.Fail(status, "%s", title)} }

func with(header map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	maps.Copy(out, header)
	return out
}

// isMediaType says whether the Content-Type has the form of one, or is not sent.
func isMediaType(h http.Header) bool {
	values, sent := h["Content-Type"]
	if !sent || len(values) == 0 {
		return true
	}
	kind, _, _ := strings.Cut(values[0], ";")
	major, minor, ok := strings.Cut(strings.TrimSpace(kind), "/")
	return ok && major != "" && minor != ""
}

// identify takes the credentials. Wrong ones are no reason to refuse: the
// service behind the store takes who sends them for nobody.
func (s *Room) identify(c *storeCall) error {
	username, password, _ := c.BasicAuth()
	if strings.TrimSpace(username) == "" || strings.TrimSpace(password) == "" {
		f := wire.Fail(http.StatusUnauthorized, "An Authentication object was not found in the SecurityContext")
		f.Whole = &wire.Reply{
			Status: f.Status, ContentType: "text/html; charset=utf-8", Body: []byte(f.Title), Plain: true,
			Header: map[string]string{"WWW-Authenticate": `Basic realm="mds"`},
		}
		return f
	}
	c.username = username
	c.account, _ = s.Basic(c.Request.Request)
	return nil
}

const formType = "application/x-www-form-urlencoded"

// read reads the parameters and the body.
func (c *storeCall) read() error {
	body, err := wire.ReadAll(c.Body)
	if err != nil {
		return err
	}
	kind := c.kind()
	if slices.Contains(cleanedTypes, kind) {
		body = cleaned(body)
	}
	if kind == formType {
		body = []byte(unsafeInForms.ReplaceAllStringFunc(names.Sanitise(string(body)), url.QueryEscape))
	}
	c.body = body
	c.sent = map[string]string{}
	c.addForm(c.URL.RawQuery)
	switch {
	case kind == "application/json" && len(body) > 0:
		return c.addJSON()
	case kind == "multipart/form-data" && strings.Contains(c.Header.Get("Content-Type"), "boundary="):
		return errBroken
	case kind == formType, kind == "multipart/form-data":
		c.addForm(string(body))
	}
	return nil
}

func (c *storeCall) kind() string {
	kind, _, _ := strings.Cut(c.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// cleanedTypes are those whose bodies lose a byte order mark and, if they are
// not UTF-8, every character that is not ASCII.
var cleanedTypes = []string{
	"text/plain", formType, "application/json", "text/javascript", "application/vnd.api+json", "application/xml",
}

func cleaned(body []byte) []byte {
	body = bytes.TrimPrefix(body, wire.ByteOrderMark)
	if !utf8.Valid(body) {
		return []byte(names.ReplaceBytes(string(body)))
	}
	return body
}

// unsafeInForms are the characters that a form comes to the routes without, a
// line break among them.
var unsafeInForms = regexp.MustCompile(`[^-_.!~*'()a-zA-Z0-9;/?:@&=+$,\[\]%]`)

func (c *storeCall) addForm(form string) {
	for pair := range strings.SplitSeq(form, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			c.sent[unescapeForm(name)] = unescapeForm(value)
			c.order = append(c.order, unescapeForm(name))
		}
	}
}

func (c *storeCall) addJSON() error {
	var value any
	if wire.Decode(c.body, &value) != nil {
		return errBroken
	}
	if _, ok := value.(object); !ok {
		c.sent["_json"] = ""
		c.order = append(c.order, "_json")
		return nil
	}
	for _, name := range memberNames(c.body) {
		c.sent[name] = wire.String(value.(object)[name])
		c.order = append(c.order, name)
	}
	return nil
}

// memberNames are the names in a JSON object, in order.
func memberNames(data []byte) []string {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	_, _ = dec.Token()
	var names []string
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			break
		}
		names = append(names, name.(string))
	}
	return names
}

// permit refuses parameters but those known to a route; JSON comes with one
// more, under the name of what the route is about.
func (c *storeCall) permit(wrapper string, known ...string) error {
	var odd []string
	order := c.order
	if _, given := c.sent[wrapper]; c.kind() == "application/json" && !given {
		order = append(slices.Clone(order), wrapper)
		known = slices.DeleteFunc(known, func(name string) bool { return name == wrapper })
	}
	for _, name := range order {
		if !slices.Contains(known, name) && name != "testMode" && !slices.Contains(odd, ":"+name) {
			odd = append(odd, ":"+name)
		}
	}
	switch len(odd) {
	case 0:
		return nil
	case 1:
		return wire.Fail(http.StatusUnprocessableEntity, "found unpermitted parameter: %s", odd[0])
	}
	return wire.Fail(http.StatusUnprocessableEntity, "found unpermitted parameters: %s", strings.Join(odd, ", "))
}

// readMetadata is GET /metadata: what there is, or a blank.
func (s *Room) readMetadata(c *storeCall) (wire.Reply, error) {
	return s.ask(c, errUnknown.Title, func() (wire.Reply, error) {
		res, err := s.behindXML(c.account, names.BehindStore(http.MethodGet, c.doi, ""))
		res.ContentType = "application/xml; charset=utf-8"
		return orBlank(res), err
	})
}

// orBlank is an answer without a text: the store makes it a blank.
func orBlank(res wire.Reply) wire.Reply {
	if len(res.Body) == 0 && res.Status != http.StatusNoContent {
		res.Body = []byte(" ")
	}
	return res
}

// hideDOI is DELETE /metadata. Of a DOI nobody knows it makes a draft.
func (s *Room) hideDOI(c *storeCall) (wire.Reply, error) {
	return s.ask(c, notFoundBehind, func() (wire.Reply, error) {
		created, err := s.behindChange(c, names.BehindStore(http.MethodPatch, c.doi, ""), changes{event: "hide"})
		if created != nil && created.existed {
			return wire.Text(http.StatusOK, "OK"), err
		}
		return wire.Text(http.StatusCreated, " "), err
	})
}

// createMetadata is PUT and POST /metadata.
func (s *Room) createMetadata(c *storeCall) (wire.Reply, error) {
	if c.Header.Get("Content-Type") == formType {
		return wire.Reply{}, answer(http.StatusUnsupportedMediaType, "Content type "+formType+" is not supported")
	}
	if err := c.permit("metadata", "id", "doi_id", "number"); err != nil {
		return wire.Reply{}, err
	}
	format, body := record.StoreFormat(c.body)
	if format == "" {
		return wire.Reply{}, answer(http.StatusUnsupportedMediaType, record.ErrFormat.Title)
	}
	name := s.nameForMetadata(c, format, body)
	if name == "" {
		return wire.Reply{}, answer(http.StatusNotFound, errNoDOI.Title)
	}
	return s.ask(c, notFoundBehind, func() (wire.Reply, error) {
		done, err := s.behindChange(c, names.BehindStore(http.MethodPut, name, ""), changes{
			event: "show", metadata: body, validate: true, name: name,
		})
		if err != nil {
			return wire.Reply{}, err
		}
		res := wire.Text(http.StatusCreated, "OK ("+strings.ToUpper(done.doi)+")")
		res.Header = map[string]string{"Location": wire.Address(c.Request) + "/metadata/" + name}
		return res, nil
	})
}

var storePrefix = regexp.MustCompile(`\A(?:https?://?(?:dx\.)?(?:doi.org|handle.stage.datacite.org|handle.test.datacite.org)/)?(?:doi:)?(10\.[0-9]{4,5})`)

// nameForMetadata is the DOI of the path; without a path the one in DataCite
// XML; or a new one under the prefix that the path begins with, whatever comes
// after it. What comes after a slash stands before the new suffix.
func (s *Room) nameForMetadata(c *storeCall, format record.Format, body []byte) string {
	if name, ok := names.Validate(c.name); ok {
		return name
	}
	if c.name == "" && format == record.Kernel {
		name, _ := names.Validate(record.IdentifierIn(body))
		return name
	}
	m := storePrefix.FindStringSubmatch(c.name)
	if m == nil {
		return ""
	}
	prefix := m[1] + "/"
	if _, shoulder, _ := strings.Cut(c.name, "/"); shoulder != "" {
		prefix += shoulder + "-"
	}
	if number, err := strconv.ParseUint(notDigits.ReplaceAllString(c.sent["number"], ""), 10, 30); err == nil && number > 0 {
		return prefix + names.SuffixFor(uint32(number))
	}
	return prefix + names.MintSuffix()
}

var notDigits = regexp.MustCompile(`[^0-9]+`)

// listDOIsOfAccount is GET /doi.
func (s *Room) listDOIsOfAccount(c *storeCall) (wire.Reply, error) {
	return s.ask(c, errNoDOI.Title, func() (wire.Reply, error) { return s.behindNames(c.account) })
}

// readURL is GET /doi/{doi}.
func (s *Room) readURL(c *storeCall) (wire.Reply, error) {
	return s.ask(c, errNoDOI.Title, func() (wire.Reply, error) {
		res, err := s.behindURL(c.account, names.BehindStore(http.MethodGet, c.doi, "/get-url"))
		return orBlank(res), err
	})
}

// changeURL is PUT /doi and POST /doi.
func (s *Room) changeURL(c *storeCall) (wire.Reply, error) {
	if err := c.permit("doi", "id", "doi", "url"); err != nil {
		return wire.Reply{}, err
	}
	name, address, err := c.urlRecord()
	if err != nil {
		return wire.Reply{}, err
	}
	return s.ask(c, errNoDOI.Title, func() (wire.Reply, error) {
		if !storeURL.MatchString(address) {
			return wire.Reply{}, &wire.Failure{Status: http.StatusOK, Title: record.NoURL} // with the status of success
		}
		_, err := s.behindChange(c, names.BehindStore(http.MethodPut, name, ""), changes{event: "publish", url: address, validate: true})
		return wire.Text(http.StatusCreated, "OK"), err
	})
}

var storeURL = regexp.MustCompile(`\A(http|https|ftp)://\S+`)

var errEmpty = &answered{&wire.Failure{Status: http.StatusBadRequest, Whole: &wire.Reply{
	Status: http.StatusBadRequest, ContentType: "text/html", Plain: true,
}}}

// urlRecord reads DOI and URL. Parameters come first, as they are; else the
// lines of the body.
func (c *storeCall) urlRecord() (name, address string, err error) {
	name = c.name
	if wire.IsBlank(name) {
		name = c.sent["doi"]
	}
	if !wire.IsBlank(name) && !wire.IsBlank(c.sent["url"]) {
		return name, c.sent["url"], nil
	}
	given, err := readLines(string(c.body))
	if err != nil {
		return "", "", err
	}
	inBody := unescapeForm(strings.TrimSpace(given["doi"]))
	name, ok := names.Validate(c.name)
	switch {
	case wire.IsBlank(given["doi"]):
		return "", "", errNeedsDOI
	case ok && !strings.EqualFold(inBody, name):
		return "", "", errOtherDOI
	case wire.IsBlank(given["url"]):
		return "", "", errNeedsURL
	case !ok:
		name = inBody
	}
	return name, unescapeForm(strings.TrimSpace(given["url"])), nil
}

// readLines reads lines of key=value, in any order, of which the last of a kind wins.
func readLines(body string) (map[string]string, error) {
	if wire.IsBlank(body) {
		return nil, errEmpty
	}
	given := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimRight(body, "\n"), "\n") {
		if line == "" {
			return nil, errBroken
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			value = "value"
		}
		given[key] = value
	}
	return given, nil
}

// removeDOI is DELETE /doi/{doi}.
func (s *Room) removeDOI(c *storeCall) (wire.Reply, error) {
	return s.ask(c, errNoDOI.Title, func() (wire.Reply, error) {
		return wire.Text(http.StatusOK, "OK"), s.behindDelete(c.account, names.BehindStore(http.MethodDelete, c.doi, ""))
	})
}

// listMedia is GET /media/{doi}.
func (s *Room) listMedia(c *storeCall) (wire.Reply, error) {
	return s.ask(c, errUnknown.Title, func() (wire.Reply, error) {
		lines, err := s.behindMedia(names.BehindStore(http.MethodGet, c.doi, "/media"))
		if err == nil && len(lines) == 0 {
			return wire.Reply{}, answer(http.StatusNotFound, errNoMedia.Title)
		}
		return wire.Text(http.StatusOK, strings.Join(lines, "\n")), err
	})
}

// createMedium is POST /media/{doi}: one line, of which it reads what is before
// the first "=" and between the first and the second.
func (s *Room) createMedium(c *storeCall) (wire.Reply, error) {
	if err := c.permit("media", "id", "doi_id"); err != nil {
		return wire.Reply{}, err
	}
	return s.ask(c, errNoMedia.Title, func() (wire.Reply, error) {
		if wire.IsBlank(string(c.body)) {
			return wire.Reply{}, &wire.Failure{Status: http.StatusOK, Title: "Media type and URL missing"}
		}
		parts := append(strings.Split(string(c.body), "="), "")
		err := s.behindAddMedium(c.account, names.BehindStore(http.MethodPost, c.doi, "/media"), record.Medium{Kind: parts[0], URL: parts[1]})
		return wire.Text(http.StatusOK, "OK"), err
	})
}

// oneMedium is a medium by its number, which no answer of the store tells.
func (s *Room) oneMedium(c *storeCall) (wire.Reply, error) {
	return s.ask(c, errNoMedia.Title, func() (wire.Reply, error) { return wire.Reply{}, errNoMedia })
}

// changeMedium is a route to which the store has nothing.
func (s *Room) changeMedium(*storeCall) (wire.Reply, error) { return wire.Reply{}, errBroken }

// serveRest is what else the host of the store answers.
func serveRest(method, path string) (wire.Reply, error) {
	if method == http.MethodGet {
		switch path {
		case "/heartbeat":
			return wire.Text(http.StatusOK, "OK"), nil
		case "/":
			res := wire.Reply{Status: http.StatusMovedPermanently, Plain: true}
			res.Header = map[string]string{"Location": "https://support.datacite.org/docs/mds-api-guide"}
			return res, nil
		case "/login":
			return wire.Reply{}, wire.Fail(http.StatusNotImplemented, "One-time login and session cookies not supported by this service")
		}
	}
	return wire.Reply{}, errNoRoute
}
