package sandbox

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/datacitetest"
)

// The control interface is for tests in any language: while the sandbox runs, they change what it
// holds and does, and ask what happened. openapi.yaml documents it.

// openAPI describes the control interface and the three interfaces of the service.
//
//go:embed openapi.yaml
var openAPI []byte

const controlPath = "/sandbox/"

// An action is a route of the control interface. A path that ends with "/" has more behind it.
type action struct {
	method, path string
	do           func(s *site, r *http.Request, rest string) (status int, body any, err error)
}

var actions = []action{
	{"GET", "health", (*site).health},
	{"POST", "reset", (*site).reset},
	{"GET", "dois", (*site).listDOIs},
	{"POST", "dois", (*site).load},
	{"GET", "dois/", (*site).showDOI},
	{"GET", "requests", (*site).requests},
	{"GET", "faults", (*site).listFaults},
	{"POST", "faults", (*site).addFault},
	{"DELETE", "faults", (*site).removeFaults},
	{"DELETE", "faults/", (*site).removeFaults},
	{"GET", "clock", (*site).showClock},
	{"POST", "clock", (*site).advance},
	{"POST", "process-usage", (*site).processUsage},
	{"POST", "tokens", (*site).issueToken},
	{"GET", "openapi.yaml", nil},
}

// A problem is an error with its status.
type problem struct {
	error
	status int
}

func refuse(status int, format string, args ...any) error {
	return problem{fmt.Errorf(format, args...), status}
}

// control serves a request to the control interface.
func (s *site) control(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Origin")
	preflight, err := s.admit(w, r)
	switch {
	case err != nil:
		answer(w, 0, nil, err)
	case preflight:
		w.WriteHeader(http.StatusNoContent)
	default:
		status, body, err := s.act(w, r)
		answer(w, status, body, err)
	}
}

// admit refuses pages of other origins, except those that were allowed: a script, or a form whose
// response nobody can read, could otherwise change what a test of the same machine works with.
func (s *site) admit(w http.ResponseWriter, r *http.Request) (preflight bool, err error) {
	origin := r.Header.Get("Origin")
	site := r.Header.Get("Sec-Fetch-Site")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case slices.Contains(s.origins, origin):
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", origin)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			header.Set("Access-Control-Allow-Headers", "Content-Type")
			header.Set("Access-Control-Max-Age", "600")
			if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
				header.Set("Access-Control-Allow-Private-Network", "true")
			}
			return true, nil
		}
	case origin != "" && origin != served(r):
		return false, refuse(http.StatusForbidden, "pages of %q may not control the sandbox; start it with --allow-origin %s",
			origin, origin)
	case !reads && site != "" && site != "same-origin" && site != "none":
		return false, refuse(http.StatusForbidden,
			"pages of other origins may not control the sandbox; start it with --allow-origin and their origin")
	}
	return false, nil
}

// act does what a request asks for.
func (s *site) act(w http.ResponseWriter, r *http.Request) (status int, body any, err error) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), controlPath)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var methods, paths []string
	for _, a := range actions {
		rest, below := strings.CutPrefix(path, a.path)
		if !below || rest != "" && !strings.HasSuffix(a.path, "/") || rest == "" && strings.HasSuffix(a.path, "/") {
			paths = append(paths, controlPath+a.path)
			continue
		}
		if methods = append(methods, a.method); a.method != method {
			continue
		}
		if a.do == nil {
			w.Header().Set("Content-Type", "application/yaml")
			_, _ = w.Write(openAPI)
			return 0, nil, nil
		}
		if rest, err = url.PathUnescape(rest); err != nil {
			return 0, nil, refuse(http.StatusBadRequest, "%w", err)
		}
		return a.do(s, r, rest)
	}
	if methods != nil {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		return 0, nil, refuse(http.StatusMethodNotAllowed, "%s is not possible here; try %s", r.Method,
			strings.Join(methods, " or "))
	}
	return 0, nil, refuse(http.StatusNotFound, "there is no %s; there are %s", r.URL.Path,
		strings.Join(slices.Compact(paths), ", "))
}

// answer sends a body as JSON, or an error. Without a status there is nothing left to send.
func answer(w http.ResponseWriter, status int, body any, err error) {
	if err != nil {
		status = http.StatusBadRequest
		if p, ok := errors.AsType[problem](err); ok {
			status = p.status
		}
		body = map[string]string{"error": shell.Message(err)}
	}
	if body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	if status != 0 {
		w.WriteHeader(status)
	}
	if body != nil {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		_ = e.Encode(body)
	}
}

// checkType refuses what a form of a web page can send, and other types than JSON.
func checkType(r *http.Request) error {
	sent := r.Header.Get("Content-Type")
	if sent == "" && r.ContentLength == 0 {
		return nil
	}
	kind, _, err := mime.ParseMediaType(sent)
	known := []string{"application/json", "application/x-ndjson", "application/jsonl", "application/vnd.api+json"}
	if err != nil || !slices.Contains(known, kind) {
		return refuse(http.StatusUnsupportedMediaType,
			"the body has the type %q; send JSON with Content-Type: application/json (curl --json)", sent)
	}
	return nil
}

const maxBody = 64 << 10 // bytes, except of records

// decode reads the object of a body, which may be empty.
func decode(r *http.Request, into any) error {
	if err := checkType(r); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxBody:
		return refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxBody)
	case len(text) == 0:
		return nil
	}
	values := json.NewDecoder(strings.NewReader(string(text)))
	values.DisallowUnknownFields()
	if err := values.Decode(into); err != nil {
		if name, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field "); isUnknown {
			name, _ = strconv.Unquote(name) // the decoder has quoted it
			return unknown(name, members(into))
		}
		return fmt.Errorf("the body is not the JSON object that is expected: %w", err)
	}
	if _, err := values.Token(); err != io.EOF {
		return errors.New("the body has more than one JSON object")
	}
	return nil
}

// unknown is the error for a member or parameter.
func unknown(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("%q is unknown; nothing can be given here", name)
	}
	return fmt.Errorf("%q is unknown; there are %s", name, strings.Join(known, ", "))
}

// members are the names of a struct in JSON.
func members(of any) (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(of).Elem()) {
		if name := field.Tag.Get("json"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (s *site) health(r *http.Request, _ string) (int, any, error) {
	return http.StatusOK, struct {
		Status    string                 `json:"status"`
		Behaviour datacitetest.Behaviour `json:"behaviour"`
		welcome
	}{"ok", s.service.Behaviour, s.welcome(served(r))}, nil
}

// served is the address under which a request has come.
func served(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func (s *site) reset(r *http.Request, _ string) (int, any, error) {
	if err := decode(r, &struct{}{}); err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.service.Reset()
	s.useFaults()
	s.last = nil
	s.resets.Add(1)
	s.changed.Store(true)
	return http.StatusNoContent, nil, nil
}

type listedDOI struct {
	DOI   string `json:"doi"`
	State string `json:"state"`
}

func (s *site) listDOIs(*http.Request, string) (int, any, error) {
	all := []listedDOI{}
	for _, name := range s.service.Names() {
		if state := s.service.State(name); state != "" {
			all = append(all, listedDOI{name, state})
		}
	}
	return http.StatusOK, map[string]any{"dois": all}, nil
}

func (s *site) showDOI(r *http.Request, name string) (int, any, error) {
	record, err := s.service.Record(name)
	if err != nil {
		return 0, nil, refuse(http.StatusNotFound, "the sandbox has no DOI %s", name)
	}
	address, _ := s.service.Resolve(r.Context(), name) // "" if it does not resolve yet
	return http.StatusOK, struct {
		listedDOI
		URL        *string         `json:"url"`
		ResolvesTo *string         `json:"resolves_to"`
		Attributes json.RawMessage `json:"attributes"`
	}{listedDOI{strings.ToLower(record.DOI), s.service.State(name)}, orNull(record.URL), orNull(address), record.Raw}, nil
}

func orNull[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

func (s *site) load(r *http.Request, _ string) (int, any, error) {
	if err := checkType(r); err != nil {
		return 0, nil, err
	}
	defer s.changed.Store(true)
	n, err := load(s.service, r.Body)
	if err != nil {
		return 0, nil, refuse(http.StatusUnprocessableEntity, "after %s, which are stored: %w", shell.Count(n, "record"), err)
	}
	return http.StatusCreated, map[string]int{"loaded": n}, nil
}

// A listedRequest is a request that the service received.
type listedRequest struct {
	Number     int                     `json:"number"`
	Method     string                  `json:"method"`
	Path       string                  `json:"path"` // escaped
	Query      string                  `json:"query"`
	Headers    map[string]string       `json:"headers"`
	Body       *string                 `json:"body"`        // null if it is not UTF-8
	BodyBase64 *string                 `json:"body_base64"` // in its place
	Bytes      int64                   `json:"bytes"`
	Status     *int                    `json:"status"` // null: the service did no work
	Fault      *datacitetest.FaultKind `json:"fault"`
}

func list(r *datacitetest.Request) listedRequest {
	l := listedRequest{
		Number: r.Number, Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Headers: map[string]string{},
		Bytes:  r.Bytes,
		Status: orNull(r.Status), Fault: orNull(r.Fault),
	}
	for name, values := range r.Header {
		l.Headers[name] = strings.Join(values, ", ")
	}
	if utf8.Valid(r.Body) {
		l.Body = new(string(r.Body))
	} else {
		l.BodyBase64 = new(base64.StdEncoding.EncodeToString(r.Body))
	}
	return l
}

// A wanted is the parameters of a list of requests.
type wanted struct {
	route         route
	fault         string
	status, after int
	count         int
	wait          time.Duration
}

func readWanted(parameters url.Values) (w wanted, err error) {
	known := []string{"route", "fault", "status", "after", "count", "wait"}
	number := func(name string) int {
		text := parameters.Get(name)
		if text == "" {
			return 0
		}
		n, wrong := strconv.Atoi(text)
		if wrong != nil || n < 0 {
			err = fmt.Errorf("%s is %q; it must be 0 or more", name, text)
		}
		return n
	}
	for name := range parameters {
		if !slices.Contains(known, name) {
			return w, unknown(name, known)
		}
	}
	w = wanted{fault: parameters.Get("fault"), status: number("status"), after: number("after"),
		count: max(number("count"), 1)}
	if err != nil {
		return w, err
	}
	if text := parameters.Get("wait"); text != "" {
		const most = 10 * time.Minute
		if w.wait, err = time.ParseDuration(text); err != nil || w.wait < 0 || w.wait > most {
			return w, fmt.Errorf("wait is %q; it is a time such as 5s, at most 10m", text)
		}
	} else if parameters.Has("count") {
		return w, errors.New("count is for waiting; add wait, such as wait=5s")
	}
	w.route, err = readRoute(parameters.Get("route"))
	return w, err
}

func (w wanted) fits(r *datacitetest.Request) bool {
	return r.Number > w.after && w.route.fits(asked(r)) && (w.fault == "" || w.fault == string(r.Fault)) &&
		(w.status == 0 || w.status == r.Status)
}

func (s *site) requests(r *http.Request, _ string) (int, any, error) {
	wanted, err := readWanted(r.URL.Query())
	if err != nil {
		return 0, nil, err
	}
	if wanted.wait > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), wanted.wait)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		found := 0
		if _, err := s.service.AwaitRequest(ctx, func(r *datacitetest.Request) bool {
			if wanted.fits(r) {
				found++
			}
			return found == wanted.count
		}); err != nil {
			return 0, nil, refuse(http.StatusNotFound, "%d of %d requests came within %s; GET %srequests shows what came",
				found, wanted.count, wanted.wait, controlPath)
		}
	}
	all := []listedRequest{}
	for _, r := range s.service.Requests() {
		if wanted.fits(&r) {
			all = append(all, list(&r))
		}
	}
	return http.StatusOK, map[string]any{"requests": all}, nil
}

func (s *site) listFaults(*http.Request, string) (int, any, error) {
	return http.StatusOK, map[string]any{"faults": s.faults.list()}, nil
}

func (s *site) addFault(r *http.Request, _ string) (int, any, error) {
	var rule faultRule
	if err := decode(r, &rule); err != nil {
		return 0, nil, err
	}
	added, err := s.faults.add(rule, s.service.Behaviour)
	return http.StatusCreated, added, err
}

func (s *site) removeFaults(r *http.Request, id string) (int, any, error) {
	if !s.faults.remove(id) {
		return 0, nil, refuse(http.StatusNotFound, "there is no fault %s; GET %sfaults lists them", id, controlPath)
	}
	return http.StatusNoContent, nil, nil
}

func (s *site) showClock(*http.Request, string) (int, any, error) {
	return http.StatusOK, map[string]time.Time{"now": s.service.Now()}, nil
}

func (s *site) advance(r *http.Request, _ string) (int, any, error) {
	var by struct {
		Advance string `json:"advance"`
	}
	if err := decode(r, &by); err != nil {
		return 0, nil, err
	}
	d, err := time.ParseDuration(by.Advance)
	if err != nil || d <= 0 {
		return 0, nil, fmt.Errorf("advance is %q; it is a time forward such as 90s, 3m or 36h", by.Advance)
	}
	const farthest = 100 * 365 * 24 * time.Hour
	if d > farthest || s.service.Now().Add(d).After(time.Now().Add(farthest)) {
		return 0, nil, errors.New("the clock goes at most 100 years ahead")
	}
	s.service.Advance(d)
	s.changed.Store(true)
	return s.showClock(r, "")
}

func (s *site) processUsage(r *http.Request, _ string) (int, any, error) {
	if err := decode(r, &struct{}{}); err != nil {
		return 0, nil, err
	}
	if s.service.Behaviour == datacitetest.Documented {
		return 0, nil, refuse(http.StatusConflict, "with --behaviour documented, DOIs show no views and downloads")
	}
	s.service.ProcessUsage()
	s.changed.Store(true)
	return http.StatusNoContent, nil, nil
}

func (s *site) issueToken(r *http.Request, _ string) (int, any, error) {
	wish := struct {
		Username  string `json:"username"`
		ExpiresIn string `json:"expires_in"`
	}{datacitetest.Username, "1h"}
	if err := decode(r, &wish); err != nil {
		return 0, nil, err
	}
	if !slices.ContainsFunc(s.usernames, func(name string) bool { return strings.EqualFold(name, wish.Username) }) {
		return 0, nil, fmt.Errorf("username: %w", shell.NotOne(wish.Username, s.usernames))
	}
	d, err := time.ParseDuration(wish.ExpiresIn)
	if err != nil {
		return 0, nil, fmt.Errorf("expires_in is %q; it is a time such as 1h, or -1h for a token that has expired",
			wish.ExpiresIn)
	}
	expires := s.service.Now().Add(d).Truncate(time.Second)
	return http.StatusCreated, map[string]any{"token": s.service.As(wish.Username).Token(expires), "expires": expires}, nil
}
