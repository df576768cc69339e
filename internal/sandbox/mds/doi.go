package mds

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/names"
	"github.com/datacite-go/datacite-go/internal/sandbox/record"
	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// serveDOI is /doi of the metadata store: the URLs of DOIs (specification §4.3).
func (s *Room) serveDOI(q *wire.Request, path string) (wire.Reply, error) {
	account, err := s.login(q)
	if err != nil {
		return wire.Reply{}, err
	}
	switch {
	case q.Verb == http.MethodGet && path == "" && account.ByKey:
		return wire.Reply{}, errDenied // as on the deployed service
	case q.Verb == http.MethodGet && path == "":
		return s.listNames(account), nil
	case q.Verb == http.MethodPost && path == "", q.Verb == http.MethodPut:
		return s.putURL(q, account, path)
	}
	name, err := nameInPath(path)
	if err != nil {
		return wire.Reply{}, err
	}
	switch q.Verb {
	case http.MethodGet:
		return s.getURL(account, name)
	case http.MethodDelete:
		return s.deleteDraft(account, name)
	}
	return wire.Reply{}, errNoRoute
}

// listNames answers the registered names under the account's first prefix, in
// upper case, one a line.
func (s *Room) listNames(account *record.Account) wire.Reply {
	var lines []string
	for _, rec := range s.All() {
		prefix, _ := names.Split(rec.DOI)
		if !rec.Gone && rec.Owner(account) && rec.State != record.Draft && len(account.Prefixes) > 0 && prefix == account.Prefixes[0] {
			lines = append(lines, names.Upper(rec.DOI))
		}
	}
	if len(lines) == 0 {
		return wire.Reply{Status: http.StatusNoContent, Plain: true}
	}
	slices.Sort(lines)
	return wire.Text(http.StatusOK, strings.Join(lines, "\n"))
}

func (s *Room) getURL(account *record.Account, name string) (wire.Reply, error) {
	rec := s.Find(name)
	if err := hidden(rec, account, errNoDOI); err != nil {
		return wire.Reply{}, err
	}
	if rec.URL == "" {
		return wire.Reply{Status: http.StatusNoContent, Plain: true}, nil
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

var (
	errOtherDOI = wire.Fail(http.StatusBadRequest, "doi parameter does not match doi of resource")
	errNeedsDOI = wire.Fail(http.StatusBadRequest, "param 'doi' required")
	errNeedsURL = wire.Fail(http.StatusBadRequest, "param 'url' required")

	errNoMetadata = wire.Fail(http.StatusPreconditionFailed, "Metadata must be uploaded first")
)

func (s *Room) storeURL(account *record.Account, name, address string) (wire.Reply, error) {
	err := s.Change(name, func(rec *record.Record) (*record.Record, error) {
		if rec != nil && !rec.Owner(account) {
			return nil, errDenied
		}
		if !rec.HasMetadata() || len(record.Missing(rec.Attributes)) > 0 {
			return nil, errNoMetadata
		}
		now := s.Now()
		rec.URL, rec.State, rec.Updated = address, record.Findable, now
		rec.Register(now, s.ResolveDelay)
		return rec, nil
	})
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Text(http.StatusCreated, "OK"), nil
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

// deleteDraft removes a draft for good. Other DOIs cannot be removed.
func (s *Room) deleteDraft(account *record.Account, name string) (wire.Reply, error) {
	if err := s.RemoveDraft(account, name, errNoDOI, errDenied); err != nil {
		return wire.Reply{}, err
	}
	return wire.Text(http.StatusOK, "OK"), nil
}
