package mds

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/store"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// readMetadata is GET /metadata. Without metadata it is 204 by the specification, and a
// space with Deployed.
func (s *Service) readMetadata(c *call) (wire.Reply, error) {
	res, err := s.xmlOf(c.account, s.target(http.MethodGet, c.doi, ""))
	res.ContentType = "application/xml; charset=utf-8"
	if !s.Deployed && err == nil {
		if len(res.Body) == 0 {
			return noContent, nil
		}
		_, err = record.ReadXML(res.Body) // a record may have been seeded with invalid XML
	}
	return orBlank(res), err
}

// xmlOf is the XML of a DOI, or the response of another path that the name leads to.
func (s *Service) xmlOf(account *record.Account, w names.Target) (wire.Reply, error) {
	rec := s.Find(w.Doi)
	switch {
	case rec == nil:
		return wire.Reply{}, store.ErrNoRecord
	case w.Part == "get-url":
		res, err := s.urlOf(account, w)
		if len(res.Body) > 0 {
			res.Body = wire.Encode(object{"url": string(res.Body)})
		}
		return res, err
	case w.Id != "":
		return wire.Reply{}, store.ErrNoRecord
	case w.Part != "":
		return wire.Reply{Status: http.StatusOK, Body: wire.Encode(object{"data": []any{}})}, nil
	}
	return wire.Reply{Status: http.StatusOK, Body: rec.XML}, s.mayRead(account, rec)
}

// hideDOI is DELETE /metadata, which takes a findable DOI out of the search index. With
// Deployed an unknown DOI becomes a draft.
func (s *Service) hideDOI(c *call) (wire.Reply, error) {
	c.event = "hide"
	done, err := s.change(c, s.target(http.MethodPatch, c.doi, ""))
	if err == store.ErrNoRecord && !s.Deployed {
		return wire.Reply{}, &worded{errNoDOI}
	}
	if done.before == "" {
		return wire.Text(http.StatusCreated, " "), err
	}
	return wire.Text(http.StatusOK, "OK"), err
}

// createMetadata is PUT and POST /metadata: it stores metadata under the DOI of the
// path, under a new DOI when the path is a prefix, or under the DOI that the metadata
// name when there is no path.
func (s *Service) createMetadata(c *call) (wire.Reply, error) {
	done, err := s.change(c, s.target(http.MethodPut, c.target, ""))
	location, text := "/metadata/"+c.target, "OK ("+s.Upper(done.doi)+")"
	if !s.Deployed {
		location, text = (&url.URL{Path: location}).EscapedPath(), done.documentedText(c, text)
	}
	res := wire.Text(http.StatusCreated, text)
	res.Header = map[string]string{"Location": wire.Address(c.Request) + location}
	return res, err
}

// readSentMetadata reads the metadata in a body, their format, and their
// DOI. It uses only the body.
func (s *Service) readSentMetadata(c *call) error {
	if sent := c.Header.Get("Content-Type"); sent == formType {
		return errContentType(sent)
	}
	if err := c.permit("metadata", "id", "doi_id", "number"); err != nil {
		return err
	}
	c.event = "show"
	var err error
	if c.format, c.metadata, err = record.StoreFormat(c.body); err != nil {
		return err
	}
	if c.format == "" {
		return &worded{record.ErrFormat}
	}
	name, ok := s.nameIn(c)
	if !ok {
		number, _ := strconv.ParseUint(notDigits.ReplaceAllString(c.sent["number"], ""), 10, 64)
		name, ok = names.MintUnder(c.name, number)
	}
	if !ok {
		return &worded{errNoDOI}
	}
	c.target = name
	return nil
}

func errContentType(sent string) error {
	return &worded{wire.Fail(http.StatusUnsupportedMediaType, "Content type %s is not supported", sent)}
}

// nameIn is the DOI of the path, or without a path the one in DataCite XML.
func (s *Service) nameIn(c *call) (name string, ok bool) {
	name, ok = s.readName(c.name)
	if !ok && c.name == "" && c.format == record.Kernel {
		name, ok = s.readName(record.IdentifierIn(c.metadata))
	}
	return name, ok
}

var notDigits = regexp.MustCompile(`[^0-9]+`)
