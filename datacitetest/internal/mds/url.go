package mds

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

var (
	errOtherDOI = wire.Fail(http.StatusBadRequest, "doi parameter does not match doi of resource")
	errNeedsDOI = wire.Fail(http.StatusBadRequest, "param 'doi' required")
	errNeedsURL = wire.Fail(http.StatusBadRequest, "param 'url' required")

	errNoMetadata = wire.Fail(http.StatusPreconditionFailed, "Metadata must be uploaded first")

	errEmpty = &worded{&wire.Failure{Status: http.StatusBadRequest, Whole: &wire.Reply{
		Status: http.StatusBadRequest, ContentType: "text/html",
	}}}
)

// readURL is GET /doi/{doi}.
func (s *Service) readURL(c *call) (wire.Reply, error) {
	res, err := s.urlOf(c)
	return orBlank(res), err
}

// urlOf is the URL of a DOI: of any DOI without a login, of its own DOIs for an account.
func (s *Service) urlOf(c *call) (wire.Reply, error) {
	rec := s.Find(c.doi)
	switch {
	case rec == nil:
		return wire.Reply{}, store.ErrNoRecord
	case c.account != nil && !rec.Owner(c.account):
		return wire.Reply{}, errDenied
	case rec.URL == "":
		return noContent, nil
	}
	return wire.Text(http.StatusOK, rec.URL), nil
}

// orBlank replaces an empty body by a space, as the store does.
func orBlank(res wire.Reply) wire.Reply {
	if len(res.Body) == 0 && res.Status != http.StatusNoContent {
		res.Body = []byte(" ")
	}
	return res
}

// changeURL is PUT /doi and POST /doi: it registers a DOI with its URL, or changes
// the URL.
func (s *Service) changeURL(c *call) (wire.Reply, error) {
	_, err := s.change(c, c.target)
	return wire.Text(http.StatusCreated, "OK"), err
}

var urlStart = lazy.Regexp(`\A(http|https|ftp)://\S+`)

// readURLRecord reads DOI and URL from the lines of the body.
func (s *Service) readURLRecord(c *call) error {
	if err := c.isTaken(); err != nil {
		return err
	}
	c.event = "publish"
	lines, err := c.lines()
	if err == nil {
		err = s.readLines(c, lines["doi"], lines["url"])
	}
	switch {
	case err != nil:
		return err
	case !utf8.ValidString(c.url):
		return errBroken
	case !urlStart().MatchString(c.url):
		return &worded{&wire.Failure{Status: http.StatusOK, Title: record.NoURL}} // 200, although it is an error
	}
	return nil
}

// readLines reads the lines of a body. They must name the DOI of the path, if there is
// one.
func (s *Service) readLines(c *call, doi, url string) error {
	inBody := unescapeForm(strings.TrimSpace(doi))
	name, inPath := s.readName(c.name)
	switch {
	case wire.IsBlank(doi):
		return errNeedsDOI
	case inPath && !strings.EqualFold(inBody, name):
		return errOtherDOI
	case wire.IsBlank(url):
		return errNeedsURL
	case !inPath:
		name = inBody
	}
	c.target, c.url = name, unescapeForm(strings.TrimSpace(url))
	return nil
}

// lines reads lines of key=value, in any order, of which the last with a key wins.
// Values are decoded later like those of a form: a literal "%" is sent as %25, "+" as %2B.
func (c *call) lines() (map[string]string, error) {
	if wire.IsBlank(string(c.body)) {
		return nil, errEmpty
	}
	given := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimRight(string(c.body), "\n"), "\n") {
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

// removeDOI is DELETE /doi/{doi}, which removes a draft.
func (s *Service) removeDOI(c *call) (wire.Reply, error) {
	denied := errDenied
	if c.account == nil {
		denied = errBadLogin
	}
	return wire.Text(http.StatusOK, "OK"), s.RemoveDraft(c.account, c.doi, store.ErrNoRecord, denied)
}
