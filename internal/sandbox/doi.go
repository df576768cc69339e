package sandbox

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// mdsRoom is interface C: the metadata store.
type mdsRoom struct{ *Store }

func newMDSRoom(s *Store) *mdsRoom { return &mdsRoom{s} }

// serveDocumentedStore answers a request to the path area/rest.
func (s *mdsRoom) serveDocumentedStore(q *request, area, rest string) reply {
	switch area {
	case "doi":
		return inText(s.serveDOI(q, rest))
	case "metadata":
		return inText(s.serveMetadata(q, rest))
	case "media":
		return inText(s.serveMedia(q, rest))
	}
	return inText(reply{}, errNoRoute)
}

// login checks Basic credentials, which the metadata store wants on every
// request (specification §5).
func (s *mdsRoom) login(q *request) (*Account, error) {
	account, given := s.basic(q.Request)
	if username, password, _ := q.BasicAuth(); isKey(username) {
		account, given = nil, password != "" // the specification knows names alone
	}
	if !given {
		f := fail(http.StatusUnauthorized, "An Authentication object was not found in the SecurityContext")
		f.header = map[string]string{"WWW-Authenticate": `Basic realm="mds"`}
		return nil, f
	}
	if account == nil {
		return nil, errBadLogin
	}
	q.header.Set("X-Credential-Username", account.Username)
	return account, nil
}

// hidden is why the account may not read the record.
func hidden(rec *record, account *Account, unknown error) error {
	switch {
	case rec == nil:
		return unknown
	case !rec.owner(account):
		return errDenied
	}
	return nil
}

var (
	errBadLogin = fail(http.StatusUnauthorized, "Bad credentials")

	errNoDOI  = fail(http.StatusNotFound, "DOI not found")
	errDenied = fail(http.StatusForbidden, "Access is denied")

	errUnknown = fail(http.StatusNotFound, "DOI is unknown to MDS")
	errNoRoute = fail(http.StatusNotFound, "Resource not found")
)

// serveDOI is /doi of the metadata store: the URLs of DOIs (specification §4.3).
func (s *mdsRoom) serveDOI(q *request, path string) (reply, error) {
	account, err := s.login(q)
	if err != nil {
		return reply{}, err
	}
	switch {
	case q.method == http.MethodGet && path == "" && account.byKey:
		return reply{}, errDenied // as on the deployed service
	case q.method == http.MethodGet && path == "":
		return s.listNames(account), nil
	case q.method == http.MethodPost && path == "", q.method == http.MethodPut:
		return s.putURL(q, account, path)
	}
	name, err := nameInPath(path)
	if err != nil {
		return reply{}, err
	}
	switch q.method {
	case http.MethodGet:
		return s.getURL(account, name)
	case http.MethodDelete:
		return s.deleteDraft(account, name)
	}
	return reply{}, errNoRoute
}

// listNames answers the registered names under the account's first prefix, in
// upper case, one a line.
func (s *mdsRoom) listNames(account *Account) reply {
	var names []string
	for _, rec := range s.all() {
		prefix, _ := splitName(rec.doi)
		if !rec.gone && rec.owner(account) && rec.state != draft && len(account.Prefixes) > 0 && prefix == account.Prefixes[0] {
			names = append(names, upper(rec.doi))
		}
	}
	if len(names) == 0 {
		return reply{status: http.StatusNoContent, plain: true}
	}
	slices.Sort(names)
	return textReply(http.StatusOK, strings.Join(names, "\n"))
}

func (s *mdsRoom) getURL(account *Account, name string) (reply, error) {
	rec := s.find(name)
	if err := hidden(rec, account, errNoDOI); err != nil {
		return reply{}, err
	}
	if rec.url == "" {
		return reply{status: http.StatusNoContent, plain: true}, nil
	}
	return textReply(http.StatusOK, rec.url), nil
}

// putURL registers a DOI with its URL, or changes the URL.
func (s *mdsRoom) putURL(q *request, account *Account, path string) (reply, error) {
	body, err := readBody(q)
	if err != nil {
		return reply{}, err
	}
	name, address, err := urlRecord(q, string(body), path)
	if err != nil {
		return reply{}, err
	}
	why := account.refusal(address)
	if prefix, _ := splitName(name); !account.holds(prefix) {
		return reply{}, fail(http.StatusBadRequest, "prefix %s is not assigned to the account", prefix)
	}
	if why != "" {
		return reply{}, fail(http.StatusBadRequest, "%s", why)
	}
	return s.storeURL(account, name, address)
}

// urlRecord takes DOI and URL from the body, and holds them against the path.
func urlRecord(q *request, body, path string) (name, address string, err error) {
	if kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type")); kind != "text/plain" {
		return "", "", fail(http.StatusBadRequest, "Content type %s is not supported", q.Header.Get("Content-Type"))
	}
	name, address, err = readURLRecord(body)
	if err != nil {
		return "", "", err
	}
	if inPath, ok := doiName(path); path != "" && (!ok || inPath != lower(name)) {
		return "", "", errOtherDOI
	}
	name, ok := doiName(name)
	if !ok {
		return "", "", fail(http.StatusBadRequest, "doi %q is not a DOI", name)
	}
	return name, address, nil
}

var (
	errOtherDOI = fail(http.StatusBadRequest, "doi parameter does not match doi of resource")
	errNeedsDOI = fail(http.StatusBadRequest, "param 'doi' required")
	errNeedsURL = fail(http.StatusBadRequest, "param 'url' required")

	errNoMetadata = fail(http.StatusPreconditionFailed, "Metadata must be uploaded first")
)

func (s *mdsRoom) storeURL(account *Account, name, address string) (reply, error) {
	err := s.change(name, func(rec *record) (*record, error) {
		if rec != nil && !rec.owner(account) {
			return nil, errDenied
		}
		if !rec.hasMetadata() || len(missing(rec.attributes)) > 0 {
			return nil, errNoMetadata
		}
		now := s.Now()
		rec.url, rec.state, rec.updated = address, findable, now
		rec.register(now, s.ResolveDelay)
		return rec, nil
	})
	if err != nil {
		return reply{}, err
	}
	return textReply(http.StatusCreated, "OK"), nil
}

// readURLRecord reads the two lines of specification §2.3. Values are
// unescaped as in a form: a literal "%" is sent as %25, "+" as %2B.
func readURLRecord(body string) (name, address string, err error) {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(body, "\r\n", "\n"), "\n"), "\n")
	name, hasName := strings.CutPrefix(lines[0], "doi=")
	if !hasName || name == "" {
		return "", "", errNeedsDOI
	}
	if len(lines) != 2 {
		return "", "", fail(http.StatusBadRequest, "the body must be exactly two lines, doi= and url=")
	}
	address, hasURL := strings.CutPrefix(lines[1], "url=")
	if !hasURL || address == "" {
		return "", "", errNeedsURL
	}
	return unescapeForm(strings.TrimSpace(name)), unescapeForm(strings.TrimSpace(address)), nil
}

// unescapeForm decodes %xx and "+" and leaves a stray "%" alone.
func unescapeForm(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '+':
			out = append(out, ' ')
		case text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			out = append(out, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
		default:
			out = append(out, text[i])
		}
	}
	return string(out)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// deleteDraft removes a draft for good. Other DOIs cannot be removed.
func (s *mdsRoom) deleteDraft(account *Account, name string) (reply, error) {
	if err := s.removeDraft(account, name, errNoDOI, errDenied); err != nil {
		return reply{}, err
	}
	return textReply(http.StatusOK, "OK"), nil
}

func (s *Store) removeDraft(account *Account, name string, unknown, denied *fault) error {
	return s.change(name, func(rec *record) (*record, error) {
		switch {
		case rec == nil:
			return nil, unknown
		case !rec.owner(account):
			return nil, denied
		case rec.state != draft:
			f := fail(http.StatusMethodNotAllowed, "Method not allowed")
			f.header = map[string]string{"Allow": "HEAD, GET, POST, PATCH, PUT, OPTIONS"}
			return nil, f
		}
		return nil, nil
	})
}
