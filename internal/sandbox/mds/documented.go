package mds

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/store"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// Serve answers a request to the path area/rest (specification §4.3).
func (s *Room) Serve(q *wire.Request, area, rest string) wire.Reply {
	if !slices.Contains([]string{"doi", "metadata", "media"}, area) {
		return wire.InText(wire.Reply{}, errNoRoute)
	}
	return wire.InText(s.documented(q, area, rest))
}

// documented knows the routes: /doi for the URLs of DOIs, /metadata, and /media, which
// the specification does not show, for their files.
func (s *Room) documented(q *wire.Request, area, path string) (wire.Reply, error) {
	account, err := s.login(q)
	if err != nil {
		return wire.Reply{}, err
	}
	route := q.Verb + " " + area
	switch {
	case route == "GET doi" && path == "" && account.ByKey:
		return wire.Reply{}, errDenied // as on the deployed service
	case route == "GET doi" && path == "":
		return s.listNames(account, names.Upper, func(rec *record.Record) bool { return rec.Owner(account) }), nil
	case route == "PUT doi", route == "POST doi" && path == "":
		return s.putURL(q, account, path)
	case route == "PUT metadata", route == "POST metadata":
		return s.putMetadata(q, account, path)
	}
	name, ok := names.Read(path)
	if !ok {
		return wire.Reply{}, errNoDOI
	}
	switch route {
	case "GET doi":
		return s.getURL(account, name)
	case "DELETE doi": // other DOIs than drafts cannot be removed
		return wire.Text(http.StatusOK, "OK"), s.RemoveDraft(account, name, errNoDOI, errDenied)
	case "GET metadata":
		return s.getMetadata(account, name)
	case "DELETE metadata":
		return s.hide(account, name)
	case "GET media":
		return s.getMedia(account, name)
	case "POST media":
		return s.addMedium(q, account, name)
	}
	return wire.Reply{}, errNoRoute
}

// login checks Basic credentials, which the metadata store wants on every
// request (specification §5).
func (s *Room) login(q *wire.Request) (*record.Account, error) {
	account, given := s.Basic(q.Request)
	if username, password, _ := q.BasicAuth(); store.IsKey(username) {
		account, given = nil, password != "" // the specification knows names alone
	}
	if !given {
		f := wire.Fail(http.StatusUnauthorized, "An Authentication object was not found in the SecurityContext")
		f.Header = map[string]string{"WWW-Authenticate": `Basic realm="mds"`}
		return nil, f
	}
	if account == nil {
		return nil, errBadLogin
	}
	q.AnswerHeader.Set("X-Credential-Username", account.Username)
	return account, nil
}

// shown is the record of a DOI, if the account may read it.
func (s *Room) shown(name string, account *record.Account, unknown error) (*record.Record, error) {
	rec := s.Find(name)
	return rec, ofAccount(rec, account, unknown)
}

// ofAccount is why the account may neither read nor change the record.
func ofAccount(rec *record.Record, account *record.Account, unknown error) error {
	switch {
	case rec == nil:
		return unknown
	case !rec.Owner(account):
		return errDenied
	}
	return nil
}

func (s *Room) getURL(account *record.Account, name string) (wire.Reply, error) {
	rec, err := s.shown(name, account, errNoDOI)
	if err != nil || rec.URL == "" {
		return noContent, err
	}
	return wire.Text(http.StatusOK, rec.URL), nil
}

// putURL registers a DOI with its URL, or changes the URL.
func (s *Room) putURL(q *wire.Request, account *record.Account, path string) (wire.Reply, error) {
	body, err := wire.ReadBody(q)
	if err != nil {
		return wire.Reply{}, err
	}
	name, address, err := urlRecord(q, string(body), path)
	if err != nil {
		return wire.Reply{}, err
	}
	why := account.Refusal(address)
	if prefix, _ := names.Split(name); !account.Holds(prefix) {
		return wire.Reply{}, wire.Fail(http.StatusBadRequest, "prefix %s is not assigned to the account", prefix)
	}
	if why != "" {
		return wire.Reply{}, wire.Fail(http.StatusBadRequest, "%s", why)
	}
	return s.storeURL(account, name, address)
}

// urlRecord takes DOI and URL from the body, and holds them against the path.
func urlRecord(q *wire.Request, body, path string) (name, address string, err error) {
	if kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type")); kind != "text/plain" {
		return "", "", wire.Fail(http.StatusBadRequest, "Content type %s is not supported", q.Header.Get("Content-Type"))
	}
	name, address, err = readURLRecord(body)
	if err != nil {
		return "", "", err
	}
	if inPath, ok := names.Read(path); path != "" && (!ok || inPath != names.Lower(name)) {
		return "", "", errOtherDOI
	}
	name, ok := names.Read(name)
	if !ok {
		return "", "", wire.Fail(http.StatusBadRequest, "doi %q is not a DOI", name)
	}
	return name, address, nil
}

func (s *Room) storeURL(account *record.Account, name, address string) (wire.Reply, error) {
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		switch {
		case rec != nil && !rec.Owner(account):
			return nil, errDenied
		case !rec.HasMetadata() || len(record.Missing(rec.Attributes)) > 0:
			return nil, errNoMetadata
		}
		now := s.Now()
		rec.URL, rec.State, rec.Updated = address, record.Findable, now
		rec.Register(now, s.ResolveDelay)
		return rec, nil
	})
	return wire.Text(http.StatusCreated, "OK"), err
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
		return "", "", wire.Fail(http.StatusBadRequest, "the body must be exactly two lines, doi= and url=")
	}
	address, hasURL := strings.CutPrefix(lines[1], "url=")
	if !hasURL || address == "" {
		return "", "", errNeedsURL
	}
	return unescapeForm(strings.TrimSpace(name)), unescapeForm(strings.TrimSpace(address)), nil
}

// getMetadata answers the XML of a DOI, 204 when none is registered.
func (s *Room) getMetadata(account *record.Account, name string) (wire.Reply, error) {
	rec, err := s.shown(name, account, errUnknown)
	if err != nil || rec.XML == nil {
		return noContent, err
	}
	_, err = record.ReadXML(rec.XML) // a record may have been seeded with invalid XML
	return wire.Reply{Status: http.StatusOK, ContentType: "application/xml; charset=utf-8", Body: rec.XML, Plain: true}, err
}

// hide takes a findable DOI out of the search index. In the other states it
// changes nothing.
func (s *Room) hide(account *record.Account, name string) (wire.Reply, error) {
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		if err := ofAccount(rec, account, errNoDOI); err != nil {
			return nil, err
		}
		if rec.State == record.Findable {
			rec.State, rec.Updated = record.Registered, s.Now()
		}
		return rec, nil
	})
	return wire.Text(http.StatusOK, "OK"), err
}

// putMetadata stores metadata under the DOI of the path, under a new DOI when
// the path is a prefix, or under the DOI the metadata names when there is no path.
func (s *Room) putMetadata(q *wire.Request, account *record.Account, path string) (wire.Reply, error) {
	body, err := wire.ReadBody(q)
	if err != nil {
		return wire.Reply{}, err
	}
	if err := checkMetadataType(q.Header.Get("Content-Type"), body); err != nil {
		return wire.Reply{}, err
	}
	format, err := record.Recognise(body)
	if err != nil {
		return wire.Reply{}, err
	}
	if names.PrefixForm.MatchString(path) {
		return s.mint(q, account, path, format, body)
	}
	if path == "" {
		path = nameInMetadata(format, body)
	}
	name, ok := names.Read(path)
	if !ok {
		return wire.Reply{}, errNoDOI
	}
	return s.storeMetadata(q, account, name, format, body)
}

func (s *Room) mint(q *wire.Request, account *record.Account, prefix string, format record.Format, body []byte) (wire.Reply, error) {
	if !account.Holds(prefix) {
		return wire.Reply{}, errDenied
	}
	name := s.FreeName(prefix)
	res, err := s.storeMetadata(q, account, name, format, body)
	if err == nil {
		// The new name must be readable from the answer; the deployed server
		// puts it in brackets and in upper case.
		res.Body = []byte("OK (" + names.Upper(name) + ")")
	}
	return res, err
}

// claim is a new record of the account, if the account may have that name.
func (s *Room) claim(account *record.Account, name string) (*record.Record, error) {
	if prefix, _ := names.Split(name); !account.Holds(prefix) {
		return nil, errDenied
	}
	if !s.NewName.MatchString(name) {
		return nil, wire.Fail(http.StatusUnprocessableEntity, "DOI %s: Is invalid", name)
	}
	return s.NewRecord(name, account, "mds"), nil
}

func (s *Room) storeMetadata(q *wire.Request, account *record.Account, name string, format record.Format, body []byte) (wire.Reply, error) {
	existed := false
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		existed = rec != nil && rec.State != record.Draft
		if rec == nil {
			var err error
			if rec, err = s.claim(account, name); err != nil {
				return nil, err
			}
		}
		if !rec.Owner(account) {
			return nil, errDenied
		}
		if err := rec.SetMetadata(format, body); err != nil {
			return nil, err
		}
		if rec.State == record.Registered {
			rec.State = record.Findable
		}
		rec.Version, rec.Updated = rec.Version+1, s.Now()
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	res := wire.Text(http.StatusCreated, metadataStored(existed))
	res.Header = map[string]string{"Location": wire.Address(q) + (&url.URL{Path: "/metadata/" + name}).EscapedPath()}
	return res, nil
}

// metadataStored is the short status text of PUT /metadata (specification §4.3).
func metadataStored(existed bool) string {
	if existed {
		return "HANDLE_ALREADY_EXISTS"
	}
	return "CREATED"
}

// checkMetadataType refuses content types as specification §7 says: XML must
// come as application/xml. For the other formats the content type is open, as
// the service looks at the body; only what it would take for parameters fails.
func checkMetadataType(header string, body []byte) error {
	kind, _, err := mime.ParseMediaType(header)
	isXML := bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	if err != nil || kind == "application/x-www-form-urlencoded" || isXML && kind != "application/xml" {
		return wire.Fail(http.StatusUnsupportedMediaType, "Content type %s is not supported", header)
	}
	if kind == "application/json" {
		return wire.Fail(http.StatusUnprocessableEntity, "found unpermitted parameter: :metadata")
	}
	return nil
}

// nameInMetadata is the DOI that the metadata give for themselves, if any.
func nameInMetadata(format record.Format, body []byte) string {
	if format != record.Kernel {
		return ""
	}
	doc, err := record.ReadXML(body)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(doc.Root.ChildText("identifier"))
}

func (s *Room) getMedia(account *record.Account, name string) (wire.Reply, error) {
	rec, err := s.shown(name, account, errUnknown)
	if err != nil {
		return wire.Reply{}, err
	}
	if len(rec.Media) == 0 {
		return wire.Reply{}, errNoMedia
	}
	var lines []string
	for _, m := range rec.Media {
		lines = append(lines, m.Kind+"="+m.URL)
	}
	return wire.Text(http.StatusOK, strings.Join(lines, "\n")), nil
}

// addMedium takes one line, "type=URL".
func (s *Room) addMedium(q *wire.Request, account *record.Account, name string) (wire.Reply, error) {
	body, err := wire.ReadBody(q)
	if err != nil {
		return wire.Reply{}, err
	}
	m, err := readMedium(strings.TrimSpace(string(body)))
	if err != nil {
		return wire.Reply{}, err
	}
	err = s.Change(name, func(rec *record.Record) (*record.Record, error) {
		if err := ofAccount(rec, account, errUnknown); err != nil {
			return nil, err
		}
		rec.Media = append(slices.Clone(rec.Media), m)
		return rec, nil
	})
	return wire.Text(http.StatusOK, "OK"), err
}

var mediaSchemes = []string{"ftp", "http", "https", "gs", "s3", "dos"}

func readMedium(line string) (record.Medium, error) {
	kind, address, _ := strings.Cut(line, "=")
	if kind == "" || address == "" {
		return record.Medium{}, wire.Fail(http.StatusUnprocessableEntity, "Media type and URL missing")
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(mediaSchemes, u.Scheme) || strings.ContainsAny(address, " \n") {
		return record.Medium{}, wire.Fail(http.StatusUnprocessableEntity, "url: Is invalid")
	}
	return record.Medium{Kind: kind, URL: address}, nil
}
