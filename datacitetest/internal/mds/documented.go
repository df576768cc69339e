package mds

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// How the store reads and executes requests with Documented: it checks first that they
// follow the specification.

// readTwoLines reads a record of specification §2.3: DOI and URL.
func (s *Service) readTwoLines(c *call) error {
	if kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type")); kind != "text/plain" {
		return wire.Fail(http.StatusBadRequest, "Content type %s is not supported", c.Header.Get("Content-Type"))
	}
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(c.body), "\r\n", "\n"), "\n"), "\n")
	doi, named := strings.CutPrefix(lines[0], "doi=")
	switch {
	case !named:
		return errNeedsDOI
	case len(lines) != 2:
		return wire.Fail(http.StatusBadRequest, "the body must be exactly two lines, doi= and url=")
	}
	address, given := strings.CutPrefix(lines[1], "url=")
	if !given {
		return errNeedsURL
	}
	if _, ok := s.readName(c.name); !ok && c.name != "" && !wire.IsBlank(doi) {
		return errOtherDOI
	}
	if err := s.readLines(c, doi, address); err != nil {
		return err
	}
	name, ok := names.Read(c.target)
	prefix, _ := names.Split(name)
	switch {
	case !ok:
		return wire.Fail(http.StatusBadRequest, "doi %q is not a DOI", c.target)
	case !c.account.Holds(prefix):
		return wire.Fail(http.StatusBadRequest, "prefix %s is not assigned to the account", prefix)
	case c.account.Refusal(c.url) != "":
		return wire.Fail(http.StatusBadRequest, "%s", c.account.Refusal(c.url))
	}
	c.event, c.target = "publish", name
	return nil
}

// readDocumentedMetadata reads metadata. The specification (§7) requires
// application/xml for XML; of other types only those that the service would read as
// parameters are refused.
func (s *Service) readDocumentedMetadata(c *call) (err error) {
	sent := c.Header.Get("Content-Type")
	kind, _, malformed := mime.ParseMediaType(sent)
	isXML := bytes.HasPrefix(bytes.TrimSpace(c.body), []byte("<"))
	switch {
	case malformed != nil || kind == formType || isXML && kind != "application/xml":
		return errContentType(sent)
	case kind == "application/json":
		return wire.Unpermitted([]string{"metadata"})
	}
	c.event, c.metadata = "show", c.body
	if c.format, err = record.Recognise(c.body); err != nil {
		return err
	}
	name, ok := s.nameIn(c)
	if !ok && names.PrefixForm().MatchString(c.name) {
		name, ok = s.FreeName(c.name)
		ok = ok && strings.HasPrefix(name, c.name+"/")
	}
	if c.target = name; !ok {
		return &worded{errNoDOI}
	}
	return nil
}

// documentedText is the response to a change by the specification. It contains the name
// that was created.
func (done changed) documentedText(c *call, minted string) string {
	switch {
	case names.PrefixForm().MatchString(c.name):
		return minted
	case done.before == "", done.before == record.Draft:
		return "CREATED"
	}
	return "HANDLE_ALREADY_EXISTS"
}

// applyDocumented changes a record by the specification, and checks the result.
func (s *Service) applyDocumented(ch changes, rec *record.Record, _ bool) error {
	if ch.metadata != nil {
		if err := rec.SetMetadata(ch.format, ch.metadata); err != nil {
			return err
		}
		rec.Version++
	}
	rec.State = record.AfterEvent(rec.State, ch.event)
	if ch.event != "hide" {
		rec.Source = "mds"
	}
	if ch.url != "" {
		if rec.URL = ch.url; !rec.HasMetadata() || len(record.Missing(rec.Attributes)) > 0 {
			return errNoMetadata
		}
	}
	rec.Settle(s.Now(), s.ResolveDelay)
	return nil
}
