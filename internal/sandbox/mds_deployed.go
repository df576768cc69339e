package sandbox

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
)

// The deployed metadata store: it reads names, parameters and bodies, asks the
// DOI service behind it (mds_behind.go), and puts the answer into words.

// errBroken is what the store answers when its own code breaks: an empty page.
var errBroken = &fault{status: http.StatusInternalServerError, title: "broken", whole: &reply{
	status: http.StatusInternalServerError, contentType: "text/html; charset=UTF-8", plain: true,
}}

// storeCall is a request to one of the store's routes.
type storeCall struct {
	*request
	name     string // as in the path, decoded once, or the form parameter doi_id
	id       string // of a medium
	username string // as sent, whoever that is
	account  *Account
	sent     map[string]string // the parameters of query string, form and JSON
	order    []string          // their names
	body     []byte
}

// storeRoute is one route of the store. The path has one group for the name,
// and one for the number of a medium.
type storeRoute struct {
	methods string
	path    *regexp.Regexp
	serve   func(s *mdsRoom, c *storeCall) (reply, error)
}

// storeRoutes are tried in this order.
var storeRoutes = []storeRoute{
	{"POST", regexp.MustCompile(`\A/doi\z`), (*mdsRoom).changeURL},
	{"POST", regexp.MustCompile(`\A/media/(.+)\z`), (*mdsRoom).createMedium},
	{"GET", regexp.MustCompile(`\A/media/(.+)\z`), (*mdsRoom).listMedia},
	{"POST", regexp.MustCompile(`\A/metadata\z`), (*mdsRoom).createMetadata},
	{"POST PUT", regexp.MustCompile(`\A/metadata/(.+)\z`), (*mdsRoom).createMetadata},
	{"GET", regexp.MustCompile(`\A/metadata(?:/(.+))?\z`), (*mdsRoom).readMetadata},
	{"DELETE", regexp.MustCompile(`\A/metadata/(.+)\z`), (*mdsRoom).hideDOI},
	{"GET", regexp.MustCompile(`\A/doi/(.+)/media\z`), (*mdsRoom).listMedia},
	{"POST", regexp.MustCompile(`\A/doi/(.+)/media\z`), (*mdsRoom).createMedium},
	{"GET DELETE", regexp.MustCompile(`\A/doi/(.+)/media/(.+)\z`), (*mdsRoom).oneMedium},
	{"PUT PATCH", regexp.MustCompile(`\A/doi/(.+)/media/(.+)\z`), (*mdsRoom).changeMedium},
	{"GET", regexp.MustCompile(`\A/doi\z`), (*mdsRoom).listDOIsOfAccount},
	{"GET", regexp.MustCompile(`\A/doi/(.+)\z`), (*mdsRoom).readURL},
	{"PUT PATCH", regexp.MustCompile(`\A/doi/(.+)\z`), (*mdsRoom).changeURL},
	{"DELETE", regexp.MustCompile(`\A/doi/(.+)\z`), (*mdsRoom).removeDOI},
}

// serveStore answers a request to the store; the path is the one its routes see.
func (s *mdsRoom) serveStore(q *request, path string) reply {
	for _, route := range storeRoutes {
		m := route.path.FindStringSubmatch(path)
		if m == nil || !slices.Contains(strings.Fields(route.methods), q.method) {
			continue
		}
		c := &storeCall{request: q}
		if len(m) > 1 {
			c.name = decode(m[1])
		}
		if len(m) > 2 {
			c.id = decode(m[2])
		}
		return inText(s.enter(c, route.serve))
	}
	return inText(serveRest(q.method, path))
}

// enter reads what every route reads: type, login, body.
func (s *mdsRoom) enter(c *storeCall, serve func(*mdsRoom, *storeCall) (reply, error)) (reply, error) {
	if !isMediaType(c.Header) {
		return reply{}, errBroken
	}
	if err := s.identify(c); err != nil {
		return reply{}, err
	}
	if err := c.read(); err != nil {
		return reply{}, err
	}
	res, err := serve(s, c)
	if f, ok := errors.AsType[*answered](err); ok {
		res, err = inText(reply{}, f.fault), nil
	}
	if err == nil {
		res.header = with(res.header, "X-Credential-Username", c.username)
	}
	return res, err
}

// answered is an error that the store has put into words itself. Others come
// from outside of its routes, which do not name who asked.
type answered struct{ *fault }

func (a *answered) Unwrap() error { return a.fault }

func answer(status int, title string) error { return &answered{fail(status, "%s", title)} }

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
func (s *mdsRoom) identify(c *storeCall) error {
	username, password, _ := c.BasicAuth()
	if strings.TrimSpace(username) == "" || strings.TrimSpace(password) == "" {
		f := fail(http.StatusUnauthorized, "An Authentication object was not found in the SecurityContext")
		f.whole = &reply{
			status: f.status, contentType: "text/html; charset=utf-8", body: []byte(f.title), plain: true,
			header: map[string]string{"WWW-Authenticate": `Basic realm="mds"`},
		}
		return f
	}
	c.username = username
	c.account, _ = s.basic(c.Request)
	return nil
}

const formType = "application/x-www-form-urlencoded"

// read reads the parameters and the body.
func (c *storeCall) read() error {
	body, err := readSome(c.Body)
	if err != nil {
		return err
	}
	kind := c.kind()
	if slices.Contains(cleanedTypes, kind) {
		body = cleaned(body)
	}
	if kind == formType {
		body = []byte(unsafeInForms.ReplaceAllStringFunc(sanitise(string(body)), url.QueryEscape))
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
	body = bytes.TrimPrefix(body, byteOrderMark)
	if !utf8.Valid(body) {
		return []byte(replaceBytes(string(body)))
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
	if decodeJSON(c.body, &value) != nil {
		return errBroken
	}
	if _, ok := value.(object); !ok {
		c.sent["_json"] = ""
		c.order = append(c.order, "_json")
		return nil
	}
	for _, name := range memberNames(c.body) {
		c.sent[name] = text(value.(object)[name])
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
		return fail(http.StatusUnprocessableEntity, "found unpermitted parameter: %s", odd[0])
	}
	return fail(http.StatusUnprocessableEntity, "found unpermitted parameters: %s", strings.Join(odd, ", "))
}

// doi is the name that the path means.
func (c *storeCall) doi() (string, error) {
	name, ok := validate(c.name)
	if !ok {
		return "", errNoDOI
	}
	return name, nil
}

// readMetadata is GET /metadata: what there is, or a blank.
func (s *mdsRoom) readMetadata(c *storeCall) (reply, error) {
	name, err := c.doi()
	if err != nil {
		return reply{}, err
	}
	return s.ask(c, errUnknown.title, func() (reply, error) {
		res, err := s.behindXML(c.account, behindStore(http.MethodGet, name, ""))
		res.contentType = "application/xml; charset=utf-8"
		return orBlank(res), err
	})
}

// orBlank is an answer without a text: the store makes it a blank.
func orBlank(res reply) reply {
	if len(res.body) == 0 && res.status != http.StatusNoContent {
		res.body = []byte(" ")
	}
	return res
}

// hideDOI is DELETE /metadata. Of a DOI nobody knows it makes a draft.
func (s *mdsRoom) hideDOI(c *storeCall) (reply, error) {
	name, err := c.doi()
	if err != nil {
		return reply{}, err
	}
	return s.ask(c, notFoundBehind, func() (reply, error) {
		created, err := s.behindChange(c, behindStore(http.MethodPatch, name, ""), changes{event: "hide"})
		if created != nil && created.existed {
			return textReply(http.StatusOK, "OK"), err
		}
		return textReply(http.StatusCreated, " "), err
	})
}

// createMetadata is PUT and POST /metadata.
func (s *mdsRoom) createMetadata(c *storeCall) (reply, error) {
	if c.Header.Get("Content-Type") == formType {
		return reply{}, answer(http.StatusUnsupportedMediaType, "Content type "+formType+" is not supported")
	}
	if err := c.permit("metadata", "id", "doi_id", "number"); err != nil {
		return reply{}, err
	}
	format, body := storeFormat(c.body)
	if format == "" {
		return reply{}, answer(http.StatusUnsupportedMediaType, errFormat.title)
	}
	name := s.nameForMetadata(c, format, body)
	if name == "" {
		return reply{}, answer(http.StatusNotFound, errNoDOI.title)
	}
	return s.ask(c, notFoundBehind, func() (reply, error) {
		done, err := s.behindChange(c, behindStore(http.MethodPut, name, ""), changes{
			event: "show", metadata: body, validate: true, name: name,
		})
		if err != nil {
			return reply{}, err
		}
		res := textReply(http.StatusCreated, "OK ("+strings.ToUpper(done.doi)+")")
		res.header = map[string]string{"Location": address(c.request) + "/metadata/" + name}
		return res, nil
	})
}

var storePrefix = regexp.MustCompile(`\A(?:https?://?(?:dx\.)?(?:doi.org|handle.stage.datacite.org|handle.test.datacite.org)/)?(?:doi:)?(10\.[0-9]{4,5})`)

// nameForMetadata is the DOI of the path; without a path the one in DataCite
// XML; or a new one under the prefix that the path begins with, whatever comes
// after it. What comes after a slash stands before the new suffix.
func (s *mdsRoom) nameForMetadata(c *storeCall, format format, body []byte) string {
	if name, ok := validate(c.name); ok {
		return name
	}
	if c.name == "" && format == kernel {
		name, _ := validate(identifierIn(body))
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
		return prefix + suffixFor(uint32(number))
	}
	return prefix + mintSuffix()
}

var notDigits = regexp.MustCompile(`[^0-9]+`)

// listDOIsOfAccount is GET /doi.
func (s *mdsRoom) listDOIsOfAccount(c *storeCall) (reply, error) {
	return s.ask(c, errNoDOI.title, func() (reply, error) { return s.behindNames(c.account) })
}

// readURL is GET /doi/{doi}.
func (s *mdsRoom) readURL(c *storeCall) (reply, error) {
	name, err := c.doi()
	if err != nil {
		return reply{}, err
	}
	return s.ask(c, errNoDOI.title, func() (reply, error) {
		res, err := s.behindURL(c.account, behindStore(http.MethodGet, name, "/get-url"))
		return orBlank(res), err
	})
}

// changeURL is PUT /doi and POST /doi.
func (s *mdsRoom) changeURL(c *storeCall) (reply, error) {
	if err := c.permit("doi", "id", "doi", "url"); err != nil {
		return reply{}, err
	}
	name, address, err := c.urlRecord()
	if err != nil {
		return reply{}, err
	}
	return s.ask(c, errNoDOI.title, func() (reply, error) {
		if !storeURL.MatchString(address) {
			return reply{}, &fault{status: http.StatusOK, title: noURL} // with the status of success
		}
		_, err := s.behindChange(c, behindStore(http.MethodPut, name, ""), changes{event: "publish", url: address, validate: true})
		return textReply(http.StatusCreated, "OK"), err
	})
}

var storeURL = regexp.MustCompile(`\A(http|https|ftp)://\S+`)

var errEmpty = &answered{&fault{status: http.StatusBadRequest, whole: &reply{
	status: http.StatusBadRequest, contentType: "text/html", plain: true,
}}}

// urlRecord reads DOI and URL. Parameters come first, as they are; else the
// lines of the body, in any order, others ignored, the last of a kind wins.
func (c *storeCall) urlRecord() (name, address string, err error) {
	name = c.name
	if isBlank(name) {
		name = c.sent["doi"]
	}
	if !isBlank(name) && !isBlank(c.sent["url"]) {
		return name, c.sent["url"], nil
	}
	if isBlank(string(c.body)) {
		return "", "", errEmpty
	}
	lines := strings.Split(strings.TrimRight(string(c.body), "\n"), "\n")
	if slices.Contains(lines, "") {
		return "", "", errBroken
	}
	given := map[string]string{}
	for _, line := range lines {
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			value = "value"
		}
		given[key] = value
	}
	inBody := unescapeForm(strings.TrimSpace(given["doi"]))
	name, ok := validate(c.name)
	switch {
	case isBlank(given["doi"]):
		return "", "", errNeedsDOI
	case ok && !strings.EqualFold(inBody, name):
		return "", "", errOtherDOI
	case isBlank(given["url"]):
		return "", "", errNeedsURL
	case !ok:
		name = inBody
	}
	return name, unescapeForm(strings.TrimSpace(given["url"])), nil
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// removeDOI is DELETE /doi/{doi}.
func (s *mdsRoom) removeDOI(c *storeCall) (reply, error) {
	name, err := c.doi()
	if err != nil {
		return reply{}, err
	}
	return s.ask(c, errNoDOI.title, func() (reply, error) {
		return textReply(http.StatusOK, "OK"), s.behindDelete(c.account, behindStore(http.MethodDelete, name, ""))
	})
}

// listMedia is GET /media/{doi}.
func (s *mdsRoom) listMedia(c *storeCall) (reply, error) {
	name, err := c.doi()
	if err != nil {
		return reply{}, err
	}
	return s.ask(c, errUnknown.title, func() (reply, error) {
		lines, err := s.behindMedia(behindStore(http.MethodGet, name, "/media"))
		if err == nil && len(lines) == 0 {
			return reply{}, answer(http.StatusNotFound, errNoMedia.title)
		}
		return textReply(http.StatusOK, strings.Join(lines, "\n")), err
	})
}

// createMedium is POST /media/{doi}: one line, of which it reads what is before
// the first "=" and between the first and the second.
func (s *mdsRoom) createMedium(c *storeCall) (reply, error) {
	name, err := c.doi()
	if err != nil {
		return reply{}, err
	}
	if err := c.permit("media", "id", "doi_id"); err != nil {
		return reply{}, err
	}
	return s.ask(c, errNoMedia.title, func() (reply, error) {
		if isBlank(string(c.body)) {
			return reply{}, &fault{status: http.StatusOK, title: "Media type and URL missing"}
		}
		parts := append(strings.Split(string(c.body), "="), "")
		err := s.behindAddMedium(c.account, behindStore(http.MethodPost, name, "/media"), medium{parts[0], parts[1]})
		return textReply(http.StatusOK, "OK"), err
	})
}

// oneMedium is a medium by its number, which no answer of the store tells.
func (s *mdsRoom) oneMedium(c *storeCall) (reply, error) {
	if _, err := c.doi(); err != nil {
		return reply{}, err
	}
	return s.ask(c, errNoMedia.title, func() (reply, error) { return reply{}, errNoMedia })
}

// changeMedium is a route to which the store has nothing.
func (s *mdsRoom) changeMedium(*storeCall) (reply, error) { return reply{}, errBroken }

// serveRest is what else the host of the store answers.
func serveRest(method, path string) (reply, error) {
	if method == http.MethodGet {
		switch path {
		case "/heartbeat":
			return textReply(http.StatusOK, "OK"), nil
		case "/":
			res := reply{status: http.StatusMovedPermanently, plain: true}
			res.header = map[string]string{"Location": "https://support.datacite.org/docs/mds-api-guide"}
			return res, nil
		case "/login":
			return reply{}, fail(http.StatusNotImplemented, "One-time login and session cookies not supported by this service")
		}
	}
	return reply{}, errNoRoute
}
